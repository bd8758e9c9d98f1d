"""Failures of a run that is over, sent again: three tries of each, with what earlier answers hold now."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.state_refusals import says_taken
from checker.checks.table import BUILT_IN
from checker.cli.past import PastRun, chosen_findings
from checker.cli.replay_credentials import ReplayCredentials
from checker.core.codings import codings_of, readable
from checker.core.errors import CheckerError
from checker.core.known import failure_id
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Response
from checker.core.security import UNAUTHORIZED
from checker.core.send import Transport
from checker.corpus.records import Finding
from checker.corpus.secrets import secrets_of
from checker.reporting.known_text import known_name
from checker.reporting.symptoms import (
    Path,
    links_in,
    links_in_body,
    symptoms_of,
    value_at,
    with_values,
)
from checker.transport.factories import NETWORK
from checker.transport.settings import HttpSettings

TRIES: Final = 3
_OF_STATE: Final = frozenset((404, 409, 410, 412))
_STATE: Final = "perhaps for what is there now: try it on a fresh target"
_CREDENTIALS: Final = (
    "perhaps for its credentials (give others with `-a` or `-H`) or for what is there no more"
)
Echo = Callable[[str], object]
"""Prints one line."""


class ReplayTarget(Struct, frozen=True):
    """Where requests go, and how."""

    base_url: str | None
    """None: where they went."""
    http: HttpSettings
    caller: Callable[[BaseUrl], ReplayCredentials] = lambda origin: ReplayCredentials()
    """Whose credentials stand in place of those of then, at an API."""


class _CannotSend(CheckerError):
    """A request of a failure cannot be sent as it was."""


class _Dropped(_CannotSend):
    """The server closed the connection instead of sending a complete response."""


def replay_findings(past: PastRun, ids: Sequence[str], target: ReplayTarget, echo: Echo) -> int:
    """Exit code: 0 when all are fixed, 1 when one failed again or is flaky, 2 when one could not be sent, or not as who sent it then.

    A secret stands in for its reference as the configuration of today has it.
    """
    codes = set()
    opened = past.view.opened
    origin = BaseUrl.from_url(target.base_url or (opened.base_url if opened else ""))
    again = _Again(past, origin, target, target.caller(origin))
    chosen = chosen_findings(ids, list(past.view.findings.values()))
    if not chosen:
        echo(f"The last run of {past.settings.corpus_dir} has no failures: nothing was sent.")
    for finding in chosen:
        name = known_name(finding.label, finding.title, failure_id(finding))
        try:
            tries = [_tried(finding, again) for _ in range(TRIES)]
        except (CheckerError, ValueError) as error:
            echo(f"ERROR   {name}: {error}")
            codes.add(2)
            continue
        count = sum(one.is_there for one in tries)
        word = "FIXED" if not count else "FAILED" if count == TRIES else "FLAKY"
        doubt = next((one.doubt for one in tries if one.doubt), "") if not count else ""
        if not count and any(one.is_turned_away for one in tries):
            echo(f"ERROR   {name}: {doubt}")
            codes.add(2)
            continue
        but = f"; but {doubt}" if doubt else ""
        echo(f"{word:<7} {name}: it showed in {count} of {TRIES} tries{but}")
        codes.add(int(count > 0))
    return 1 if 1 in codes else max(codes, default=0)


class _Again(Struct, frozen=True):
    """What all requests that are sent again have in common."""

    past: PastRun
    origin: BaseUrl
    target: ReplayTarget
    caller: ReplayCredentials


class _Try(Struct, frozen=True):
    """What came of the requests of a failure, sent once more."""

    is_there: bool
    doubt: str = ""
    """Why it may not have shown although nobody mended it."""
    is_turned_away: bool = False
    """Whether that is because of who called, so that nothing can be said."""


def _tried(finding: Finding, again: _Again) -> _Try:
    """One try: whether the answer to the last request is what it was."""
    symptoms = list(symptoms_of(finding)) if finding.interactions else []
    if not symptoms:
        raise _CannotSend("there was no answer to compare with; send its command by hand")
    lanes = NETWORK(replace(again.origin, base_path=""), again.target.http, 1)
    try:
        answers: list[Response] = []
        for number in range(len(finding.interactions)):
            answers.append(_sent(finding, number, answers, again, lanes))
    except _Dropped:
        is_last = len(answers) == len(finding.interactions) - 1
        if is_last and any(one.kind == "dropped" for one in symptoms):
            return _Try(True)
        raise
    finally:
        lanes.close()
    last = answers[-1]
    declared = {name.lower(): value for name, value in last.raw_headers}
    media_type = declared.get("content-type", "")
    body = readable(last.content, codings_of(last.raw_headers), is_cut=last.is_truncated).content
    is_there = all(one.holds(last.status_code, media_type, body) for one in symptoms)
    return _Try(True) if is_there else _not_there(finding, answers)


def _not_there(finding: Finding, answers: Sequence[Response]) -> _Try:
    """A try that did not show it: by a refusal that was none then, it may have been before what failed, or instead of it."""
    check = BUILT_IN.get(finding.check)
    if check is not None and check.wants_refusal:
        return _Try(False)
    for number, answer in enumerate(answers):
        then, now = finding.interactions[number].exchange.status, answer.status_code
        is_turned_away = now in UNAUTHORIZED
        if now != then and (is_turned_away or now in _OF_STATE or _is_taken(answer)):
            at = f"request {number + 1}" if len(answers) > 1 else "the request"
            said = _CREDENTIALS if is_turned_away else _STATE
            return _Try(False, f"{at} was answered {now} (then {then}), {said}", is_turned_away)
    return _Try(False)


def _is_taken(answer: Response) -> bool:
    return 400 <= answer.status_code < 500 and says_taken(answer.content)


def _sent(
    finding: Finding,
    number: int,
    answers: list[Response],
    again: _Again,
    lanes: Transport,
) -> Response:
    """The answer to request `number`, with values of the answers of today where it took some. Raises `CheckerError`."""
    exchange, earlier = finding.interactions[number].exchange, finding.interactions[:number]
    if exchange.body_size is not None:
        raise _CannotSend("a body was too long to be recorded")
    place = exchange.target
    for text, (source, path) in links_in(earlier, place).items():
        fresh = _fresh(answers[source], path)
        if fresh is not None:
            new = quote(str(fresh), safe="").encode()
            place = place.replace(quote(text, safe="").encode(), new)
    links = links_in_body(finding, number)
    values = {at: _fresh(answers[source], path) for at, (source, path) in links.items()}
    known = {at: value for at, value in values.items() if value is not None}
    body = None if exchange.body is None else with_values(exchange.body, known)
    recorded = WireRequest(exchange.method, place, list(exchange.headers), body)
    again.caller.sign(recorded)
    request = secrets_of(again.past.settings).store.resolve_request(recorded)
    # A kept connection that the server has closed meanwhile would read as its answer.
    outcome = lanes.send(0, dataclasses.replace(request, fresh=True))
    if isinstance(outcome, NetworkFailure):
        kind = _Dropped if outcome.kind is FailureKind.DROPPED else _CannotSend
        raise kind(f"{outcome.kind}: {outcome.message}")
    return outcome


def _fresh(answer: Response, path: Path) -> Any:
    """What an answer holds there; None for nothing."""
    try:
        return value_at(answer.content, path)
    except (LookupError, TypeError):
        return None
