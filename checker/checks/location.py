"""The `Location` of a created resource leads to it."""

from copy import copy
from dataclasses import replace
from typing import Final
from urllib.parse import urljoin, urlsplit

from checker.checks.context import PASSED, CheckContext, Found
from checker.core.case import NOT_SET, Case
from checker.core.failures import Failure
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Response
from checker.core.send import Exchanging

_GONE: Final = (404, 410)


class DanglingLocation(Failure, code="ST309", title="Location leads nowhere", needs_repetition=True):
    """The `Location` of a response with 201 is not found."""


def has_location(case: Case, response: Response) -> bool:
    """Whether a response has a `Location`."""
    return "location" in response.headers


def location_conformance(context: CheckContext) -> Exchanging[Found]:
    """Fail if a `GET` of the `Location` of a 201 returns 404 or 410, twice. That of a 202 may be the URL of something that does not exist yet.

    A `Location` on another host is not followed, and neither is one that a described `GET` reads and whose name stands in the body:
    sequences read such a resource, and `ensure_resource_availability` judges it.
    """
    response, request, tools = context.response, context.response.request, context.tools
    given = response.headers.get("location", [])
    # Another check may have asked for the judgement of a response without a `Location`.
    target = path_of(request, given[0]) if given and request is not None and not response.redirects else None
    if target is None or tools is None:
        return True
    name = target.partition("?")[0].rstrip("/").rpartition("/")[2].encode("latin-1", "replace")
    if is_readable(context, target) and name in response.content:
        return PASSED
    for _ in range(2):
        answer = yield reading_at(context, target)
        if not isinstance(answer, Response) or answer.status_code not in _GONE:
            return PASSED
        message = f"Location: {given[0]}\nReceived: {answer.status_code} for `GET {target}`"
    return DanglingLocation(message, unique_key=str(response.status_code))


def is_readable(context: CheckContext, target: str) -> bool:
    """Whether a described GET reads the resource at a target."""
    operation, tools = context.case.operation, context.tools
    path = target.partition("?")[0].removeprefix("" if tools is None else tools.maker.base_path_of(operation))
    return any("GET" in methods for methods in operation.methods_at(path))


def reading_at(context: CheckContext, target: str) -> WireRequest:
    """Return a GET of a target, with the credentials of the case."""
    asked = copy(context.case)
    asked.method, asked.body, asked.media_type, asked.query = "GET", NOT_SET, None, {}
    made = context.make(asked)
    where = target.encode("latin-1", "replace")
    # Credentials may stand in the query.
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
