"""Lists of one body that have to be equally long."""

import json
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.constraints import PARALLEL, Constraint
from checker.core.meta import GenerationMode
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.relations import relations_of
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource
from tests.generation.making import PHASE
from tests.openapi.documents import operation

LISTS: dict[str, Any] = {
    "ids": {"type": "array", "items": {"type": "string"}},
    "values": {"type": "array", "items": {"type": "number"}},
    "notes": {"type": ["array", "null"], "items": {"type": "string"}},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {**LISTS, "size": {"type": "integer"}},
    "required": list(LISTS),
}
DEMAND = Constraint("body", ("ids",), PARALLEL, json.dumps(["values", "notes"]))


def _described(schema: dict[str, Any]) -> Any:
    return operation({"requestBody": {"content": {"application/json": {"schema": schema}}}}, version="3.1.0")


def _sizes(case: Case) -> set[int]:
    body = case.body if isinstance(case.body, dict) else {}
    return {len(value) for name, value in body.items() if name in LISTS and isinstance(value, list)}


@pytest.mark.parametrize(
    ("said", "is_suggested"),
    [("All arrays must have the same length.", True), ("Arrays of records.", False), ("All arrays are sorted.", False)],
)
def test_prose_suggests_that_all_lists_are_equally_long(said: str, *, is_suggested: bool) -> None:
    found = relations_of(_described({**SCHEMA, "description": said}))
    assert found == ((DEMAND,) if is_suggested else ())


def test_drawn_and_listed_cases_make_lists_equally_long() -> None:
    made = _described(SCHEMA)
    settings = GenerationSettings(mode=GenerationMode.POSITIVE, learned=(DEMAND,))
    program = made.compile(settings)
    drawn = [program.draw(RandomSource(seed), case_id="c", phase=PHASE, pool=None) for seed in range(60)]
    assert all(len(_sizes(case)) <= 1 for case in drawn)
    assert len({size for case in drawn for size in _sizes(case)}) > 1
    case = made.Case(body={"ids": ["a"], "values": [1, 2, 3], "notes": None}, media_type="application/json")
    program.relations.repair(case, lambda count: 0, all_of_them=True, kept="values")
    assert case.body == {"ids": ["a", "a0", "a1"], "values": [1, 2, 3], "notes": None}
    case.body = {"ids": [], "values": [1, 2], "notes": []}
    program.relations.repair(case, lambda count: 0, all_of_them=True, kept="values")
    assert case.body == {"ids": ["0", "1"], "values": [1, 2], "notes": ["0", "1"]}
    assert list(OperationEdges(made, settings, Coverage()).cases())
