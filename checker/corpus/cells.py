"""Cells: the parts into which a schema divides its values (below, at and above a bound, each member). They make input coverage countable."""

from collections.abc import Callable
from typing import Any

from checker.core.case import NOT_SET, Case
from checker.core.operation import Location, Operation
from checker.core.schema import Schema
from checker.schema.views import Outline, outline_of

Cell = Callable[[Any], str]
"""Returns the name of the cell of a value: a few dozen names for each schema at most."""

_PROPERTIES = 40
_MEMBERS = 30


class InputCells:
    """The parameters and the top properties of the body of one operation."""

    def __init__(self, operation: Operation) -> None:
        self._parts = [
            (parameter.location.container, parameter.name, _cell_of(outline_of(parameter.schema)))
            for parameter in operation.parameters
        ]
        self._bodies = {body.media_type: _properties(body.schema) for body in operation.bodies}

    def of(self, case: Case) -> list[tuple[str, str, str]]:
        """Return (location, name, cell) of every input that the case sends or leaves out."""
        found = []
        for container, name, cell in self._parts:
            values = getattr(case, container)
            found.append((container, name, cell(values[name]) if name in values else "absent"))
        body = case.body
        if body is NOT_SET:
            if self._bodies:
                found.append((_BODY, "", "absent"))
            return found
        whole, properties = self._bodies.get(case.media_type or "", (_plain, ()))
        found.append((_BODY, "", whole(body)))
        if isinstance(body, dict):
            for name, cell in properties:
                found.append((_BODY, name, cell(body[name]) if name in body else "absent"))
        return found


_BODY = Location.BODY.container


def _properties(schema: Schema) -> tuple[Cell, tuple[tuple[str, Cell], ...]]:
    outline = outline_of(schema)
    names = list(outline.names)[:_PROPERTIES]
    return _cell_of(outline), tuple((name, _cell_of(outline.property(name))) for name in names)


def _cell_of(outline: Outline) -> Cell:
    members = outline.first("enum")
    if isinstance(members, list):
        named = [repr(member) for member in members[:_MEMBERS]]
        return lambda value: f"member {text}" if (text := repr(value)) in named else _plain(value)
    low, high = _number(outline.first("minimum")), _number(outline.first("maximum"))
    sizes = (_number(outline.first("minLength", "minItems")), _number(outline.first("maxLength", "maxItems")))

    def cell(value: Any) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return _place(value, low, high)
        if isinstance(value, str | list | bytes):
            return "size " + _place(len(value), *sizes)
        return _plain(value)

    return cell


def _place(value: float, low: float | None, high: float | None) -> str:
    if low is not None and value <= low:
        return "min" if value == low else "below min"
    if high is not None and value >= high:
        return "max" if value == high else "above max"
    if low is not None and value == low + 1:
        return "min + 1"
    if high is not None and value == high - 1:
        return "max - 1"
    if not value:
        return "0"
    return "negative" if value < 0 else "between"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _place(value, None, None)
    if isinstance(value, str | list | dict | bytes):
        return type(value).__name__ if value else f"empty {type(value).__name__}"
    return "null" if value is None else "other"


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
