"""Values as msgpack and back, exactly: integers of any size, lone surrogates, NaN, bytes beside text; and frames of records.

Never pickle: a corpus may come from another user. Nearly all values are written at the first attempt. A value that msgspec cannot write is
encoded again, with extensions: 1 is an integer (big-endian, signed), 2 a text (UTF-8 with surrogates), 3 a map (packed list of key, value,
key, ...).

A frame is `length u32 | kinds u32 | crc32 u32 | zstd(msgpack list of records)`, little-endian. `kinds` has the bit of the tag of each record,
so that readers pass over frames without unpacking them. The checksum covers length and kinds, because a hole of zeros, as a power failure
leaves it, would otherwise read as empty frames.
"""

import struct
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache, reduce
from itertools import chain
from operator import is_, or_
from typing import Any, TypeVar, get_args
from zlib import crc32

import zstandard
from msgspec import Raw, Struct, convert, to_builtins
from msgspec.msgpack import Decoder, Encoder, Ext

from checker.corpus.records import Record

_INTEGER, _TEXT, _MAP = 1, 2, 3
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1

Built = TypeVar("Built")
Packed = Raw  # A result of `pack`, which another value embeds without packing it again.


class Undecodable(Exception):
    """Bytes that were not packed by this module, or that hold another type."""


def pack(value: object) -> bytes:
    """Return a value of None, scalars, bytes, lists, tuples, maps and structs as bytes; members of enumerations are packed as their values.

    Raises `TypeError`, `ValueError` or `RecursionError` for values that cannot be written.
    """
    try:
        return _encode(value)
    except (OverflowError, UnicodeEncodeError):
        return _encode(_extended(value))


def unpack(data: bytes, build: Callable[[Any], Built]) -> Built:
    """Return the result of `build` for a packed value, whose tuples have become lists. Raises `Undecodable`."""
    return _built(data, lambda packed: build(_decode(packed)))


def _built(data: bytes, build: Callable[[bytes], Built]) -> Built:
    try:
        return build(data)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise Undecodable(f"{type(error).__name__}: {error}") from error


def _extended(value: Any) -> Any:
    """Return a value in which extensions replace integers and texts that msgpack cannot write."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return Ext(_TEXT, value.encode("utf-8", "surrogatepass"))
        return value
    if isinstance(value, int):
        return (
            value
            if _LEAST <= value <= _MOST
            else Ext(_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))
        )
    if isinstance(value, (list, tuple)):
        return [_extended(item) for item in value]
    if isinstance(value, dict):
        keys = [_extended(key) for key in value]
        values = [_extended(item) for item in value.values()]
        if all(map(is_, keys, value)):
            return dict(zip(keys, values, strict=True))
        # An extension has no hash, so it cannot be a key.
        return Ext(_MAP, _encode([*chain.from_iterable(zip(keys, values, strict=True))]))
    if isinstance(value, Struct):
        return _extended(to_builtins(value, builtin_types=(bytes,), enc_hook=_plain))
    return value


def _restored(code: int, data: memoryview) -> object:
    if code == _INTEGER:
        return int.from_bytes(data, "big", signed=True)
    if code == _TEXT:
        return str(data, "utf-8", "surrogatepass")
    if code == _MAP:
        parts = _decode(data)
        # A key that was a tuple is read as a list, and lists have no hash.
        return dict(zip(map(_hashable, parts[::2]), parts[1::2], strict=True))
    raise ValueError(f"unknown extension {code}")


def _hashable(key: Any) -> Any:
    return tuple(map(_hashable, key)) if isinstance(key, list) else key


def _plain(value: object) -> object:
    """Return a plain value for a type that msgspec does not know, if it is a scalar class."""
    for kind, exact in _EXACT.items():
        if isinstance(value, kind):
            return exact(value)
    raise TypeError(f"a {type(value).__name__} cannot be packed")


_EXACT: dict[type, Callable[[Any], object]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: bytes.__bytes__,
}
_encode = Encoder(enc_hook=_plain).encode
_decode = Decoder(ext_hook=_restored).decode

_ARRAY_16 = b"\xdc"
_ARRAY_32 = b"\xdd"


def encode_fields(cls: type[Record], *fields: object) -> bytes:
    """Return the bytes of a record from its fields in order. Structs in it may be packed already, or given as tuples of their fields.

    Each interaction is written this way, because creating an object only to write it costs more than packing it.
    """
    return pack((cls.__struct_config__.tag, *fields))


def join(encoded: Iterable[bytes], count: int) -> bytes:
    """Return the content of a frame: a list of `count` packed records."""
    header = _ARRAY_16 + count.to_bytes(2, "big") if count < 1 << 16 else _ARRAY_32 + count.to_bytes(4, "big")
    return b"".join((header, *encoded))


Kinds = tuple[type[Record], ...]  # Classes of records; empty for all.


def decode(content: bytes, kinds: Kinds = ()) -> list[Record]:
    """Return the records of these kinds from the content of a frame, in order. Raises `Undecodable`."""
    classes = _by_tag(kinds or get_args(Record))
    # msgspec's typed decoder rejects the extensions for lone surrogates and large integers. Records are converted by
    # their class: `convert` to a union of all classes takes 50 us before the first record, and most frames contain one.
    return unpack(
        content, lambda items: [convert(one, classes[one[0]]) for one in items if not kinds or one[0] in classes]
    )


@cache
def _by_tag(kinds: Kinds) -> Mapping[str | int | None, type[Record]]:
    return {kind.__struct_config__.tag: kind for kind in kinds}


HEADER = struct.Struct("<III")
_UNCHECKED = struct.Struct("<II")  # The part of the header before the checksum.
LIMIT_BYTES = 64 << 20  # A longer frame counts as damage.

_LEVEL = 1
_MASK_BITS = 32


def _bits(tags: Iterable[Any]) -> int:
    """Return the bits of these tags in the header of a frame."""
    return reduce(or_, {1 << tag % _MASK_BITS for tag in tags}, 0)


@cache
def _bits_of(kinds: Kinds) -> int:
    return _bits(_by_tag(kinds))


def _tag_of(encoded: bytes) -> int:
    """Return the tag of a packed record: the integer after the header of its array, which has three bytes above 15 items."""
    return encoded[3 if encoded[:1] == _ARRAY_16 else 1]


class ScanEnding(StrEnum):
    """The end of a scan."""

    CLEAN = "clean"
    SHORT = "short"  # The last frame is incomplete: its writer is still writing it, or was killed.
    DAMAGED = "damaged"  # The content of a frame differs from what its writer wrote, or another version wrote it.


class Scan(Struct, frozen=True):
    """The result of scanning some bytes."""

    records: list[Record]
    consumed: int  # Bytes of whole frames.
    ending: ScanEnding
    reason: str = ""  # The reason for people, if the frame is damaged.
    missing: int = 0  # Least number of missing bytes, if the frame is incomplete.


class FrameEncoder:
    """Creates frames. Each writer has its own, because the compressor is reused."""

    def __init__(self) -> None:
        self._compress = zstandard.ZstdCompressor(level=_LEVEL).compress

    def frame(self, encoded: list[bytes]) -> bytes:
        payload = self._compress(join(encoded, len(encoded)))
        length, kinds = len(payload), _bits(map(_tag_of, encoded))
        checksum = crc32(payload, crc32(_UNCHECKED.pack(length, kinds)))
        return HEADER.pack(length, kinds, checksum) + payload


def scan(data: bytes, kinds: Kinds = ()) -> Scan:
    """Return the records of the whole frames, oldest first. Never raises an error, whatever the bytes."""
    records: list[Record] = []
    decompressor = zstandard.ZstdDecompressor()
    wanted = _bits_of(kinds or get_args(Record))
    position, end = 0, len(data)
    while position < end:
        body = position + HEADER.size
        if body > end:
            return Scan(records, position, ScanEnding.SHORT, missing=body - end)
        length, held, checksum = HEADER.unpack_from(data, position)
        # Otherwise a damaged length would make the reader wait for bytes that never come.
        if length > LIMIT_BYTES:
            return Scan(records, position, ScanEnding.DAMAGED, "it has no frame of this version of checker")
        if body + length > end:
            return Scan(records, position, ScanEnding.SHORT, missing=body + length - end)
        payload = data[body : body + length]
        if crc32(payload, crc32(data[position : position + _UNCHECKED.size])) != checksum:
            return Scan(records, position, ScanEnding.DAMAGED, "wrong checksum")
        try:
            # A worker that starts reads the journals of all others, and most of their frames have nothing for it.
            if held & wanted:
                # A corpus may come from another user, and a frame of a few kilobytes may unpack to gigabytes.
                records += decode(decompressor.decompress(payload, max_output_size=LIMIT_BYTES), kinds)
        except (Undecodable, zstandard.ZstdError) as error:
            # The checksum is right, so the disk is not damaged.
            return Scan(records, position, ScanEnding.DAMAGED, f"another version of checker wrote the frame ({error})")
        position = body + length
    return Scan(records, position, ScanEnding.CLEAN)
