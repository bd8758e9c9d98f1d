"""Values as msgpack and back, exactly: integers of any size, lone surrogates, NaN, bytes beside text; never pickle.

Nearly all values are written at the first attempt. A value that msgspec cannot write is encoded again, with extensions:
1 is an integer (big-endian, signed), 2 a text (UTF-8 with surrogates), 3 a map (packed list of key, value, key, ...).
"""

from collections.abc import Callable
from itertools import chain
from operator import is_
from typing import Any, TypeVar

from msgspec import Raw, Struct, to_builtins
from msgspec.msgpack import Decoder, Encoder, Ext

_INTEGER, _TEXT, _MAP = 1, 2, 3
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1

Built = TypeVar("Built")
Packed = Raw
"""A result of `pack`. It is embedded in another value without packing it again."""


class Undecodable(Exception):
    """Bytes that were not packed by this module, or that hold another type."""


def pack(value: object) -> bytes:
    """Return a value of None, scalars, bytes, lists, tuples, maps and structs as bytes; a member of an enumeration is its value.

    `TypeError`, `ValueError` or `RecursionError` for what cannot be written.
    """
    try:
        return _encode(value)
    except (OverflowError, UnicodeEncodeError):
        return _encode(_extended(value))


def unpack(data: bytes, build: Callable[[Any], Built]) -> Built:
    """Return the result of `build` for a packed value; tuples in it are lists now. Raises `Undecodable`."""
    try:
        return build(_decode(data))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise Undecodable(f"{type(error).__name__}: {error}") from error


def _extended(value: Any) -> Any:
    """Return a value in which extensions replace integers and texts that msgpack cannot write."""
    if isinstance(value, str):
        return value if _is_utf8(value) else Ext(_TEXT, value.encode("utf-8", "surrogatepass"))
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
        # An extension has no hash: it cannot be a key.
        return Ext(_MAP, _encode([*chain.from_iterable(zip(keys, values, strict=True))]))
    if isinstance(value, Struct):
        return _extended(to_builtins(value, builtin_types=(bytes,), enc_hook=_plain))
    return value


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _restored(code: int, data: memoryview) -> object:
    if code == _INTEGER:
        return int.from_bytes(data, "big", signed=True)
    if code == _TEXT:
        return str(data, "utf-8", "surrogatepass")
    if code == _MAP:
        parts = _decode(data)
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
