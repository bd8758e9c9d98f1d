"""The parts of a case: its recipe by values, the places that can be left out, the names in it."""

import copy
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice, takewhile
from random import Random
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final

from msgspec.structs import replace

from checker.core.case import NOT_SET, Case, copied, is_idempotency_key
from checker.core.meta import CaseMetadata, ComponentProvenance, GenerationMode, Literal, Origin, PhaseData, PhaseInfo
from checker.core.operation import Location, Operation
from checker.core.schema import pointer_child, tokens_of

_GIVEN = ComponentProvenance(origin=Origin.EXPLICIT)


def literal_case(operation: Operation, recipe: Literal, case_id: str, phase: str) -> Case:
    """Return a new case that shares nothing with the recipe."""
    # Values are copied, because hooks and mutations change a case in place, and the recipe is sent again later.
    parts = copy.deepcopy(recipe)
    containers = {
        Location.PATH: parts.path_parameters,
        Location.HEADER: parts.headers,
        Location.COOKIE: parts.cookies,
        Location.QUERY: parts.query,
    }
    given = {location: replace(_GIVEN, outside=outside) for location, outside in parts.outside}
    components = {location: given.get(location, _GIVEN) for location, container in containers.items() if container}
    if parts.body:
        components[Location.BODY] = given.get(Location.BODY, _GIVEN)
    mode = GenerationMode(parts.mode)
    case = Case(
        operation,
        case_id,
        path_parameters=parts.path_parameters,
        headers=parts.headers,
        cookies=parts.cookies,
        query=parts.query,
        body=parts.body[0] if parts.body else NOT_SET,
        media_type=parts.media_type,
        meta=CaseMetadata(mode, components, PhaseInfo(phase, PhaseData(parts.data))),
    )
    case.other_method, case.alternative = parts.method, parts.alternative
    return case


def literal_of(case: Case) -> Literal:
    """Return the recipe of a case by its values, which must be JSON and bytes."""
    meta = case.meta
    parts = copy.deepcopy((case.path_parameters, case.query, case.headers, case.cookies))
    return Literal(
        *parts,
        body=() if case.body is NOT_SET else (copy.deepcopy(case.body),),
        media_type=case.media_type,
        mode=str(GenerationMode.POSITIVE if meta is None else meta.mode),
        data=() if meta is None else tuple(meta.phase.data.items()),
        method=case.other_method,
        alternative=case.alternative,
        outside=() if meta is None else tuple((location, meta.outside(location)) for location in meta.components),
    )


_OPTIONAL = (Location.QUERY, Location.HEADER, Location.COOKIE)
_MOST = 500  # Places of one case; deeper ones are left out together with the places around them.


def places_of(case: Case) -> list[str]:
    """Return the parts of a case that can be left out, the largest first: `query limit`, `body`, `body /address`."""
    found = [f"{location} {name}" for location in _OPTIONAL for name in getattr(case, location.container)]
    if case.body is not NOT_SET:
        pointers = (pointer for pointer, _ in _parts_of(case.body))
        found += [f"body {pointer}" if pointer else "body" for pointer in islice(pointers, _MOST)]
    return found[:_MOST]


def without(case: Case, places: Iterable[str]) -> Case:
    """Remove these places from a case and return it; unknown places are ignored."""
    removed: set[str] = set()
    for place in places:
        where, _, name = place.partition(" ")
        if where == Location.BODY:
            removed.add(name)
        else:
            getattr(case, Location(where).container).pop(name, None)
    # Without a body, no media type is sent either.
    if "" in removed:
        case.body, case.media_type = NOT_SET, None
    elif removed:
        case.body = _pruned(case.body, "", removed)
    return case


def _members(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _parts_of(body: Any) -> Iterator[tuple[str, Any]]:
    """Yield (JSON pointer, value) of a body and of all that is in it, level by level."""
    level = [("", body)]
    while level:
        # The largest parts come first, because one request without an object shows as much as many without its members.
        yield from level
        level = [
            (pointer_child(pointer, str(token)), item) for pointer, value in level for token, item in _members(value)
        ]


def _pruned(value: Any, pointer: str, removed: Collection[str]) -> Any:
    """Return a value without the parts at these pointers."""
    kept = [
        (token, _pruned(item, at, removed))
        for token, item in _members(value)
        if (at := pointer_child(pointer, str(token))) not in removed
    ]
    if isinstance(value, dict):
        return dict(kept)
    return [item for _, item in kept] if isinstance(value, list) else value


Names = tuple[tuple[str, str | int], ...]  # (JSON pointer in the body, or location and name of a parameter, value).

_MOST_NAMES: Final = 16  # Names of one case that are changed.
_DEPTH: Final = 4
_SHORT: Final = 4  # Texts with fewer letters and digits are lengthened: there are too few others of their length.
_LONGER: Final = 12
_ALPHABETS: Final = ("abcdef", ascii_lowercase, ascii_uppercase, digits)
_PARAMETERS: Final = (Location.PATH, Location.QUERY, Location.HEADER)


def names_in(case: Case) -> list[tuple[str, str | int]]:
    """Return the values of a case that may name a resource, with their places: texts with letters or digits, then integers.

    Parameters come first, then the body, outermost first. Values of earlier responses are left out, because they name
    existing resources. Of the headers only an idempotency key is a name, because servers accept it once.
    """
    bindings = () if case.meta is None else case.meta.bindings
    bound = {one.name if one.location is Location.BODY else f"{one.location} {one.name}" for one in bindings}
    near: list[tuple[str, Any]] = [
        (f"{location} {name}", value)
        for location in _PARAMETERS
        for name, value in getattr(case, location.container).items()
        if location is not Location.HEADER or is_idempotency_key(name)
    ]
    body = () if case.body is NOT_SET else takewhile(lambda part: part[0].count("/") <= _DEPTH, _parts_of(case.body))
    near += islice(body, _MOST)
    texts: list[tuple[str, str | int]] = []
    numbers: list[tuple[str, str | int]] = []
    for place, value in near:
        # The body itself has the empty place, and a boolean is an integer to Python.
        if not place or place in bound or isinstance(value, bool):
            continue
        if isinstance(value, int):
            numbers.append((place, value))
        elif isinstance(value, str) and any(map(str.isalnum, value)):
            texts.append((place, value))
    return [*texts, *numbers][:_MOST_NAMES]


def others_like(value: str | int, random: Random) -> Iterator[str | int]:
    """Yield texts in which letters and digits are replaced by others of their kind, then a longer text; or integers of any length.

    First all of them are replaced, then only those at the start: patterns and formats may demand the rest (`a1@example.com`).
    """
    if isinstance(value, int):
        # Numbers of the same length are most likely admitted; others are tried if those are taken.
        yield from (random.randrange(10**length) for length in (len(str(value)), 3, 6, 9))
        return
    count = sum(map(str.isalnum, value))
    if count < _SHORT:
        yield "".join(_other(one, value, random) for one in (value * _LONGER)[:_LONGER])
    yield "".join(_other(one, value, random) for one in value)
    start = "".join(takewhile(str.isalnum, value))
    if start and start != value:
        for text in ((start * _LONGER)[:_LONGER], start):
            yield "".join(_other(one, value, random) for one in text) + value[len(start) :]
    yield value + "".join(random.choices(digits, k=8))


def _other(one: str, text: str, random: Random) -> str:
    kinds = [kind for kind in _ALPHABETS if one in kind]
    if len(kinds) > 1 and any(letter in ascii_lowercase and letter not in "abcdef" for letter in text):
        # A text with letters beyond F is not hexadecimal, so any letter may replace them.
        kinds = kinds[1:]
    return random.choice(kinds[0]) if kinds else one


def with_names(case: Case, names: Iterable[tuple[str, str | int]]) -> Case:
    """Return a copy of a case with these values at their places; places without a value of the same type are ignored."""
    changed = copy.copy(case)
    changed.body = copied(case.body)
    for location in _PARAMETERS:
        setattr(changed, location.container, copy.copy(getattr(case, location.container)))
    for place, value in names:
        where, space, name = place.partition(" ")
        holder, tokens = changed.body, tokens_of(place)
        if space and not place.startswith("/"):
            holder, tokens = getattr(changed, Location(where).container), (name,)
        with suppress(KeyError, IndexError, TypeError):
            for token in tokens[:-1]:
                holder = holder[_key(holder, token)]
            key = _key(holder, tokens[-1])
            # A recipe may be older than the schema, and a value of another type would violate it.
            if type(holder[key]) is type(value):
                holder[key] = value
    return changed


def _key(holder: Any, token: str) -> Any:
    return int(token) if isinstance(holder, list) and token.isdecimal() else token
