"""Checks that requests cannot set read-only fields (OWASP API3:2023)."""

import json
from copy import copy
from itertools import islice
from typing import Final
from urllib.parse import quote

from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.location import is_readable, path_of, reading_at
from checker.checks.resources import WRAPPERS, Thing, is_equal, is_one_of, line_of, request_of_check, resource_in
from checker.core.blocks import excerpt
from checker.core.case import Case
from checker.core.failures import Failure, Severity
from checker.core.media_types import is_json
from checker.core.operation import Operation
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.core.send import Exchanging
from checker.schema.views import Outline, outline_of

_ONE_OF: Final = 16  # One in this many accepted writes is repeated with read-only fields.
_MOST: Final = 20  # Fields that are set together.
_STEP: Final = 1_009
"""Distance from the number that the server chose. A counter does not grow by this much between two requests."""
_LONGEST: Final = 40
_NAMES: Final = ("id", "uuid", "guid", "key", "slug", "name")


class MassAssignment(
    Failure, code="ST404", title="Read-only field can be set", severity=Severity.HIGH, needs_repetition=True
):
    """A read returns the value of a read-only field that a request sent."""


def takes_json(operation: Operation) -> bool:
    """Whether an operation takes a JSON body."""
    return any(is_json(body.media_type) for body in operation.bodies)


def may_assign(case: Case, response: Response) -> bool:
    """Whether the check sends a request for an interaction, or judges the response to its own request."""
    sent = response.request
    is_own = sent is not None and (sent.is_of_check or sent.is_for("mass_assignment"))
    return isinstance(case.body, dict) and (is_own or is_one_of(case, _ONE_OF))


def mass_assignment(context: CheckContext) -> Exchanging[Found]:
    """Fail if a write sets a field that the description marks as `readOnly`.

    An accepted write is repeated with other values of the read-only fields in its response: booleans, enumeration members,
    numbers, texts without a format. The check fails if both the response and a read of the resource contain one of these
    values. For an enumeration or a boolean, the response to a further write must contain the other value as well, because
    the server may have chosen the first one itself. A server may refuse the request or ignore the fields (OpenAPI 3.0,
    Schema Object).
    """
    case, sent = context.case, context.response.request
    shown = resource_in(context.response)
    if context.plan.schema is None or sent is None or shown is None or context.tools is None:
        return True
    described = _outline(context)
    hidden = [name for name in islice(shown, _MOST) if described.property(name).first("readOnly") is True]
    given = case.body if isinstance(case.body, dict) else {}
    if sent.is_of_check:
        body = json_object(sent)
        set_here = (name for name in hidden if name in body and not is_equal(body[name], given.get(name)))
        return (yield from _judged(context, context.response, {name: body[name] for name in set_here}))
    other = {name: value for name in hidden if (value := _other(described.property(name), shown[name])) is not None}
    if not other or not isinstance(case.body, dict):
        return PASSED
    answer = yield _written(context, given | other)
    return (yield from _judged(context, answer, other))


def _judged(context: CheckContext, answer: object, values: Thing) -> Exchanging[Found]:
    """Return the failure if a response and a read of the resource contain one of the values."""
    read = resource_in(answer) or {}
    assigned = {name: value for name, value in values.items() if is_equal(read.get(name), value)}
    if not assigned or not isinstance(answer, Response):
        target = None
    else:
        request = answer.request
        assert request is not None
        own = request.target.partition(b"?")[0].decode("latin-1")
        names = [str(read[name]) for name in _NAMES if isinstance(read.get(name), str | int)]
        located = [path_of(request, one) for one in answer.headers.get("location", ())]
        members = [f"{own.rstrip('/')}/{quote(name, safe='')}" for name in names]
        places = [*filter(None, located), *(members if context.case.operation.method == "POST" else [own])]
        target = next((target for target in places if is_readable(context, target)), None)
    if target is None or not isinstance(answer, Response) or answer.request is None:
        return PASSED
    stored = resource_in((yield reading_at(context, target))) or {}
    for name, value in assigned.items():
        if is_equal(stored.get(name), value):
            # The server itself may have chosen one of few values.
            described = _outline(context).property(name)
            if not (isinstance(value, bool) or described.first("enum")):
                is_chosen = True
            else:
                other = _other(described, value)
                shown = resource_in((yield _written(context, {**json_object(answer.request), name: other}))) or {}
                is_chosen = name in shown and is_equal(shown[name], other)
            if is_chosen:
                message = f"Sent with: {line_of(answer.request)}\nSent `{name}`: {excerpt(value)}"
                failure = MassAssignment(f"{message}\nRead with: GET {target}", unique_key=name)
                failure.request = answer.request
                return failure
    return PASSED


def _written(context: CheckContext, body: Thing) -> WireRequest:
    asked = copy(context.case)
    asked.body = body
    return request_of_check(context, asked)


def _outline(context: CheckContext) -> Outline:
    """Return the outline of the resource in the response."""
    assert context.plan.schema is not None
    found = outline_of(context.plan.schema)
    inner = next((name for name in WRAPPERS if name in found.names), "")
    return found.property(inner) if inner and found.property(inner).names else found


def _other(described: Outline, value: object) -> object:
    """Return another value for a field that the server set; None if its possible values are unknown."""
    listed = described.first("enum")
    if isinstance(listed, list):
        return next((one for one in listed if type(one) is type(value) and one != value), None)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        most = described.first("maximum")
        return None if isinstance(most, int | float) and value + _STEP > most else value + _STEP
    is_free = isinstance(value, str) and not (described.first("format") or described.first("pattern"))
    # Servers append numbers to names that are in use.
    return f"{value}-other" if is_free and len(f"{value}") <= _LONGEST else None


def json_object(request: WireRequest) -> Thing:
    """Return the JSON object in the body of a request; an empty one if there is none."""
    try:
        found = json.loads(request.body or b"")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
