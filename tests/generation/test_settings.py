"""What settings change in the values that are drawn."""

from typing import Any

import pytest

from checker.generation.formats import FORMATS
from checker.generation.program import GenerationSettings

from .making import cases, parameter_of, parts, program_of

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
