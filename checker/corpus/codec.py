"""Records as bytes and back: the record classes and their tags in files.

Never pickle: a corpus may come from another user. A record is `[tag, [field, ...]]`, packed.
"""

import struct
from collections.abc import Iterable
from enum import StrEnum
from typing import Any
from zlib import crc32

import zstandard
from msgspec import Struct

from checker.corpus.packing import Packed, Undecodable, pack, unpack
from checker.corpus.records import (
    CheckState,
    CorpusEntry,
    DemandHeard,
    Finding,
    Interaction,
    Note,
    OperationDescribed,
    OperationError,
    OperationProbed,
    OperationServed,
    OperationsSelected,
    Quarantined,
    Record,
    ResourceMade,
    RunFinished,
    RunStarted,
    SchemaOpened,
    SignalsSeen,
    StoredBody,
    TaskProgress,
    TaskStarted,
    ValueGone,
    ValueSeen,
    WorkerGone,
)
from checker.corpus.shapes import flat, shape_of

__all__ = ["TAGS", "RecordEncoder", "Undecodable", "decode", "join"]

TAGS: dict[type[Record], int] = {
    RunStarted: 1,
    SchemaOpened: 2,
    TaskStarted: 3,
    TaskProgress: 4,
    Interaction: 5,
    Finding: 6,
    ValueSeen: 7,
    ValueGone: 8,
    SignalsSeen: 9,
    CorpusEntry: 10,
    OperationError: 11,
    Note: 12,
    Quarantined: 13,
    WorkerGone: 14,
    RunFinished: 15,
    StoredBody: 16,
    CheckState: 17,
    OperationsSelected: 18,
    OperationDescribed: 19,
    DemandHeard: 20,
    ResourceMade: 21,
    OperationServed: 22,
    OperationProbed: 23,
}
"""Stand in files for years: a number is never used again for something else."""

_ARRAY_16 = b"\xdc"
_ARRAY_32 = b"\xdd"

_FLAT = {cls: shape_of(cls).flat for cls in TAGS}
_BUILD = {tag: shape_of(cls).build for cls, tag in TAGS.items()}


class RecordEncoder:
    """Encodes records. It keeps nothing: many may share one."""

    def encode(self, record: Record) -> bytes:
        """One record as bytes; `join` makes a frame's content of many."""
        cls = type(record)
        return pack((TAGS[cls], _FLAT[cls](record)))

    def encode_fields(self, record: type[Record], fields: tuple[object, ...]) -> bytes:
        """A record as bytes, from its fields in their order: making an object that is only written costs more than packing."""
        return pack((TAGS[record], _FLAT[record](fields)))

    def encode_flat(self, record: type[Record], fields: tuple[object, ...]) -> bytes:
        """A record as bytes, from fields that are flat already, or packed."""
        return pack((TAGS[record], fields))

    def packed(self, field: object) -> Packed:
        """A field that many records share."""
        return Packed(pack(flat(field)))


def join(encoded: Iterable[bytes], count: int) -> bytes:
    """The content of a frame: a list of `count` records."""
    header = _ARRAY_16 + count.to_bytes(2, "big") if count < 1 << 16 else _ARRAY_32 + count.to_bytes(4, "big")
    return b"".join((header, *encoded))


def decode(content: bytes) -> list[Record]:
    """Records of a frame's content, in order. Raises `Undecodable`."""
    return unpack(content, _records)


def _records(items: Any) -> list[Record]:
    return [_BUILD[tag](values) for tag, values in items]


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
        payload = self._compress(join(encoded, len(encoded)))
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
            records += decode(decompressor.decompress(payload, max_output_size=LIMIT_BYTES))
        except (Undecodable, zstandard.ZstdError) as error:
            # The checksum is right: it was written so, by another version.
            return Scan(records, position - start, ScanEnding.DAMAGED, str(error))
        position = body + length
    return Scan(records, position - start, ScanEnding.CLEAN)
