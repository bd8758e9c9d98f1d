"""Cells: which part of its schema's range a sent value stands in. They make input coverage countable."""

from collections.abc import Callable, Mapping
from typing import Any

from checker.core.case import NOT_SET, Case
from checker.core.operation import Location, Operation
from checker.core.schema import Schema, UnresolvableReference

Cell = Callable[[Any], str]
"""From a value to the name of its cell: a few dozen names for each schema at most."""

_PROPERTIES = 40
_MEMBERS = 30
_HOPS = 8
_WORDS = frozenset(("title", "description", "deprecated", "example", "default"))
"""Keywords that constrain nothing."""


class InputCells:
    """The parameters and the top properties of the body of one operation."""

    def __init__(self, operation: Operation) -> None:
        self._parts = [
            (parameter.location.container, parameter.name, _cell_of(parameter.schema))
            for parameter in operation.parameters
        ]
        self._bodies = {body.media_type: _properties(body.schema) for body in operation.bodies}

    def of(self, case: Case) -> list[tuple[str, str, str]]:
        """(location, name, cell) of everything that the case sends, or leaves out."""
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
    schema = _resolved(schema)
    raw = schema.raw
    named = raw.get("properties") if isinstance(raw, Mapping) else None
    if not isinstance(named, Mapping):
        return _cell_of(schema), ()
    return _cell_of(schema), tuple(
        (str(name), _cell_of(Schema(part, schema.pointer, schema.dialect, schema.document)))
        for name, part in list(named.items())[:_PROPERTIES]
    )


def _cell_of(schema: Schema) -> Cell:
    raw = _resolved(schema).raw
    if not isinstance(raw, Mapping):
        return _plain
    members = raw.get("enum")
    if isinstance(members, list):
        named = [repr(member) for member in members[:_MEMBERS]]
        return lambda value: f"member {text}" if (text := repr(value)) in named else _plain(value)
    low, high = _number(raw.get("minimum")), _number(raw.get("maximum"))
    sizes = (_number(raw.get("minLength", raw.get("minItems"))), _number(raw.get("maxLength", raw.get("maxItems"))))

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


def _resolved(schema: Schema) -> Schema:
    """Return the schema behind a reference, also behind a reference with annotations beside it."""
    for _ in range(_HOPS):
        raw = schema.raw
        if not isinstance(raw, Mapping):
            break
        reference = raw.get("$ref")
        if not isinstance(reference, str):
            part = _only_part(raw)
            if part is None:
                break
            schema = Schema(part, schema.pointer, schema.dialect, schema.document)
            continue
        try:
            target, pointer = schema.document.resolve(reference, at=schema.pointer)
        except UnresolvableReference:
            break
        schema = Schema(target, pointer, schema.dialect, schema.document)
    return schema


def _only_part(raw: Mapping[str, Any]) -> object:
    """The one part of an `allOf` that says something, where nothing else does."""
    parts = raw.get("allOf")
    if not isinstance(parts, list) or not raw.keys() <= {"allOf", *_WORDS}:
        return None
    said = [part for part in parts if isinstance(part, Mapping) and not part.keys() <= _WORDS]
    return said[0] if len(said) == 1 else None


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
