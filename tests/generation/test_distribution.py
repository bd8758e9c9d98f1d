"""Defects that need a particular value are met: in bare schemas within a hundred cases, most of the time."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.measuring.defects import DEFECTS as BENCHMARKED
from tests.measuring.defects import Defect
from tests.measuring.distribution import measured

from .making import cases, program_of

DEFECTS: dict[str, tuple[dict[str, Any], Callable[[Any], bool]]] = {
    "minimum": ({"type": "integer", "minimum": 3, "maximum": 5000}, lambda value: value == 3),
    "maximum": ({"type": "integer", "minimum": 3, "maximum": 5000}, lambda value: value == 5000),
    "zero": ({"type": "integer"}, lambda value: value == 0),
    "negative": ({"type": "integer"}, lambda value: value < 0),
    "beyond 32 bits": ({"type": "integer"}, lambda value: abs(value) > 2**31),
    "zero of a number": ({"type": "number"}, lambda value: value == 0),
    "fraction": ({"type": "number"}, lambda value: value != int(value)),
    "empty string": ({"type": "string"}, lambda value: value == ""),
    "longest string": ({"type": "string", "maxLength": 64}, lambda value: len(value) == 64),
    "blank": ({"type": "string"}, lambda value: value and not value.strip()),
    "non-ASCII letter": ({"type": "string"}, lambda value: any(c.isalpha() and not c.isascii() for c in value)),
    "quote": ({"type": "string"}, lambda value: "'" in value or '"' in value),
    "leading zero": ({"type": "string"}, lambda value: value[:1] == "0"),
    "empty array": ({"type": "array", "items": {"type": "integer"}}, lambda value: value == []),
    "one element": ({"type": "array", "items": {"type": "integer"}}, lambda value: len(value) == 1),
    "most elements": ({"type": "array", "items": {}, "maxItems": 5}, lambda value: len(value) == 5),
    "same element twice": (
        {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 20}},
        lambda value: len(set(value)) < len(value),
    ),
    "member of twenty": ({"enum": list(range(20))}, lambda value: value == 17),
    "two optionals": (
        {"type": "object", "properties": {name: {"type": "boolean"} for name in "abcdefgh"}},
        lambda value: "a" in value and "h" in value and "c" not in value,
    ),
    "no optional": ({"type": "object", "properties": {name: {} for name in "abc"}}, lambda value: not value),
    "leap day": ({"type": "string", "format": "date"}, lambda value: value.endswith("-02-29")),
    "null": ({"type": ["string", "null"]}, lambda value: value is None),
    "example": ({"type": "string", "example": "SAVE10"}, lambda value: value == "SAVE10"),
    "default": ({"type": "integer", "default": 4711}, lambda value: value == 4711),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFECTS)
def test_defect_is_met_within_a_hundred_cases(name: str) -> None:
    raw, fails = DEFECTS[name]
    program = program_of(body=raw)
    met = sum(any(fails(case.body) for case in cases(program, 100, seed=seed)) for seed in range(10))
    assert met >= 7


@pytest.mark.parametrize("defect", BENCHMARKED, ids=lambda defect: f"{defect.kind}: {defect.name}")
def test_defect_of_the_benchmark_is_met_within_two_thousand_cases(defect: Defect) -> None:
    (row,) = measured([defect], seeds=5, most=2_000)
    assert row.median is not None
    assert row.median <= 2_000


def test_two_defects_of_each_kind() -> None:
    kinds = Counter(defect.kind for defect in BENCHMARKED)
    assert len(kinds) == 23
    assert min(kinds.values()) == 2
