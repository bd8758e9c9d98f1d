"""New names in each listed body: many servers accept a name, an address or a code only once."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Any, Final
from uuid import UUID

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.case import copied
from checker.core.constraints import ITEMS, USUAL
from checker.core.digests import digest_int
from checker.core.meta import Binding
from checker.core.operation import Body, Operation
from checker.core.request import Location
from checker.core.resource_names import (
    IDENTIFIERS,
    is_login,
    normalised,
    noun_of,
    resource_of,
    singular,
    variables_of,
    words,
)
from checker.core.schema import tokens_of
from checker.generation.boundaries.positives import has_bytes
from checker.generation.boundaries.values import distinct
from checker.generation.components import PartCompiler
from checker.generation.dictionaries import SchemaPart
from checker.generation.drawing.nodes import IsValid
from checker.generation.drawing.places import item_of
from checker.generation.normalization.forms import Canonical, Conjunction
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import NO_VALUE

_At = tuple[Any, str | int]  # The holder of a value, and its key or index.
Write = Callable[[int], Any]  # Writes a value that is derived from a number below 2**64.
_METHODS: Final = ("POST", "PUT", "PATCH")
_NO_NAMES: Final = frozenset(("token", "no", "ref"))  # Identifiers that mostly refer to existing resources.
_COMMON: Final = """
name email mail slug username login title nickname handle alias phone mobile sku isbn ean barcode vin iban domain subdomain hostname
"""
_EVERYWHERE: Final = frozenset(_COMMON.split())
"""Words that mostly name the resource itself, whatever precedes them: `displayName`, `contact_email`."""
_OWN: Final = (IDENTIFIERS | _EVERYWHERE | {"serial", "label"}) - _NO_NAMES
_KEYS: Final = frozenset(("id", "uuid", "guid"))
_ASKING: Final = frozenset(("search", "query", "filter", "find", "lookup"))
"""Last words of paths whose bodies search for existing resources."""
_SAMPLES: Final = (0x9E3779B97F4A7C15, 0x243F6A8885A308D3, 0x13198A2E03707344)
"""Numbers for trying out a way to write values."""
_TURNS: Final = 9
"""One in this many cases sends the value of the description, because that value may name a resource that must exist."""
_DEEPEST: Final = 3
_MOST: Final = 12  # Places of one body that are renewed.
_MOST_LOOKED_AT: Final = 200
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_DIGITS: Final = "0123456789"
_ALPHABETS: Final = (_LETTERS + _DIGITS, _LETTERS, _LETTERS.upper(), _DIGITS)
_SIZES: Final = (8, 6, 5, 4, 3, 2)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class _Place(Struct, frozen=True):
    """The place of a text or an integer in the usual body that differs from case to case. In a list, each item has one."""

    path: tuple[str, ...]
    usual: Any  # Its usual value. A case with a different value there tests this place, and the value stays.
    is_said: bool  # Whether the usual value comes from the description, so that it may name an existing resource.
    schema: Conjunction | None = None
    write: Write | None = None  # Writes a new name of the resource itself; None for references to other resources.
    pointer: str = ""  # JSON pointer of a reference.


class Renewal(Struct, frozen=True):
    """The values that differ from case to case in the bodies of one media type."""

    own: tuple[_Place, ...]  # Places that name the resource that the request creates.
    references: tuple[_Place, ...]  # Places that name other resources.
    is_valid: IsValid
    usual: Any  # The usual body, which is valid.

    def filled(
        self, body: Any, pick: Callable[[str], Binding | None], *, keeps_said: bool, adds: bool
    ) -> Iterator[Binding]:
        """Put known values into the references of a body, which is changed in place, and yield the values that were used.

        A valid body stays valid and keeps the value that it tests; an invalid body stays invalid and keeps the wrong value.
        With `adds`, a valid body also gets known values for optional properties that it lacks.
        """
        # Computed when the first place that may change is found, and then kept for all places.
        was_valid: bool | None = None
        for place in self.references:
            spots = _spots_at(body, place.path)
            if not spots and adds:
                yield from self._added(body, place, pick)
            if (keeps_said and place.is_said) or len({distinct(holder[at]) for holder, at in spots}) != 1:
                continue
            if was_valid is None:
                was_valid = self.is_valid(body)
            before = spots[0][0][spots[0][1]]
            is_usual = distinct(before) == distinct(place.usual)
            if not is_usual and (was_valid or before.__class__ is not place.usual.__class__):
                continue
            found, value = _picked(place, pick)
            if found is None or not _fits(self.is_valid, self.usual, place.path, value):
                continue
            _put(spots, value)
            if self.is_valid(body) is was_valid:
                yield replace(found, name=place.pointer, literal=value)
            else:
                _put(spots, before)

    def _added(self, body: Any, place: _Place, pick: Callable[[str], Binding | None]) -> Iterator[Binding]:
        """Add a known value to a valid body if the body stays valid."""
        holders = [one for one in _holders(body, place.path) if isinstance(one, dict)]
        found, value = _picked(place, pick) if holders and self.is_valid(body) else (None, None)
        if found is None:
            return
        _put(((holder, place.path[-1]) for holder in holders), value)
        if self.is_valid(body):
            yield replace(found, name=place.pointer, literal=value)
        else:
            for holder in holders:
                del holder[place.path[-1]]

    def renewed(self, body: Any, token: str) -> Any:
        """Return a body, changed in place, with names that are derived from `token`.

        A valid body stays valid and keeps the value that it tests; an invalid body stays invalid and keeps the wrong value.
        """
        number = digest_int(token)
        was_valid: bool | None = None
        for place in self.own:
            spots = _spots_at(body, place.path)
            if not spots or place.write is None or (place.is_said and number % _TURNS == 0):
                continue
            if was_valid is None:
                was_valid = self.is_valid(body)
            ((holder, name),) = spots
            before = holder[name]
            is_usual = distinct(before) == distinct(place.usual)
            # The case tests a value that differs from the usual one, so only usual values are replaced.
            if is_usual or (not was_valid and before.__class__ is place.usual.__class__):
                with suppress(*NO_VALUE):
                    holder[name] = place.write(digest_int(token, *place.path))
                    if self.is_valid(body) is not was_valid:
                        holder[name] = before
        return body


def _picked(place: _Place, pick: Callable[[str], Binding | None]) -> tuple[Binding | None, Any]:
    """Return a known value in the type of the usual one; (None, None) if there is none."""
    found = pick(place.pointer)
    value: Any = None if found is None else found.literal
    if isinstance(place.usual, str) and value.__class__ is int:
        value = str(value)
    elif isinstance(place.usual, int) and isinstance(value, str) and value.isdecimal():
        value = int(value)
    elif value.__class__ is not place.usual.__class__:
        value = None
    return (None, None) if value is None else (found, value)


class Renewals(Struct):
    """The renewals of an operation, each made when a case with such a body is listed."""

    compiler: PartCompiler
    usual: Callable[[SchemaPart, Body], Any]  # Return the usual body. Raises one of `NO_VALUE`.
    _known: dict[str | None, Renewal | None] = field(default_factory=dict)

    def of(self, media_type: str | None) -> Renewal | None:
        """Return the renewal for bodies of a media type; None if none of their values may differ."""
        if media_type not in self._known:
            body = next((one for one in self.compiler.operation.bodies if one.media_type == media_type), None)
            self._known[media_type] = None if body is None else self._made(body)
        return self._known[media_type]

    def _made(self, body: Body) -> Renewal | None:
        operation, known = self.compiler.operation, self.compiler.settings.references
        chosen = (one for at, one in operation.resource_places.values() if at is Location.BODY)
        pointers = tuple(dict.fromkeys((*known, *chosen)))
        asked = operation.resource_path
        is_asking = is_login(asked) or not _ASKING.isdisjoint(words(asked.rstrip("/").rpartition("/")[2]))
        is_telling = operation.resource_method in _METHODS and not is_asking
        if body.strategy is not None or not (is_telling or pointers):
            return None
        declared = self.compiler.body_part(body)
        # An accepted name is in use now, so accepted values are not taken.
        part = self.compiler.narrowed(declared, body, takes_accepted=False)
        is_valid = part.compiler.validator(part.conjunction)
        try:
            usual = self.usual(self.compiler.narrowed(declared, body), body)
        except NO_VALUE:
            return None
        # A change must not make a valid body invalid, so it is tried on a valid body.
        if not isinstance(usual, dict) or has_bytes(usual) or not is_valid(usual):
            return None
        # The paths of values that users force, and the paths above them.
        wanted = (one.path for one in self.compiler.overrides.body() if one.is_forced)
        forced = frozenset(path[:size] for path in wanted for size in range(1, len(path) + 1))
        found = list(islice(_places(part, usual, is_said=bool(body.examples)), _MOST_LOOKED_AT))
        said = None if body.examples else {one.path for one in found if one.is_said}
        references = [one for one in _references(usual, pointers, said) if one.path not in forced]
        paths = forced | {one.path for one in references}
        # A name of the description that was accepted is in use, too.
        accepted = {one.path for one in self.compiler.settings.learned if one.keyword == USUAL}
        places = []
        for one in found if is_telling else ():
            path = one.path
            if path not in paths and _is_own(path[-1], operation, is_said=one.is_said):
                write = _writer(one, part, partial(_fits, is_valid, usual, path))
                if write is not None:
                    places.append(replace(one, is_said=one.is_said and path not in accepted, write=write))
        if not (places or references):
            return None
        return Renewal(tuple(places[:_MOST]), tuple(references[:_MOST]), is_valid, usual)


def _references(usual: Any, pointers: Iterable[str], said: Collection[tuple[str, ...]] | None) -> Iterator[_Place]:
    """Yield the texts and integers at the pointers. `said`: paths of values that the description gives; None for all values."""
    for pointer in pointers:
        path = tokens_of(pointer)
        for holder, at in _spots_at(usual, path)[:1]:
            value = holder[at]
            if isinstance(value, str | int) and not isinstance(value, bool):
                # An absolute URL in an example mostly names a resource of another server.
                is_foreign = isinstance(value, str) and value.startswith(("http://", "https://"))
                yield _Place(path, value, not is_foreign and (said is None or path in said), pointer=pointer)


def _spots_at(body: Any, path: Sequence[str]) -> list[_At]:
    return [(holder, at) for holder in _holders(body, path) for at in _keys(holder, path[-1])]


def _holders(body: Any, path: Sequence[str]) -> list[Any]:
    """Return the objects and lists that hold the last part of a path."""
    holders: list[Any] = [body]
    for token in path[:-1]:
        holders = [holder[at] for holder in holders for at in _keys(holder, token)]
    return holders


def _keys(holder: Any, token: str) -> Iterable[str | int]:
    if isinstance(holder, list):
        return range(len(holder)) if token == ITEMS else ()
    return (token,) if isinstance(holder, dict) and token in holder else ()


def _put(spots: Iterable[_At], value: Any) -> None:
    for holder, at in spots:
        holder[at] = value


def _fits(is_valid: IsValid, usual: Any, path: tuple[str, ...], new: Any) -> bool:
    """Whether the usual body is valid with another value at a path."""
    body = copied(usual)
    _put(_spots_at(body, path), new)
    return is_valid(body)


def _is_own(name: str, operation: Operation, *, is_said: bool) -> bool:
    """Whether a field of this name identifies the resource that an operation creates."""
    path, whole, parts = operation.resource_path, normalised(name), words(name)
    is_of_member = path.rstrip("/").endswith("}")
    if whole in map(normalised, variables_of(path)) or not parts or (is_of_member and whole in _KEYS):
        # The field repeats a name in the path, so it must stay the same.
        return False
    is_of_noun = parts[-1] in _OWN and singular("".join(parts[:-1])) == noun_of(resource_of(path))
    return whole in _OWN or is_of_noun or (not is_said and parts[-1] in _EVERYWHERE)


def _places(part: SchemaPart, usual: dict[str, Any], *, is_said: bool) -> Iterator[_Place]:
    """Yield the texts and integers of the usual body."""
    is_said = is_said or _has_examples(part, part.conjunction)
    waiting = [_Place((), usual, is_said, part.conjunction)]
    while waiting:
        above = waiting.pop(0)
        form = _form(part, above.schema)
        for name, value in above.usual.items():
            schema = None if form is None or form.branches else form.objects.of_name(name)
            said = above.is_said or _has_examples(part, schema)
            place = _Place((*above.path, name), value, said, schema)
            if isinstance(value, dict) and len(place.path) < _DEEPEST:
                waiting.append(place)
            elif isinstance(value, str | int) and not isinstance(value, bool):
                yield place


def _has_examples(part: SchemaPart, conjunction: Conjunction | None) -> bool:
    form = _form(part, conjunction)
    return form is not None and bool(form.examples)


def _form(part: SchemaPart, conjunction: Conjunction | None) -> Canonical | None:
    try:
        return None if conjunction is None else part.compiler.canonical(conjunction)
    except NO_VALUE:
        return None


def _writer(place: _Place, part: SchemaPart, fits: Callable[[Any], bool]) -> Write | None:
    """Return the simplest way to write different valid values; None if there is none."""
    ways: Iterable[Write] = _NUMBERS
    if not isinstance(place.usual, int):
        ways = _ways(place.path[-1], place.usual, is_said=place.is_said)
    # Each way is tried with three numbers. A way that fits only some numbers would fail later, when no other way is tried.
    for way in chain(ways, _drawn(place, part)):
        with suppress(*NO_VALUE):
            found = [way(sample) for sample in _SAMPLES]
            if all(map(fits, found)) and len(set(map(distinct, found))) > 1:
                return way
    return None


def _below(most: int, number: int) -> int:
    return number % most + 1


_NUMBERS: Final = [partial(_below, most) for most in (10**6, 10**4, 200)]


def _ways(name: str, value: str, *, is_said: bool) -> Iterator[Write]:
    if is_said:
        # New values differ little from the value of the description.
        local, at, domain = value.partition("@")
        if value.isdecimal():
            yield partial(_shaped, value[:1], "", _DIGITS, len(value) - 1)
        shapes = [(f"{local}.", f"@{domain}")] if at else [(f"{value.rstrip('/')}/", "")] if "://" in value else []
        for before, after in (*shapes, *((value + joint, "") for joint in ("-", "", " ", "_"))):
            yield from (partial(_shaped, before, after, alphabet, 6) for alphabet in _ALPHABETS)
    if _UUID.fullmatch(value):
        yield lambda number: str(UUID(int=number << 64 | number, version=4))
    for before, after in dict.fromkeys((_SHAPES.get(words(name)[-1], _BARE), _BARE, *_SHAPES.values())):
        # Usual values are mostly as short as their schema allows, so new ones may be longer.
        least = len(value) - len(before) - len(after)
        for size in (*_SIZES, *((least,) if least > _SIZES[0] else ())):
            yield from (partial(_shaped, before, after, alphabet, size) for alphabet in _ALPHABETS)


def _shaped(before: str, after: str, alphabet: str, size: int, number: int) -> str:
    # The number is written in characters of the alphabet. The first character is a letter if the alphabet has one.
    found = ""
    for place in range(size):
        characters = _LETTERS if not place and alphabet == _ALPHABETS[0] else alphabet
        number, rest = divmod(number, len(characters))
        found += characters[rest]
    return before + found + after


_BARE: Final = ("", "")
_SHAPES: Final = {
    "email": ("", "@example.com"),
    "mail": ("", "@example.com"),
    "domain": ("", ".example.com"),
    "hostname": ("", ".example.com"),
    "url": ("https://example.com/", ""),
}
"""Last word of a name -> (text before, text after) the unique part of its values."""


def _drawn(place: _Place, part: SchemaPart) -> Iterator[Write]:
    """Yield the way that draws random values, for patterns and formats that no plain text matches."""
    if place.schema is None:
        return
    inner, context = part.place, part.compiler.context
    for _ in place.path:
        inner = item_of(inner)
    with suppress(*NO_VALUE):
        # The compiler must not be kept alive by the writer.
        draw = part.compiler.compile(place.schema, inner)

        def write(number: int) -> Any:
            with context.aside():
                context.begin(None)
                return draw(RandomSource(number))

        yield write
