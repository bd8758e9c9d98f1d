"""Records as msgpack and back, exactly: lone surrogates, integers of any size, NaN, bytes beside text.

The tables are derived once from the annotations of the record classes; never pickle, because a corpus may come
from somebody else. A record is `[tag, [field, ...]]`; a value inside a record is the list of its fields, because its class
is known from where it stands.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgpack

from checker.core.meta import Binding
from checker.core.sequence import Step
from checker.corpus.records import (
    CheckOutcome,
    Entry,
    Exchange,
    Finding,
    Interaction,
    Note,
    OperationError,
    Quarantined,
    Record,
    RunFinished,
    RunStarted,
    SchemaOpened,
    SignalsSeen,
    TaskProgress,
    TaskStarted,
    ValueGone,
    ValueSeen,
    WorkerGone,
)

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
    Entry: 10,
    OperationError: 11,
    Note: 12,
    Quarantined: 13,
    WorkerGone: 14,
    RunFinished: 15,
}
"""Stand in files for years: a number is never used again for something else."""

_PARTS = (Exchange, CheckOutcome, Step, Binding)
_BIG_INTEGER = 1
# An array of up to 15 items begins with one byte: 0x90 plus their number.
_SHORT_HEADER = 1
_SHORT_ARRAY = 0x90
_ARRAY_16 = b"\xdc"
_ARRAY_32 = b"\xdd"

Decoder = Callable[[Any], Any]


class Undecodable(Exception):
    """Bytes that are no list of records known to this version."""


class RecordEncoder:
    """Encodes records. One for each writer: it reuses its buffer."""

    def __init__(self) -> None:
        self._pack: Callable[[object], bytes] = msgpack.Packer(
            default=_fields_of, use_bin_type=True, unicode_errors="surrogatepass"
        ).pack

    def encode(self, record: Record) -> bytes:
        """One record as bytes; `join` makes a frame's content of many."""
        return self._pack((TAGS[type(record)], record))

    def encode_fields(self, record: type[Record], fields: tuple[object, ...]) -> bytes:
        """The same from the fields of a record in their order: making what is only written costs more than packing."""
        return self._pack((TAGS[record], fields))

    def encode_parts(
        self, record: type[Record], fields: tuple[object, ...], ending: bytes
    ) -> bytes:
        """The same when the last fields are encoded already. At most 15 fields in all."""
        return _OPENINGS[record] + self._pack(fields)[_SHORT_HEADER:] + ending

    def ending(self, fields: tuple[object, ...]) -> bytes:
        """The last fields of many records that are alike."""
        return self._pack(fields)[_SHORT_HEADER:]


def join(encoded: Iterable[bytes], count: int) -> bytes:
    """The content of a frame: a list of `count` records."""
    header = (
        _ARRAY_16 + count.to_bytes(2, "big")
        if count < 1 << 16
        else _ARRAY_32 + count.to_bytes(4, "big")
    )
    return b"".join((header, *encoded))


def decode(content: bytes) -> list[Record]:
    """Records of a frame's content, in order. Raises `Undecodable`."""
    try:
        items = msgpack.unpackb(
            content,
            raw=False,
            strict_map_key=False,
            unicode_errors="surrogatepass",
            ext_hook=_extension,
        )
        return [_RECORDS[tag](values) for tag, values in items]
    except (ValueError, TypeError, KeyError, RecursionError, msgpack.UnpackException) as error:
        raise Undecodable(f"{type(error).__name__}: {error}") from error


def _fields_of(value: object) -> object:
    getter = _GETTERS.get(type(value))
    if getter is not None:
        return getter(value)
    if isinstance(value, int):
        size = value.bit_length() // 8 + 1
        return msgpack.ExtType(_BIG_INTEGER, value.to_bytes(size, "big", signed=True))
    raise TypeError(f"a record cannot hold {type(value).__name__}")


def _extension(code: int, data: bytes) -> int:
    if code != _BIG_INTEGER:
        raise ValueError(f"unknown extension {code}")
    return int.from_bytes(data, "big", signed=True)


def _class_decoder(cls: type) -> Decoder:
    hints = get_type_hints(cls)
    names = [field.name for field in fields(cls)]
    special = [
        (position, decoder)
        for position, name in enumerate(names)
        if (decoder := _decoder(hints[name])) is not None
    ]

    def decode_fields(values: list[Any]) -> Any:
        for position, decoder in special:
            # A shorter list is from before the last fields existed: they have defaults.
            if position < len(values):
                values[position] = decoder(values[position])
        return cls(*values)

    return decode_fields


def _decoder(hint: Any) -> Decoder | None:
    """What turns plain msgpack values into `hint`; None when they are it already."""
    origin = get_origin(hint)
    if origin is tuple:
        return _tuple_decoder(get_args(hint))
    if origin in (UnionType, Union):
        return _optional_decoder(
            [_decoder(part) for part in get_args(hint) if part is not NoneType]
        )
    if isinstance(hint, type):
        if is_dataclass(hint):
            return _class_decoder(hint)
        if issubclass(hint, Enum):
            return hint
    return None


def _optional_decoder(decoders: list[Decoder | None]) -> Decoder | None:
    wanted = [decoder for decoder in decoders if decoder is not None]
    if not wanted:
        return None
    (only,) = wanted
    return lambda value: None if value is None else only(value)


def _tuple_decoder(parts: tuple[Any, ...]) -> Decoder:
    if len(parts) == 2 and parts[1] is Ellipsis:
        item = _decoder(parts[0])
        return tuple if item is None else lambda values: tuple(map(item, values))
    if all(_decoder(part) is None for part in parts):
        return tuple
    raise TypeError(f"no codec for a tuple of {parts}")


_GETTERS: dict[type, Callable[[Any], tuple[Any, ...]]] = {}
_RECORDS: dict[int, Decoder] = {}
_OPENINGS: dict[type[Record], bytes] = {}
"""What stands before the fields of a record."""

for _cls in (*TAGS, *_PARTS):
    _names = [field.name for field in fields(_cls)]
    _GETTERS[_cls] = attrgetter(*_names)
for _record, _tag in TAGS.items():
    _RECORDS[_tag] = _class_decoder(_record)
    _OPENINGS[_record] = bytes((_SHORT_ARRAY + 2, _tag, _SHORT_ARRAY + len(fields(_record))))
