"""What the steps of a sequence did to resources."""

from checker.checks.context import JudgedInteraction
from checker.core.request import WireRequest
from checker.core.response import Response

SAFE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "QUERY"))
"""Methods that change nothing (RFC 9110, 9.2.1)."""
_LATER = 202
"""It was taken in, and is not done yet (RFC 9110, 15.3.3)."""


def status_of(step: JudgedInteraction) -> int:
    """Status of an answer; 0 when there is none."""
    return step.outcome.status_code if isinstance(step.outcome, Response) else 0


def is_done(step: JudgedInteraction) -> bool:
    """Whether a request did what it was for: it succeeded, and not only later."""
    status = status_of(step)
    return 200 <= status < 300 and status != _LATER


def line_of(request: WireRequest | None) -> str:
    """Method and target of a request, as it was sent."""
    return "" if request is None else f"{request.method} {request.target.decode('latin-1')}"


def cache_note(response: Response) -> str:
    """That a cache may have answered, on a line of its own; empty if nothing says so."""
    age = response.headers.get("age", ["0"])[0].strip()
    is_hit = any("hit" in value.lower() for value in response.headers.get("x-cache", ()))
    if not is_hit and (not age.isdecimal() or not int(age)):
        return ""
    return "\nThe answer may come from a cache: `Age` or `X-Cache` says so"
