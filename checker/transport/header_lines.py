"""Headers as libcurl takes them."""

from functools import lru_cache
from operator import itemgetter

from checker.core.request import WireRequest


class Unsendable(Exception):
    """The request cannot be put on the wire as it is meant."""


_NAME = itemgetter(0)


def header_lines(request: WireRequest) -> tuple[list[bytes], bool]:
    """Lines for HTTPHEADER, and whether the connection may be used again. Raises `Unsendable`."""
    headers = request.headers
    for _, value in headers:
        # Whatever ends in a space may be nothing but spaces: that is looked at more closely.
        if value[-1:] <= b" ":
            return _odd_header_lines(request)
    # Which names there are varies little from case to case: what follows from them is worked out once.
    ending, keeps_connection = _ending(tuple(map(_NAME, headers)), has_body=request.body is not None)
    return [*map(b": ".join, headers), *ending], keeps_connection


def _odd_header_lines(request: WireRequest) -> tuple[list[bytes], bool]:
    """Header lines of a request of which a header has no value."""
    lines: list[bytes] = []
    for name, value in request.headers:
        if value and not value.isspace():
            lines.append(b"%b: %b" % (name, value))
        elif b":" in name or b";" in name:
            raise Unsendable(f"libcurl cannot send an empty header named {name!r}")
        else:
            # A semicolon is how libcurl is told to send an empty value; a colon removes the header.
            lines.append(name + b";")
    ending, keeps_connection = _ending(tuple(name for name, _ in request.headers), has_body=request.body is not None)
    return lines + ending, keeps_connection


@lru_cache(maxsize=1024)
def _ending(given: tuple[bytes, ...], *, has_body: bool) -> tuple[list[bytes], bool]:
    """Lines after those of headers with these names, and whether the connection may be used again."""
    names = {name.lower() for name in given}
    if b"" in names:
        raise Unsendable("a header without a name")
    lines = [line for name, line in _DEFAULTS.items() if name not in names]
    if has_body and b"content-type" not in names:
        lines.append(b"Content-Type:")
    # A length or coding of the case's own may make the server read the next request as part of this one.
    return lines, names.isdisjoint(_FRAMING)


_DEFAULTS = {b"expect": b"Expect:", b"accept": b"Accept:", b"user-agent": b"User-Agent:"}
"""Lines that keep libcurl from adding its own."""
_FRAMING = frozenset((b"content-length", b"transfer-encoding", b"upgrade"))


def usual_lines(headers: list[tuple[bytes, bytes]]) -> list[bytes] | None:
    """Lines of headers that stand in every request; None when each request has to be looked at for itself.

    What is sent beside them must be one line each, with a `Content-Type` if there is a body.
    """
    request = WireRequest("POST", b"/", [*headers, (b"Content-Type", b"*/*")], b"")
    try:
        lines, keeps_connection = header_lines(request)
    except Unsendable:
        return None
    lines.remove(b"Content-Type: */*")
    return lines if keeps_connection and not is_broken(b"".join(lines)) else None


def is_broken(written: bytes) -> bool:
    """True when it holds what would break a message apart."""
    # Numbers: a search for bytes raises and catches an error internally, and takes four times as long.
    return 10 in written or 13 in written or 0 in written


@lru_cache(maxsize=256)
def is_one_line(value: bytes) -> bool:
    """True for a header value that is written as it is. What ends in a space may have to be written in another way."""
    return value[-1:] > b" " and not is_broken(value)
