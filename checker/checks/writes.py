"""Checks that a read returns what was written: accepted values are stored, refused values are not."""

import re
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice
from typing import Final

from checker.checks.context import PASSED, CheckContext, Found, JudgedInteraction
from checker.checks.deletion import answers_any_name, as_get, invented
from checker.checks.resource_availability import creates_member, is_named_by
from checker.checks.resources import (
    WRAPPERS,
    Thing,
    is_done,
    is_equal,
    is_of_one_caller,
    is_same,
    is_valid,
    line_of,
    may_change,
    method_of,
    resource_in,
    status_of,
)
from checker.core.blocks import excerpt
from checker.core.case import Case
from checker.core.failures import Failure, Severity
from checker.core.media_types import is_json
from checker.core.resource_names import normalised
from checker.core.response import Response
from checker.core.send import Exchanging
from checker.schema.views import Outline, outline_of

_UPDATES: Final = frozenset(("PUT", "PATCH"))
_MOST: Final = 200  # Fields of a body that are compared.
LATE_S: Final = 1.0  # Seconds after which a read has to show the old value once more: some services show a write late.
_OWN: Final = frozenset(
    ["id", "uuid", "guid", "slug", "version", "revision", "etag", "password", "secret", "token", "pin",
     "cvv", "key", "hash"]
)  # fmt: skip
"""Normalised names of fields that servers set themselves, or store in another form."""
_FLAGS: Final = "active isactive enabled isenabled verified isverified published ispublished approved isadmin default isdefault primary isprimary"
_DECIDED: Final = frozenset(f"status state phase stage role owner admin quantity {_FLAGS}".split())
"""Normalised names of fields whose first value servers often choose by their own rules."""
_DRIFT: Final = 1_000
"""Largest change of a number between write and read that is not an error, such as milliseconds of a time to live."""
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*", re.ASCII)
_TELLING: Final = 3  # Length from which a text is not equal to another by chance.


class LostWrite(
    Failure, code="ST303", title="Written value is not stored", severity=Severity.HIGH, needs_repetition=True
):
    """A read returns another value than an accepted write sent."""


class RefusedWriteStored(
    Failure, code="ST308", title="Refused write is stored", severity=Severity.HIGH, needs_repetition=True
):
    """A read returns a value of a write that was refused."""


def read_your_writes(context: CheckContext) -> Exchanging[Found]:
    """Fail on a read that shows another value than the accepted write before it.

    The write is a valid JSON object by PUT or PATCH to the same path, or by the POST that created the resource; there
    is no other accepted write between them. The check compares fields that are described for the request and the response, with
    the same type: booleans, integers, members of an enumeration, or texts of ASCII letters and digits without regard to case.
    A field is lost if

    * the response to the write showed the value that was sent, or
    * the description distinguishes written from read fields (some response fields are `readOnly` or absent from the request),
      and the response to the write lacks the field, an update left its old value, or a creation replaced a value that
      servers rarely choose.

    A number is lost if its old value is back, or if it differs much from the number in the response to the write. A text with
    other characters or a list is lost if its old value is back. To rule out a mock, another field of this write, or of the
    earlier state, must be stored, and a name that never existed must not be found.
    """
    case, steps = context.case, context.sequence
    read, places = resource_in(context.response), range(len(steps) - 1, -1, -1)
    place = next((at for at in places if may_change(steps[at])), None)
    if context.plan.schema is None or read is None or place is None or case.query or not is_valid(case):
        return True
    write = steps[place]
    sent, echo = write.case.body, resource_in(write.outcome) or {}
    is_object = isinstance(sent, dict) and is_json(write.case.media_type or "")
    if not (is_object and is_done(write) and is_valid(write.case) and _writes(write, case)):
        return PASSED
    described, requested = _outlines(context, write.case, sent)
    before = last_shown(steps[:place], case) or {}
    known = [*sent.items(), *((name, value) for name, value in before.items() if normalised(name) not in _OWN)]
    is_stored = any(_is_telling(value) and is_equal(read.get(name), value) for name, value in known)
    if requested is None or not is_stored or not is_of_one_caller(context, write):
        return PASSED
    is_marked = any(described.property(name).first("readOnly") is True for name in described.names)
    is_apart = is_marked or not set(described.names) <= set(requested.names)
    for name in _lost(sent, (read, before, echo), requested, described):
        value, shown = sent[name], echo.get(name)
        is_kept = name in before and before[name] == read[name]
        is_update = method_of(write.case) in _UPDATES
        # States, counters and times to live change by themselves, so only the return of an old value proves anything.
        may_move = normalised(name) in _DECIDED or (type(value) is int and abs(value - read[name]) <= _DRIFT)
        is_ignored = is_kept if is_update else not may_move
        is_shown = is_equal(shown, value) or (
            is_apart and (name not in echo or is_ignored) and (is_kept or type(value) is not int)
        )
        if is_shown and (is_kept or not may_move):
            if (yield from answers_any_name(context, case)):
                return PASSED
            return _failure(context, write, name)
    return PASSED


def refused_write(context: CheckContext) -> Exchanging[Found]:
    """Fail if a resource contains a value from an update that was refused with 4xx.

    An earlier step of the sequence returned the resource with another value, and there was no write in between. The value is
    distinctive: a number above 1, or a text of at least three characters. The check reads the resource again. As a control,
    the same update with another value must be refused and stored as well, because a service that always returns one constant
    may return the sent value by chance.
    """
    case, before = context.case, last_shown(context.sequence, context.case)
    if before is None or not isinstance(case.body, dict) or case.other_method is not None or case.query:
        return True
    told = {name: value for name, value in islice(case.body.items(), _MOST) if name in before and _is_telling(value)}
    # A former value may be back because another write of the sequence was not stored.
    shown = [resource_in(step.outcome) or {} for step in context.sequence] if told else []
    told = {name: value for name, value in told.items() if not any(is_equal(one.get(name), value) for one in shown)}
    if not told:
        return PASSED
    read = resource_in((yield context.make(as_get(case)))) or {}
    for name, value in told.items():
        other = copy(case)
        other.body = case.body | {name: invented(value) if isinstance(value, str) else value + 1}
        if not is_equal(read.get(name), value) or is_equal(other.body[name], value):
            continue
        again = yield context.make(other)
        if isinstance(again, Response) and 400 <= again.status_code < 500:
            follows = resource_in((yield context.make(as_get(case)))) or {}
            if is_equal(follows.get(name), other.body[name]):
                text = f"Value of `{name}` before: {excerpt(before[name])}\nSent, refused, and read afterwards: {excerpt(value)}"
                return RefusedWriteStored(text, unique_key=name)
    return PASSED


def _failure(context: CheckContext, write: JudgedInteraction, name: str) -> Failure:
    assert context.response.request is not None
    read = resource_in(context.response) or {}
    failure = LostWrite(
        f"Written with: {line_of(write.request)} ({status_of(write)})\nSent `{name}`: {excerpt(write.case.body[name])}\n"
        f"Read with: {line_of(context.response.request)}\nReceived `{name}`: {excerpt(read[name])}",
        unique_key=name,
    )
    failure.operation = str(write.case.operation.label)
    failure.second_look_s = LATE_S
    return failure


def _writes(step: JudgedInteraction, case: Case) -> bool:
    """Whether a step created or updated the resource of a case."""
    is_update = method_of(step.case) in _UPDATES and is_same(step.case, case)
    return is_update or (creates_member(step, case) and is_named_by(step, case))


def last_shown(steps: Sequence[JudgedInteraction], case: Case) -> Thing | None:
    """Return the resource in the last step that read or wrote it; None if there is none, or if a write may have changed it since."""
    for step in reversed(steps):
        is_read = method_of(step.case) == "GET" and is_same(step.case, case) and not step.case.query
        shown = resource_in(step.outcome) if is_read or _writes(step, case) else None
        if shown is not None or may_change(step):
            return shown
    return None


def _outlines(context: CheckContext, write: Case, sent: Thing) -> tuple[Outline, Outline | None]:
    """Return the outlines of the resource for reading and for writing; None for one that is not described."""
    assert context.plan.schema is not None
    described = outline_of(context.plan.schema)
    if not set(described.names) & sent.keys():
        described = next((described.property(name) for name in WRAPPERS if name in described.names), described)
    bodies = [one for one in write.operation.bodies if one.media_type == write.media_type]
    return described, outline_of(bodies[0].schema) if len(bodies) == 1 else None


def _lost(sent: Thing, things: tuple[Thing, Thing, Thing], requested: Outline, described: Outline) -> Iterator[str]:
    """Yield the fields whose value differs from the sent one. `things`: the resource as read, before the write, and in the response to the write."""
    read, before, echo = things
    for name, value in islice(sent.items(), _MOST):
        if name not in read or normalised(name) in _OWN or not {name} <= set(described.names) & set(requested.names):
            continue
        own, theirs = requested.property(name), described.property(name)
        is_hidden = own.first("readOnly") is True or theirs.first("writeOnly") is True
        # If a service changes a text, it changes the text before its response to the write.
        is_shown = is_equal(echo.get(name), value)
        is_back = is_shown and is_equal(before.get(name), read[name]) and _are_apart(value, read[name])
        is_listed = isinstance(theirs.first("enum"), list)
        if not is_hidden and (is_back or _is_other(value, read[name], is_listed=is_listed)):
            yield name


def _is_other(value: object, shown: object, *, is_listed: bool) -> bool:
    """Whether two values of one type differ in every usual form of storing them."""
    if not isinstance(value, str) or not isinstance(shown, str):
        return type(value) is type(shown) and isinstance(value, int) and value != shown
    mine, theirs = value.casefold(), shown.casefold()
    is_plain = is_listed or all(_PLAIN.fullmatch(one) for one in (value, shown))
    return is_plain and mine != theirs and (is_listed or not (mine in theirs or theirs in mine))


def _are_apart(value: object, shown: object) -> bool:
    """Whether a text or a list is not a stored form of another one: services sort lists and omit equal items."""
    if isinstance(value, list) and isinstance(shown, list):
        return {repr(one) for one in value} != {repr(one) for one in shown}
    return isinstance(shown, str) and value != shown


def _is_telling(value: object) -> bool:
    """Whether a value is unlikely to equal another by chance."""
    return len(value) >= _TELLING if isinstance(value, str) else type(value) is int and value > 1
