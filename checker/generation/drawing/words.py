"""Values that users or the description give, in place of generated ones: asked for by choices, so they shrink and replay."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.config.overrides import TypeWords, as_type
from checker.core.case import copied
from checker.core.meta import ANYTHING, Origin
from checker.core.operation import Location
from checker.generation.drawing.judging import is_json
from checker.generation.drawing.places import TextPlace, location_of
from checker.generation.normalization import forms
from checker.generation.sources.basic import either, finished, listed
from checker.generation.sources.context import Draw, DrawContext, GivenValue

EXAMPLES: Final = 0.2
"""Probability that a declared example takes the place of what is drawn."""
_KINDS: Final = {forms.STRING: "string", forms.INTEGER: "integer", forms.NUMBER: "number"}


class Words(Struct, frozen=True):
    """Values that may stand somewhere."""

    entries: tuple[Any, ...]
    share: float
    """Probability that one is taken."""
    origin: Origin
    location: Location | None = None
    """Where they stand; without one they are taken nowhere."""
    name: str = ANYTHING
    """Of the parameter, where they are meant for one."""

    def at(self, place: TextPlace, is_valid: Callable[[Any], bool]) -> "Words":
        """Return the words that a place carries and a schema admits."""
        location = location_of(place)
        entries = tuple(v for v in self.entries if place.carries(v) and is_valid(v))
        return replace(self, entries=entries, location=location)

    def sampled(self, draw: Draw, context: DrawContext) -> Draw:
        """Draws one of the values now and then, and otherwise a value of `draw`."""
        entries, share = self.entries, self.share
        count = len(entries)
        if not count or self.location is None:
            return draw
        given, which = GivenValue(self.location, self.origin, self.name), listed(range(count))

        def take(index: int) -> Any:
            value = entries[index]
            context.bindings.append(given)
            return copied(value) if isinstance(value, list | dict) else value

        taken = finished(which, take)
        return either(share, taken, draw) if share < 1 else taken


def fitting(
    entries: Iterable[Any], types: frozenset[str], accepts: Callable[[Any], bool]
) -> tuple[Any, ...]:
    """Return the entries that are accepted, as they are or read as one of the wanted types."""
    found: dict[str, Any] = {}
    for entry in entries:
        for reading in readings(entry, types):
            if accepts(reading):
                found.setdefault(repr(reading), reading)
                break
    return tuple(found.values())


def readings(entry: Any, types: frozenset[str]) -> Iterator[Any]:
    """An entry as it is, and as each of some types; nothing of what YAML knows and JSON does not."""
    if not is_json(entry):
        return
    yield entry
    if isinstance(entry, str | int | float) and not isinstance(entry, bool):
        for kind, name in _KINDS.items():
            if kind in types:
                reading = as_type(name, entry)
                if reading is not None:
                    yield reading


def words_of_types(types: Sequence[TypeWords]) -> Mapping[str, Words]:
    """Return the words that may stand for a generated value of each type."""
    kinds = {name: kind for kind, name in _KINDS.items()}
    return {kinds[one.type]: Words(one.entries, one.share, Origin.DICTIONARY) for one in types}
