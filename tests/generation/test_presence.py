"""How often optional parts of a request are there."""

import pytest

from checker.core.meta import PhaseInfo
from checker.generation.program import compile_operation
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource
from tests.openapi.documents import operation

COUNT = 1000


@pytest.mark.parametrize(
    ("place", "name", "required", "low", "high"),
    [
        ("header", "X-Request", False, 430, 570),
        # Mostly they keep a server from doing anything.
        ("header", "If-Match", False, 60, 150),
        ("header", "if-modified-since", False, 60, 150),
        # With one of them a request may be taken for another one.
        ("header", "Idempotency-Key", False, 60, 150),
        ("header", "If-Match", True, COUNT, COUNT),
        ("query", "If-Match", False, 430, 570),
    ],
)
def test_optional_parameters_are_there_now_and_then(place: str, name: str, required: bool, low: int, high: int) -> None:
    parameter = {"name": name, "in": place, "required": required, "schema": {"type": "string"}}
    settings = GenerationSettings(allow_extra_parameters=False)
    program = compile_operation(operation({"parameters": [parameter]}), settings)
    there = 0
    for seed in range(COUNT):
        case = program.draw(RandomSource(seed), f"{seed:012x}", PhaseInfo("fuzzing"))
        there += name in (case.headers if place == "header" else case.query)
    assert low <= there <= high


@pytest.mark.parametrize(
    ("names", "low", "high"),
    [(("cursor", "limit"), 60, 150), (("after", "first"), 60, 150), (("after", "name"), 430, 570)],
)
def test_marks_of_pages_are_seldom_in_bodies(names: tuple[str, str], low: int, high: int) -> None:
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "additionalProperties": False,
    }
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    program = compile_operation(operation({"requestBody": body}, method="post"), GenerationSettings())
    there = 0
    for seed in range(COUNT):
        case = program.draw(RandomSource(seed), f"{seed:012x}", PhaseInfo("fuzzing"))
        there += names[0] in case.body
    assert low <= there <= high
