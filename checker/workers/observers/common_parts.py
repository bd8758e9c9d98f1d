"""The parts of requests that several operations have: parameters of the same name, place and schema, and named schemas."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from checker.core.constraints import ITEMS, Constraint
from checker.core.digests import digest
from checker.core.operation import Operation, Parameter
from checker.core.request import Location
from checker.core.schema import tokens_of
from checker.schema.views import Outline, outline_of

_DEEPEST: Final = 3
_MOST: Final = 200
"""Parts of one operation, and schemas that are searched for them."""


class CommonPart(NamedTuple):
    """A part of the requests to one operation."""

    key: str
    """Equal for the same part of other operations."""
    location: str
    path: tuple[str, ...]
    """Its place, as constraints have it."""

    def holds(self, demand: Constraint) -> bool:
        """Whether a demand is about something in this part."""
        return demand.location == self.location and demand.path[: len(self.path)] == self.path


def common_parts(operation: Operation) -> tuple[CommonPart, ...]:
    """Return the parts that other operations may have as well, outermost first."""
    return tuple(islice(_parts(operation), _MOST))


def _parts(operation: Operation) -> Iterator[CommonPart]:
    for one in operation.parameters:
        yield CommonPart(_key_of(operation, one), one.location.value, (one.name,))
    level: list[tuple[tuple[str, ...], Outline]]
    level = [((), outline_of(body.schema)) for body in operation.bodies if body.write is None]
    for _ in range(_DEEPEST):
        below: list[tuple[tuple[str, ...], Outline]] = []
        for path, outline in level[:_MOST]:
            name = next((part.pointer for part in outline.facets() if _is_named(part.pointer)), None)
            if name is not None:
                yield CommonPart(name, Location.BODY.value, path)
            below += (((*path, inner), outline.property(inner)) for inner in outline.names)
            if outline.first("items") is not None:
                below.append(((*path, ITEMS), outline.item(0)))
        level = below


def _key_of(operation: Operation, parameter: Parameter) -> str:
    """Return the key of a parameter. A variable of a path is the same one only below the same beginning of the path."""
    location, name = parameter.location, parameter.name
    above = operation.path.partition("{" + name)[0] if location is Location.PATH else ""
    schema = json.dumps(parameter.schema.raw, sort_keys=True, default=str)
    return digest(location.value, above, name.lower() if location is Location.HEADER else name, schema)


def _is_named(pointer: str) -> bool:
    tokens = tokens_of(pointer)
    return tokens[:-1] in (("components", "schemas"), ("definitions",))
