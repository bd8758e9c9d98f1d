"""Items that all have to be different."""

from math import inf, nan
from typing import Any

import pytest

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.schema import Direction
from checker.generation.normalization.forms import identity
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.replay import ReplaySource
from checker.validation.compiled import compile_schema

from .making import bodies, drawer, opinions, program_of, schema_of


def distinct(items: dict[str, Any], low: int, **more: Any) -> dict[str, Any]:
    return {"type": "array", "uniqueItems": True, "items": items, "minItems": low, **more}


NEARLY_ALL: dict[str, dict[str, Any]] = {
    "of an enum": distinct({"enum": list(range(256))}, 250),
    "of a range": distinct({"type": "integer", "minimum": 1, "maximum": 100}, 95),
    "the whole range": distinct({"type": "integer", "minimum": 1, "exclusiveMaximum": 41}, 40),
    "of a thinned enum": distinct({"enum": [*map(str, range(60)), 1, 2], "type": "string"}, 60),
    "of booleans and null": distinct({"type": ["boolean", "null"]}, 3),
    "equal members": distinct({"enum": [1, 1.0, True, "1"]}, 3),
    "of objects": distinct({"enum": [{"a": index} for index in range(30)]}, 29),
}


@pytest.mark.parametrize("name", NEARLY_ALL)
def test_nearly_all_of_a_set_can_be_wanted(name: str) -> None:
    raw = NEARLY_ALL[name]
    is_valid = opinions(schema_of(raw))
    found = bodies(raw, 5)
    assert all(map(is_valid, found))
    assert all(len(value) >= raw["minItems"] for value in found)


def test_five_thousand_of_a_range_are_taken_without_a_miss() -> None:
    raw = distinct({"type": "integer", "minimum": 0, "maximum": 5_001}, 5_000)
    source = RandomSource()
    source.reset(1)
    case = drawer(program_of(body=raw))(source)
    assert len(case.body) >= 5_000
    assert len(source.choices) < 10


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(Unsatisfiable, match="only 60 different items"):
        program_of(body=distinct({"enum": [*map(str, range(60)), 1, 2], "type": "string"}, 61))


@pytest.mark.parametrize("raw", [NEARLY_ALL["of an enum"], distinct({"enum": [*"abcdef"]}, 2)])
def test_choices_of_distinct_items_replay(raw: dict[str, Any]) -> None:
    draw = drawer(program_of(body=raw))
    for seed in range(30):
        source = RandomSource(seed)
        wanted = draw(source).body
        again = ReplaySource(source.choices)
        assert wanted == draw(again).body
        assert source.choices == again.choices


MANY: dict[str, dict[str, Any]] = {
    "integers": {"type": "integer"},
    "texts": {"type": "string"},
    "objects": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}},
    "arrays": {"type": "array", "items": {"type": "integer"}},
    "anything": {},
}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("count", [300, 5_000])
def test_thousands_of_items_can_be_different(name: str, count: int) -> None:
    raw = distinct(MANY[name], count)
    is_valid = compile_schema(schema_of(raw), Direction.REQUEST).is_valid
    (found,) = bodies(raw, 1)
    assert len(found) >= count
    assert is_valid(found)


def test_a_hundred_thousand_items_are_drawn_and_more_are_refused() -> None:
    many = {"type": "array", "items": {"type": "integer"}}
    (found,) = bodies({**many, "minItems": 100_000}, 1)
    assert len(found) >= 100_000
    with pytest.raises(Unsatisfiable, match="minItems 100001 is more than the 100000"):
        program_of(body={**many, "minItems": 100_001})


@pytest.mark.thorough
def test_many_items_inside_each_other_end() -> None:
    inner = distinct({"type": "integer"}, 2_000)
    with pytest.raises(BudgetSpent, match="#/s"):
        bodies(distinct(inner, 2_000), 1)
    # What was left over of one case is not missed in the next.
    assert len(bodies(inner, 3)) == 3


def test_choices_of_many_items_are_few_and_replay() -> None:
    draw = drawer(program_of(body=distinct({"type": "string"}, 1_000)))
    source = RandomSource(7)
    wanted = draw(source).body
    assert len(source.choices) < 10
    assert draw(ReplaySource(source.choices)).body == wanted


def test_numbers_that_json_cannot_write_are_not_null() -> None:
    values = (inf, -inf, nan, None, "inf", "nan", 1 << 70)
    assert len(set(map(identity, values))) == len(values)
