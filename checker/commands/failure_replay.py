"""Failures of a finished run, sent again: three tries of each, with new values in place of masked credentials and earlier responses."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from checker.commands.runs_on_disk import PastRun, chosen_findings
from checker.config.auth import chosen_users
from checker.config.config import Config
from checker.config.operation_settings import HttpSettings
from checker.config.resolve import Invocation, run_settings
from checker.core.credentials import Credentials
from checker.core.errors import CheckerError, LoaderError, MissingSecret, UsageError
from checker.core.known import failure_id
from checker.core.operation import Label
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Response, codings_of, readable
from checker.core.send import Transport
from checker.corpus.layout import RunLayout
from checker.corpus.records import Finding
from checker.corpus.secrets import secrets_of
from checker.reporting.baselines import known_name
from checker.reporting.replays import (
    CONFLICT,
    links_in,
    links_in_body,
    moved,
    not_reached,
    prerequisites_of,
    symptoms_of,
    value_at,
    with_values,
)
from checker.reporting.replays import Path as ValuePath
from checker.transport.factories import NETWORK
from checker.transport.prepare import drop, put
from checker.workers.authentication.logins import Identities, UserSource
from checker.workers.starting.auth_trial import FetchedCredentials
from checker.workers.starting.calling import wiring_of
from checker.workers.subject import read_subject


class ReplayCredentials(Struct, frozen=True):
    """The replacements of the credentials of recorded requests, and additional headers."""

    headers: tuple[tuple[str, str], ...] = ()
    """Given with `-H` and `--auth`."""
    credentials: Credentials = field(default_factory=Credentials)
    """Credentials of a user of an authentication document."""

    def sign(self, request: WireRequest) -> None:
        """Add these credentials where the request carried credentials: a request without them omitted them on purpose."""
        rules = Redaction()
        for name, value in self.headers:
            one = Credentials({name: value})
            if not rules.is_sensitive(name) or _has(request, one):
                put(request, one)
        if _has(request, self.credentials):
            put(request, self.credentials)

    @property
    def all_headers(self) -> tuple[tuple[str, str], ...]:
        """Return all credentials as headers."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.credentials.cookies.items())
        found = (*self.headers, *self.credentials.headers.items())
        return (*found, ("Cookie", cookies)) if cookies else found


def fetched_for(past: PastRun, base_url: str) -> FetchedCredentials:
    """Return the sources of credentials of the current configuration for the description of an earlier run.

    Raises `LoaderError`, `ConfigError`, `UsageError`.
    """
    opened = past.view.opened
    document = None if opened is None else opened.document
    settings = past.settings.with_changes(target={"base_url": base_url}, document=document)
    return FetchedCredentials(read_subject(settings, RunLayout(Path(settings.corpus.folder))))


def user_of_document(config: Config, origin: BaseUrl | None) -> Credentials:
    """Return the current headers of the user of the configured authentication document; empty if there is no document.

    Raises `CredentialError` for a login that fails, `UsageError` if the place of the login is unknown.
    """
    settings = run_settings(config, Invocation("", "run"))
    authentication = settings.common.authentication
    if authentication.wfc is None:
        return Credentials()
    if origin is None:
        raise UsageError("--auth-wfc: give the base URL of the API, where the user logs in, with --url")
    user, *_ = chosen_users(settings.auth.wfc, authentication.wfc.user)
    source = UserSource(Identities([user.name]), None, wiring_of(settings, origin), user)
    return source.log_in()


def _has(request: WireRequest, credentials: Credentials) -> bool:
    copy = dataclasses.replace(request, headers=list(request.headers))
    return drop(copy, credentials)


TRIES: Final = 3
_NOT_REPRODUCED: Final = 3
_WORDS: Final = {0: "FIXED", 1: "FAILED", _NOT_REPRODUCED: "NOT REPRODUCED"}
Echo = Callable[[str], object]
"""Prints one line."""


class ReplayTarget(Struct, frozen=True):
    """The target of requests, and the HTTP settings."""

    base_url: str | None
    """None: the recorded target."""
    http: HttpSettings
    caller: Callable[[BaseUrl], ReplayCredentials] = lambda origin: ReplayCredentials()
    """Returns the credentials that replace the recorded ones at a target."""


_UNANSWERED: Final = (FailureKind.DROPPED, FailureKind.TIMEOUT)


class _CannotSend(CheckerError):
    """A request of a failure cannot be sent as it was."""


class _NoResponse(_CannotSend):
    """The server sent no complete response."""


def replay_findings(past: PastRun, ids: Sequence[str], target: ReplayTarget, echo: Echo) -> int:
    """Print the result of each failure and return the exit code.

    1: one failed again or is flaky; else 2: one could not be sent; else 3: one was not reproduced, and its situation was not
    reached either; else 0: all are fixed. References to secrets are replaced by the values in the current configuration.
    """
    codes = set()
    opened = past.view.opened
    origin = BaseUrl.from_url(target.base_url or (opened.base_url if opened else ""))
    again = _Again(past, origin, target, target.caller(origin))
    chosen = chosen_findings(ids, list(past.view.findings.values()))
    if not chosen:
        echo(f"The last run of {past.settings.corpus.folder} has no failures: nothing was sent.")
    for finding in chosen:
        name = known_name(finding.label, finding.title, failure_id(finding))
        paths: dict[str, str] = {}
        try:
            tries = [_tried(finding, again, paths) for _ in range(TRIES)]
        except (CheckerError, ValueError) as error:
            echo(f"ERROR   {name}: {error}")
            codes.add(2)
            continue
        count = tries.count(None)
        doubt = next(filter(None, tries), "") if not count else ""
        code = 1 if count else _NOT_REPRODUCED if doubt else 0
        word = "FLAKY" if 0 < count < TRIES else _WORDS[code]
        why = f"; its situation was not reached: {doubt}" if doubt else ""
        echo(f"{word:<7} {name}: it showed in {count} of {TRIES} tries{why}")
        codes.add(code)
    return next((one for one in (1, 2, _NOT_REPRODUCED) if one in codes), 0)


@dataclasses.dataclass
class _Again:
    """The settings that all repeated requests share."""

    past: PastRun
    origin: BaseUrl
    target: ReplayTarget
    caller: ReplayCredentials

    @cached_property
    def fetched(self) -> FetchedCredentials:
        """Return the credentials that the current configuration fetches. Raises `CheckerError`."""
        return fetched_for(self.past, self.origin.url)


def _tried(finding: Finding, again: _Again, paths: dict[str, str]) -> str | None:
    """Send the prerequisites and the requests of a failure. Return None if the last response shows the failure again.

    Otherwise return why its situation was not reached, so that nothing is proved; empty if it was reached.

    `paths`: recorded path -> current path of each resource that it needs.
    """
    symptoms = list(symptoms_of(finding)) if finding.interactions else []
    if not symptoms:
        raise _CannotSend("there was no answer to compare with; send its command by hand")
    lanes = NETWORK(replace(again.origin, base_path=""), again.target.http, 1)
    try:
        doubt = _prepare(finding, again, lanes, paths)
        answers: list[Response] = []
        for number in range(len(finding.interactions)):
            answers.append(_sent(finding, number, answers, again, lanes, paths))
    except _NoResponse:
        is_last = len(answers) == len(finding.interactions) - 1
        if is_last and any(one.kind == "dropped" for one in symptoms):
            return None
        raise
    finally:
        lanes.close()
    last = answers[-1]
    declared = {name.lower(): value for name, value in last.raw_headers}
    media_type = declared.get("content-type", "")
    body = readable(last.content, codings_of(last.raw_headers), is_cut=last.is_truncated).content
    if all(one.holds(last.status_code, media_type, body) for one in symptoms):
        return None
    statuses = [one.status_code for one in answers]
    return doubt or not_reached(finding, statuses, body)


def _prepare(finding: Finding, again: _Again, lanes: Transport, paths: dict[str, str]) -> str:
    """Send the prerequisites of a failure. Return why its situation is not reached; empty if it may be. Raises `CheckerError`."""
    for need in prerequisites_of(finding):
        target = moved(need.request.target.decode("latin-1"), paths)
        request = dataclasses.replace(need.request, target=target.encode("latin-1"), origin=None)
        answer = _response(Label(need.made.label), request, again, lanes)
        fault = need.fault(answer.status_code)
        if fault:
            return fault
        if answer.status_code != CONFLICT:
            paths[need.made.path] = need.path_now(answer, target.partition("?")[0])
    return ""


def _sent(
    finding: Finding, number: int, answers: list[Response], again: _Again, lanes: Transport, paths: Mapping[str, str]
) -> Response:
    """Return the response to request `number`, sent with values of the new responses in place of the recorded ones.

    Raises `CheckerError`.
    """
    exchange, earlier = finding.interactions[number].exchange, finding.interactions[:number]
    if exchange.body_size is not None:
        raise _CannotSend("a body was too long to be recorded")
    place = moved(exchange.target.decode("latin-1"), paths).encode("latin-1")
    for text, (source, path) in links_in(earlier, exchange.target).items():
        fresh = _fresh(answers[source], path)
        if fresh is not None:
            new = quote(str(fresh), safe="").encode()
            place = place.replace(quote(text, safe="").encode(), new)
    links = links_in_body(finding, number)
    values = {at: _fresh(answers[source], path) for at, (source, path) in links.items()}
    known = {at: value for at, value in values.items() if value is not None}
    body = None if exchange.body is None else with_values(exchange.body, known)
    recorded = WireRequest(exchange.method, place, list(exchange.headers), body)
    return _response(Label(finding.interactions[number].label), recorded, again, lanes)


def _response(label: Label, recorded: WireRequest, again: _Again, lanes: Transport) -> Response:
    """Return the response to a recorded request with current credentials. Raises `CheckerError`."""
    again.caller.sign(recorded)
    store = secrets_of(again.past.settings).store
    try:
        request = store.resolve_request(recorded)
    except MissingSecret as missing:
        try:
            again.fetched.renew(label, recorded)
        except (LoaderError, UsageError):
            # Without the description the sources cannot be applied, and most configurations have none.
            raise missing from None
        request = store.resolve_request(recorded)
    # On a kept connection that the server has closed meanwhile, the failure to send would look like a dropped response.
    outcome = lanes.send(0, dataclasses.replace(request, fresh=True))
    if isinstance(outcome, NetworkFailure):
        kind = _NoResponse if outcome.kind in _UNANSWERED else _CannotSend
        raise kind(f"{outcome.kind}: {outcome.message}")
    return outcome


def _fresh(answer: Response, path: ValuePath) -> Any:
    """Return the value at that place of a response; None if there is none."""
    try:
        return value_at(answer.content, path)
    except (LookupError, TypeError):
        return None
