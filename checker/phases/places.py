"""Places of a case that may be left out: parameters, the body, members and items of it."""

from collections.abc import Iterable, Iterator
from typing import Any

from checker.core.case import NOT_SET, Case
from checker.core.operation import Location
from checker.schema.pointers import pointer_child

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
