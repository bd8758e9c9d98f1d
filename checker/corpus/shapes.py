"""Structs as the tuples of their fields and back, derived once from the annotations of their classes.

Of which class a value inside another is, is known from where it stands; one of a union says its place in the union.
"""

from collections.abc import Callable
from enum import Enum
from operator import attrgetter
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from msgspec import Struct

Change = Callable[[Any], Any]
_Changes = tuple[Change | None, Change | None]
"""To fields and back; None where a value stays what it is."""
_Inner = list[tuple[int, Change]]
"""(position, change) of the fields that change."""


class RecordShape(Struct, frozen=True):
    """The ways between a struct and what is packed of it."""

    flat: Change
    """Fields of a value in their order, those of structs within it, too. A tuple of all fields stands for a value."""
    build: Change
    """The value from lists of fields, which it changes. The last fields may be missing if they have defaults."""


_KNOWN: dict[type, RecordShape] = {}


def shape_of(cls: type[Struct]) -> RecordShape:
    """The shape of a struct. `TypeError` for annotations that do not say what stands where."""
    shape = _KNOWN.get(cls)
    if shape is None:
        shape = _KNOWN[cls] = _derived(cls)
    return shape


def flat(value: object) -> object:
    """Return the flat form of a value, for tuples of such values as well; slower."""
    if isinstance(value, tuple):
        return tuple(map(flat, value))
    return shape_of(type(value)).flat(value) if isinstance(value, Struct) else value


def _derived(cls: type[Struct]) -> RecordShape:
    hints = get_type_hints(cls)
    names = cls.__struct_fields__
    inner = [(position, *_changes(hints[name])) for position, name in enumerate(names)]
    return RecordShape(
        _flattener(names, [(position, flat) for position, flat, _ in inner if flat]),
        _builder(cls, [(position, build) for position, _, build in inner if build]),
    )


def _changes(hint: Any) -> _Changes:
    if isinstance(hint, type):
        if issubclass(hint, Struct):
            shape = shape_of(hint)
            return shape.flat, shape.build
        return None, hint if issubclass(hint, Enum) else None
    is_tuple, parts = get_origin(hint) is tuple, get_args(hint)
    if isinstance(hint, UnionType) and all(issubclass(part, Struct) for part in parts):
        return _one_of(parts)
    if is_tuple and parts[1:] == (Ellipsis,):
        return _row(*_changes(parts[0]))
    if any(_changes(part) != (None, None) for part in parts):
        raise TypeError(f"no shape for {hint}")
    return None, tuple if is_tuple else None


def _one_of(classes: tuple[type, ...]) -> _Changes:
    """For a value of one of several structs: its place among them, and its fields."""
    places = {cls: place for place, cls in enumerate(classes)}
    shapes = [shape_of(cls) for cls in classes]
    builders = dict(enumerate(shape.build for shape in shapes))

    def flatten(value: Any) -> Any:
        if value.__class__ is tuple:
            return value
        place = places[value.__class__]
        return place, shapes[place].flat(value)

    def build(values: list[Any]) -> Any:
        place, fields_of = values
        return builders[place](fields_of)

    return flatten, build


def _row(flat: Change | None, build: Change | None) -> _Changes:
    """For tuples of any length."""
    return (
        None if flat is None else lambda values: [*map(flat, values)],
        tuple if build is None else lambda values: tuple(map(build, values)),
    )


def _flattener(names: tuple[str, ...], inner: _Inner) -> Change:
    getter = attrgetter(*names)
    fields_of = getter if len(names) > 1 else lambda value: (getter(value),)
    if not inner:
        return lambda value: value if value.__class__ is tuple else fields_of(value)

    def flatten(value: Any) -> Any:
        values = list(value if value.__class__ is tuple else fields_of(value))
        for position, change in inner:
            values[position] = change(values[position])
        return values

    return flatten


def _builder(cls: type, inner: _Inner) -> Change:
    def build(values: list[Any]) -> Any:
        for position, change in inner:
            # A shorter list is from before the last fields existed: they have defaults.
            if position < len(values):
                values[position] = change(values[position])
        return cls(*values)

    return build
