"""Records as bytes and back: the record classes and their tags in files.

Never pickle: a corpus may come from another user. A record is `[tag, [field, ...]]`, packed.
"""

from collections.abc import Iterable
from typing import Any

from checker.corpus.learned import DemandHeard, OperationProbed, OperationServed, SignalsSeen, ValueGone, ValueSeen
from checker.corpus.packing import Packed, Undecodable, pack, unpack
from checker.corpus.records import (
    CheckState,
    CorpusEntry,
    Finding,
    Interaction,
    Note,
    OperationDescribed,
    OperationError,
    OperationsSelected,
    Quarantined,
    Record,
    ResourceMade,
    RunFinished,
    RunStarted,
    SchemaOpened,
    StoredBody,
    TaskProgress,
    TaskStarted,
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
