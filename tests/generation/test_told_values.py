"""Texts that descriptions give in prose are drawn where nothing else says what texts look like."""

from typing import Any

import pytest

from checker.generation.normalization.reading import prose_examples

from .making import cases, parameter_of, program_of

ZONE = 'Name of the zone (e.g. "example.com."), with a dot at its end'


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (ZONE, ["example.com."]),
        ("Type (e.g. \u201cA\u201d, \u201cPTR\u201d, \u201cMX\u201d)", ["A", "PTR", "MX"]),
        ("A tag, for example `en-US` or `de`.", ["en-US", "de"]),
        ("one of 'a', 'b' and 'c'", ["a", "b", "c"]),
        ("Set to \u201cZone\u201d", ["Zone"]),
        ("The user's name, e.g. Ann, isn't checked", []),
        ('Shown as "title"', []),
    ],
)
def test_quoted_examples_are_read(text: str, values: list[str]) -> None:
    assert prose_examples({"type": "string", "description": text}) == values


@pytest.mark.parametrize(
    "more",
    [{"type": "integer"}, {"pattern": "^a"}, {"format": "uuid"}, {"enum": ["a"]}, {"example": "b"}, {"description": 5}],
)
def test_keywords_say_more_than_prose(more: dict[str, Any]) -> None:
    assert prose_examples({"type": "string", "description": ZONE} | more) == []


def _share(schema: dict[str, Any], value: str) -> float:
    found = cases(program_of(parameter_of(schema)), 1000)
    return [case.query["q"] for case in found].count(value) / len(found)


def test_what_is_told_is_drawn_now_and_then() -> None:
    assert 0.14 < _share({"type": "string", "description": ZONE}, "example.com.") < 0.26


def test_what_is_told_and_not_valid_is_not_drawn() -> None:
    schema = {"type": "string", "description": ZONE, "maxLength": 5}
    assert _share(schema, "example.com.") == 0
