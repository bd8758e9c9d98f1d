"""Valid values that nobody is used to: services may refuse them, and must not fall over."""

from collections.abc import Iterator
from typing import Any, Final

from checker.generation.boundaries.values import Boundary, Scenario
from checker.generation.drawing.places import TextPlace

_DEEP: Final = 130
"""Objects in each other: more than serde, the JSON of Ruby and MongoDB take (128, 100, 100), less than what Python and Jackson do."""
_MANY: Final = 2_101
"""Items: more than one statement of SQL Server, of Oracle and of older SQLite has parameters for (2,100, 1,000, 999)."""
_LONGEST_ITEM: Final = 40
"""Characters of an item that is sent so often."""


def is_nesting(place: TextPlace) -> bool:
    """Whether values of a place may hold any others, as in JSON."""
    return place.is_body and not place.name.startswith(("body-form", "body-xml"))


def deep(place: TextPlace, pointer: str) -> Iterator[Boundary]:
    """An object in an object in an object, where anything goes."""
    if is_nesting(place):
        value: Any = {}
        for _ in range(_DEEP):
            value = {"a": value}
        yield Boundary(value, "Deeply nested object", Scenario.UNUSUAL, pointer, None, True)


def many_items(item: Any, place: TextPlace, pointer: str) -> Iterator[Boundary]:
    """A list that holds the same plain item very often, where nothing says how many there may be."""
    is_plain = isinstance(item, str | int | float) and len(str(item)) <= _LONGEST_ITEM
    if is_plain and is_nesting(place):
        yield Boundary([item] * _MANY, "Very long array", Scenario.UNUSUAL, pointer, None, True)


def with_fractions(usual: Any, place: TextPlace, pointer: str) -> Iterator[Boundary]:
    """The usual value of a body with all its integers written as `1.0`, which JSON Schema takes for integers, if there are any in it."""
    written = _with_fractions(usual)
    if is_nesting(place) and isinstance(usual, dict | list) and _has_fraction(written):
        text = "Integers written with a fraction of zero"
        yield Boundary(written, text, Scenario.UNUSUAL, pointer, None, True)


def _with_fractions(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_fractions(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return list(map(_with_fractions, value))
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_integer and abs(value) < 2**53 else value


def _has_fraction(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_fraction, value.values()))
    if isinstance(value, list):
        return any(map(_has_fraction, value))
    return isinstance(value, float) and value.is_integer()
