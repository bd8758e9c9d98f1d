"""Undeclared members and parameters, which most schemas allow.

The extra is added to a finished case and stays only if the schema admits it. The rest of the case does not depend on it, and
shrinking drops it first.
"""

from collections.abc import Iterable
from contextlib import suppress
from copy import copy
from functools import lru_cache
from typing import Any, Final

from checker.core.media_types import is_json
from checker.core.operation import Location, Operation
from checker.core.schema import Direction, Schema, UnresolvableReference
from checker.generation.drawing.nodes import IsValid
from checker.generation.drawing.places import item_of, place_of
from checker.generation.sources import alphabets
from checker.generation.sources.alphabets import Alphabet
from checker.generation.sources.basic import constant, integers, joined, listed, one_of, texts, together
from checker.generation.sources.choices import Source
from checker.generation.sources.context import OPTIONAL, Draw
from checker.schema.views import outline_of
from checker.transport.wire.decoding import may_spread
from checker.validation.compiled import UnusableSchema, compile_schema

_WHOLE_QUERY: Final = "querystring"


class Room:
    """The parts of an operation's requests that may have undeclared members. Names and validators are made on demand, because few cases need them."""

    __slots__ = ("_bodies", "_operation", "_taken", "_validators", "locations")

    def __init__(self, operation: Operation, locations: Iterable[Location]) -> None:
        self._operation = operation
        self._bodies: dict[str, Schema] = {}
        self._taken: dict[Location, frozenset[str] | None] = {}
        self._validators: dict[str, IsValid | None] = {}
        named = []
        for location in locations:
            if location is Location.BODY:
                # Servers differ in how they read undeclared members of other media types.
                bodies = [body for body in operation.bodies if is_json(body.media_type)]
                self._bodies = {body.media_type: body.schema for body in bodies}
            elif location is not Location.PATH:
                named.append(location)
        self.locations: tuple[Location, ...] = tuple(named)
        """Locations that may have undeclared parameters."""

    @property
    def has_bodies(self) -> bool:
        """True when some body may have undeclared members."""
        return bool(self._bodies)

    def is_free(self, location: Location, name: str) -> bool:
        """Whether no declared parameter and no credential has that name."""
        if location not in self._taken:
            declared = [one for one in self._operation.parameters if one.location is location]
            # If a parameter takes any query pair as a property, no name is free.
            is_open = any(one.style == _WHOLE_QUERY or may_spread(one, outline_of(one.schema)) for one in declared)
            schemes = [scheme for requirement in self._operation.security for scheme in requirement.schemes]
            names = [one.name.lower() for one in declared]
            names += [scheme.parameter.lower() for scheme in schemes if scheme.location is location]
            self._taken[location] = None if is_open else frozenset(names)
        taken = self._taken[location]
        return taken is not None and name.lower() not in taken

    def admits(self, media_type: str | None, body: Any) -> bool:
        """Whether a body has a JSON media type and is valid."""
        if media_type not in self._bodies:
            return False
        if media_type not in self._validators:
            self._validators[media_type] = None
            with suppress(UnusableSchema, UnresolvableReference):
                self._validators[media_type] = compile_schema(self._bodies[media_type], Direction.REQUEST).is_valid
        is_valid = self._validators[media_type]
        return is_valid is not None and is_valid(body)


_SHARE: Final = 0.025  # Share of cases. It is small because servers that refuse unknown names refuse all of these.
_ORDER: Final = (Location.PATH, Location.HEADER, Location.COOKIE, Location.QUERY, Location.BODY)
_BODY: Final = _ORDER.index(Location.BODY)
_BODIES: Final = 2  # Weight of bodies; the parameters of a location have weight 1.
_LONGEST: Final = 16
_PATHS: Final = 4095
_NAME: Final = texts(alphabets.NAME, 1, _LONGEST)
_FIELD: Final = joined(constant("X-"), texts(alphabets.LETTERS, 1, _LONGEST))
"""Header names that no standard defines and that proxies forward."""
_TELLING: Final = listed(("__proto__", "constructor", "$ref", "@type"))
"""Names with a special meaning in JSON libraries."""
# Booleans are listed and not drawn: in a large case, a drawn boolean is always false.
_SIMPLE: Final = listed((None, True, False, [], {}))
_MEMBER: Final = together(
    constant(_BODY),
    one_of((_NAME, _NAME, _NAME, _TELLING)),
    one_of((texts(alphabets.VISIBLE, 0, _LONGEST), integers(-1, 1 << 31), _SIMPLE)),
    integers(0, _PATHS),
)


def with_extras(whole: Draw, room: Room, text: Alphabet, excluded: str) -> Draw:
    """Draws all parts of a case, sometimes with an undeclared member in one of them.

    `text` is the alphabet of all strings, `excluded` the characters that headers must not have.
    """
    if not room.locations and not room.has_bodies:
        return whole
    extra = _extra(room.locations, text, excluded, has_body=room.has_bodies)

    def amend(parts: tuple[Any, ...], drawn: tuple[Any, ...]) -> tuple[Any, ...]:
        index, name, *value = drawn
        part: Any = parts[index]
        if index == _BODY:
            body, media_type = part
            if isinstance(body, dict | list):
                member, path = value
                # A hook may change the case, so the body is copied; listed containers must stay empty.
                grown = _grown(body, name, copy(member), path)
                part = part if grown is None or not room.admits(media_type, grown) else (grown, media_type)
        elif name not in part and room.is_free(_ORDER[index], name):
            part = {**part, name: value[0]}
        return (*parts[:index], part, *parts[index + 1 :])

    def draw(source: Source) -> Any:
        parts = whole(source)
        if not source.boolean(_SHARE):
            return parts
        source.start_span(OPTIONAL)
        drawn = extra(source)
        source.stop_span()
        return amend(parts, drawn)

    return draw


@lru_cache(maxsize=64)
def _extra(locations: tuple[Location, ...], text: Alphabet, excluded: str, *, has_body: bool) -> Draw:
    """Draws (index of the part, name, value), and for bodies the number that selects an object."""
    kinds = []
    for location in locations:
        place, name = item_of(place_of(location, text, excluded)), _FIELD if location is Location.HEADER else _NAME
        kinds.append(together(constant(_ORDER.index(location)), name, texts(place.alphabet, 1, _LONGEST)))
    return one_of([*kinds, *[_MEMBER] * _BODIES] if has_body else kinds)


def _grown(value: dict[str, Any] | list[Any], name: str, member: Any, path: int) -> Any:
    """Return a copy with a new member in the object that `path` selects (0: the outermost); None if there is no room."""
    # The mixed-radix digits of one number select the object, so that the place is one choice of the record.
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    ways: list[Any] = [key for key, inner in pairs if isinstance(inner, dict | list)]
    if isinstance(value, dict):
        path, way = divmod(path, len(ways) + 1)
        if way == 0:
            return None if name in value else {**value, name: member}
        way -= 1
    elif ways:
        path, way = divmod(path, len(ways))
    else:
        return None
    inner = _grown(value[ways[way]], name, member, path)
    if inner is None:
        return None
    grown: Any = value.copy()
    grown[ways[way]] = inner
    return grown
