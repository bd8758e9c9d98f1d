from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.errors import Unsatisfiable
from checker.core.schema import Dialect
from checker.generation.negation.breaches import NegativeDraw, compile_negative
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.replay import ReplaySource
from checker.generation.sources.shrinking import shrink
from tests.measuring.conjecture import replay_through_conjecture
from tests.searching import searched

from .keywords import BODY, NEW, SCHEMAS, compiler_of, leaf_keywords, schema_of

TREE = {
    "type": "object",
    "required": ["name", "lines"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]{2,8}$"},
        "size": {"type": "integer", "minimum": 0, "maximum": 99},
        "kind": {"enum": ["a", "b"]},
        "lines": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["sku"],
                "properties": {
                    "sku": {"type": "string", "format": "uuid"},
                    "price": {"type": "number", "exclusiveMinimum": 0},
                },
            },
        },
    },
}


def negative(raw: Any, dialect: Dialect = NEW) -> NegativeDraw:
    compiler, facets = compiler_of(schema_of(raw, dialect))
    drawn = compile_negative(compiler, facets, BODY)

    def draw(source: Source) -> Any:
        compiler.context.begin(None)
        return drawn(source)

    return draw


DRAWS = [(raw, dialect, negative(raw, dialect)) for _, raw, dialect in SCHEMAS]
OF_TREE = negative(TREE)


@given(st.integers(0, len(DRAWS) - 1), st.integers(0, 2**40))
def test_every_negative_is_invalid_for_the_second_opinion(which: int, seed: int) -> None:
    raw, dialect, draw = DRAWS[which]
    value, violation = draw(RandomSource(seed))
    assert leaf_keywords(raw, dialect, value), violation


@given(st.integers(0, 2**40))
def test_violation_names_the_one_keyword_that_is_broken(seed: int) -> None:
    value, violation = OF_TREE(RandomSource(seed))
    (path, *more) = leaf_keywords(TREE, NEW, value)
    if violation.keyword == "type" and "enum" in path:
        return
    assert not more
    assert violation.keyword == path[-1]
    assert violation.pointer.rpartition("/")[2] in (path[-1], violation.was)


def test_all_schemas_of_a_tree_are_broken_about_as_often() -> None:
    counts: dict[str, int] = {}
    for seed in range(3000):
        _, violation = OF_TREE(RandomSource(seed))
        node = violation.pointer.rpartition("/")[0]
        counts[node] = counts.get(node, 0) + 1
    assert len(counts) == 8
    assert min(counts.values()) * 3 > max(counts.values())


@given(st.integers(0, 2**40))
def test_records_replay_choice_by_choice(seed: int) -> None:
    source = RandomSource(seed)
    value, violation = OF_TREE(source)
    replayed, status, is_exact = replay_through_conjecture(OF_TREE, source.choices)
    assert (status, is_exact) == ("VALID", True)
    assert repr(replayed) == repr((value, violation))
    assert repr(OF_TREE(ReplaySource(source.choices))) == repr((value, violation))


@given(st.integers(0, 2**40), st.randoms(use_true_random=False))
def test_spoilt_records_give_negatives_all_the_same(seed: int, dice: Any) -> None:
    source = RandomSource(seed)
    OF_TREE(source)
    dice.shuffle(source.choices)
    value, _ = OF_TREE(ReplaySource(source.choices))
    assert leaf_keywords(TREE, NEW, value)


def test_shrunk_negative_breaks_the_same_and_little_else_is_left() -> None:
    source = RandomSource(1)
    _, wanted = OF_TREE(source)
    seed = 1
    while wanted.pointer != "#/properties/size/maximum":
        seed += 1
        source = RandomSource(seed)
        _, wanted = OF_TREE(source)
    value, violation = searched(shrink(OF_TREE, source.choices), lambda drawn: drawn[1].pointer == wanted.pointer).value
    assert violation.became == 100
    assert value["size"] == 100
    assert len(value["lines"]) == 1
    assert set(value) == {"name", "size", "lines"}


@pytest.mark.parametrize("raw", [{}, True, {"description": "anything"}, {"minLength": 0}], ids=str)
def test_what_admits_everything_has_no_negatives(raw: Any) -> None:
    with pytest.raises(Unsatisfiable, match="Impossible to generate negative test cases"):
        negative(raw)


def test_what_admits_nothing_has_only_negatives() -> None:
    value, violation = negative({"not": {}})(RandomSource(1))
    assert violation.keyword == "not"
    value, violation = negative(False)(RandomSource(1))
    assert violation.keyword == "false"
    assert value == violation.became


def test_ways_that_break_nothing_are_left_out() -> None:
    # A second alternative takes whatever the first refuses.
    with pytest.raises(Unsatisfiable):
        negative({"anyOf": [{"type": "string", "maxLength": 3}, {}]})


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "raw",
    [
        {"items": {"type": "boolean"}, "minItems": 1, "maxItems": 1},
        {"properties": {"kind": {"type": "boolean"}}, "required": ["kind"], "additionalProperties": False},
        {"properties": {"a": {"type": "string", "minLength": 2}}, "examples": ["text"]},
    ],
    ids=str,
)
def test_wrong_parts_are_put_into_objects_and_arrays_without_a_type(raw: Any) -> None:
    draw = negative(raw)
    for seed in range(200):
        value, violation = draw(RandomSource(seed))
        assert leaf_keywords(raw, NEW, value), violation


@pytest.mark.parametrize("pattern", ["^\\p{IsLatin}+$", "[^\\s\\S]", "("])
def test_pattern_of_names_that_cannot_be_written_costs_only_its_own_breach(pattern: str) -> None:
    draw = negative({"type": "object", "patternProperties": {pattern: {"type": "integer"}}})
    assert {draw(RandomSource(seed))[1].pointer for seed in range(50)} == {"#/type"}


@pytest.mark.parametrize(
    "names",
    [{"type": "string"}, {"type": "string", "maxLength": 3}, {"enum": ["a"]}, {"not": {"const": "a"}}, {"type": ["string", "null"]}],
)  # fmt: skip
def test_wrong_names_of_properties_are_texts(names: Any) -> None:
    draw = negative({"type": "object", "propertyNames": names})
    drawn = [draw(RandomSource(seed))[0] for seed in range(100)]
    assert all(isinstance(name, str) for value in drawn if isinstance(value, dict) for name in value)


def test_all_wrong_types_are_drawn_about_as_often() -> None:
    draw = negative({"type": "integer"})
    counts = Counter(type(draw(RandomSource(seed))[0]) for seed in range(1_000))
    assert set(counts) == {str, type(None), bool, float, list, dict}
    assert min(counts.values()) * 2 > max(counts.values())


def test_near_misses_of_patterns_are_drawn() -> None:
    draw = negative({"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$", "minLength": 6})
    drawn = [draw(RandomSource(seed)) for seed in range(600)]
    texts = {value for value, violation in drawn if violation.keyword == "pattern"}
    assert any(len(text) == 9 and text[:3].isupper() and text[4:].isdigit() for text in texts)
    assert any(text[-1:] == "\n" and len(text) == 9 for text in texts)


def test_near_misses_of_dates_are_drawn() -> None:
    draw = negative({"type": "string", "format": "date"})
    texts = {str(draw(RandomSource(seed))[0]) for seed in range(800)}
    assert any(text[4:] == "-02-29" for text in texts)
    assert any(text[5:7] == "13" for text in texts)


def test_what_is_too_large_to_be_recorded_is_not_drawn() -> None:
    unlike = {"type": "string", "pattern": "^[a-z]{400}$"}
    draw = negative({"type": "array", "uniqueItems": True, "maxItems": 30, "items": unlike})
    source = RandomSource()
    for seed in range(60):
        source.reset(seed)
        _, violation = draw(source)
        assert violation.keyword != "maxItems"
        assert len(source.choices) < 2_000


def test_one_item_too_many_is_drawn_where_a_seed_stands_for_all() -> None:
    unlike = {"type": "string", "pattern": "^[a-z]{40}$"}
    draw = negative({"type": "array", "uniqueItems": True, "maxItems": 400, "items": unlike})
    source = RandomSource()
    found = []
    for seed in range(60):
        source.reset(seed)
        value, violation = draw(source)
        assert len(source.choices) < 2_000
        found.extend([value] if violation.keyword == "maxItems" else [])
    assert found
    assert all(len(value) > 400 for value in found)
