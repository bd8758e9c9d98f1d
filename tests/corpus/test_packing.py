import contextlib
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext, encode

from checker.corpus.codec import Undecodable, pack, unpack

from .generated import CHOICES, SCALARS, TEXT, exact

SCALAR = st.none() | CHOICES
KEYS = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=2).map(tuple), max_leaves=3)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
WHOLE = st.none() | st.booleans() | st.floats() | st.binary(max_size=5) | st.text(max_size=5)
WRITTEN_AS_THEY_ARE: st.SearchStrategy[Any] = st.recursive(
    WHOLE | st.integers(-(2**63), 2**64 - 1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WHOLE, inner, max_size=3),
    max_leaves=6,
)
# Makes the value that holds it one that is written with extensions.
REFUSED = st.sampled_from([2**64, -(2**63) - 1, "\ud800"])


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


class Number(int):
    pass


class Share(float):
    pass


class Raw(bytes):
    pass


def read(data: bytes) -> Any:
    return unpack(data, lambda value: value)


@given(VALUES)
def test_values_come_back_exactly(value: object) -> None:
    assert exact(value) == exact(read(pack(value)))


@given(WRITTEN_AS_THEY_ARE, REFUSED)
def test_the_same_is_read_of_what_is_written_with_extensions(value: object, refused: object) -> None:
    plain, extended = pack([value]), pack([value, refused])
    assert plain == encode([value])
    assert exact([*read(plain), refused]) == exact(read(extended))


@given(st.dictionaries(REFUSED, VALUES, min_size=1, max_size=2), st.lists(REFUSED))
def test_whatever_may_be_a_key(inner: dict[Any, Any], refused: list[object]) -> None:
    value = {tuple(refused): inner, "a": {(): inner, ("b", *refused): 1, 1.5: None}}
    assert exact(value) == exact(read(pack(value)))


@pytest.mark.parametrize("beside", [1, 2**64, "\ud800"])
def test_scalars_of_other_classes_are_their_plain_values(beside: object) -> None:
    given = [Colour.RED, Size.LARGE, Text("a"), Number(7), Number(2**70), Share(0.5), Raw(b"b")]
    expected = ["red", 3, "a", 7, 2**70, 0.5, b"b"]
    assert exact([*expected, "\udfff", beside]) == exact(read(pack([*given, Text("\udfff"), beside])))


@given(st.lists(SCALARS, max_size=3), st.dictionaries(TEXT, SCALARS, max_size=2))
def test_tuples_are_lists(items: list[object], mapping: dict[str, object]) -> None:
    assert exact([items, [mapping, items]]) == exact(read(pack((tuple(items), (mapping, tuple(items))))))


@pytest.mark.parametrize("value", [object(), object, [1, object()], ["\ud800", object()]])
def test_other_objects_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        pack(value)


def nested(depth: int, innermost: object, key: str | None = None) -> object:
    value = innermost
    for _ in range(depth):
        value = [value] if key is None else {key: value}
    return value


@pytest.mark.parametrize("innermost", [1, 2**64, "\ud800"])
@pytest.mark.parametrize("key", [None, "a", "\ud800"])
def test_what_is_too_deep_is_refused(innermost: object, key: str | None) -> None:
    with pytest.raises(RecursionError):
        pack(nested(100_000, innermost, key))
    value = nested(100, innermost, key)
    assert exact(value) == exact(read(pack(value)))


def maps_in_maps(depth: int) -> bytes:
    data = b"\x90"
    for _ in range(depth):
        data = encode(Ext(3, b"\x92\x01" + data))
    return data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x90\x90",
        b"\x92\x01",
        b"\xa3\xed\xa0\x80",
        b"\x91" * 5000,
        b"\x81\xa1a" * 5000,
        b"\x81\x80\x01",
        b"\xdd\x7f\xff\xff\xff\x01",
        b"\xd6\xff\x00\x00\x00",
        encode(Ext(4, b"")),
        encode(Ext(2, b"\xff")),
        encode(Ext(3, b"\x91\x01")),
        encode(Ext(3, b"\x01")),
        encode(Ext(3, encode([{}, 1]))),
        encode({1: Ext(3, b"")}),
        maps_in_maps(2000),
    ],
)
def test_what_nobody_packed_is_undecodable(data: bytes) -> None:
    with pytest.raises(Undecodable):
        read(data)


@given(VALUES, st.data())
def test_damage_is_undecodable_or_not_seen(value: object, data: st.DataObject) -> None:
    packed = bytearray(pack([value, "\ud800"]))
    packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    found: object = None
    with contextlib.suppress(Undecodable):
        found = read(bytes(packed))
    # What is read in spite of it is a value like any other.
    assert repr(read(pack(found))) == repr(found)


def test_what_cannot_be_built_is_undecodable() -> None:
    with pytest.raises(Undecodable, match="KeyError"):
        unpack(pack({}), lambda value: value["a"])
