"""Values of a case made smaller, one at a time: numbers nearer to zero, shorter and plainer texts."""

from collections.abc import Iterator
from typing import Any, Final

from checker.core.case import NOT_SET, Case
from checker.core.operation import Location

Leaf = tuple[str | int, ...]
"""Where a value without parts stands: attribute of the case, then names and indices."""
_MOST: Final = 200
"""Leaves of one case."""
_CONTAINERS: Final = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)
_PLAIN: Final = "0"


def leaves_of(case: Case) -> list[Leaf]:
    """Places of all values that have no parts, those of parameters first."""
    found: list[Leaf] = []
    roots: list[tuple[Leaf, Any]] = [
        ((location.container,), getattr(case, location.container)) for location in _CONTAINERS
    ]
    if case.body is not NOT_SET:
        roots.append((("body",), case.body))
    for root in roots:
        todo = [root]
        while todo and len(found) < _MOST:
            place, value = todo.pop()
            if isinstance(value, dict):
                todo += [((*place, name), value[name]) for name in reversed(value)]
            elif isinstance(value, list):
                todo += [((*place, at), value[at]) for at in reversed(range(len(value)))]
            else:
                found.append(place)
    return found


def value_at(case: Case, leaf: Leaf) -> Any:
    """What stands at a place."""
    value: Any = case
    for number, token in enumerate(leaf):
        value = value[token] if number else getattr(value, str(token))
    return value


def put(case: Case, leaf: Leaf, value: Any) -> Case:
    """The case, which is changed, with another value at a place."""
    if len(leaf) == 1:
        setattr(case, str(leaf[0]), value)
    else:
        value_at(case, leaf[:-1])[leaf[-1]] = value
    return case


def smaller(value: Any) -> Iterator[Any]:
    """Values to try in place of one, the smallest first; going on from any of them comes to an end."""
    match value:
        case True:
            yield False
        case bool():
            return
        case int() if value:
            sign, size = (1, value) if value > 0 else (-1, -value)
            # Nearer and nearer to the value: a bound in between is found in few steps.
            sizes = (0, 1, *(size - (size >> shift) for shift in (1, 2, 3, 5, 8)), size - 1)
            yield from dict.fromkeys(sign * one for one in sizes if one < size)
        case float() if value and abs(value) < 1e15:
            yield from dict.fromkeys(
                one for one in (0.0, float(int(value))) if abs(one) < abs(value)
            )
        case str() if value:
            shorter = ("", value[0], value[: len(value) // 2], value[:-1])
            yield from dict.fromkeys(one for one in shorter if len(one) < len(value))
            plain = _PLAIN * len(value)
            if value != plain:
                yield plain
        case _:
            return
