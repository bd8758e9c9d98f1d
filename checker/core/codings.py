"""Bodies as they were before `Content-Encoding` was applied (RFC 9110, 8.4). Work is bounded, whatever a server sends."""

import zlib
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

CONTENT_ENCODING: Final = "content-encoding"
_NAME_LENGTH: Final = len(CONTENT_ENCODING)
MOST_DECODED: Final = 1 << 20
"""Bytes of a decoded body: as much as is kept of one that was never compressed."""
_MOST_CODINGS: Final = 8
_MOST_MEMBERS: Final = 128
"""Of one gzip body: each of them copies what follows it."""
_GZIP, _ZLIB, _RAW = 31, 15, -15
_FORMATS: Final = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB}


class Decoded(Struct, frozen=True):
    """The content of a body without its codings."""

    content: bytes
    is_cut: bool
    """True when there is more of it than this."""


class Undecoded(Struct, frozen=True):
    """The reason why a body cannot be decoded."""

    message: str
    is_damaged: bool
    """True when it is not what its `Content-Encoding` promises; False when that is beyond us."""


def codings_of(fields: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Codings in the order in which they were applied, in lower case, without `identity`."""
    values = [
        value
        for name, value in fields
        if len(name) == _NAME_LENGTH and name.lower() == CONTENT_ENCODING
    ]
    # Most answers have none.
    if not values:
        return ()
    named = (part.strip().lower() for part in ",".join(values).split(","))
    return tuple(coding for coding in named if coding not in ("", "identity"))


def decoded(
    content: bytes, codings: tuple[str, ...], *, is_cut: bool, most: int = MOST_DECODED
) -> Decoded | Undecoded:
    """A body without its codings, its first `most` bytes. Of one that is cut, as much as its beginning says."""
    found = Decoded(content, is_cut)
    if not codings:
        return found
    unknown = [coding for coding in codings if coding not in _FORMATS]
    if unknown or len(codings) > _MOST_CODINGS:
        return Undecoded(f"Content-Encoding: {', '.join(unknown or codings)}", is_damaged=False)
    for coding in reversed(codings):
        try:
            found = _inflated(found, coding, most)
        except (zlib.error, EOFError) as error:
            return Undecoded(f"Content-Encoding: {coding}: {error}", is_damaged=True)
    return found


def readable(content: bytes, codings: tuple[str, ...], *, is_cut: bool) -> Decoded:
    """Return a body without its codings, or as it was received if it cannot be decoded."""
    found = decoded(content, codings, is_cut=is_cut)
    return found if isinstance(found, Decoded) else Decoded(content, is_cut)


def _inflated(coded: Decoded, coding: str, most: int) -> Decoded:
    """Raises `zlib.error`, and `EOFError` for data that stops although it is all there."""
    rest, found = coded.content, b""
    if not rest:
        # Nothing was compressed; servers name the coding all the same.
        return coded
    bits = _FORMATS[coding]
    if bits == _ZLIB and not _is_zlib(rest):
        # Many servers leave out the wrapper (RFC 9110, 8.4.1.2).
        bits = _RAW
    for _ in range(_MOST_MEMBERS):
        member = zlib.decompressobj(bits)
        found += member.decompress(rest, most + 1 - len(found))
        if len(found) > most:
            return Decoded(found[:most], is_cut=True)
        if not member.eof:
            if coded.is_cut:
                return Decoded(found, is_cut=True)
            raise EOFError("the compressed data ends too early")
        rest = member.unused_data
        # What follows the last member is padding.
        if bits != _GZIP or not rest.startswith(b"\x1f\x8b"):
            return Decoded(found, coded.is_cut)
    return Decoded(found, is_cut=True)


def _is_zlib(content: bytes) -> bool:
    """Whether data starts with the two bytes of RFC 1950, as far as they are there."""
    return content[0] & 15 == 8 and (
        len(content) == 1 or int.from_bytes(content[:2], "big") % 31 == 0
    )
