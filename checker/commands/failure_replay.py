"""Failures of a finished run, sent again: three tries of each, with new values in place of masked credentials and earlier responses."""

import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.check import IN_RUN
from checker.checks.concurrency import is_race
from checker.checks.judge import UNJUDGED
from checker.checks.table import BUILT_IN
from checker.commands.runs_on_disk import PastRun, chosen_findings
from checker.config.auth import chosen_users
from checker.config.config import Config
from checker.config.operation_settings import HttpSettings, is_check_enabled
from checker.config.resolve import Invocation, run_settings
from checker.core.case import NOT_SET, Case, request_with_fresh_key
from checker.core.credentials import Credentials, drop, put
from checker.core.errors import CheckerError, LoaderError, MissingSecret, UsageError
from checker.core.meta import CaseMetadata, GenerationMode, PhaseData, PhaseInfo
from checker.core.operation import Label
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, WireRequest
from checker.core.resource_names import segment_of
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response, codings_of, readable
from checker.core.schema import Direction
from checker.core.send import Transport, drive, send_alone
from checker.corpus.journal import JournalWriter
from checker.corpus.known import TRIES, failure_id, shows_surely
from checker.corpus.layout import RunLayout
from checker.corpus.records import CONFIRMED, FIXED, FLAKY, NOT_REPRODUCED, Finding, FindingReplayed
from checker.corpus.references import REFERENCE
from checker.corpus.secrets import secrets_of, user_in
from checker.kinds.static import json_schema
from checker.phases.attempt import Tools, Verdict
from checker.reporting.baselines import known_name
from checker.reporting.calls import (
    NO_JSON,
    Call,
    at,
    calls_of,
    found_in,
    headers_by_name,
    parsed,
    parts_of,
    with_values,
)
from checker.reporting.findings import has_response
from checker.reporting.replays import Symptom, is_at_once, not_prepared, not_reached, symptoms_of
from checker.supervisor.lock import Ownership
from checker.transport.factories import NETWORK, TransportFactory, in_process
from checker.validation.compiled import compile_schema
from checker.workers.authentication.logins import Identities, UserSource
from checker.workers.starting.auth_trial import FetchedCredentials, keeper_alone
from checker.workers.starting.calling import open_tools, wiring_of
from checker.workers.subject import TestedDescription, read_subject


class ReplayCredentials(Struct, frozen=True):
    """The replacements of the credentials of recorded requests, and additional headers."""

    headers: tuple[tuple[str, str], ...] = ()  # Headers that were given with `-H` and `--auth`.
    credentials_of: Callable[[str], Credentials] = lambda user: Credentials()
    """Return the credentials of a user of an authentication document; empty name: of the chosen user. Raises `CheckerError`."""

    def sign(self, request: WireRequest) -> None:
        """Add these credentials if the request had credentials, because a request without them omitted them on purpose.

        A recorded request gets the credentials of the user that sent it.
        """
        rules = Redaction()
        for name, value in self.headers:
            one = Credentials({name: value})
            if not rules.is_sensitive(name) or _has(request, one):
                put(request, one)
        credentials = self.credentials_of(_user_of(request))
        if _has(request, credentials):
            put(request, credentials)

    @property
    def all_headers(self) -> tuple[tuple[str, str], ...]:
        credentials = self.credentials_of("")
        cookies = "; ".join(f"{name}={value}" for name, value in credentials.cookies.items())
        found = (*self.headers, *credentials.headers.items())
        return (*found, ("Cookie", cookies)) if cookies else found


def fetched_for(past: PastRun, base_url: str) -> FetchedCredentials:
    """Return the sources of credentials of the current configuration for the description of an earlier run.

    Raises `LoaderError`, `ConfigError`, `UsageError`.
    """
    return FetchedCredentials(_subject_of(past, base_url))


def _subject_of(past: PastRun, base_url: str, check: str = "") -> TestedDescription:
    """Return the description of an earlier run. `check` runs even if only an option of that run had switched it on."""
    opened = past.view.opened
    document = None if opened is None else opened.document
    settings = past.settings.with_changes(target={"base_url": base_url}, document=document)
    if check:
        layer, section = settings.operations.command, ("checks", check)
        is_intrusive = check in BUILT_IN and BUILT_IN[check].is_intrusive
        switches = {"enabled": True} | ({IN_RUN.name: True} if is_intrusive else {})
        layer = layer | {section: {**layer.get(section, {}), **switches}}
        settings = replace(settings, operations=replace(settings.operations, command=layer))
    return read_subject(settings, RunLayout(Path(settings.corpus.folder)))


def _user_of(request: WireRequest) -> str:
    """Return the user that sent a recorded request; empty if no reference to a secret names one."""
    for name, value in headers_by_name(request.headers).items():
        found = REFERENCE.search(value)
        if found is not None and (user := user_in(found["name"], name)):
            return user
    return ""


def user_of_document(config: Config | None, origin: BaseUrl | None, name: str = "") -> Credentials:
    """Return the current headers of a user of the configured authentication document; empty if there is no document.

    `name`: the user that sent a recorded request. If it is empty or not in the document, the chosen user is used. Raises
    `CredentialError` for a login that fails, `UsageError` if the place of the login is unknown.
    """
    if config is None:
        return Credentials()
    settings = run_settings(config, Invocation("", "run"))
    authentication = settings.common.authentication
    if authentication.wfc is None:
        return Credentials()
    if origin is None:
        raise UsageError("--auth-wfc: give the base URL of the API, where the user logs in, with --url")
    known = [one.name for one in chosen_users(settings.auth.wfc, None)]
    user, *_ = chosen_users(settings.auth.wfc, name if name in known else authentication.wfc.user)
    return UserSource(Identities([user.name]), None, wiring_of(settings, origin), user).fetch()


def _has(request: WireRequest, credentials: Credentials) -> bool:
    return drop(dataclasses.replace(request, headers=list(request.headers)), credentials)


_UNPROVED: Final = 3
_WORDS: Final = {CONFIRMED: "FAILED", FLAKY: "FLAKY", FIXED: "FIXED", NOT_REPRODUCED: "NOT REPRODUCED"}
_CODES: Final = {CONFIRMED: 1, FLAKY: 1, FIXED: 0, NOT_REPRODUCED: _UNPROVED}
Echo = Callable[[str], object]  # Prints one line.


class ReplayTarget(Struct, frozen=True):
    """The target of requests, and the options for all of them."""

    base_url: str | None  # None: the recorded target.
    http: HttpSettings
    headers: tuple[tuple[str, str], ...] = ()
    config: Config | None = None  # The configuration whose authentication document has credentials for the target.

    def is_of(self, past: PastRun) -> bool:
        """Whether the requests are sent to the service that a run tested."""
        tested = past.view.opened.base_url if past.view.opened else ""
        return self.base_url is None or BaseUrl.from_url(self.base_url).site == BaseUrl.from_url(tested).site

    def caller(self, origin: BaseUrl | None) -> ReplayCredentials:
        """Return the credentials that replace the recorded ones at a target."""
        return ReplayCredentials(self.headers, cache(partial(user_of_document, self.config, origin)))


_UNANSWERED: Final = (FailureKind.DROPPED, FailureKind.TIMEOUT)


class _CannotSend(CheckerError):
    """A request of a failure cannot be sent as recorded."""


class _NoResponse(_CannotSend):
    """The server sent no complete response."""


def replay_findings(
    past: PastRun, ids: Sequence[str], target: ReplayTarget, echo: Echo
) -> tuple[int, list[FindingReplayed]]:
    """Print the result of each failure and return the exit code, and the results.

    1: one failed again or is flaky; else 2: one could not be sent; else 3: one was not reproduced, and its situation was not
    reached either, or it showed too seldom in the run; else 0: all are fixed. References to secrets are replaced by the values in the current configuration.
    """
    codes, results = set(), list[FindingReplayed]()
    opened = past.view.opened
    origin = BaseUrl.from_url(target.base_url or (opened.base_url if opened else ""))
    app = None if target.base_url else past.settings.target.app
    connect = in_process().application_transport(app) if app else NETWORK
    again = _Again(past, origin, target, target.caller(origin), connect)
    chosen = chosen_findings(ids, list(past.view.findings.values()))
    if not chosen:
        echo(f"The last run of {past.settings.corpus.folder} has no failures: nothing was sent.")
    for finding in chosen:
        name = known_name(finding.label, finding.title, failure_id(finding))
        try:
            tries = [_tried(finding, again) for _ in range(TRIES)]
        except (CheckerError, ValueError) as error:
            echo(f"ERROR   {name}: {error}")
            codes.add(2)
            continue
        count = tries.count(None)
        # A further try may not reach the situation, because the first one took the names.
        reached = count + tries.count("")
        doubt = "" if reached else str(tries[0])
        shown = FLAKY if count < reached else CONFIRMED
        is_rare = not shows_surely(finding.investigation)
        result = shown if count else NOT_REPRODUCED if doubt or is_rare else FIXED
        why = f"; its situation was not reached: {doubt}" if doubt else ""
        if is_rare and not count and not doubt:
            where = "on new resources" if finding.investigation.needs_state else "each time"
            why = f"; in the run it did not show {where}, either"
        echo(f"{_WORDS[result]:<7} {name}: it showed in {count} of {reached or TRIES} tries{why}")
        results.append(FindingReplayed(finding.fingerprint, result, time.time()))
        codes.add(_CODES[result])
    return next((one for one in (1, 2, _UNPROVED) if one in codes), 0), results


def keep_results(layout: RunLayout, results: Sequence[FindingReplayed]) -> None:
    """Write results into a corpus, in a journal of their own. The next `fuzz` does not send fixed failures again.

    Raises `UsageError` if a run works in the corpus, `StorageError` if it cannot be written.
    """
    with Ownership(layout), closing(JournalWriter(layout.journal(layout.next_incarnation(), os.getpid()))) as journal:
        for result in results:
            journal.write(result)


@dataclasses.dataclass
class _Again:
    """The settings that all repeated requests share."""

    past: PastRun
    origin: BaseUrl
    target: ReplayTarget
    caller: ReplayCredentials
    connect: TransportFactory
    _checking: dict[str, tuple[TestedDescription, Tools]] = dataclasses.field(default_factory=dict)

    def checking(self, check: str) -> tuple[TestedDescription, Tools]:
        """Return the description and the tools that run a check. Raises `CheckerError`."""
        if check not in self._checking:
            subject = _subject_of(self.past, self.origin.url, check)
            if not is_check_enabled(subject.operations.common.layers, check):
                raise _CannotSend(f"the check {check} is switched off; give its limit in the configuration")
            keeper_alone(subject, [])
            self._checking[check] = subject, open_tools(subject)
        return self._checking[check]

    @cached_property
    def fetched(self) -> FetchedCredentials:
        return fetched_for(self.past, self.origin.url)


def _tried(finding: Finding, again: _Again) -> str | None:
    """Send the requests that a failure needs, and its own. Return None if the last response shows the failure again.

    Otherwise return why the situation was not reached, so that nothing is proved; empty if it was reached.
    """
    if not (finding.interactions or finding.investigation.reproduction):
        raise _CannotSend("it is about the whole run, not about one request; run the tests again")
    symptoms, is_pair = list(symptoms_of(finding)) if finding.interactions else [], is_at_once(finding)
    is_judged = not symptoms and not is_pair and any(has_response(one.exchange) for one in finding.interactions[-1:])
    if not symptoms and not is_pair and not is_judged:
        raise _CannotSend("there was no response to compare with; send its command by hand")
    if any(one.exchange.body_size is not None for one in finding.sent):
        raise _CannotSend("a body was too long to be recorded")
    lanes = again.connect(replace(again.origin, base_path=""), again.target.http, 1)
    calls = calls_of(finding)
    # The check sends its own requests.
    calls = calls[: len(calls) - len(finding.further)]
    before = len(calls) - len(finding.interactions)
    answers: list[Response] = []
    try:
        for number, call in enumerate(calls):
            request, is_last = _following(call, answers), number == len(calls) - 1
            if is_last and is_pair:
                request = request_with_fresh_key(request, str(time.time_ns()))
            answers.append(_response(Label(call.label), request, again, lanes, is_twice=is_last and is_pair))
            last, body = answers[-1], _body_of(answers[-1])
            if not is_last and (doubt := not_prepared(call, number + 1 - before, last.status_code)):
                return doubt
        is_proof = is_judged and (not finding.further or 200 <= last.status_code < 300)
        if is_proof and _is_found_again(finding, again, answers[before:], lanes):
            return None
        if is_pair and drive(is_race(last), lambda request: _sent_later(lanes, request)):
            return None
    except _NoResponse:
        if len(answers) == len(calls) - 1 and any(one.kind == "dropped" for one in symptoms):
            return None
        raise
    finally:
        lanes.close()
    media_type = _headers_of(last).get("content-type", "")
    if symptoms and all(_shows(one, last.status_code, media_type, body) for one in symptoms):
        return None
    return not_reached(finding, calls, last.status_code, body)


def _is_found_again(finding: Finding, again: _Again, answers: Sequence[Response], lanes: Transport) -> bool:
    """Whether the check of a finding finds it once more after the requests of its sequence. Raises `CheckerError`."""
    subject, tools = again.checking(finding.check)
    judged: list[Verdict] = []
    for step, then, answer in zip(finding.steps, finding.interactions, answers, strict=True):
        operation, request = subject.selected.get(step.label), answer.request
        if operation is None or request is None:
            raise _CannotSend(f"{step.label} is not in the description")
        request.confirms = finding.check
        path = request.path.decode("latin-1").removeprefix(tools.maker.base_path_of(operation))
        pairs = zip(operation.path.split("/"), path.split("/"), strict=False)
        headers = headers_by_name(request.headers)
        named = {one.name: headers[one.name.lower()] for one in operation.parameters if one.name.lower() in headers}
        body = parsed(request.body or b"")
        phase = PhaseInfo(then.phase, PhaseData(then.phase_data))
        meta = CaseMetadata(GenerationMode(then.mode), {}, phase, step.bindings)
        case = Case(
            operation,
            finding.case,
            path_parameters={name[1:-1]: unquote(value) for name, value in pairs if name.startswith("{")},
            headers=named,
            query=dict(parse_qsl(request.target.partition(b"?")[2].decode("latin-1"), keep_blank_values=True)),
            body=NOT_SET if body is NO_JSON else body,
            media_type=headers.get("content-type"),
            meta=meta,
        )
        case.other_method = request.method if request.method != operation.method else None
        peers = None if subject.keeper is None else subject.keeper.peers
        if peers is not None:
            for user in peers.names:
                lent = dataclasses.replace(request, headers=list(request.headers))
                peers.lend(case, lent, user)
                if (lent.target, sorted(lent.headers)) == (request.target, sorted(request.headers)):
                    request.proofs = lent.proofs
        judged.append(Verdict(case, request, answer, UNJUDGED))
    *earlier, last = judged

    def send(request: WireRequest) -> Outcome:
        if not request.proofs:
            # The check has chosen the user of the other requests.
            again.caller.sign(request)
        return _sent_later(lanes, dataclasses.replace(request, fresh=True))

    judgement = drive(tools.judge_of(last.case).judge(last.case, answers[-1], earlier), send)
    for name, error in judgement.errors:
        if name == finding.check:
            raise _CannotSend(f"the check cannot be repeated: {error}")
    return any(one.fingerprint(finding.steps[-1].label) == finding.fingerprint for one in judgement.failures)


def _shows(symptom: Symptom, status: int, media_type: str, body: bytes) -> bool:
    """Whether a response shows a symptom: the recorded value, or another one that breaks the same keyword."""
    if symptom.schema is None:
        return symptom.holds(status, media_type, body)
    try:
        value = at(parsed(body), symptom.path)
    except (LookupError, TypeError):
        return False
    return not compile_schema(json_schema(symptom.schema), Direction.RESPONSE).is_valid(value)


def _following(call: Call, answers: Sequence[Response]) -> WireRequest:
    """Return a request with values of the new responses in place of the recorded ones, which are kept if there are no new ones."""
    values = {}
    for source in call.sources:
        with suppress(LookupError, TypeError):
            answer = answers[source.call]
            values[source] = found_in(source, _headers_of(answer), _body_of(answer))
    parts = parts_of(call.request.target)
    for place, source in call.in_target.items():
        if source in values:
            parts[place] = segment_of(values[source]).encode()
    body = with_values(call.request, {at: values[one] for at, one in call.in_body.items() if one in values})
    target = b"".join(parts)
    given = {
        name: str(values[one]).encode("latin-1", "replace") for name, one in call.in_headers.items() if one in values
    }
    headers = [(name, given.get(name.decode("latin-1").lower(), value)) for name, value in call.request.headers]
    return dataclasses.replace(call.request, target=target, headers=headers, body=body, origin=None)


def _headers_of(answer: Response) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.raw_headers}


def _body_of(answer: Response) -> bytes:
    return readable(answer.content, codings_of(answer.raw_headers), is_cut=answer.is_truncated).content


def _sent_later(lanes: Transport, request: WireRequest) -> Outcome:
    time.sleep(request.delay_s)
    return send_alone(lanes, request)


def _response(
    label: Label, recorded: WireRequest, again: _Again, lanes: Transport, *, is_twice: bool = False
) -> Response:
    """Return the response to a recorded request with current credentials, sent once or twice at once. Raises `CheckerError`."""
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
    outcome = send_alone(lanes, dataclasses.replace(request, fresh=True, is_twice=is_twice))
    if isinstance(outcome, NetworkFailure):
        kind = _NoResponse if outcome.kind in _UNANSWERED else _CannotSend
        raise kind(f"{outcome.kind}: {outcome.message}")
    return outcome
