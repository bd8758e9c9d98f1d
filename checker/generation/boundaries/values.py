"""Boundary values, unusual values, and keys that are equal for equal values and requests."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import NOT_SET, Case
from checker.core.operation import Location
from checker.core.scenarios import Scenario as Scenario
from checker.generation.drawing.places import TextPlace
from checker.transport.wire.styles import text_of


class Boundary(Struct, frozen=True):
    """A value at an edge of a schema. Values share parts: copy a value before changing it."""

    value: Any
    description: str  # The description in reports: `Object with valid 'b' value: Maximum length string`.
    scenario: Scenario
    pointer: str  # Pointer to the keyword that the value tests, or to the schema.
    keyword: str | None = None  # None when the value tests the schema as a whole.
    is_valid: bool = True
    was: object = None  # Value of the broken keyword.
    became: object = None  # The part that breaks the keyword.

    def inside(self, put: Callable[[Any], Any], description: str) -> "Boundary":
        """Return this boundary inside a larger value, with the same scenario."""
        return replace(self, value=put(self.value), description=description + self.description)


_DEEP: Final = 130
"""Levels of nested objects: more than serde, Ruby's JSON and MongoDB accept (128, 100, 100), fewer than Python and Jackson accept."""
_MANY: Final = 2_101
"""Items: more than the parameters of one statement in SQL Server, Oracle and older SQLite (2,100, 1,000, 999)."""
_LONGEST_ITEM: Final = 40  # Characters of an item that is repeated.


def is_nesting(place: TextPlace) -> bool:
    """Whether a place can hold values of any type and depth, as JSON can."""
    return place.is_body and not place.name.startswith(("body-form", "body-xml"))


def deep(place: TextPlace, pointer: str) -> Iterator[Boundary]:
    """Yield a deeply nested object, for schemas that admit any value."""
    if is_nesting(place):
        value: Any = {}
        for _ in range(_DEEP):
            value = {"a": value}
        yield Boundary(value, "Deeply nested object", Scenario.UNUSUAL, pointer)


def many_items(item: Any, place: TextPlace, pointer: str) -> Iterator[Boundary]:
    """Yield a very long list of one plain item, for schemas that set no limit."""
    # This many objects or long texts would make a body that servers refuse because of its size, which is a different limit.
    is_plain = isinstance(item, str | int | float) and len(str(item)) <= _LONGEST_ITEM
    if is_plain and is_nesting(place):
        yield Boundary([item] * _MANY, "Very long array", Scenario.UNUSUAL, pointer)


def with_fractions(usual: Any, place: TextPlace, pointer: str) -> Iterator[Boundary]:
    """Yield the usual body with its integers written as `1.0`, which JSON Schema counts as integers."""
    written = _with_fractions(usual)
    if is_nesting(place) and isinstance(usual, dict | list) and distinct(written) != distinct(usual):
        text = "Integers written with a fraction of zero"
        yield Boundary(written, text, Scenario.UNUSUAL, pointer)


def _with_fractions(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_fractions(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return list(map(_with_fractions, value))
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    # Doubles beyond 2**53 skip integers, so the number would change.
    return float(value) if is_integer and abs(value) < 2**53 else value


PARAMETERS = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)
_JSON: Final = json.JSONEncoder(sort_keys=True, default=repr)
"""`json.dumps` with these options constructs an encoder for each value."""


def distinct(value: Any) -> Any:
    """Return a key that is equal for JSON values with the same text. 1, 1.0 and true have different keys."""
    # The class is part of the key because `True == 1` and `1 == 1.0` in Python.
    if isinstance(value, str | int | bool | None):
        return value.__class__, value
    try:
        return _JSON.encode(value)
    except (TypeError, ValueError):
        return repr(value)


def likeness(case: Case) -> str:
    """Return a key that is equal for equal requests of one operation."""
    found = likeness_of((case.path_parameters, case.query, case.headers, case.cookies), case.body, case.media_type)
    return found if case.other_method is None else f"{case.other_method} {found}"


def likeness_of(containers: Iterable[Mapping[str, Any]], body: Any, media_type: str | None) -> str:
    """Return the key of a request that is given as parameters of each of `PARAMETERS` and a body, which may be `NOT_SET`."""
    parts = [
        sorted(
            (name, str(distinct(value)) if isinstance(value, list | dict) else text_of(value))
            for name, value in container.items()
        )
        for container in containers
    ]
    return repr((parts, None if body is NOT_SET else distinct(body), media_type))
