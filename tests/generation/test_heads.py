"""Texts before the body are as short as servers want them: longer ones tell of the server, not of an operation."""

from typing import Any

import pytest

from checker.core.meta import GenerationMode
from checker.core.operation import Location
from checker.generation.drawing.places import LONGEST_IN_HEAD
from checker.generation.settings import GenerationSettings

from .making import cases, parameter_of, program_of

WIDE = {"type": "string", "maxLength": 152_133}
PLACES = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)


def sizes(location: Location, raw: dict[str, Any], **options: Any) -> list[int]:
    """Lengths of what is drawn for a parameter."""
    program = program_of(parameter_of(raw, location), **options)
    parts = [
        {**case.path_parameters, **case.query, **case.headers, **case.cookies}.get("q") for case in cases(program, 400)
    ]
    return [len(value) for value in parts if isinstance(value, str)]


@pytest.mark.parametrize("location", PLACES)
def test_what_may_be_short_fits_into_a_head(location: Location) -> None:
    found = sizes(location, WIDE)
    assert max(found) <= LONGEST_IN_HEAD
    assert max(found) > 64


@pytest.mark.parametrize("location", PLACES)
def test_what_has_to_be_long_is(location: Location) -> None:
    assert min(sizes(location, WIDE | {"minLength": 3_000})) >= 3_000


@pytest.mark.parametrize(("most", "is_exceeded"), [(500, True), (152_133, False)])
def test_too_long_is_what_a_head_has_room_for(most: int, *, is_exceeded: bool) -> None:
    wrong = GenerationSettings(mode=GenerationMode.NEGATIVE)
    found = sizes(Location.QUERY, {"type": "string", "maxLength": most}, settings=wrong)
    assert any(size > most for size in found) is is_exceeded
    assert max(found, default=0) <= 2_000
