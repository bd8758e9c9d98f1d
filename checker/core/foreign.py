"""Responses of other clients: `requests`, `httpx`, aiohttp, test clients of werkzeug, Starlette and Django."""

import re
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from checker.core.request import BaseUrl, WireRequest, latin_fields

_USUAL: Final = {
    "accept-encoding": re.compile(r"gzip, deflate(, br)?(, zstd)?\Z"),
    "content-length": re.compile(r"[0-9]+\Z"),
    "user-agent": re.compile(r"(python-(requests|httpx)|Python/|testclient\b|[Ww]erkzeug/)"),
}
"""Headers that clients add by themselves -> pattern of their usual values. They are not part of the request of the user."""


def foreign_parts(response: Any) -> dict[str, Any]:
    """Return the arguments of `Response` for a response of any client. Raises `TypeError` for other objects and for responses that were not read."""
    status = getattr(response, "status_code", None)
    if status is None:
        status = getattr(response, "status", None)
    headers = getattr(response, "headers", None)
    if not isinstance(status, int) or headers is None:
        raise TypeError(f"{type(response).__name__} is not a response of a known HTTP client")
    found = getattr(response, "reason", None) or getattr(response, "reason_phrase", None)
    if found is None:
        whole = getattr(response, "status", "")
        found = whole.partition(" ")[2] if isinstance(whole, str) else ""
    elapsed = _asked(response, "elapsed")
    return {
        "status_code": status,
        "headers": _header_pairs(response, headers),
        "content": _content(response),
        "elapsed": elapsed.total_seconds() if isinstance(elapsed, timedelta) else 0.0,
        "message": str(found),
        "http_version": _http_version(response),
        "request": _request(response),
    }


def is_decoded(response: Any) -> bool:
    """Whether a client has undone the `Content-Encoding`: clients leave the header, test clients of applications leave both."""
    return not hasattr(response, "get_data") and not hasattr(response, "wsgi_request")


def _http_version(response: Any) -> str:
    """`1.0`, `1.1` or `2`: a text of `httpx`, a number below a response of `requests`."""
    version = getattr(getattr(response, "raw", None), "version", None)
    if isinstance(version, int):
        return f"{version // 10}.{version % 10}" if version > 9 else str(version)
    named = _asked(response, "http_version")
    return named.removeprefix("HTTP/") if isinstance(named, str) else "1.1"


def _request(response: Any) -> WireRequest | None:
    try:
        return request_of(response)
    except RuntimeError:
        # `httpx` raises for a response that has no request.
        return None


def request_of(response: Any) -> WireRequest | None:
    """Return the request that another client shows for a response, None if it shows none. Raises `RuntimeError` as `httpx` does."""
    ours = getattr(response, "wsgi_request", None)
    if ours is None:
        return foreign_request(getattr(response, "request", None))
    # The test client of Django keeps an environment as its request, and the request of the application beside it.
    fields = latin_fields(ours.headers.items())
    return WireRequest(ours.method, ours.get_full_path().encode("ascii", "replace"), fields)


def foreign_request(request: Any) -> WireRequest | None:
    """Return a request of another client without the headers that the client adds; None for other objects."""
    method, url = getattr(request, "method", None), getattr(request, "url", None)
    if not isinstance(method, str) or url is None:
        return None
    parts = urlsplit(str(url))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    # `httpx` keeps the part of a body that it has read as `_content`.
    body = getattr(request, "body", None) if hasattr(request, "body") else getattr(request, "_content", None) or None
    pairs = _header_pairs(request, getattr(request, "headers", {}))
    sent = WireRequest(
        method,
        target.encode("ascii", "replace"),
        latin_fields(
            (name, value)
            for name, value in pairs
            if not (name.lower() == "host" and value == parts.netloc) and not is_usual(name.lower(), value)
        ),
        body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else None,
    )
    try:
        origin = BaseUrl.from_url(f"{parts.scheme}://{parts.netloc}")
    except ValueError:
        return sent.shown()
    return sent.shown(origin)


def is_usual(name: str, value: str) -> bool:
    """Whether a client sends this header by itself, name in lower case: no user has set it."""
    usual = _USUAL.get(name)
    return usual is not None and usual.match(value) is not None


def _header_pairs(response: Any, headers: Any) -> list[tuple[str, str]]:
    # `requests` joins repeated headers; the urllib3 response keeps them separate.
    for source in (getattr(getattr(response, "raw", None), "headers", None), headers):
        for method in ("multi_items", "iteritems", "items"):
            items = getattr(source, method, None)
            if items is not None:
                return [(str(name), str(value)) for name, value in items()]
    return []


def _content(response: Any) -> bytes:
    content = getattr(response, "content", None)
    if not isinstance(content, bytes | bytearray | None):
        # aiohttp has a stream there, and keeps what was read of it.
        content = getattr(response, "_body", None)
        if content is None:
            raise TypeError("the response was not read; `await response.read()` before it is judged")
    if content is None:
        content = response.get_data() if hasattr(response, "get_data") else b""
    return bytes(content)


def _asked(response: Any, name: str) -> Any:
    try:
        return getattr(response, name, None)
    except RuntimeError:
        # `httpx` raises for a response that has no request.
        return None
