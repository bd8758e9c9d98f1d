"""Small valid files for `format: binary`: images, a PDF, an archive."""

import base64
import struct
import zlib
from collections.abc import Mapping
from typing import Final

_PNG_START = b"\x89PNG\r\n\x1a\n"
_LEAST_CHUNK = 12
"""Bytes of a PNG chunk without data."""


def padded_png(size: int) -> bytes:
    """A PNG image of exactly that many bytes, as far as there is one that small."""
    missing = size - len(_PNG)
    if missing < _LEAST_CHUNK:
        return _PNG
    # A private chunk that may be skipped; it has to stand before the last one.
    filling = _chunk(b"fiLl", b"\0" * (missing - _LEAST_CHUNK))
    return _PNG[:-_LEAST_CHUNK] + filling + _PNG[-_LEAST_CHUNK:]


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


def _png() -> bytes:
    """One grey pixel."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0\x80")
    return _PNG_START + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _jpeg() -> bytes:
    """One grey pixel, baseline: each Huffman table has a single code."""
    return b"".join(
        (
            b"\xff\xd8",
            b"\xff\xdb\x00\x43\x00" + b"\x01" * 64,
            b"\xff\xc0\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00",
            b"\xff\xc4\x00\x14\x00\x01" + b"\0" * 15 + b"\0",
            b"\xff\xc4\x00\x14\x10\x01" + b"\0" * 15 + b"\0",
            b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x3f",
            b"\xff\xd9",
        )
    )


def _pdf() -> bytes:
    """One empty page."""
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>",
    )
    text, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(text))
        text += b"%d 0 obj%bendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(text)
    return text + b"xref\n0 4\n0000000000 65535 f \n" + table + end


def _zip() -> bytes:
    """One stored file."""
    name, content = b"a.txt", b"hello"
    facts = struct.pack("<HHHHHIIIHH", 10, 0, 0, 0, 0x21, zlib.crc32(content), len(content), len(content), len(name), 0)
    local = b"PK\x03\x04" + facts + name + content
    entry = b"PK\x01\x02" + struct.pack("<H", 10) + facts + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
    return local + entry + b"PK\x05\x06" + end


_PNG: Final = _png()
SAMPLES: Final[Mapping[str, bytes]] = {
    "image/png": _PNG,
    "image/jpeg": _jpeg(),
    "image/gif": base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    "image/webp": base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="),
    "application/pdf": _pdf(),
    "application/zip": _zip(),
}
"""Media type -> a valid file of less than 500 bytes."""


def file_type(media_type: str) -> str:
    """The media type of `SAMPLES` that a media type or range means; empty when it means none of them alone."""
    plain = media_type.partition(";")[0].strip().lower()
    if plain == "image/*":
        return "image/png"
    return plain if plain in SAMPLES else ""
