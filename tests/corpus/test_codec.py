import contextlib
import struct
from typing import get_args
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack, structs

from checker.core.meta import Binding, Drawn, Recipe, Step
from checker.core.operation import Label, Location
from checker.corpus.codec import (
    HEADER,
    FrameEncoder,
    Packed,
    ScanEnding,
    Undecodable,
    decode,
    encode_fields,
    join,
    pack,
    scan,
)
from checker.corpus.records import CorpusEntry, Interaction, Note, Record, ValueSeen

from .generated import INTERACTIONS, OTHERS, RECORDS, STEPS, exact


def round_trip(records: list[Record]) -> list[Record]:
    encode = pack
    return decode(join([encode(record) for record in records], len(records)))


@given(st.tuples(*OTHERS.values()))
def test_every_record_comes_back_exactly(records: tuple[Record, ...]) -> None:
    assert exact(round_trip([*records])) == exact([*records])


@given(st.tuples(*OTHERS.values()), st.sets(st.sampled_from(get_args(Record)), min_size=1))
def test_frames_give_the_records_of_the_wanted_kinds(records: tuple[Record, ...], wanted: set[type[Record]]) -> None:
    frame = FrameEncoder().frame
    data = b"".join(frame([pack(record)]) for record in records) + frame([*map(pack, records)])
    kept = [record for record in records if type(record) in wanted]
    assert exact(scan(data, tuple(wanted)).records) == exact(kept + kept)


def test_frames_without_a_wanted_kind_are_not_unpacked() -> None:
    length, kinds, _ = HEADER.unpack_from(FrameEncoder().frame([pack(Note("kind", "", "", "text"))]))
    head, content = struct.pack("<II", length, kinds), bytes(length)
    data = head + struct.pack("<I", crc32(content, crc32(head))) + content
    assert scan(data, (ValueSeen,)).ending is ScanEnding.CLEAN
    assert scan(data, (ValueSeen, Note)).ending is ScanEnding.DAMAGED


@given(INTERACTIONS)
@pytest.mark.thorough
def test_fields_and_packed_parts_are_written_like_the_record(record: Interaction) -> None:
    fields = [getattr(record, name) for name in record.__struct_fields__]
    parts = [structs.astuple(one) for one in record.components]
    packed = [
        *fields[:5],
        parts,
        *fields[6:9],
        structs.astuple(record.exchange),
        Packed(pack(record.checks)),
        *fields[11:],
    ]
    assert pack(record) == encode_fields(Interaction, *fields)
    if is_utf8(record):
        assert pack(record) == encode_fields(Interaction, *packed)


def is_utf8(record: Interaction) -> bool:
    """Whether msgspec can write a record without extensions."""
    with contextlib.suppress(UnicodeEncodeError, OverflowError):
        return bool(msgpack.encode(record))
    return False


@given(STEPS)
@pytest.mark.thorough
def test_steps_are_written_from_fields_like_the_entry(step: Step) -> None:
    recipe = (step.recipe.__struct_config__.tag, *structs.astuple(step.recipe))
    steps = ((step.label, recipe, step.bindings, step.names),)
    entry = CorpusEntry("GET /a", (step,), (), 0.0)
    assert pack(entry) == encode_fields(CorpusEntry, "GET /a", steps, (), 0.0)


def test_hostile_values_keep_their_types() -> None:
    choices = (True, 1, 1.0, -0.0, "\ud800", b"\xed\xa0\x80", 2**70, -(2**70), float("inf"), "", b"")
    literal = {"a": [None, {"b": [2**65, -0.0]}], "\udfff": b"x"}
    binding = Binding(Location.PATH, "id", Label("GET /a"), "/id", 0, literal)
    entry = CorpusEntry("GET /a", (Step(Label("GET /a"), Drawn(choices), (binding,)),), (2**64 - 1,), 0.5)
    (found,) = round_trip([entry])
    assert exact(found) == exact(entry)
    assert isinstance(found, CorpusEntry)
    assert found.steps[0].bindings[0].location is Location.PATH


@given(st.binary(max_size=60))
def test_bytes_that_are_no_records_are_undecodable(data: bytes) -> None:
    found: list[Record] = []
    with contextlib.suppress(Undecodable):
        found = decode(data)
    assert exact(round_trip(found)) == exact(found)


@given(st.lists(RECORDS, min_size=1, max_size=2), st.data())
@pytest.mark.thorough
def test_damage_is_undecodable_or_not_seen(records: list[Record], data: st.DataObject) -> None:
    content = bytearray(join(map(pack, records), len(records)))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    found: list[Record] = []
    with contextlib.suppress(Undecodable):
        found = decode(bytes(content[: data.draw(st.integers(0, len(content)))]))
    # What is read in spite of it is records like any others.
    assert exact(round_trip(found)) == exact(found)


@pytest.mark.parametrize("data", [b"\x91\x91\x63", b"\x91\x92\x07\x01", b"\x91\x05", b"\xc1"])
def test_unknown_tags_and_missing_fields_are_undecodable(data: bytes) -> None:
    with pytest.raises(Undecodable):
        decode(data)


def test_tags_are_those_that_stand_in_files() -> None:
    tags = {cls.__name__: cls.__struct_config__.tag for cls in get_args(Record)}
    assert sorted(tags.values()) == [1, 2, *range(4, 31)]
    assert tags["Interaction"] == 5
    assert [cls.__struct_config__.tag for cls in get_args(Recipe)] == [0, 1, 2]
