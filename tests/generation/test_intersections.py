"""Strings with two constraints and more: drawn on purpose, not by luck."""

import re
from typing import Any

import pytest

from checker.core.operation import Location

from .making import bodies, cases, opinions, parameter_of, program_of, schema_of

BOTH: dict[str, tuple[dict[str, Any], int]] = {
    "format and pattern": ({"format": "email", "pattern": "@example\\.com$"}, 20),
    "format and start": ({"format": "ipv4", "pattern": "^10\\."}, 20),
    "format and members": ({"format": "email", "pattern": "^(a@example\\.com|b@example\\.org)$"}, 2),
    "format, pattern and length": ({"format": "uri", "pattern": "^https://api\\.example\\.com/", "maxLength": 40}, 10),
    "format and length": ({"format": "ipv6", "maxLength": 5}, 5),
    "format and minimum": ({"format": "uri", "minLength": 100}, 20),
    "encoded bytes and minimum": ({"format": "byte", "minLength": 100, "maxLength": 104}, 20),
    "two formats": ({"format": "hostname", "allOf": [{"format": "ipv4"}]}, 20),
    "version of a format": ({"format": "uuid", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-1"}, 20),
    "no fractions of a time": ({"format": "date-time", "pattern": "T\\d{2}:00:00Z$"}, 20),
    "three patterns": ({"allOf": [{"pattern": "^a"}, {"pattern": "b$"}, {"pattern": "[0-9]{3}"}]}, 20),
    "all kinds": ({"allOf": [{"pattern": "[a-z]"}, {"pattern": "[A-Z]"}, {"pattern": "[0-9]"}, {"pattern": "^[!-~]{8,12}$"}]}, 20),
    "conditions": ({"pattern": "^(?=.*[A-Z])(?!.*AB)[A-C]{4}$", "allOf": [{"pattern": "C"}]}, 20),
    "rules of a password": ({"pattern": "^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])(?=.*[!?]).{8,128}$", "maxLength": 20}, 20),
    "pattern and another forbidden": ({"pattern": "^[a-z]+$", "not": {"pattern": "[a-y]"}}, 2),
    "format and pattern forbidden": ({"format": "ipv4", "not": {"pattern": "[2-9]"}}, 5),
    "pattern and length": ({"pattern": "^(ab|cde)+$", "minLength": 7, "maxLength": 7}, 3),
    "pattern and minimum": ({"pattern": "^([a-z]{3}-)+$", "minLength": 30}, 20),
}  # fmt: skip
"""What is said, and how many different texts of a hundred there are at least."""


@pytest.mark.parametrize("name", BOTH)
def test_texts_satisfy_all_that_is_said(name: str) -> None:
    raw, many = BOTH[name]
    raw = {"type": "string", **raw}
    is_valid = opinions(schema_of(raw))
    texts = bodies(raw, 100)
    assert [text for text in texts if not is_valid(text)] == []
    assert len(set(texts)) >= many


@pytest.mark.parametrize("location", [Location.HEADER, Location.PATH, Location.QUERY])
def test_texts_keep_to_what_a_place_carries(location: Location) -> None:
    raw = {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "b"}, {"pattern": "[0-9]$"}]}
    program = program_of(parameter_of(raw, location))
    texts = {getattr(case, location.container)["q"] for case in cases(program, 60)}
    assert len(texts) > 30
    assert all(re.fullmatch("a.*b.*[0-9]", text, re.DOTALL) for text in texts)
    if location is Location.HEADER:
        assert all(text.isascii() and text.isprintable() for text in texts)


def test_edges_of_a_format_stay_where_a_pattern_allows_them() -> None:
    dates = bodies({"type": "string", "format": "date", "pattern": "-0[12]-"}, 1_000)
    assert any(text.endswith("-02-29") for text in dates)
