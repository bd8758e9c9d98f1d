"""Responses of other clients as ours: `requests`, `httpx`, werkzeug's test client."""

from datetime import timedelta
from typing import Any

from checker.core.response import Response


def as_response(response: Any) -> Response:
    """Our response for any client's; the same object if it is ours. Raises `TypeError`."""
    if isinstance(response, Response):
        return response
    status = getattr(response, "status_code", None)
    headers = getattr(response, "headers", None)
    if not isinstance(status, int) or headers is None:
        raise TypeError(f"{type(response).__name__} is not a response of a known HTTP client")
    found = Response(
        status,
        _header_pairs(response, headers),
        _content(response),
        elapsed=_elapsed_s(response),
        message=str(getattr(response, "reason", None) or getattr(response, "reason_phrase", "")),
    )
    # `requests` and `httpx` decompress what they receive and leave the header; werkzeug leaves both.
    found.is_decoded = not hasattr(response, "get_data")
    return found


def _header_pairs(response: Any, headers: Any) -> list[tuple[str, str]]:
    # `requests` joins repeated headers; the response below it still has them apart.
    raw = getattr(getattr(response, "raw", None), "headers", None)
    for source in (raw, headers):
        for method in ("multi_items", "iteritems", "items"):
            items = getattr(source, method, None)
            if items is not None:
                return [(str(name), str(value)) for name, value in items()]
    return []


def _content(response: Any) -> bytes:
    content = getattr(response, "content", None)
    if content is None:
        content = response.get_data() if hasattr(response, "get_data") else b""
    return bytes(content)


def _elapsed_s(response: Any) -> float:
    try:
        elapsed = getattr(response, "elapsed", None)
    except RuntimeError:
        # `httpx` refuses to say for a response that nothing was sent for.
        return 0.0
    return elapsed.total_seconds() if isinstance(elapsed, timedelta) else 0.0
