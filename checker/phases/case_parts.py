"""The parts of a case: its recipe by values, the places that it may lack, the texts of its body."""

import copy
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice, takewhile
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
    """Return a new case that shares nothing with the recipe."""
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
    )


_OPTIONAL = (Location.QUERY, Location.HEADER, Location.COOKIE)
_MOST = 500
"""Places of one case; deeper ones are left out together with the places around them."""


def places_of(case: Case) -> list[str]:
    """Return the parts of a case that another one may lack, the largest first: `query limit`, `body`, `body /address`."""
    found = [f"{location} {name}" for location in _OPTIONAL for name in getattr(case, location.container)]
    if case.body is not NOT_SET:
        pointers = (pointer for pointer, _ in _parts_of(case.body))
        found += [f"body {pointer}" if pointer else "body" for pointer in islice(pointers, _MOST)]
    return found[:_MOST]


def without(case: Case, places: Iterable[str]) -> Case:
    """Return the case, which is changed, without these places; unknown places are ignored."""
    removed: set[str] = set()
    for place in places:
        where, _, name = place.partition(" ")
        if where == Location.BODY:
            removed.add(name)
        else:
            getattr(case, Location(where).container).pop(name, None)
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
        yield from level
        level = [
            (pointer_child(pointer, str(token)), item) for pointer, value in level for token, item in _members(value)
        ]


def _pruned(value: Any, pointer: str, removed: Collection[str]) -> Any:
    """Return a value without what stands at these pointers."""
    kept = [
        (token, _pruned(item, at, removed))
        for token, item in _members(value)
        if (at := pointer_child(pointer, str(token))) not in removed
    ]
    if isinstance(value, dict):
        return dict(kept)
    return [item for _, item in kept] if isinstance(value, list) else value


Texts = tuple[tuple[str, str], ...]
"""(JSON pointer in the body, text)."""

_MOST_TEXTS: Final = 16
"""Texts of one body that are changed."""
_DEPTH: Final = 4
_SHORT: Final = 4
"""Texts with fewer letters and digits are lengthened: there are too few others of their length."""
_LONGER: Final = 12
_ALPHABETS: Final = ("abcdef", ascii_lowercase, ascii_uppercase, digits)


def texts_in(body: Any) -> list[tuple[str, str]]:
    """Return the texts of a body that have letters or digits, with their JSON pointers, outermost first."""
    near = takewhile(lambda part: part[0].count("/") <= _DEPTH, _parts_of(body))
    texts = ((at, text) for at, text in near if at and isinstance(text, str) and any(map(str.isalnum, text)))
    return list(islice(texts, _MOST_TEXTS))


def others_like(text: str, random: Random) -> Iterator[str]:
    """Yield texts in which each letter and digit is replaced by one of its kind; then a longer text."""
    count = sum(map(str.isalnum, text))
    if count < _SHORT:
        yield "".join(_other(one, text, random) for one in (text * _LONGER)[:_LONGER])
    yield "".join(_other(one, text, random) for one in text)
    yield text + "".join(random.choices(digits, k=8))


def _other(one: str, text: str, random: Random) -> str:
    kinds = [kind for kind in _ALPHABETS if one in kind]
    if len(kinds) > 1 and any(letter in ascii_lowercase and letter not in "abcdef" for letter in text):
        # A text with other letters is not hexadecimal, so that any letter may stand in it.
        kinds = kinds[1:]
    return random.choice(kinds[0]) if kinds else one


def with_texts(case: Case, texts: Iterable[tuple[str, str]]) -> Case:
    """Return a copy of a case with these texts in its body; pointers at which no text stands are ignored."""
    changed = copy.copy(case)
    changed.body = copied(case.body)
    for pointer, text in texts:
        holder, tokens = changed.body, tokens_of(pointer)
        with suppress(KeyError, IndexError, TypeError):
            for token in tokens[:-1]:
                holder = holder[_key(holder, token)]
            if isinstance(holder[_key(holder, tokens[-1])], str):
                holder[_key(holder, tokens[-1])] = text
    return changed


def _key(holder: Any, token: str) -> Any:
    return int(token) if isinstance(holder, list) and token.isdecimal() else token
