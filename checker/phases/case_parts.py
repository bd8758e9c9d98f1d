"""Cases as the values of their parts: what no program draws and no phase lists."""

import copy
from collections.abc import Iterable, Iterator
from random import Random
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final

from checker.core.case import NOT_SET, Case, copied
from checker.core.meta import CaseMetadata, ComponentProvenance, GenerationMode, Literal, Origin, PhaseData, PhaseInfo
from checker.core.operation import Location, Operation
from checker.core.schema import tokens_of
from checker.schema.pointers import pointer_child

_GIVEN = ComponentProvenance(origin=Origin.EXPLICIT)


def literal_case(operation: Operation, recipe: Literal, case_id: str, phase: str) -> Case:
    """A new case that shares nothing with the recipe."""
    parts = copy.deepcopy(recipe)
    containers = {
        Location.PATH: parts.path_parameters,
        Location.HEADER: parts.headers,
        Location.COOKIE: parts.cookies,
        Location.QUERY: parts.query,
    }
    components = {location: _GIVEN for location, container in containers.items() if container}
    if parts.body:
        components[Location.BODY] = _GIVEN
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
    """The recipe of a case by its values, which have to be plain ones: JSON and bytes."""
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
    )


_OPTIONAL = (Location.QUERY, Location.HEADER, Location.COOKIE)
_MOST = 500
"""Places of one case: deeper ones go with those around them."""


def places_of(case: Case) -> list[str]:
    """Return the parts of a case that another one may lack, the largest first: `query limit`, `body`, `body /address`."""
    found = [f"{location} {name}" for location in _OPTIONAL for name in getattr(case, location.container)]
    if case.body is not NOT_SET:
        found += [f"body {pointer}" if pointer else "body" for pointer in _pointers(case.body)]
    return found[:_MOST]


def without(case: Case, places: Iterable[str]) -> Case:
    """The case, which is changed, without these places; those that it does not have are passed over."""
    removed: list[str] = []
    for place in places:
        where, _, name = place.partition(" ")
        if where == Location.BODY:
            removed.append(name)
        else:
            getattr(case, Location(where).container).pop(name, None)
    if "" in removed:
        case.body, case.media_type = NOT_SET, None
    elif removed:
        case.body = _pruned(case.body, "", frozenset(removed))
    return case


def _pointers(value: Any) -> Iterator[str]:
    """Pointers of a value and what is in it, level by level."""
    level = [("", value)]
    while level:
        inside: list[tuple[str, Any]] = []
        for pointer, value in level:
            yield pointer
            inside += ((pointer_child(pointer, token), item) for token, item in _members(value))
        level = inside


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((str(name), item) for name, item in value.items())
    elif isinstance(value, list):
        yield from ((str(number), item) for number, item in enumerate(value))


def _pruned(value: Any, pointer: str, removed: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {
            name: _pruned(item, at, removed)
            for name, item in value.items()
            if (at := pointer_child(pointer, str(name))) not in removed
        }
    if isinstance(value, list):
        return [
            _pruned(item, at, removed)
            for number, item in enumerate(value)
            if (at := pointer_child(pointer, str(number))) not in removed
        ]
    return value


Texts = tuple[tuple[str, str], ...]
"""(JSON pointer in the body, text)."""

_MOST_TEXTS: Final = 16
"""Texts of one body that are changed."""
_DEPTH: Final = 4
_SHORT: Final = 4
"""Texts with fewer letters and digits are made longer: there are too few others."""
_LONGER: Final = 12
_ALPHABETS: Final = ("abcdef", ascii_lowercase, ascii_uppercase, digits)


def texts_in(body: Any) -> list[tuple[str, str]]:
    """Return the texts of a body with their JSON pointers, outermost first, as far as they have letters or digits."""
    found: list[tuple[str, str]] = []
    level = [("", body)]
    for _ in range(_DEPTH):
        inside: list[tuple[str, Any]] = []
        for pointer, value in level:
            if isinstance(value, dict):
                inside += ((pointer_child(pointer, str(name)), item) for name, item in value.items())
            elif isinstance(value, list):
                inside += ((pointer_child(pointer, str(at)), item) for at, item in enumerate(value))
        found += (one for one in inside if isinstance(one[1], str) and any(map(str.isalnum, one[1])))
        level = inside
    return found[:_MOST_TEXTS]


def others_like(text: str, random: Random) -> Iterator[str]:
    """Yield texts with the look of a text: each letter and digit in place of one of its own kind; then others."""
    count = sum(map(str.isalnum, text))
    if count < _SHORT:
        yield "".join(_other(one, text, random) for one in (text * _LONGER)[:_LONGER])
    yield "".join(_other(one, text, random) for one in text)
    yield text + "".join(random.choices(digits, k=8))


def _other(one: str, text: str, random: Random) -> str:
    kinds = [kind for kind in _ALPHABETS if one in kind]
    if len(kinds) > 1 and any(letter in ascii_lowercase and letter not in "abcdef" for letter in text):
        # Only where all letters are hexadecimal digits the others have to be, too.
        kinds = kinds[1:]
    return random.choice(kinds[0]) if kinds else one


def with_texts(case: Case, texts: Iterable[tuple[str, str]]) -> Case:
    """Return a case with these texts in its body; what is at none of the places is left out."""
    changed = copy.copy(case)
    for pointer, text in texts:
        body = copied(changed.body)
        if _is_set(body, tokens_of(pointer), text):
            changed.body = body
    return changed


def _is_set(body: Any, tokens: tuple[str, ...], text: str) -> bool:
    holder = body
    for number, token in enumerate(tokens):
        key: Any = int(token) if isinstance(holder, list) and token.isdecimal() else token
        try:
            if number == len(tokens) - 1 and isinstance(holder[key], str):
                holder[key] = text
                return True
            holder = holder[key]
        except (KeyError, IndexError, TypeError):
            return False
    return False
