"""Hostile schemas: an end in bounded time, with a value or with the pointer of what took too much."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import thread_time
from typing import Any

import pytest

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Budget

from .making import PHASE, drawer, opinions, program_of, schema_of

SECONDS = 60.0
"""Of CPU for compiling and three cases: a guard against what would take years. On a busy machine the dearest takes three."""
Hostile = tuple[Any, dict[str, Any]]


def _nest(keyword: str, depth: int, place: int = 1) -> dict[str, Any]:
    if depth == 0:
        return {"type": "object", "properties": {f"p{place}": {"type": "integer"}}}
    return {keyword: [_nest(keyword, depth - 1, 2 * place + side) for side in (0, 1)]}


def _choices(keyword: str, count: int) -> dict[str, Any]:
    """As many choices, each independent of the others."""
    return {
        "type": "object",
        "allOf": [
            {keyword: [{"properties": {name: {"const": 1}}, "required": [name]} for name in (f"a{index}", f"b{index}")]}
            for index in range(count)
        ],
    }  # fmt: skip


def _conditions(count: int) -> dict[str, Any]:
    return {
        "type": "object",
        "allOf": [
            {
                "if": {"properties": {f"c{index}": {"const": True}}, "required": [f"c{index}"]},
                "then": {"required": [f"t{index}"]},
                "else": {"required": [f"e{index}"]},
            }
            for index in range(count)
        ],
    }


def _levels(count: int, width: int) -> Hostile:
    """Each level has so many required properties of the next."""
    names = [f"k{index}" for index in range(width)]
    levels = {
        f"L{level}": {
            "type": "object",
            "required": names,
            "properties": {name: {"$ref": f"#/components/schemas/L{level + 1}"} for name in names},
        }
        for level in range(count)
    }
    return {"$ref": "#/components/schemas/L0"}, {**levels, f"L{count}": {"type": "string"}}


def _inside(keyword: str, depth: int) -> dict[str, Any]:
    raw: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        raw = {"type": "array", keyword: raw, "minItems": 200}
    return raw


def _aliased(count: int) -> dict[str, Any]:
    """Two equal alternatives, again and again, as aliases of YAML make them: 2**count in all."""
    both: list[dict[str, Any]] = [{"type": "string"}, {"type": "integer"}]
    for _ in range(count - 2):
        both = [{"oneOf": both}] * 2
    return {"oneOf": both}


def _one_of_many(depth: int, place: int = 1) -> dict[str, Any]:
    if depth == 0:
        return {"type": "object", "required": [f"p{place}"]}
    return {"oneOf": [_one_of_many(depth - 1, 2 * place + side) for side in (0, 1)]}


def _same_leaves(depth: int) -> dict[str, Any]:
    if depth == 0:
        return {"type": "string"}
    return {"oneOf": [_same_leaves(depth - 1), _same_leaves(depth - 1)]}


def _all_of_all(count: int) -> Hostile:
    """Each schema has a property for each other one, which has to satisfy both."""
    references = [{"$ref": f"#/components/schemas/S{index}"} for index in range(count)]
    parts = {
        f"S{index}": {
            "type": "object",
            "properties": {f"p{at}": {"allOf": [own, other]} for at, other in enumerate(references)},
        }
        for index, own in enumerate(references)
    }
    return references[0], parts


COMPILED: dict[str, Hostile] = {
    "ten inside each other": _all_of_all(10),
    "oneOf inside oneOf": (_one_of_many(10), {}),
    "anyOf inside anyOf": (_nest("anyOf", 10), {}),
    "2**30 combinations of anyOf": (_choices("anyOf", 30), {}),
    "2**12 combinations of oneOf": (_choices("oneOf", 12), {}),
    "forty conditions": (_conditions(40), {}),
    "a thousand alternatives": ({"anyOf": [_nest("anyOf", 0, index) for index in range(1000)]}, {}),
    "all of three thousand": (
        {"type": "array", "uniqueItems": True, "minItems": 3000, "items": {"enum": list(range(3000))}},
        {},
    ),
    "a hundred thousand members": ({"enum": list(range(100_000))}, {}),
    "repeated repetitions": ({"type": "string", "pattern": "^(([a-z]+)*[0-9]*)*x$"}, {}),
    "ambiguous alternatives": ({"type": "string", "pattern": "^(a|a)*b$", "minLength": 40}, {}),
    "ten billion zeros": ({"type": "string", "pattern": "^0{10000000000}$"}, {}),
    "ten billion pairs": ({"type": "string", "pattern": "^(ab){10000000000}$"}, {}),
    "a million letters": ({"type": "string", "pattern": "^(a{100}){100}$"}, {}),
    "everything recursive": (
        {"$ref": "#/components/schemas/A"},
        {"A": {"type": "object", "properties": {
            f"a{index}": {"type": "array", "minItems": 2, "items": {"$ref": "#/components/schemas/A"}}
            for index in range(6)}}},
    ),
    "a multiple that is hardly one": ({"type": "number", "multipleOf": 1e-300}, {}),
}  # fmt: skip
REFUSED: dict[str, tuple[Hostile, str]] = {
    "a million alternatives": ((_aliased(20), {}), "#/s"),
    "equal alternatives inside each other": ((_same_leaves(12), {}), "#/s"),
    "allOf inside allOf": ((_nest("allOf", 12), {}), "#/s"),
    "ten million properties": (_levels(7, 10), "#/components/schemas/L6"),
    "eight million items": ((_inside("items", 3), {}), "#/s/items/items"),
    "a hundred levels": ((_inside("items", 100), {}), "#/s/items/items/"),
    "all different": (
        ({"type": "array", "uniqueItems": True, "minItems": 676, "items": {"type": "string", "pattern": "^[a-z]{2}$"}}, {}),
        "#/s",
    ),
    "a text that does not exist": (({"type": "string", "pattern": "^(?=.*xyz)[a-w]{3}$"}, {}), "#/s"),
}  # fmt: skip


@contextmanager
def _soon() -> Iterator[None]:
    started = thread_time()
    yield
    assert thread_time() - started < SECONDS


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.thorough_beyond(1)
def test_hostile_schema_gives_values_soon(name: str) -> None:
    raw, components = COMPILED[name]
    admits = opinions(schema_of(raw, components=components))
    source = RandomSource()
    with _soon():
        program = program_of(body=raw, components=components)
        for seed in range(3):
            source.reset(seed)
            body = drawer(program)(source).body
            assert name in _SLOW or admits(body)


_SLOW = frozenset(
    (
        "2**30 combinations of anyOf", "forty conditions", "ten inside each other", "all of three thousand",
    )
)  # fmt: skip
"""The second opinion takes its time over them."""


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_schema_is_refused_soon_with_its_pointer(name: str) -> None:
    (raw, components), pointer = REFUSED[name]
    with _soon(), pytest.raises((BudgetSpent, Unsatisfiable)) as caught:
        drawer(program_of(body=raw, components=components))(RandomSource(1))
    error = caught.value
    assert isinstance(error, BudgetSpent | Unsatisfiable)
    assert error.pointer.startswith(pointer)
    assert error.pointer in str(error)


def test_spent_budget_is_told_in_words() -> None:
    raw, components = _levels(7, 10)
    with pytest.raises(BudgetSpent) as caught:
        drawer(program_of(body=raw, components=components))(RandomSource(1))
    assert str(caught.value) == "generation budget spent at #/components/schemas/L6"


def test_thrift_comes_before_the_end() -> None:
    budget = Budget(steps=100, thrift=60)
    low = []
    for _ in range(50):
        budget.spend("#")
        low.append(budget.is_low)
    assert low.index(True) == 40
    with pytest.raises(BudgetSpent, match="spent at #/a"):
        budget.spend("#/a", 51)


def test_a_source_that_was_spent_can_be_used_again() -> None:
    source = RandomSource(1)
    with pytest.raises(BudgetSpent):
        _draw_for_ever(source)
    source.reset(2)
    found = source.integer(0, 10**9)
    assert found == RandomSource(2).integer(0, 10**9)


def _draw_for_ever(source: RandomSource) -> None:
    while True:
        source.boolean()


def test_whoever_draws_too_much_is_told_where() -> None:
    inner = {"type": "array", "items": {"type": "null"}, "minItems": 300, "maxItems": 300}
    properties = {name: inner | {"items": inner} for name in "abcd"}
    schema = {"type": "object", "properties": properties, "required": ["a", "b", "c", "d"]}
    with pytest.raises(BudgetSpent) as caught:
        program_of(body=schema).draw(RandomSource(1), case_id="x", phase=PHASE)
    assert caught.value.pointer
