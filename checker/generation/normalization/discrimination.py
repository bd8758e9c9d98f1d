"""Alternatives that exclude each other, discriminators, and a quick check for forms without values."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any, Final

from checker.core.schema import UnresolvableReference
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import (
    ARRAY,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    Branches,
    Canonical,
    Conjunction,
    Reason,
    inverse,
    made,
    same,
)
from checker.schema.discriminators import KEYWORDS, discriminator_of, inherits, told_by
from checker.schema.views import type_of

_MOST: Final = 32  # Alternatives that are compared pairwise.
_NAMED: Final = re.compile(r"#/(?:definitions|components/schemas)/([^/~%]+)")
_OBJECTS: Final = frozenset({OBJECT})


def discriminated(canon: Canon, branches: Branches) -> list[Conjunction]:
    """Return for each alternative the schema that fixes its discriminator (empty without a name); an empty list without a discriminator."""
    raw = branches.owner.raw
    if branches.keyword not in KEYWORDS or not isinstance(raw, dict) or "discriminator" not in raw:
        return []
    owner = branches.owner
    found = discriminator_of(raw, owner.pointer, canon.lookup)
    if found is None or found.keyword != branches.keyword:
        return []
    at = f"discriminator {branches.keyword}"
    pins: list[Conjunction] = []
    for index, alternative in enumerate(found.alternatives):
        if not alternative.told:
            # Without a name, the property has any value that the alternative admits.
            pins.append(())
            continue
        listed = made(owner, f"{at} {index}", {"enum": list(alternative.told)})
        pinned = {"properties": {found.property_name: listed}, "required": [found.property_name]}
        pins.append((made(owner, f"{at} {index} pinned", pinned),))
    return pins if any(pins) else []


def ways_of(canon: Canon, form: Canonical, branches: Branches) -> Iterator[Conjunction]:
    """Yield each alternative combined with all other constraints of its form and with its discriminator value."""
    base = form.base(branches.owner, branches.keyword)
    pinned = discriminated(canon, branches)
    for index, alternative in enumerate(branches.alternatives):
        yield (*base, *alternative, *(pinned[index] if pinned else ()))


def inherited_tags(canon: Canon, form: Canonical) -> dict[str, tuple[str, ...]]:
    """Return the discriminator properties of a base schema, with the values that select the heir described by the form.

    The heir is the outermost named schema of the value. It is the base itself, or contains the base in `allOf`.
    """
    found: dict[str, tuple[str, ...]] = {}
    for base in form.facets:
        raw: Any = base.raw
        if "discriminator" not in raw or not raw.keys().isdisjoint(KEYWORDS):
            continue
        name, mapping = told_by(raw)
        for heir in form.facets if name else ():
            named = _NAMED.fullmatch(heir.pointer)
            if named and inherits(heir.raw, heir.pointer, raw, canon.lookup):
                mapped = [
                    key
                    for key, target in mapping.items()
                    if target == named[1] or canon.lookup(target, base.pointer) == (heir.raw, heir.pointer)
                ]
                found[name] = tuple(mapped) or (named[1],)
                break
    return found


def others_excluded(branches: Branches, index: int) -> Conjunction:
    """Return the negated other alternatives, which a value of one alternative of `oneOf` must satisfy as well."""
    return tuple(inverse(facet) for at, (facet, *_) in enumerate(branches.alternatives) if at != index)


def are_disjoint(canon: Canon, branches: Branches) -> bool:
    """Whether no value can satisfy two alternatives, because of their types or of a required property with different values."""
    if len(branches.alternatives) > _MOST:
        return False
    try:
        read = [canon.canonical(alternative) for alternative in branches.alternatives]
        return all(
            _exclude(left, right) or _differ_in_property(canon, left, right) for left, right in combinations(read, 2)
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
        _exclude(canon.canonical(left.objects.properties[name]), canon.canonical(right.objects.properties[name]))
        for name in left.objects.required
        if name in right.objects.required and name in left.objects.properties and name in right.objects.properties
    )


_DEPTH: Final = 2  # Levels of required properties that are checked.


def emptiness(canon: Canon, form: Canonical, depth: int = _DEPTH) -> Reason | None:
    """Return the reason why no value satisfies a form; None if a quick check finds none. Raises `BudgetSpent`."""
    if form.impossible is not None:
        return form.impossible
    if form.enum is not None:
        if any(type_of(value) & form.types for value in form.enum):
            return None
        return Reason(form.enum_pointer, "the type excludes all listed values")
    reason: Reason | None = Reason(form.type_pointer or form.pointer, "no type is left")
    for kind in form.types:
        if kind == OBJECT:
            reason = _of_objects(canon, form, depth)
        elif kind in (INTEGER, NUMBER):
            reason = form.numbers.conflict()
        elif kind == STRING:
            reason = form.strings.lengths.conflict()
        else:
            reason = form.arrays.count.conflict() if kind == ARRAY else None
        if reason is None:
            break
    return reason


def _of_objects(canon: Canon, form: Canonical, depth: int) -> Reason | None:
    conflict = form.objects.count.conflict()
    if conflict is not None:
        return conflict
    for name, pointer in form.objects.required.items():
        conjunction = form.objects.properties.get(name)
        if conjunction is None:
            if form.objects.closed_at is not None:
                return Reason(pointer, f"{name!r} is required, but nothing allows it")
            continue
        with suppress(UnresolvableReference):
            inside = emptiness(canon, canon.canonical(conjunction), depth - 1) if depth else None
            if inside is not None:
                return inside
    return None


def is_settled(canon: Canon, form: Canonical, branches: Branches) -> bool:
    """Whether the rest of a form already rules out the values that a `not` forbids."""
    owner: Any = branches.owner
    if branches.keyword != "not" or not isinstance(owner.raw, dict):
        return False
    forbidden = owner.below(owner.raw["not"], "not")
    try:
        # If no value satisfies both the forbidden schema and the rest, the `not` adds nothing.
        both = canon.canonical((*form.base(owner, "not"), forbidden))
    except UnresolvableReference:
        return False
    return emptiness(canon, both) is not None
