"""Redirects (RFC 9110, 15.4) within the same site."""

from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from checker.core.operation import Operation
from checker.core.request import LONGEST_TARGET, BaseUrl, WireRequest
from checker.core.response import Response

_STATUSES = frozenset({301, 302, 303, 307, 308})
_OF_BODIES = frozenset(
    {b"content-type", b"content-length", b"content-encoding", b"transfer-encoding"}
)


def documents_redirects(operation: Operation) -> bool:
    """Whether an operation documents a redirect: then it is an answer to be judged."""
    statuses = operation.contract.plan(100, None).documented_statuses
    return any(status.startswith("3") for status in statuses)


def following(origin: BaseUrl, request: WireRequest, response: Response) -> WireRequest | None:
    """Return the request that follows a redirect; None if it must not be followed: credentials never leave their site."""
    if response.status_code not in _STATUSES:
        return None
    places = response.headers.get("location", [])
    target = _target(origin, request, places[0]) if len(places) == 1 else None
    if target is None:
        return None
    if not becomes_get(request.method, response.status_code):
        return replace(request, target=target)
    headers = [one for one in request.headers if one[0].lower() not in _OF_BODIES]
    return replace(request, method="GET", target=target, headers=headers, body=None)


def becomes_get(method: str, status: int) -> bool:
    """Whether a request goes on as GET after this redirect.

    All clients do that with a POST that was answered 301 or 302 (RFC 9110, 15.4.2), and with anything at all after 303.
    """
    return (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST")


def _target(origin: BaseUrl, request: WireRequest, place: str) -> bytes | None:
    """Return path and query of a location on the same site; None for other sites, for malformed URLs and for unusable paths.

    Behind a socket, a server knows itself by the name that requests call it by.
    """
    if len(place) > LONGEST_TARGET:
        return None
    try:
        url = urljoin(request.url_at(origin), place)
        there, parts = BaseUrl.from_url(url), urlsplit(url)
    except ValueError:
        return None
    if there.site not in (origin.site, origin.plain.site) or there.userinfo:
        return None
    text = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return text.encode("ascii") if text.isascii() and text.isprintable() else None
