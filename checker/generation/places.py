"""What each part of a request can carry: characters, empty values, null."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from checker.core.operation import Location
from checker.generation import alphabets
from checker.generation.alphabets import Alphabet

_SEPARATORS = ",|;=&"


@dataclass(frozen=True, slots=True)
class Place:
    """How text travels."""

    name: str
    alphabet: Alphabet
    min_text: int = 0
    """An empty string would not arrive."""
    min_items: int = 0
    allows_null: bool = True
    is_body: bool = False
    is_bytes: bool = False
    """`format: binary` is bytes here, not text."""
    refuses: frozenset[str] = frozenset()
    """Texts that cannot stand alone."""

    def carries(self, value: Any) -> bool:
        """True when a value arrives as it is."""
        if isinstance(value, str):
            return (
                len(value) >= self.min_text
                and value not in self.refuses
                and self.alphabet.permits(value)
            )
        if value is None:
            return self.allows_null
        if isinstance(value, list):
            return len(value) >= self.min_items and (
                self.is_body or all(map(item_of(self).carries, value))
            )
        if isinstance(value, dict) and not self.is_body:
            return len(value) >= self.min_items and all(map(item_of(self).carries, value.values()))
        return True


_UNICODE = alphabets.TEXT.intervals


@lru_cache(maxsize=32)
def place_of(location: Location, *, allows_nul: bool, excluded: str) -> Place:
    """What parameters of a location can carry."""
    if location is Location.PATH:
        # A slash ends a segment, decoded or not; controls are refused by many servers before routing.
        characters = alphabets.restricted(_printable(), "/\\%?#")
        refused = frozenset((".", ".."))
        return Place("path", characters, 1, 1, allows_null=False, refuses=refused)
    if location is Location.QUERY:
        text = alphabets.TEXT if allows_nul else alphabets.TEXT_WITHOUT_NUL
        return Place("query", text, min_items=1)
    if location is Location.HEADER:
        characters = alphabets.restricted(alphabets.VISIBLE.intervals, excluded)
        return Place("header", characters, 1, 1, allows_null=False)
    if location is Location.COOKIE:
        characters = alphabets.restricted(alphabets.VISIBLE.intervals, '",;\\')
        return Place("cookie", characters, 1, 1, allows_null=False)
    raise ValueError("bodies travel by media type")


def body_place(*, allows_nul: bool, is_form: bool, is_bytes: bool) -> Place:
    """What a body can carry."""
    text = alphabets.TEXT if allows_nul else alphabets.TEXT_WITHOUT_NUL
    return _body_place(text, is_form, is_bytes)


@lru_cache(maxsize=32)
def _body_place(text: Alphabet, is_form: bool, is_bytes: bool) -> Place:
    name = f"body{'-form' if is_form else ''}{'-bytes' if is_bytes else ''}"
    return Place(name, text, is_body=True, is_bytes=is_bytes)


@lru_cache(maxsize=64)
def item_of(place: Place) -> Place:
    """What an item of a list or a property of an object can carry: not what separates them."""
    if place.is_body or place.name.endswith("-item"):
        return place
    alphabet = alphabets.restricted(place.alphabet.intervals, _SEPARATORS + " ")
    return Place(f"{place.name}-item", alphabet, 1, 1, allows_null=False)


def _printable() -> tuple[alphabets.Interval, ...]:
    return (
        (0x20, 0x7E),
        (0xA1, 0xAC),
        (0xAE, 0x2FF),
        (0x370, 0x3FF),
        (0x400, 0x52F),
        (0x4E00, 0x9FFF),
        (0x1F300, 0x1F5FF),
    )


Carries = Callable[[Any], bool]
