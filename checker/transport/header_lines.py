"""Headers as libcurl takes them."""

from functools import lru_cache
from operator import itemgetter

from checker.core.request import WireRequest


class Unsendable(Exception):
    """The request cannot be sent as it is."""


_NAME = itemgetter(0)


def header_lines(request: WireRequest) -> tuple[list[bytes], bool]:
    """Return the lines for HTTPHEADER, and whether the connection may be reused. Raises `Unsendable`."""
    headers = request.headers
    for _, value in headers:
        # A value that ends in a space may be all spaces, which libcurl treats specially.
        if value[-1:] <= b" ":
            lines: list[bytes] = []
            for name, value in headers:
                if value and not value.isspace():
                    lines.append(b"%b: %b" % (name, value))
                elif b":" in name or b";" in name:
                    raise Unsendable(f"libcurl cannot send an empty header named {name!r}")
                else:
                    # To libcurl, a semicolon means an empty value, and a colon removes the header.
                    lines.append(name + b";")
            ending, keeps_connection = _ending(tuple(map(_NAME, headers)), has_body=request.body is not None)
            return lines + ending, keeps_connection
    # The set of names varies little between cases, so what follows from it is cached.
    ending, keeps_connection = _ending(tuple(map(_NAME, headers)), has_body=request.body is not None)
    return [*map(b": ".join, headers), *ending], keeps_connection


@lru_cache(maxsize=1024)
def _ending(given: tuple[bytes, ...], *, has_body: bool) -> tuple[list[bytes], bool]:
    """Return the lines that follow headers with these names, and whether the connection may be reused."""
    names = {name.lower() for name in given}
    if b"" in names:
        raise Unsendable("a header without a name")
    lines = [line for name, line in _DEFAULTS.items() if name not in names]
    if has_body and b"content-type" not in names:
        lines.append(b"Content-Type:")
    # If the case sets a length or a transfer coding, the server may read the next request as part of this one.
    return lines, names.isdisjoint(_FRAMING)


_DEFAULTS = {b"expect": b"Expect:", b"accept": b"Accept:", b"user-agent": b"User-Agent:"}
"""Lines that prevent libcurl from adding its own headers."""
_FRAMING = frozenset((b"content-length", b"transfer-encoding", b"upgrade"))


def usual_lines(headers: list[tuple[bytes, bytes]]) -> list[bytes] | None:
    """Return the lines of headers that are common to all requests; None if each request needs its own.

    Further headers must be one line each, with a `Content-Type` if there is a body.
    """
    request = WireRequest("POST", b"/", [*headers, (b"Content-Type", b"*/*")], b"")
    try:
        lines, keeps_connection = header_lines(request)
    except Unsendable:
        return None
    lines.remove(b"Content-Type: */*")
    return lines if keeps_connection and not is_broken(b"".join(lines)) else None


def is_broken(written: bytes) -> bool:
    """Whether text contains characters that would split a message."""
    # Integers, because a search for bytes raises and catches an error internally, which takes four times as long.
    return 10 in written or 13 in written or 0 in written


@lru_cache(maxsize=256)
def is_one_line(value: bytes) -> bool:
    """Whether a header value can be sent unchanged on one line. A value that ends with a space may need another form."""
    return value[-1:] > b" " and not is_broken(value)
