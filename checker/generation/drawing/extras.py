"""Members and parameters that nobody declared: allowed, and hardly ever tried.

One is put into a case that is made already, wherever there is room for it, and stays only if it may be there: so what the
case was like without it does not depend on it, and shrinking leaves it out first.
"""

from copy import copy
from functools import lru_cache
from typing import Any, Final

from checker.core.operation import Location
from checker.generation.drawing.places import item_of, place_of
from checker.generation.drawing.room import Room
from checker.generation.sources import alphabets
from checker.generation.sources.alphabets import Alphabet
from checker.generation.sources.basic import (
    constant,
    integers,
    joined,
    listed,
    one_of,
    texts,
    together,
)
from checker.generation.sources.choices import Source
from checker.generation.sources.context import OPTIONAL, Draw

_SHARE: Final = 0.025
"""Of cases: servers that refuse what they do not know would refuse them all."""
_ORDER: Final = (Location.PATH, Location.HEADER, Location.COOKIE, Location.QUERY, Location.BODY)
_BODY: Final = _ORDER.index(Location.BODY)
_BODIES: Final = 2
"""How often bodies are meant, for each time that the parameters of a location are."""
_LONGEST: Final = 16
_PATHS: Final = 4095
_NAME: Final = texts(alphabets.NAME, 1, _LONGEST)
_FIELD: Final = joined(constant("X-"), texts(alphabets.LETTERS, 1, _LONGEST))
"""Names of headers: no standard has one like that, and nothing on the way minds them."""
_TELLING: Final = listed(("__proto__", "constructor", "$ref", "@type"))
"""Names that mean something to what reads JSON, whatever it is read for."""
# No booleans by chance: whether they can be true depends on how large the case is already.
_SIMPLE: Final = listed((None, True, False, [], {}))
_MEMBER: Final = together(
    constant(_BODY),
    one_of((_NAME, _NAME, _NAME, _TELLING)),
    one_of((texts(alphabets.VISIBLE, 0, _LONGEST), integers(-1, 1 << 31), _SIMPLE)),
    integers(0, _PATHS),
)


def with_extras(whole: Draw, room: Room, text: Alphabet, excluded: str) -> Draw:
    """Draws all parts of a case, now and then with something in one of them that nobody declared.

    `text` is what may be sent at all, `excluded` no header has.
    """
    if not room.locations and not room.has_bodies:
        return whole
    extra = _extra(room.locations, text, excluded, has_body=room.has_bodies)

    def amend(parts: tuple[Any, ...], drawn: tuple[Any, ...]) -> tuple[Any, ...]:
        index, name, *value = drawn
        part: Any = parts[index]
        if index == _BODY:
            part = _grown_body(part, name, value, room)
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
def _extra(
    locations: tuple[Location, ...], text: Alphabet, excluded: str, *, has_body: bool
) -> Draw:
    """Draws (index of the part, name, value), and for bodies the way to the object that is meant."""
    kinds = [_parameter(location, text, excluded) for location in locations]
    return one_of([*kinds, *[_MEMBER] * _BODIES] if has_body else kinds)


def _parameter(location: Location, text: Alphabet, excluded: str) -> Draw:
    place = item_of(place_of(location, text, excluded))
    name = _FIELD if location is Location.HEADER else _NAME
    return together(constant(_ORDER.index(location)), name, texts(place.alphabet, 1, _LONGEST))


def _grown_body(
    part: tuple[Any, str | None], name: str, drawn: list[Any], room: Room
) -> tuple[Any, str | None]:
    """A body with one member more, where there is room for it."""
    body, media_type = part
    if not isinstance(body, dict | list):
        return part
    member, path = drawn
    # The lists that are listed stay as they are, whatever a hook does to a case.
    grown = _grown(body, name, copy(member), path)
    return part if grown is None or not room.admits(media_type, grown) else (grown, media_type)


def _grown(value: dict[str, Any] | list[Any], name: str, member: Any, path: int) -> Any:
    """A copy with a member in the object that `path` leads to, the outermost for 0; None when there is no room."""
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
