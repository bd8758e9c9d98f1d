"""What settings change in the values that are drawn."""

from typing import Any

import pytest

from checker.core.meta import GenerationMode
from checker.generation.boundaries.operations import OperationEdges
from checker.generation.boundaries.values import Scenario
from checker.generation.drawing.formats import FORMATS
from checker.generation.program import GenerationSettings

from .making import PlainOperation, body_of, cases, parameter_of, parts, program_of, schema_of

SHAPES: list[dict[str, Any]] = [
    *({"format": name} for name in sorted(FORMATS)),
    *({"pattern": pattern} for pattern in ("^.{1,5}$", "\\p{L}+", "^[^a]+$")),
    {"minLength": 2000},
    {},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_strings_of_every_shape_keep_to_the_codec(shape: dict[str, Any]) -> None:
    raw = {"type": "string", **shape}
    body = {"type": "object", "required": ["v"], "properties": {"v": raw}}
    settings = GenerationSettings(codec="ascii", mode=None)
    for case in cases(program_of(parameter_of(raw), body=body, settings=settings), 40):
        assert parts(case).isascii()


OPEN: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": True},
    {"type": "object", "properties": {"a": {"type": "integer"}}},
    {"type": "object"},
]
CLOSED = GenerationSettings(allow_extra_parameters=False)


@pytest.mark.parametrize("raw", OPEN, ids=str)
def test_properties_that_nobody_speaks_of_can_be_left_out(raw: dict[str, Any]) -> None:
    found = [case.body for case in cases(program_of(body=raw, settings=CLOSED), 200)]
    assert {name for body in found for name in body} <= {"a"}


def test_properties_that_are_needed_or_described_are_still_there() -> None:
    needed = {"type": "object", "minProperties": 2}
    described = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert all(len(c.body) >= 2 for c in cases(program_of(body=needed, settings=CLOSED), 50))
    assert any(c.body for c in cases(program_of(body=described, settings=CLOSED), 50))


def test_nothing_is_wrong_for_having_more_than_is_declared() -> None:
    raw = {**OPEN[1], "additionalProperties": False}
    settings = GenerationSettings(mode=GenerationMode.NEGATIVE, allow_extra_parameters=False)
    for case in cases(program_of(body=raw, settings=settings), 200):
        names = case.body if isinstance(case.body, dict) else {}
        assert set(names) <= {"a"}


def test_boundary_cases_have_no_extras_either() -> None:
    raw = {**OPEN[1], "additionalProperties": False}
    operation = PlainOperation((parameter_of({"type": "integer"}),), (body_of(schema_of(raw)),))
    allowed = {case.scenario for case in OperationEdges(operation, GenerationSettings()).cases()}
    refused = {case.scenario for case in OperationEdges(operation, CLOSED).cases()}
    assert allowed - refused == {Scenario.UNEXPECTED_PROPERTIES}
    for case in OperationEdges(PlainOperation((), (body_of(schema_of(OPEN[0])),)), CLOSED).cases():
        assert "x-checker" not in repr(case.parts)
