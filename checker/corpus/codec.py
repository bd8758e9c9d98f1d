"""Records as bytes and back, in frames: `length u32 | crc32 u32 | zstd(msgpack list of records)`, little-endian.

Never pickle: a corpus may come from another user. The checksum covers the length, because a hole of zeros, as a power failure
leaves it, would otherwise read as empty frames.
"""

import struct
from collections.abc import Iterable
from enum import StrEnum
from zlib import crc32

import zstandard
from msgspec import Struct, convert

from checker.corpus.packing import Undecodable, pack, unpack
from checker.corpus.records import Record

_ARRAY_16 = b"\xdc"
_ARRAY_32 = b"\xdd"


def encode_fields(cls: type[Record], *fields: object) -> bytes:
    """Return the bytes of a record from its fields in order; values in them may be packed, or stand as tuples of their fields.

    Each interaction is written this way: making an object that is only written costs more than packing it.
    """
    return pack((cls.__struct_config__.tag, *fields))


def join(encoded: Iterable[bytes], count: int) -> bytes:
    """Return the content of a frame: a list of `count` packed records."""
    header = _ARRAY_16 + count.to_bytes(2, "big") if count < 1 << 16 else _ARRAY_32 + count.to_bytes(4, "big")
    return b"".join((header, *encoded))


Kinds = tuple[type[Record], ...]
"""Classes of records; empty for all."""


def decode(content: bytes, kinds: Kinds = ()) -> list[Record]:
    """Return the records of these kinds of a frame's content, in order. Raises `Undecodable`."""
    tags = frozenset(kind.__struct_config__.tag for kind in kinds)
    # Not the typed decoder of msgspec: it refuses the extensions that stand for lone surrogates and large integers.
    return unpack(
        content, lambda items: convert([one for one in items if one[0] in tags] if tags else items, list[Record])
    )


HEADER = struct.Struct("<II")
LIMIT_BYTES = 64 << 20
"""A longer frame counts as damage."""

_LENGTH = struct.Struct("<I")
_LEVEL = 1


class ScanEnding(StrEnum):
    """The end of a scan."""

    CLEAN = "clean"
    SHORT = "short"
    """The last frame is incomplete: its writer is still writing it, or was killed."""
    DAMAGED = "damaged"
    """The content of a frame differs from what its writer wrote, or another version wrote it."""


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
        """Return one frame of records that are encoded already."""
        payload = self._compress(join(encoded, len(encoded)))
        length = _LENGTH.pack(len(payload))
        return b"".join((length, _LENGTH.pack(crc32(payload, crc32(length))), payload))


def scan(data: bytes, kinds: Kinds = ()) -> Scan:
    """Return the records of the whole frames, oldest first. No content raises an error."""
    records: list[Record] = []
    decompressor = zstandard.ZstdDecompressor()
    position, end = 0, len(data)
    while position < end:
        body = position + HEADER.size
        if body > end:
            return Scan(records, position, ScanEnding.SHORT, missing=body - end)
        length, checksum = HEADER.unpack_from(data, position)
        if length > LIMIT_BYTES:
            return Scan(records, position, ScanEnding.DAMAGED, "it has no frame of this version of checker")
        if body + length > end:
            return Scan(records, position, ScanEnding.SHORT, missing=body + length - end)
        payload = data[body : body + length]
        if crc32(payload, crc32(data[position : position + 4])) != checksum:
            return Scan(records, position, ScanEnding.DAMAGED, "wrong checksum")
        try:
            records += decode(decompressor.decompress(payload, max_output_size=LIMIT_BYTES), kinds)
        except (Undecodable, zstandard.ZstdError) as error:
            # The checksum is right, so this is not damage of the disk.
            return Scan(records, position, ScanEnding.DAMAGED, f"another version of checker wrote the frame ({error})")
        position = body + length
    return Scan(records, position, ScanEnding.CLEAN)
