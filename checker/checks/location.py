"""Checks that the `Location` of a created resource leads to it."""

from copy import copy
from dataclasses import replace
from typing import Final
from urllib.parse import urljoin, urlsplit

from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.resources import is_bound, is_described
from checker.core.case import NOT_SET, Case
from checker.core.failures import Failure
from checker.core.phases import EXPLORATION
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Response
from checker.core.send import Exchanging

_GONE: Final = (404, 410)
_SETTLE_S: Final = 0.1  # Seconds until a server shows what it has accepted.


class DanglingLocation(Failure, code="ST309", title="Location leads nowhere", needs_repetition=True):
    """The `Location` of a 201 response is not found."""


def has_location(case: Case, response: Response) -> bool:
    """Whether a response has a `Location`."""
    return "location" in response.headers


def location_conformance(context: CheckContext) -> Exchanging[Found]:
    """Fail if a `GET` of the `Location` of a 201 returns 404 or 410, and once more when the failure is investigated.

    The `Location` of a 202 is ignored, because the resource may not exist yet. A `Location` on another host is not followed.
    A `Location` that a described `GET` reads is not requested if its identifier is in the body, because sequences read such
    a resource and `ensure_resource_availability` judges it. At the end of a sequence, `fuzz` requests such a `Location`
    at once, because some states occur only once or twice, and the sequence is rarely extended with the read.
    """
    response, request, tools = context.response, context.response.request, context.tools
    given = response.headers.get("location", [])
    # Another check may have triggered this call for a response without a `Location`.
    target = path_of(request, given[0]) if given and request is not None and not response.redirects else None
    if target is None or tools is None or request is None:
        return True
    name = target.partition("?")[0].rstrip("/").rpartition("/")[2].encode("latin-1", "replace")
    is_seldom = context.phase == EXPLORATION.name and is_bound(context.case, response)
    is_continued = not (is_seldom or request.is_for("location_conformance"))
    if is_continued and is_readable(context, target) and name in response.content:
        return PASSED
    again = replace(reading_at(context, target), delay_s=_SETTLE_S)
    # The second read would block a lane for each `Location` of a known failure, so that it belongs to the investigation.
    for read in (replace(again, delay_s=0.0), *((again,) if request.is_confirmation else ())):
        answer = yield read
        if not isinstance(answer, Response) or answer.status_code not in _GONE:
            return PASSED
        message = f"Location: {given[0]}\nReceived: {answer.status_code} for `GET {target}`"
    failure = DanglingLocation(message, unique_key=str(response.status_code))
    failure.shown_by = None if request.is_confirmation else (again, answer)
    # No other request knows the name yet. Many actions are accepted once: a return's order can only be returned once.
    parts = _path_in(context, target).split("/")
    above = ("/".join(parts[:size]) or "/" for size in range(1, len(parts) + 1))
    may_be_removed = any(is_described(context.case.operation, "DELETE", path) for path in above)
    failure.is_repeated = is_readable(context, target) and not may_be_removed
    return failure


def is_readable(context: CheckContext, target: str) -> bool:
    """Whether a described GET reads the resource at a target."""
    return is_described(context.case.operation, "GET", _path_in(context, target))


def _path_in(context: CheckContext, target: str) -> str:
    """Return the path of a target relative to the base path of the operation."""
    operation, tools = context.case.operation, context.tools
    return target.partition("?")[0].removeprefix("" if tools is None else tools.maker.base_path_of(operation))


def reading_at(context: CheckContext, target: str) -> WireRequest:
    """Return a GET of a target with the credentials of the case."""
    asked = copy(context.case)
    asked.method, asked.body, asked.media_type, asked.query = "GET", NOT_SET, None, {}
    made = context.make(asked)
    where = target.encode("latin-1", "replace")
    # Credentials may be in the query.
    if own := made.target.partition(b"?")[2]:
        where += (b"&" if b"?" in where else b"?") + own
    return replace(made, target=where)


def path_of(request: WireRequest, location: str) -> str | None:
    """Return path and query of a `Location`; None if it is malformed or on another host."""
    try:
        url = urljoin(request.url, location.strip())
        is_here = BaseUrl.from_url(url).service == BaseUrl.from_url(request.url).service
    except ValueError:
        # `http://[x`, `http://host:port`
        return None
    _, _, path, query, _ = urlsplit(url)
    target = f"{path or '/'}?{query}" if query else path or "/"
    return target if is_here else None
