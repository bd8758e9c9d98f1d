"""Forms that plainly admit nothing: seen without drawing, and without trying their alternatives."""

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
    kinds_of,
)

_DEPTH: Final = 2
"""Required properties inside each other that are looked at."""


def emptiness(canon: Canon, form: Canonical, depth: int = _DEPTH) -> Reason | None:
    """Why no value satisfies a form; None when it takes more than a look to know. Raises `BudgetSpent`."""
    if form.impossible is not None:
        return form.impossible
    if form.enum is not None:
        if any(kinds_of(value) & form.types for value in form.enum):
            return None
        return Reason(form.enum_pointer, "the type forbids all that is listed")
    reason: Reason | None = Reason(form.type_pointer or form.pointer, "no type is left")
    for kind in form.types:
        reason = _of_kind(canon, form, kind, depth)
        if reason is None:
            break
    return reason


def _of_kind(canon: Canon, form: Canonical, kind: str, depth: int) -> Reason | None:
    """Why no value of one type satisfies a form."""
    if kind == OBJECT:
        return _of_objects(canon, form, depth)
    conflict: tuple[str, str] | None = None
    if kind in (INTEGER, NUMBER):
        conflict = form.numbers.conflict()
    elif kind == STRING:
        conflict = form.lengths.conflict()
    elif kind == ARRAY:
        conflict = form.item_count.conflict()
    return None if conflict is None else Reason(*conflict)


def _of_objects(canon: Canon, form: Canonical, depth: int) -> Reason | None:
    conflict = form.property_count.conflict()
    if conflict is not None:
        return Reason(*conflict)
    for name, pointer in form.required.items():
        conjunction = form.properties.get(name)
        if conjunction is None:
            if form.no_additional is not None:
                return Reason(pointer, f"{name!r} is required, but nothing allows it")
            continue
        inside = _of_property(canon, conjunction, depth)
        if inside is not None:
            return inside
    return None


def _of_property(canon: Canon, conjunction: Conjunction, depth: int) -> Reason | None:
    if depth == 0:
        return None
    try:
        return emptiness(canon, canon.canonical(conjunction), depth - 1)
    except UnresolvableReference:
        return None


def is_settled(canon: Canon, form: Canonical, branches: Branches) -> bool:
    """True for alternatives of a `not` that need no choice: the rest of the form admits nothing of what is forbidden."""
    owner: Any = branches.owner
    if branches.keyword != "not" or not isinstance(owner.raw, dict):
        return False
    forbidden = owner.below(owner.raw["not"], "not")
    try:
        both = canon.canonical((*form.base(owner, "not"), forbidden))
    except UnresolvableReference:
        return False
    return emptiness(canon, both) is not None


def may_be_alone(canon: Canon, conjunction: Conjunction, others: Conjunction) -> bool:
    """False when a look at each of the others, inverses, tells that it excludes the conjunction. Raises `BudgetSpent`."""
    return all(_has_way(canon, (*conjunction, other)) for other in others)


def _has_way(canon: Canon, conjunction: Conjunction) -> bool:
    """False when all ways that a `not` leaves are plainly closed by the rest."""
    try:
        form = canon.canonical(conjunction)
        if emptiness(canon, form) is not None:
            return False
        for branches in form.branches:
            if branches.keyword != "not":
                continue
            base = form.base(branches.owner, "not")
            ways = (canon.canonical((*base, *way)) for way in branches.alternatives)
            if all(emptiness(canon, way) is not None for way in ways):
                return False
    except UnresolvableReference:
        return True
    return True
