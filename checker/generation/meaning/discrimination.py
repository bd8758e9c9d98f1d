"""When it is known beforehand that alternatives exclude each other, or which of them a value names."""

from itertools import combinations
from typing import Any, Final

from checker.core.schema import UnresolvableReference
from checker.generation.meaning.canonical import Canon
from checker.generation.meaning.forms import (
    OBJECT,
    Branches,
    Canonical,
    Conjunction,
    Facet,
    inverse,
    made,
    same,
)

_MOST: Final = 32
"""Alternatives that are compared with each other."""
_OBJECTS: Final = frozenset({OBJECT})


def discriminated(branches: Branches) -> list[Conjunction]:
    """For each alternative the schema that pins the discriminator, nothing for one without a name; empty without any."""
    if branches.keyword not in ("anyOf", "oneOf"):
        return []
    raw = branches.owner.raw
    told: Any = raw.get("discriminator") if isinstance(raw, dict) else None
    if not isinstance(told, dict) or not isinstance(told.get("propertyName"), str):
        return []
    name = told["propertyName"]
    mapping = told.get("mapping")
    mapping = mapping if isinstance(mapping, dict) else {}
    at = f"discriminator {branches.keyword}"
    found: list[Conjunction] = []
    for index, (facet, *_) in enumerate(branches.alternatives):
        values = _names_of(facet, mapping)
        if not values:
            # Written out, it has no name: it takes whatever fits it.
            found.append(())
            continue
        listed = made(branches.owner, f"{at} {index}", {"enum": values})
        pinned = {"properties": {name: listed}, "required": [name]}
        found.append((made(branches.owner, f"{at} {index} pinned", pinned),))
    return found if any(found) else []


def _names_of(facet: Facet, mapping: dict[str, Any]) -> list[str]:
    reference = facet.raw.get("$ref") if isinstance(facet.raw, dict) else None
    if not isinstance(reference, str):
        return []
    last = reference.rpartition("/")[2]
    mapped = [name for name, target in mapping.items() if target in (reference, last)]
    return mapped or [last]


def others_excluded(branches: Branches, index: int) -> Conjunction:
    """What an alternative must not be for no other one to admit it."""
    return tuple(
        inverse(facet) for at, (facet, *_) in enumerate(branches.alternatives) if at != index
    )


def are_disjoint(canon: Canon, branches: Branches) -> bool:
    """True when no value can satisfy two of the alternatives: by type, or by a required property with other values."""
    if len(branches.alternatives) > _MOST:
        return False
    try:
        read = [canon.canonical(alternative) for alternative in branches.alternatives]
        return all(
            _exclude(left, right) or _differ_in_property(canon, left, right)
            for left, right in combinations(read, 2)
        )
    except UnresolvableReference:
        return False


def _exclude(left: Canonical, right: Canonical) -> bool:
    if not left.types & right.types:
        return True
    if left.enum is not None and right.enum is not None:
        return not any(same(a, b) for a in left.enum for b in right.enum)
    return False


def _differ_in_property(canon: Canon, left: Canonical, right: Canonical) -> bool:
    return left.types & right.types == _OBJECTS and any(
        _exclude(canon.canonical(left.properties[name]), canon.canonical(right.properties[name]))
        for name in left.required
        if name in right.required and name in left.properties and name in right.properties
    )
