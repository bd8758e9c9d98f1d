"""The effects of the steps of a sequence on resources."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeGuard
from zlib import crc32

from msgspec import Struct

from checker.checks.context import CheckContext, JudgedInteraction
from checker.core.case import Case
from checker.core.operation import Operation, Place
from checker.core.request import Location, WireRequest
from checker.core.resource_names import singular
from checker.core.resources import ACCEPTED, SAFE, named_values, sent_at
from checker.core.response import Outcome, Response


class Sent(Struct, frozen=True):
    """A step that a check has sent again, or that user code has sent."""

    case: Case
    request: WireRequest | None
    outcome: Outcome


def number_of(case: Case) -> int:
    """Return a number below 2**32 by which a check selects cases. The same case has the same number in each run."""
    return crc32(case.id.encode())


def is_one_of(case: Case, count: int) -> bool:
    """Whether a case is the one of `count` for which a check sends requests."""
    return number_of(case) % count == 0


def request_of_check(context: CheckContext, case: Case) -> WireRequest:
    """Return the request of a case, marked as sent by the check. Raises `CheckerError`."""
    return replace(context.make(case), is_of_check=True)


def is_success(outcome: object) -> TypeGuard[Response]:
    """Whether an outcome is a response with 2xx."""
    return isinstance(outcome, Response) and outcome.status_code // 100 == 2


def status_of(step: JudgedInteraction) -> int:
    """Return the status of a step, from the body if the API reports the status there; 0 without a response."""
    outcome = step.outcome
    return step.case.operation.status_of(outcome) if isinstance(outcome, Response) else 0


def method_of(case: Case) -> str:
    """Return the effect of a case on its resource, as an HTTP method."""
    return case.other_method or case.operation.resource_method


def is_done(step: JudgedInteraction) -> bool:
    """Whether a request succeeded and is completed."""
    status = status_of(step)
    return 200 <= status < 300 and status != ACCEPTED


def may_change(step: JudgedInteraction) -> bool:
    """Whether a step is a write that was not refused."""
    return method_of(step.case) not in SAFE and not 400 <= status_of(step) < 500


def body_of(outcome: object) -> Any:
    """Return the JSON value of a response; None if there is none."""
    try:
        return outcome.json() if isinstance(outcome, Response) else None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        return None


def served_body(outcome: object) -> Any:
    """Return the JSON value of a 2xx response that was not redirected; None if there is none."""
    is_served = isinstance(outcome, Response) and 200 <= outcome.status_code < 300 and not outcome.redirects
    return body_of(outcome) if is_served else None


WRAPPERS: Final = ("data", "result", "item")  # Names of the property around a resource in a body.
Thing = Mapping[str, Any]


def resource_in(outcome: object) -> Thing | None:
    """Return the object in a body: the body itself, or the one in its envelope; None if there is none."""
    body = served_body(outcome)
    inner = [body[name] for name in WRAPPERS if isinstance(body, dict) and isinstance(body.get(name), dict)]
    found = inner[0] if len(inner) == 1 else body
    return found if isinstance(found, dict) else None


def is_equal(one: object, other: object) -> bool:
    """Whether two JSON values have the same type and are equal."""
    return type(one) is type(other) and one == other


def line_of(request: WireRequest | None) -> str:
    """Return method and target of a request as sent."""
    return "" if request is None else f"{request.method} {request.target.decode('latin-1')}"


def told(case: Case, request: WireRequest | None) -> str:
    """Return a request as text for messages: method and target, or the operation if all requests have the same target."""
    operation = case.operation
    return line_of(request) if not operation.has_status_in_body else str(operation.label)


def cache_note(response: Response) -> str:
    """Return a line about a cache that may have responded; empty if there is no sign of a cache."""
    age = response.headers.get("age", ["0"])[0].strip()
    is_hit = any("hit" in value.lower() for value in response.headers.get("x-cache", ()))
    if not is_hit and (not age.isdecimal() or not int(age)):
        return ""
    return "\nThe response may come from a cache, according to `Age` or `X-Cache`"


_OF_ONE_REQUEST: Final = re.compile(
    r"^(?:accept|content|if|prefer|range|user-agent|origin|date)\b"
    r"|request|correlation|trac|span|idempoten|nonce|transaction|timestamp|signature|digest|etag|version",
    re.IGNORECASE,
)
"""Names of headers that differ between requests or describe the wanted response, so they do not select a part of the API."""


def scope_places(one: Operation, other: Operation) -> Iterator[Place]:
    """Yield the places of parameters that both operations have and that may choose a tenant: headers, and query parameters that both require."""
    theirs = {(known.location, known.name.lower()): known for known in other.parameters}
    for mine in one.parameters:
        known = theirs.get((mine.location, mine.name.lower()))
        is_header = mine.location is Location.HEADER and not _OF_ONE_REQUEST.search(mine.name)
        if known is not None and (is_header or (mine.location is Location.QUERY and mine.required and known.required)):
            yield mine.location, mine.name


def is_elsewhere(case: Case, request: WireRequest | None, other: Case, other_request: WireRequest | None) -> bool:
    """Whether two requests select different parts of the API, so that resources of one need not exist for the other."""
    return any(
        _said(case, request, place) != _said(other, other_request, place)
        for place in scope_places(case.operation, other.operation)
    )


def _said(case: Case, request: WireRequest | None, place: Place) -> object:
    """Return the value that was sent at a place. The user's headers for all requests are not part of the case."""
    location, name = place
    if location is not Location.HEADER or request is None:
        return sent_at(case, place)
    wanted = name.lower().encode("latin-1", "replace")
    return next((value for known, value in request.headers if known.lower() == wanted), None)


def concrete_path(case: Case) -> tuple[str, ...]:
    """Return the path segments of a case: values in place of variables, other segments as singular words after a slash.

    Empty if a value is missing, so that the case has no resource in common with others.
    """
    found = []
    values = named_values(case)
    for segment in case.operation.resource_path.split("/"):
        if "{" not in segment:
            found.append(f"/{singular(segment)}")
            continue
        for name, value in values.items():
            segment = segment.replace("{" + name + "}", f"{value}")
        if case.operation.resource_places and "{" in segment:
            return ()
        found.append(segment)
    return tuple(segment for segment in found if segment != "/")


def concerns(case: Case, other: Case) -> bool:
    """Whether the resource of `case` is that of `other`, or is below it.

    Compares the values in their paths: `/users/5/orders` is below `/users/5`; `/user/5` and `/users/5:archive` are the same.
    """
    return is_within(concrete_path(case), concrete_path(other))


def is_same(case: Case, other: Case) -> bool:
    """Whether two cases are about the same resource."""
    return concrete_path(case) == concrete_path(other)


def is_valid(case: Case) -> bool:
    """Whether a generated case should be valid."""
    return case.meta is not None and not case.meta.mode.is_negative


def is_bound(case: Case, response: Response) -> bool:
    """Whether a case uses a value of an earlier response."""
    return bool(case.meta is not None and case.meta.bindings)


def has_read(operation: Operation) -> bool:
    """Whether a GET of an operation's path is described."""
    return is_described(operation, "GET", operation.path)


def is_described(operation: Operation, method: str, path: str) -> bool:
    """Whether the description declares a method for a path as sent, without base path and query."""
    return any(method in methods for methods in operation.methods_at(path))


def is_of_one_caller(context: CheckContext, *steps: JudgedInteraction) -> bool:
    """Whether the requests of steps come from the same caller and tenant as the judged request."""
    case, request = context.case, context.response.request
    return all(
        step.case.is_anonymous is case.is_anonymous and not is_elsewhere(case, request, step.case, step.request)
        for step in steps
    )


def is_within(path: Sequence[str], around: Sequence[str]) -> bool:
    """Whether one concrete path begins with the other. Text after a colon is an action and no part of the name."""
    pairs = zip(path, around, strict=False)
    return 0 < len(around) <= len(path) and all(one == two or one.partition(":")[0] == two for one, two in pairs)
