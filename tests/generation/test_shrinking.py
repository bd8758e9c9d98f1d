from collections.abc import Callable
from typing import Any

import pytest

from checker.core.operation import Location
from checker.generation.program import OperationProgram
from checker.generation.shrinking import ShrinkBudget, Shrunk, shrink
from checker.generation.sources import RandomSource

from .making import drawer, parameter_of, program_of

ITEM = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "extra": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["name"],
}
ORDER = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": ITEM},
        "note": {"type": "string"},
        "price": {"type": "number"},
        "kind": {"oneOf": [{"type": "integer"}, {"type": "array", "items": {"type": "boolean"}}]},
        "deep": {
            "type": "object",
            "properties": {"a": {"type": "object", "properties": {"b": ITEM}}},
        },
    },
    "required": ["items"],
}
PROGRAM = program_of(
    parameter_of({"type": "string"}, Location.HEADER, "X-A", required=False), body=ORDER
)
Predicate = Callable[[Any], bool]


def _failing(program: OperationProgram, fails: Predicate) -> tuple[Any, ...]:
    source = RandomSource()
    found: tuple[Any, ...] = ()
    for seed in range(20_000):
        source.reset(seed)
        if fails(drawer(program)(source)) and len(source.choices) > len(found):
            found = tuple(source.choices)
            if len(found) > 40:
                break
    assert found
    return found


def _shrunk(fails: Predicate, budget: ShrinkBudget | None = None) -> Shrunk[Any]:
    unlimited = ShrinkBudget(seconds=60)
    return shrink(
        drawer(PROGRAM), _failing(PROGRAM, fails), fails, budget=budget or unlimited, seed=1
    )


PREDICATES: dict[str, tuple[Predicate, Any]] = {
    "long string": (
        lambda case: any(len(item["name"]) > 10 for item in case.body["items"]),
        {"items": [{"name": "0" * 11}]},
    ),
    "character": (
        lambda case: any("\u00e9" in item["name"] for item in case.body["items"]),
        {"items": [{"name": "\u00e9"}]},
    ),
    "number beyond": (
        lambda case: any(item.get("count", 0) > 100 for item in case.body["items"]),
        {"items": [{"name": "", "count": 101}]},
    ),
    "third element": (lambda case: len(case.body["items"]) > 2, {"items": [{"name": ""}] * 3}),
    "nested": (
        lambda case: len(case.body.get("deep", {}).get("a", {}).get("b", {}).get("tags", ())) > 1,
        {"items": [], "deep": {"a": {"b": {"name": "", "tags": ["", ""]}}}},
    ),
    "two fields": (
        lambda case: "note" in case.body and case.body.get("price", 0) > 5,
        {"items": [], "note": "", "price": 6},
    ),
    "branch": (
        lambda case: isinstance(case.body.get("kind"), list) and True in case.body["kind"],
        {"items": [], "kind": [True]},
    ),
    "negative": (lambda case: case.body.get("price", 0) < -1, {"items": [], "price": -2}),
}


@pytest.mark.parametrize("name", PREDICATES)
def test_shrinks_to_the_smallest_case(name: str) -> None:
    fails, smallest = PREDICATES[name]
    found = _shrunk(fails)
    assert smallest == found.value.body
    assert found.value.headers == {}
    assert found.executions <= 500


def test_header_is_kept_when_it_matters() -> None:
    found = _shrunk(lambda case: len(case.headers.get("X-A", "")) > 3)
    assert found.value.body == {"items": []}
    assert len(found.value.headers["X-A"]) == 4


def test_same_seed_same_steps() -> None:
    fails = PREDICATES["two fields"][0]
    first, second = _shrunk(fails), _shrunk(fails)
    assert (first.choices, first.executions) == (second.choices, second.executions)


def test_budget_ends_it_with_something_that_fails() -> None:
    fails = PREDICATES["nested"][0]
    found = _shrunk(fails, ShrinkBudget(executions=7, seconds=60))
    assert not found.finished
    assert found.executions == 7
    assert fails(found.value)


def test_no_time_is_no_execution() -> None:
    fails = PREDICATES["branch"][0]
    found = _shrunk(fails, ShrinkBudget(seconds=-1.0))
    assert (found.executions, found.finished) == (0, False)
    assert fails(found.value)
