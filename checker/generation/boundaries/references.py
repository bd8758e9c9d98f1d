"""Places of listed bodies that name what other operations make: with a made-up name there targets refuse whatever else is in them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import NOT_SET
from checker.core.constraints import ITEMS
from checker.core.copies import copied
from checker.core.json_pointers import tokens_of
from checker.core.meta import Binding
from checker.generation.likeness import distinct

_Spot = tuple[Any, str | int]
"""What holds a value, and where in it."""


class ReferencePlace(Struct, frozen=True):
    """One place, or one in each item of a list."""

    pointer: str
    path: tuple[str, ...]
    usual: Any
    """What stands there in usual bodies, a text or an integer; a case with another value there is about it."""
    is_said: bool
    """Whether an author gave the usual value: it may be the name of something that is there."""


class References(Struct, frozen=True):
    """Those of the bodies of one media type."""

    places: tuple[ReferencePlace, ...]
    is_valid: Callable[[Any], bool]
    usual: Any
    """The usual body, which is valid."""

    def filled(
        self, body: Any, pick: Callable[[str], Binding | None], *, keeps_said: bool, adds: bool
    ) -> Iterator[Binding]:
        """What a body, which is changed in place, took of what `pick` knows for a pointer; as valid, or as wrong, as it was.

        A right body keeps what it has in the place that it is about, a wrong one what makes it wrong. With `adds` a right
        body gets known values for optional properties that it does not have.
        """
        was_valid: bool | None = None
        for place in self.places:
            spots = _spots(body, place.path)
            if not spots and adds:
                yield from self._added(body, place, pick)
            if (keeps_said and place.is_said) or len(
                {distinct(holder[at]) for holder, at in spots}
            ) != 1:
                continue
            if was_valid is None:
                was_valid = self.is_valid(body)
            before = spots[0][0][spots[0][1]]
            is_usual = distinct(before) == distinct(place.usual)
            if not is_usual and (was_valid or before.__class__ is not place.usual.__class__):
                continue
            found = pick(place.pointer)
            value = NOT_SET if found is None else _in_type_of(place.usual, found.literal)
            if found is None or value is NOT_SET or not self._admits(place, value):
                continue
            _put(spots, value)
            if self.is_valid(body) is was_valid:
                yield replace(found, name=place.pointer, literal=value)
            else:
                _put(spots, before)

    def _added(
        self, body: Any, place: ReferencePlace, pick: Callable[[str], Binding | None]
    ) -> Iterator[Binding]:
        """Add a known value to a body that is right and stays so."""
        holders = [one for one in _holders(body, place.path) if isinstance(one, dict)]
        found = pick(place.pointer) if holders and self.is_valid(body) else None
        value = NOT_SET if found is None else _in_type_of(place.usual, found.literal)
        if found is None or value is NOT_SET:
            return
        _put(((holder, place.path[-1]) for holder in holders), value)
        if self.is_valid(body):
            yield replace(found, name=place.pointer, literal=value)
        else:
            for holder in holders:
                del holder[place.path[-1]]

    def _admits(self, place: ReferencePlace, value: Any) -> bool:
        """Whether a value is right in its place."""
        body = copied(self.usual)
        _put(_spots(body, place.path), value)
        return self.is_valid(body)


def references_in(
    usual: Any, pointers: Iterable[str], said: Collection[tuple[str, ...]] | None
) -> Iterator[ReferencePlace]:
    """Those of a usual body, as far as there are texts or integers at the pointers. `said`: paths at which an author gave the value; None for all."""
    for pointer in pointers:
        path = tokens_of(pointer)
        for holder, at in _spots(usual, path)[:1]:
            value = holder[at]
            if isinstance(value, str | int) and not isinstance(value, bool):
                yield ReferencePlace(pointer, path, value, said is None or path in said)


def _spots(body: Any, path: Sequence[str]) -> list[_Spot]:
    """Where values stand that a path means."""
    return [(holder, at) for holder in _holders(body, path) for at in _keys(holder, path[-1])]


def _holders(body: Any, path: Sequence[str]) -> list[Any]:
    """Return what stands around the last part of a path."""
    holders: list[Any] = [body]
    for token in path[:-1]:
        holders = [inner for holder in holders for inner in _inside(holder, token)]
    return holders


def _inside(holder: Any, token: str) -> Iterator[Any]:
    return (holder[at] for at in _keys(holder, token))


def _keys(holder: Any, token: str) -> Iterable[str | int]:
    if isinstance(holder, list):
        return range(len(holder)) if token == ITEMS else ()
    return (token,) if isinstance(holder, dict) and token in holder else ()


def _put(spots: Iterable[_Spot], value: Any) -> None:
    for holder, at in spots:
        holder[at] = value


def _in_type_of(usual: Any, literal: object) -> Any:
    """A known value as the usual one is written; `NOT_SET` where it cannot be."""
    if isinstance(usual, str) and literal.__class__ is int:
        return str(literal)
    if isinstance(usual, int) and isinstance(literal, str) and literal.isdecimal():
        return int(literal)
    return literal if literal.__class__ is usual.__class__ else NOT_SET
