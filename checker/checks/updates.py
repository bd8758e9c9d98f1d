"""Checks that an update has the same effect each time, replaces the whole resource, and respects the version that it names."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Final

from msgspec.structs import replace as replace_context

from checker.checks.authentication import other_things
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.deletion import as_get
from checker.checks.resources import (
    Sent,
    Thing,
    is_bound,
    is_equal,
    is_one_of,
    is_success,
    line_of,
    request_of_check,
    resource_in,
)
from checker.checks.writes import LATE_S, last_shown, read_your_writes
from checker.core.blocks import excerpt
from checker.core.case import Case
from checker.core.contract import Outcome
from checker.core.failures import Failure, Severity
from checker.core.media_types import is_json
from checker.core.request import CONDITIONS, WireRequest
from checker.core.response import Response
from checker.core.scalars import is_number
from checker.core.send import Exchanging
from checker.schema.views import outline_of

_ONE_OF: Final = 8  # One in this many accepted updates of a resource of its sequence is repeated.
_NOT_MODIFIED: Final = "If-None-Match"
_NO_VERSION: Final = '"no-such-version"'


class RepeatedUpdate(Failure, code="ST314", title="PUT adds in place of replacing", needs_repetition=True):
    """A second equal PUT changes the resource again (RFC 9110, 9.2.2)."""


class PartialReplacement(Failure, code="ST315", title="PUT keeps what it left out", needs_repetition=True):
    """The response to a PUT shows the resource without a field, but a read returns the old value (RFC 9110, 9.3.4)."""


class EmptiedField(
    Failure, code="ST319", title="PATCH empties what it does not name", severity=Severity.HIGH, needs_repetition=True
):
    """A PATCH with the stored value of one field sets another number to zero (RFC 5789, 2; RFC 7396, 1)."""


class IgnoredCondition(
    Failure, code="ST316", title="Condition is ignored", severity=Severity.HIGH, needs_repetition=True
):
    """The server ignores the condition of a request that refers to an old version (RFC 9110, 13.1)."""


def is_chosen(case: Case, response: Response) -> bool:
    """Whether the check sends requests for an interaction."""
    sent = response.request
    if sent is None or sent.is_of_check or not is_bound(case, response):
        return False
    return sent.is_for("update_conformance") or is_one_of(case, _ONE_OF)


def update_conformance(context: CheckContext) -> Exchanging[Found]:
    """Fail if an update is not stored, a second equal PUT adds to a list, a PUT keeps an omitted field, a PATCH empties a field, or a condition is ignored.

    * An update is not stored if two reads, one of them later, fail `read_your_writes`.
    * The list has to contain its items, followed by a second copy of the sent items.
    * The response to the PUT has to show the resource without the field, and a read after it the old value.
    * The emptied field has to be a number. A further PATCH restores it, which shows that the server accepts it. A PATCH
      with the stored values of other fields, none of which is a state or a switch, then has to empty it again.
    * An update with the old strong entity tag in `If-Match` has to be accepted and to change the tag. An update with an
      unknown tag has to be refused with 412. This proves that the server supports conditions. A `GET` with the old tag in
      `If-None-Match` has to return 304.
    """
    case = copy(context.case)
    case.headers = {name: value for name, value in case.headers.items() if name.lower() not in CONDITIONS}
    update, read = request_of_check(context, case), request_of_check(context, as_get(case))
    first = yield read
    again = yield replace(update)
    second = yield replace(read)
    if not (is_success(first) and is_success(again) and is_success(second)):
        return PASSED
    steps = (Sent(as_get(case), read, first), Sent(case, update, again))
    repeated = context.exchanges[:]
    lost = yield from _not_stored(context, steps, second)
    found: list[Failure] = [lost.showing_with(repeated)] if isinstance(lost, Failure) else []
    old, new = (one.headers.get("etag", [""])[0] for one in (first, second))
    if old != new and old.startswith('"') and new.startswith('"'):
        found += yield from _stale(context, read, update, old, new)
    if case.operation.method == "PUT" and isinstance(case.body, dict) and is_json(case.media_type or ""):
        before, after = resource_in(first) or {}, resource_in(second) or {}
        for name, value in case.body.items():
            # A service that does not validate may have stored anything there.
            held = before.get(name)
            if (
                isinstance(value, list)
                and isinstance(held, list)
                and value
                and held
                and after.get(name) == held + value
            ):
                text = f"{line_of(update)}, twice\nSent `{name}`: {excerpt(value)}\nRead afterwards: {excerpt(after[name])}"
                failure = RepeatedUpdate(text, unique_key=name).showing_with(repeated)
                yield replace(update)
                # No other request can have sent both lists by chance. The list may be full when the failure is investigated.
                third = resource_in((yield replace(read))) or {}
                failure.is_repeated = third.get(name) == [*after[name], *value]
                found.append(failure)
        kept = [name for name, value in case.body.items() if is_equal(after.get(name), value)]
        found += yield from _left_out(context, case, kept)
    elif case.method == "PATCH" and isinstance(case.body, dict) and is_json(case.media_type or ""):
        found += yield from _emptied(context, case, resource_in(second) or {})
    return found


def _not_stored(context: CheckContext, steps: Sequence[Sent], shown: Response) -> Exchanging[Found]:
    """Return the failure if a read returns another value than an update sent. `steps`: a read before the update, and the update."""
    read, sent = steps[0], context.response.request
    judged = replace_context(context, case=read.case, response=shown, sequence=[*context.sequence, *steps])
    found = yield from read_your_writes(judged)
    if not isinstance(found, Failure) or sent is None or not sent.is_confirmation:
        return found
    # Some services show a write late. Only the confirmation waits: otherwise a lane would be blocked for each update of a
    # known failure, and for each candidate of a shrink.
    assert read.request is not None
    late = yield replace(read.request, delay_s=LATE_S)
    return (yield from read_your_writes(replace_context(judged, response=late))) if is_success(late) else PASSED


def _left_out(context: CheckContext, case: Case, names: list[str]) -> Exchanging[list[Failure]]:
    """Return the failure if a PUT without a stored field does not remove the field, although its response says so."""
    tools = context.tools
    assert tools is not None
    assert isinstance(case.body, dict)
    for name in names:
        shorter = copy(case)
        shorter.body = {key: value for key, value in case.body.items() if key != name}
        if tools.judge_request(case.operation, request_of_check(context, shorter)).outcome is not Outcome.VALID:
            continue
        # If a read returns another value of this request, it is not too early.
        other = next(other_things(replace_context(context, case=shorter), texts_only=True), None)
        request = None if other is None else request_of_check(context, other)
        if other is None or request is None:
            continue
        echo = resource_in((yield request))
        read = resource_in((yield request_of_check(context, as_get(case)))) or {}
        # Later steps are judged by the update of the sequence, so it is sent again.
        yield request_of_check(context, case)
        if echo is None or name in echo or not echo.keys() >= shorter.body.keys():
            continue
        is_new = any(value != case.body[key] and is_equal(read.get(key), value) for key, value in other.body.items())
        if is_new and is_equal(read.get(name), case.body[name]):
            text = f"{line_of(request)} without `{name}`, which the response does not show\nRead afterwards: {excerpt(read[name])}"
            # The last request has restored the resource.
            return [PartialReplacement(text, unique_key=name).showing_with(context.exchanges[-3:-1])]
    return []


def _emptied(context: CheckContext, case: Case, shown: Thing) -> Exchanging[list[Failure]]:
    """Return the failure if a PATCH that changes nothing empties a number of the resource that it does not name.

    `shown`: the resource after the update.
    """
    tools = context.tools
    assert tools is not None
    before = last_shown(context.sequence, context.case) or {}
    numbers = [name for name, value in before.items() if is_number(value) and value and name not in case.body]
    empty = [name for name, value in shown.items() if value is None or (is_number(value) and not value)]
    emptied = [name for name in numbers if name in empty]
    bodies = [one.schema for one in case.operation.bodies if one.media_type == case.media_type]
    if not emptied or len(bodies) != 1:
        return []
    # A state, or the type of a resource, may decide its other fields.
    requested = outline_of(bodies[0])
    plain = {
        name: value
        for name, value in case.body.items()
        if is_number(value) or isinstance(value, str)
        if is_equal(shown.get(name), value) and requested.property(name).first("enum", "const") is None
    }
    for name in emptied:
        restoring, repeating = copy(case), copy(case)
        restoring.body, repeating.body = {name: before[name]}, plain
        requests = [request_of_check(context, one) for one in (restoring, repeating)]
        if any(tools.judge_request(case.operation, one).outcome is not Outcome.VALID for one in requests) or not plain:
            continue
        reads = []
        for request in requests:
            if not is_success((yield request)):
                return []
            reads.append(resource_in((yield request_of_check(context, as_get(case)))) or {})
        restored, again = reads
        is_stored = all(is_equal(one.get(key), value) for one in reads for key, value in plain.items())
        if is_stored and is_equal(restored.get(name), before[name]) and is_equal(again.get(name), shown[name]):
            text = f"{line_of(requests[1])} with the stored values of {', '.join(f'`{one}`' for one in plain)}\nRead before: `{name}`: {excerpt(before[name])}\nRead afterwards: {excerpt(again[name])}"
            return [EmptiedField(text, unique_key=name).showing_with(context.exchanges[-4:])]
    return []


def _stale(
    context: CheckContext, read: WireRequest, update: WireRequest, old: str, new: str
) -> Exchanging[list[Failure]]:
    """Return the failures if requests with a condition on an old version are accepted, although the server supports conditions."""
    found: list[Failure] = []
    told = f"Entity tag before an update: {old}\nEntity tag after it: {new}\n"
    unchanged = yield _with(read, _NOT_MODIFIED, old)
    again = yield replace(read)
    is_new = isinstance(again, Response) and again.headers.get("etag") == [new]
    if is_new and isinstance(unchanged, Response) and unchanged.status_code == 304:
        text = f"{told}{line_of(read)} with If-None-Match: {old}\nReceived: 304\nExpected: 200, with the new version"
        failure = IgnoredCondition(text, unique_key=_NOT_MODIFIED).showing_with(context.exchanges[:-1])
        failure.operation = f"GET {context.case.operation.path}"
        found.append(failure)
    written = yield _with(update, "If-Match", old)
    if not is_new or not is_success(written):
        return found
    changed, unknown = (yield replace(read)), (yield _with(update, "If-Match", _NO_VERSION))
    is_changed = isinstance(changed, Response) and changed.headers.get("etag") not in (None, [new])
    if is_changed and isinstance(unknown, Response) and unknown.status_code == 412:
        text = f"{told}{line_of(update)} with If-Match: {old}\nReceived: {written.status_code}\nExpected: 412, as for an unknown tag"
        found.append(IgnoredCondition(text, unique_key="If-Match").showing_with(context.exchanges))
    return found


def _with(request: WireRequest, name: str, value: str) -> WireRequest:
    return replace(request, headers=[*request.headers, (name.encode(), value.encode("latin-1", "replace"))])
