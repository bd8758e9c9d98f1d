"""Frames: `length u32 | crc32 u32 | zstd(msgpack list of records)`, little-endian.

The checksum covers the length, too: otherwise a hole of zeros, as a crashed file system leaves it, would read as
empty frames for ever.
"""

import struct
from enum import StrEnum
from zlib import crc32

import zstandard
from msgspec import Struct

from checker.corpus import codec
from checker.corpus.records import Record

HEADER = struct.Struct("<II")
LIMIT_BYTES = 64 << 20
"""A longer frame is damage, whatever its header says."""

_LENGTH = struct.Struct("<I")
_LEVEL = 1


class ScanEnding(StrEnum):
    """The end of a scan."""

    CLEAN = "clean"
    SHORT = "short"
    """The last frame is not whole: not yet, or torn."""
    DAMAGED = "damaged"
    """A frame that cannot be what its writer wrote."""


class Scan(Struct, frozen=True):
    """The content of some bytes."""

    records: list[Record]
    consumed: int
    """Bytes of whole frames."""
    ending: ScanEnding
    reason: str = ""
    """For people, when damaged."""
    missing: int = 0
    """Bytes to come, at least, when short."""


class FrameEncoder:
    """Makes frames. One for each writer: it reuses its compressor."""

    def __init__(self) -> None:
        self._compress = zstandard.ZstdCompressor(level=_LEVEL).compress

    def frame(self, encoded: list[bytes]) -> bytes:
        """One frame of records that are encoded already."""
        payload = self._compress(codec.join(encoded, len(encoded)))
        length = _LENGTH.pack(len(payload))
        return b"".join((length, _LENGTH.pack(crc32(payload, crc32(length))), payload))


def scan(data: bytes, start: int = 0) -> Scan:
    """Records of the whole frames from `start` on, oldest first. Never raises, whatever the bytes are."""
    records: list[Record] = []
    decompressor = zstandard.ZstdDecompressor()
    position, end = start, len(data)
    while position < end:
        body = position + HEADER.size
        if body > end:
            return Scan(records, position - start, ScanEnding.SHORT, missing=body - end)
        length, checksum = HEADER.unpack_from(data, position)
        if length > LIMIT_BYTES:
            return Scan(records, position - start, ScanEnding.DAMAGED, f"a frame of {length} bytes")
        if body + length > end:
            return Scan(records, position - start, ScanEnding.SHORT, missing=body + length - end)
        payload = data[body : body + length]
        if crc32(payload, crc32(data[position : position + 4])) != checksum:
            return Scan(records, position - start, ScanEnding.DAMAGED, "wrong checksum")
        try:
            records += codec.decode(decompressor.decompress(payload, max_output_size=LIMIT_BYTES))
        except (codec.Undecodable, zstandard.ZstdError) as error:
            # The checksum is right: it was written so, by another version.
            return Scan(records, position - start, ScanEnding.DAMAGED, str(error))
        position = body + length
    return Scan(records, position - start, ScanEnding.CLEAN)
