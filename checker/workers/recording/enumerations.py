"""Where an operation lists the values that a part of its requests may have, and which of them a case has."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct

from checker.core.case import Case
from checker.core.constraints import ITEMS, part_of, values_at
from checker.core.operation import Location, Operation
from checker.core.schema import Document, UnresolvableReference
from checker.corpus.tried import MEMBER

_DEEPEST: Final = 6
_MOST_PLACES: Final = 100
"""Of an operation."""
_MOST_MEMBERS: Final = 100
"""Of an enumeration: codes of all currencies are more, and no reader wants to see which of them was sent."""
_MOST_ITEMS: Final = 10
"""Of an array in a body that are looked at."""
_COMBINING: Final = ("allOf", "anyOf", "oneOf")
_SCALARS: Final = (str, int, float, bool, type(None))


class Enumeration(Struct, frozen=True, dict=True):
    """The values that are listed for one place."""

    location: Location
    path: tuple[str, ...]
    """Name of the parameter, or nothing for a body, then names of properties; `ITEMS` for the items of an array."""
    members: Mapping[object, str]
    """Key of a value -> its JSON."""

    @cached_property
    def place(self) -> str:
        """`query status`, `body pet.kinds[]`."""
        names = ("[]" if name == ITEMS else name for name in self.path)
        return f"{self.location} {'.'.join(names)}".replace(".[]", "[]").rstrip()

    @cached_property
    def _shown(self) -> dict[object, tuple[str, str]]:
        return {key: (self.place, MEMBER + text) for key, text in self.members.items()}

    def found_in(self, case: Case) -> Iterator[tuple[str, str]]:
        """(place, `MEMBER` and the JSON) of each that a case has."""
        shown = self._shown
        for value in values_at(part_of(case, self.location), self.path, _MOST_ITEMS):
            found = shown.get(_key(value)) if isinstance(value, _SCALARS) else None
            if found is not None:
                yield found


def enumerations_of(operation: Operation) -> tuple[Enumeration, ...]:
    """Those of its parameters and bodies, as far as anybody wants to read; what refers to nothing lists nothing."""
    found: dict[tuple[Location, tuple[str, ...]], dict[object, str]] = {}
    for parameter in operation.parameters:
        schema = parameter.schema
        walk = _listed(schema.raw, schema.pointer, schema.document, (parameter.name,))
        for path, values in walk:
            found.setdefault((parameter.location, path), {}).update(values)
    for body in operation.bodies:
        schema = body.schema
        for path, values in _listed(schema.raw, schema.pointer, schema.document, ()):
            found.setdefault((Location.BODY, path), {}).update(values)
    kept = list(found.items())[:_MOST_PLACES]
    return tuple(Enumeration(location, path, members) for (location, path), members in kept)


def _listed(
    raw: object, at: str, document: Document, path: tuple[str, ...], depth: int = 0
) -> Iterator[tuple[tuple[str, ...], dict[object, str]]]:
    if not isinstance(raw, dict) or depth > _DEEPEST:
        return
    if isinstance(reference := raw.get("$ref"), str):
        try:
            target, place = document.resolve(reference, at=at)
        except UnresolvableReference:
            return
        yield from _listed(target, place, document, path, depth + 1)
    listed = raw.get("enum")
    if isinstance(listed, list) and 0 < len(listed) <= _MOST_MEMBERS:
        scalars = [value for value in listed if isinstance(value, _SCALARS)]
        yield path, {_key(value): json.dumps(value) for value in scalars}
    below = [(part, path) for keyword in _COMBINING for part in _parts(raw.get(keyword))]
    below.append((raw.get("items"), (*path, ITEMS)))
    properties = raw.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        is_sent = not (isinstance(part, dict) and part.get("readOnly") is True)
        below += [(part, (*path, str(name)))] if is_sent else []
    for part, name in below:
        yield from _listed(part, at, document, name, depth + 1)


def _parts(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _key(value: object) -> object:
    """Equal for equal values of JSON: `true` is no number."""
    return value if isinstance(value, str) else (isinstance(value, bool), value)
