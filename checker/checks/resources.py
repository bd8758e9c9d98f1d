"""The effects of the steps of a sequence on resources."""

from checker.checks.context import JudgedInteraction
from checker.core.case import Case
from checker.core.request import WireRequest
from checker.core.resources import status_of as answered
from checker.core.response import Response

_LATER = 202
"""It was taken in, and is not done yet (RFC 9110, 15.3.3)."""


def status_of(step: JudgedInteraction) -> int:
    """Status of an answer, as its body says it where that counts; 0 when there is none."""
    outcome = step.outcome
    return answered(step.case.operation, outcome) if isinstance(outcome, Response) else 0


def method_of(case: Case) -> str:
    """Return the effect of a case on its resource, as a method."""
    return case.other_method or case.operation.resource_method


def is_done(step: JudgedInteraction) -> bool:
    """Whether a request did what it was for: it succeeded, and not only later."""
    status = status_of(step)
    return 200 <= status < 300 and status != _LATER


def line_of(request: WireRequest | None) -> str:
    """Method and target of a request, as it was sent."""
    return "" if request is None else f"{request.method} {request.target.decode('latin-1')}"


def told(case: Case, request: WireRequest | None) -> str:
    """A request for people: as it was sent, or its operation where all requests look alike and bodies tell them apart."""
    operation = case.operation
    return line_of(request) if operation.resource_status is None else str(operation.label)


def cache_note(response: Response) -> str:
    """Return a line about a cache that may have answered; empty if there is no sign of one."""
    age = response.headers.get("age", ["0"])[0].strip()
    is_hit = any("hit" in value.lower() for value in response.headers.get("x-cache", ()))
    if not is_hit and (not age.isdecimal() or not int(age)):
        return ""
    return "\nThe answer may come from a cache: `Age` or `X-Cache` says so"
