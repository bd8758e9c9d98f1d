"""Items that all have to be different."""

from typing import Any

import pytest

from checker.core.errors import Unsatisfiable
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.replay import ReplaySource

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
