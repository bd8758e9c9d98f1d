"""A boundary value, how it is put into a larger one, and the values that services are not used to."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import NOT_SET, Case
from checker.core.operation import Location
from checker.core.scenarios import Scenario as Scenario
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.forms import Conjunction
from checker.transport.wire.styles import text_of


class Boundary(Struct, frozen=True):
    """A value at an edge of a schema. Values share their parts: copy one before it is changed."""

    value: Any
    description: str
    """For people: `Object with valid 'b' value: Maximum length string`."""
    scenario: Scenario
    pointer: str
    """Of the keyword that the value is about, or of the schema."""
    keyword: str | None
    """None when it is about the schema as a whole."""
    is_valid: bool
    was: object = None
    """What the keyword says, when it is broken."""
    became: object = None
    """The part that breaks it."""

    def inside(self, put: Callable[[Any], Any], description: str) -> "Boundary":
        """This boundary inside a larger value. Of the scenario remains what is tested."""
        return replace(self, value=put(self.value), description=description + self.description)


class Walk(Protocol):
    """The walk through the schemas of a value (`positives.Edges`)."""

    compiler: Compiler
    is_cut: bool
    is_lean: bool
    is_full: bool
    completes: bool

    def values(self, conjunction: Conjunction, place: TextPlace, path: tuple[str, ...]) -> Iterator[Boundary]: ...
    def usual(self, conjunction: Conjunction, place: TextPlace) -> Any: ...
    def full(self, conjunction: Conjunction, place: TextPlace) -> Any: ...
    def is_given(self, conjunction: Conjunction, place: TextPlace) -> bool: ...
    def drawn(self, conjunction: Conjunction, place: TextPlace, accepts: Callable[[Any], bool] = ...) -> Any: ...
    def narrowed(self, conjunction: Conjunction, place: TextPlace, tag: str, raw: dict[str, Any]) -> Any: ...


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


PARAMETERS = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)
_JSON: Final = json.JSONEncoder(sort_keys=True, default=repr)
"""`json.dumps` would make one for each value."""


def distinct(value: Any) -> Any:
    """Equal for JSON values that are written in the same way: 1 and 1.0 differ, true and 1 too."""
    if isinstance(value, str | int | bool | None):
        return value.__class__, value
    try:
        return _JSON.encode(value)
    except (TypeError, ValueError):
        return repr(value)


def _sent(value: Any) -> str:
    """Text of a value outside of bodies, near enough to tell requests apart."""
    return str(distinct(value)) if isinstance(value, list | dict) else text_of(value)


def likeness(case: Case) -> str:
    """Equal for cases of one operation that are the same request."""
    containers = {location: getattr(case, location.container) for location in PARAMETERS}
    found = likeness_of(containers, case.body, case.media_type)
    return found if case.other_method is None else f"{case.other_method} {found}"


def likeness_of(containers: Mapping[Location, Mapping[str, Any]], body: Any, media_type: str | None) -> str:
    """Likeness of a request that is given as parameters by location and a body, which may be `NOT_SET`."""
    parts = [
        sorted((name, _sent(value)) for name, value in containers.get(location, {}).items()) for location in PARAMETERS
    ]
    return repr((parts, None if body is NOT_SET else distinct(body), media_type))
