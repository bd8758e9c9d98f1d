"""A `oneOf` of alternatives that overlap: each that has values of its own gets them, in bounded work."""

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import pytest

from checker.core.errors import Unsatisfiable
from checker.core.schema import Direction, Schema
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.context import Budget
from checker.validation.compiled import compile_schema

from .making import PlainOperation, body_of, cases, opinions, program_of, schema_of

STEPS = 3_000
"""Of the 60,000 that compiling an operation may take."""
Components = dict[str, Any]
BOUNDS = ("gt", "gte", "lt", "lte")


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def bounded(kind: str, base: str = "Base") -> dict[str, Any]:
    """A filter with bounds of one type, and all that its base has."""
    own = {"type": "object", "properties": {name: {"type": kind} for name in BOUNDS}}
    return {"allOf": [ref(base), own]}


def filters(base: dict[str, Any], where: dict[str, Any]) -> Components:
    """Conditions on fields: five kinds that overlap, two of them twice, in a container of containers."""
    kinds = {"Objects": "object", "Texts": "string", "Numbers": "number", "Counts": "number", "Dates": "string"}  # fmt: skip
    return {
        "Base": {"type": "object", "properties": base},
        **{name: bounded(kind) for name, kind in kinds.items()},
        "Condition": {"oneOf": [ref(name) for name in kinds]},
        "Where": where,
    }


def items_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": ref(name)}


PLAIN = {"eq": {}, "exists": {"type": "boolean"}, "in": {"type": "array"}}
NESTED = {"eq": {"type": "string"}, "not": ref("Condition"), "or": items_of("Condition")}
CONTAINED = {"eq": {"type": "string"}, "and": items_of("Where"), "or": items_of("Where")}
WHERE = {
    "type": "object",
    "properties": {"and": items_of("Where"), "not": ref("Where"), "name": ref("Condition"), "age": ref("Condition")},
}
GROUP = {"type": "object", "properties": {"and": items_of("Where"), "or": items_of("Where")}}
FILTERS: dict[str, Components] = {
    "plain": filters(PLAIN, WHERE),
    "conditions inside conditions": filters(NESTED, WHERE),
    "containers inside conditions": filters(CONTAINED, WHERE),
    "map of conditions": filters(PLAIN, {**WHERE, "additionalProperties": ref("Condition")}),
    "condition or group": filters(PLAIN, {"oneOf": [ref("Condition"), GROUP]}),
    "any of condition or group": filters(NESTED, {"anyOf": [ref("Condition"), GROUP, WHERE]}),
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("root", ["Where", "Condition"])
def test_filters_have_values_in_few_steps(name: str, root: str) -> None:
    components = FILTERS[name]
    schema = schema_of(ref(root), components=components)
    # The second opinion takes its time over conditions inside conditions.
    is_valid, budget = (opinions if name == "plain" else _judge)(schema), Budget()
    program = compile_operation(PlainOperation((), (body_of(schema),)), GenerationSettings(), budget=budget)
    found = [case.body for case in cases(program, 60)]
    assert [value for value in found if not is_valid(value)] == []
    assert Budget().steps - budget.steps < STEPS * (3 if "group" in name else 1)


def test_every_property_of_a_filter_is_drawn() -> None:
    components = FILTERS["conditions inside conditions"]
    found = [case.body for case in cases(program_of(body=ref("Condition"), components=components), 100)]  # fmt: skip
    assert {*NESTED, *BOUNDS} <= {name for value in found for name in value}


def test_alternatives_that_are_the_same_have_no_values() -> None:
    components = filters(PLAIN, WHERE)
    twins = {"oneOf": [ref("Numbers"), ref("Counts")]}
    with pytest.raises(Unsatisfiable, match="alone"):
        program_of(body=twins, components=components)


TYPES = ({"type": "string"}, {"type": "integer"}, {"type": "object"}, {"type": "boolean"}, {"enum": ["a", 1]}, {"maxLength": 1})  # fmt: skip
NAMES = ("a", "b", "c")
SAMPLES: tuple[Any, ...] = (None, "a", "xyz", 1, 2, {}, True)


def union_of(random: Random) -> tuple[dict[str, Any], Components]:
    """Two to five alternatives, their members optional more often than not, some of them shared."""

    def part() -> dict[str, Any]:
        named = {name: random.choice(TYPES) for name in NAMES if random.random() < 0.6}
        raw: dict[str, Any] = {"type": "object", "properties": named}
        if random.random() < 0.25:
            raw["required"] = [random.choice(NAMES)]
        if random.random() < 0.15:
            raw["additionalProperties"] = False
        return raw

    shapes = [part, lambda: {"allOf": [ref("Base"), part()]}, lambda: ref("Base"), lambda: {"anyOf": [part(), part()]}]
    alternatives = [random.choices(shapes, (4, 4, 1, 1))[0]() for _ in range(random.randint(2, 5))]
    return {"oneOf": alternatives}, {"Base": part()}


@pytest.mark.parametrize("seed", range(40))
def test_alternatives_with_values_of_their_own_are_drawn(seed: int) -> None:
    raw, components = union_of(Random(seed))
    schema = schema_of(raw, components=components)
    is_valid, budget = opinions(schema), Budget()
    kinds = [_judge(schema_of(one, components=components)) for one in raw["oneOf"]]
    # A small world, gone through in whole, says which alternatives there are values of.
    absent = object()
    world = [
        {name: value for name, value in zip(NAMES, chosen, strict=True) if value is not absent}
        for chosen in product((absent, *SAMPLES), repeat=len(NAMES))
    ]
    admits = _judge(schema)
    alone = {_kind(kinds, value) for value in world if admits(value)}
    operation = PlainOperation((), (body_of(schema),))
    if not alone:
        with pytest.raises(Unsatisfiable):
            cases(compile_operation(operation, GenerationSettings()), 1)
        return
    program = compile_operation(operation, GenerationSettings(), budget=budget)
    found = [case.body for case in cases(program, 120)]
    assert [value for value in found if not is_valid(value)] == []
    assert alone <= {_kind(kinds, value) for value in found}
    assert Budget().steps - budget.steps < STEPS


def _judge(schema: Schema) -> Callable[[Any], bool]:
    return compile_schema(schema, Direction.REQUEST).is_valid


def _kind(kinds: list[Any], value: Any) -> int:
    """Which alternative admits a value."""
    return next(index for index, admits in enumerate(kinds) if admits(value))
