"""Schemas that say the same: a value that satisfies one of them satisfies both."""

import json
from typing import Any, Final

from checker.core.digests import digest
from checker.generation.normalization.forms import Facet
from checker.validation.scopes import Scope

_MOST: Final = 50_000
"""Values that are compared. Aliases of YAML make trees that have far more."""

_MANY: Final = 256
"""Alternatives that are compared with each other."""
_SMALL: Final = 200
"""Values that are looked at where it is done often."""
Saying = tuple[Scope, str, str]
"""Scope, and a pointer or what names the text of a schema."""


def have_twins(alternatives: list[Any]) -> bool:
    """True when each alternative has an equal among the others: then no value satisfies exactly one."""
    if not 2 <= len(alternatives) <= _MANY or not _has_twin(alternatives, 0):
        return False
    # Nearly always the first one has none.
    return all(_has_twin(alternatives, index) for index in range(1, len(alternatives)))


def _has_twin(alternatives: list[Any], index: int) -> bool:
    one = alternatives[index]
    return any(_equal(one, other) for at, other in enumerate(alternatives) if at != index)


class Sayings:
    """What tells schemas of one document that say the same. Each of them is looked at once: whatever holds them asks again."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, frozenset[str], Scope], tuple[Saying, ...]] = {}

    def of(self, facet: Facet) -> tuple[Saying, ...]:
        """Schemas that say the same, as far as a look can tell, have one of these in common."""
        if facet.is_made:
            return ()
        key = (facet.pointer, facet.without, facet.scope)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = _sayings(facet)
        return found

    def forget(self) -> None:
        """Hold nothing any more."""
        self._found.clear()


def _sayings(facet: Facet) -> tuple[Saying, ...]:
    raw = facet.raw
    if not isinstance(raw, dict) or not facet.without.isdisjoint(raw):
        return ()
    place = (facet.scope, facet.pointer, "")
    # A reference means what it does only where it stands.
    return (place,) if _refers(raw) else (place, (facet.scope, "", _digest(raw)))


def _digest(raw: Any) -> str:
    # Not equality: to Python 1, 1.0 and true are equal. Not the text: a default may have ten megabytes.
    return digest(json.dumps(raw, sort_keys=True, default=repr))


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
