"""Schemas that say the same: a value that satisfies one of them satisfies both."""

from typing import Any, Final

from checker.generation.meaning.forms import Facet

_MOST: Final = 50_000
"""Values that are compared. Aliases of YAML make trees that have far more."""

_MANY: Final = 256
"""Alternatives that are compared with each other."""
_SMALL: Final = 200
"""Values that are compared where it is done often."""


def have_twins(alternatives: list[Any]) -> bool:
    """True when each alternative has an equal among the others: then no value satisfies exactly one."""
    if not 2 <= len(alternatives) <= _MANY or not _has_twin(alternatives, 0):
        return False
    # Nearly always the first one has none.
    return all(_has_twin(alternatives, index) for index in range(1, len(alternatives)))


def _has_twin(alternatives: list[Any], index: int) -> bool:
    one = alternatives[index]
    return any(_equal(one, other) for at, other in enumerate(alternatives) if at != index)


def is_equal(left: Facet, right: Facet) -> bool:
    """True when two schemas of the document say the same, as far as a look can tell."""
    if left.is_made or right.is_made or left.scope != right.scope:
        return False
    if not isinstance(left.raw, dict) or not isinstance(right.raw, dict):
        return False
    if not left.without.isdisjoint(left.raw) or not right.without.isdisjoint(right.raw):
        return False
    if left.pointer == right.pointer:
        return True
    # A reference means what it does only where it stands.
    return not _refers(left.raw) and _equal(left.raw, right.raw, _SMALL)


def _refers(raw: Any) -> bool:
    """True when a schema holds references, or too much to be looked through."""
    todo = [raw]
    for _ in range(_SMALL):
        if not todo:
            return False
        one = todo.pop()
        if isinstance(one, dict):
            if any(isinstance(one.get(name), str) for name in _REFERENCES):
                return True
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
    return True


_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef", "$id", "id")


def _equal(left: Any, right: Any, most: int = _MOST) -> bool:
    """Equality of schemas, false when it takes too long to say."""
    todo = [(left, right)]
    for _ in range(most):
        if not todo:
            return True
        one, other = todo.pop()
        if one is other:
            continue
        if type(one) is not type(other):
            return False
        if isinstance(one, dict):
            if one.keys() != other.keys():
                return False
            todo.extend((one[name], other[name]) for name in one)
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            todo.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return not todo
