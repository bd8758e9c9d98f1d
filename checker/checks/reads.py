"""Checks reads: GET changes nothing, and HEAD succeeds if GET does (RFC 9110, 9.2.1 and 9.3.2)."""

from dataclasses import replace
from typing import Final

from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.resources import is_described, is_one_of, is_success, line_of, request_of_check, resource_in
from checker.core.case import Case
from checker.core.failures import Failure
from checker.core.request import WireRequest
from checker.core.resource_names import VERSION_FIELDS, normalised
from checker.core.response import Outcome, Response
from checker.core.send import Exchanging

_HEAD_OF: Final = 16
_AGAIN_OF: Final = 8
"""One in this many successful reads of sequences is also sent as HEAD.

One in this many is repeated if it contains a field that reads must not change.
"""
_READS: Final = 3  # Further reads. Each has to change the field by the same number.
_NOT_THERE: Final = frozenset((400, 404, 410, 422, 500))
"""Statuses of HEAD that contradict the 2xx of GET."""
_NOT_ALLOWED: Final = frozenset((405, 501))
_UNKNOWN_METHOD: Final = "PROPFIND"  # A method of WebDAV that changes nothing.


class HeadDiffers(Failure, code="ST312", title="HEAD differs from GET", needs_repetition=True):
    """HEAD of a resource fails although GET succeeds."""


class UnsafeRead(Failure, code="ST313", title="Read changes the resource", needs_repetition=True):
    """Each GET of a resource changes it."""


def is_chosen(case: Case, response: Response) -> bool:
    """Whether the check sends a request for an interaction, or judges the response to its own request."""
    sent = response.request
    is_own = sent is not None and (sent.is_of_check or sent.is_for("safe_methods"))
    return is_own or is_one_of(case, _AGAIN_OF)


def safe_methods(context: CheckContext) -> Exchanging[Found]:
    """Fail if HEAD fails where GET succeeds before and after, or if each GET changes the resource that it reads.

    A server that does not support HEAD proves nothing. So the server must refuse an unknown method as unknown, and HEAD
    with another status. A resource may count its reads: a field is judged only if it contains the version of the resource, or if a
    described write is named after it (`POST /prescriptions/{id}/refills`), and only if each of three further reads adds the
    same number to it, with another request in between.
    """
    case, sent = context.case, context.response.request
    if sent is None or context.tools is None or context.response.redirects or case.is_of_other_method:
        return True
    if sent.is_of_check:
        return (yield from _head(context, sent, context.response)) if sent.method == "HEAD" else True
    if not is_success(context.response):
        return PASSED
    found: list[Failure | None] = []
    # GET is repeated first, because a HEAD may have the same effect.
    found.append((yield from _changed(context)))
    if is_one_of(case, _HEAD_OF) or sent.is_for("safe_methods"):
        head = _request(context, "HEAD")
        found.append((yield from _head(context, head, (yield head))))
    return [one for one in found if one is not None]


def _head(context: CheckContext, head: WireRequest, outcome: Outcome) -> Exchanging[Failure | None]:
    if not isinstance(outcome, Response) or outcome.status_code not in _NOT_THERE:
        return None
    get = yield _request(context, "GET")
    unknown = yield _request(context, _UNKNOWN_METHOD)
    if not is_success(get) or get.redirects:
        return None
    if not isinstance(unknown, Response) or unknown.status_code not in _NOT_ALLOWED:
        return None
    failure = HeadDiffers(f"{line_of(head)}\nReceived: {outcome.status_code}\nExpected: {get.status_code}, as for GET")
    failure.request = head
    return failure


def _changed(context: CheckContext) -> Exchanging[Failure | None]:
    """Return the failure if each of several reads adds the same number to a field."""
    told = resource_in(context.response) or {}
    values = {
        name: [value] for name, value in told.items() if type(value) is int and _is_changed_by_writes(context, name)
    }
    for number in range(_READS):
        again = resource_in((yield _request(context, "GET"))) or {} if values else {}
        kept = {name: [*before, again[name]] for name, before in values.items() if type(again.get(name)) is int}
        # A counter of all requests would skip a number.
        values = {name: known for name, known in kept.items() if known[-1] - known[-2] == known[1] - known[0] != 0}
        if values and number < _READS - 1:
            yield _request(context, "GET", below="/x-no-such-name")
    for name, known in values.items():
        line = line_of(context.response.request)
        return UnsafeRead(
            f"{line}, {len(known)} times\nReceived `{name}`: {', '.join(map(str, known))}", unique_key=name
        ).showing_with(context.exchanges)
    return None


def _is_changed_by_writes(context: CheckContext, name: str) -> bool:
    """Whether only writes should change a field: it is the version of the resource, or counts uses of a described `POST` below it."""
    operation, tools, request = context.case.operation, context.tools, context.response.request
    assert tools is not None
    assert request is not None
    path = request.path.decode("latin-1").removeprefix(tools.maker.base_path_of(operation))
    is_counted = is_described(operation, "POST", f"{path}/{name}")
    return is_counted or normalised(name) in VERSION_FIELDS


def _request(context: CheckContext, method: str, below: str = "") -> WireRequest:
    asked = replace(request_of_check(context, context.case), method=method)
    if below:
        path, mark, query = asked.target.partition(b"?")
        asked.target = path + below.encode() + mark + query
    return asked
