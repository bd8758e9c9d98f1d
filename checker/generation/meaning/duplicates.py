"""Alternatives of a `oneOf` that stand there twice: a value that satisfies one of them satisfies both."""

from typing import Any, Final

_MOST: Final = 50_000
"""Values that are compared. Aliases of YAML make trees that have far more."""

_MANY: Final = 256
"""Alternatives that are compared with each other."""


def have_twins(alternatives: list[Any]) -> bool:
    """True when each alternative has an equal among the others: then no value satisfies exactly one."""
    if not 2 <= len(alternatives) <= _MANY or not _has_twin(alternatives, 0):
        return False
    # Nearly always the first one has none.
    return all(_has_twin(alternatives, index) for index in range(1, len(alternatives)))


def _has_twin(alternatives: list[Any], index: int) -> bool:
    one = alternatives[index]
    return any(_equal(one, other) for at, other in enumerate(alternatives) if at != index)


def _equal(left: Any, right: Any) -> bool:
    """Equality of schemas, false when it takes too long to say."""
    todo = [(left, right)]
    for _ in range(_MOST):
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
