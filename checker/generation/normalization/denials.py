"""What each `not` leaves open, without the ways that the rest of a conjunction closes at a glance."""

from typing import Final, Protocol

from msgspec.structs import replace

from checker.generation.normalization.duplicates import Saying, Sayings
from checker.generation.normalization.forms import (
    Branches,
    Canonical,
    Conjunction,
    Facet,
    FacetKey,
    Reason,
)

_WAYS: Final = 24
"""Ways to break a schema that are listed one by one."""
_BOTH: Final = "what is asked for is forbidden here"
_INNER: Final = frozenset({"items", "prefixItems", "contains", "propertyNames", "not"})


class Breaks(Protocol):
    """Knows where references lead, and how schemas are broken."""

    sayings: Sayings

    def target(self, facet: Facet) -> Facet: ...
    def broken(self, facet: Facet) -> tuple[tuple[Conjunction, ...], bool]: ...


def forbid(breaks: Breaks, found: Canonical) -> None:
    """Leave out what a value has to be: nothing satisfies a schema and its `not`, whatever either of them says.

    Raises `UnresolvableReference`.
    """
    said: set[Saying] = set()
    if found.forbidden or any(_denied(way) for one in found.branches for way in one.alternatives):
        said.update(saying for facet in found.facets for saying in breaks.sayings.of(facet))
    for inner, at in found.forbidden:
        if not said.isdisjoint(breaks.sayings.of(inner)):
            found.impossible = found.impossible or Reason(at, _BOTH)
    found.branches = [_unfolded(breaks, branches, found, said) for branches in found.branches]


def _unfolded(breaks: Breaks, branches: Branches, found: Canonical, said: set[Saying]) -> Branches:
    """The ways of a `not`, with the ways to break what they only refer to."""
    ways: list[Conjunction] = []
    todo = list(reversed(branches.alternatives))
    seen: set[FacetKey] = set()
    while todo:
        way = todo.pop()
        inner = _denied(way)
        if inner is None or len(ways) + len(todo) >= _WAYS:
            ways.append(way)
            continue
        inner = breaks.target(inner)
        if inner.key in seen or not said.isdisjoint(breaks.sayings.of(inner)):
            continue
        seen.add(inner.key)
        more, is_whole = breaks.broken(inner)
        if is_whole:
            todo.extend(reversed(more))
        else:
            ways.append(way)
    if not ways:
        found.impossible = found.impossible or Reason(branches.pointer, _BOTH)
    # What is found soonest comes first.
    return replace(branches, alternatives=tuple(sorted(ways, key=_depth)))


def _denied(way: Conjunction) -> Facet | None:
    """What a way is the inverse of, if it is that and nothing else."""
    if len(way) != 1 or not isinstance(way[0].raw, dict):
        return None
    inner = way[0].raw.get("not")
    return inner if way[0].is_made and isinstance(inner, Facet) else None


def _depth(way: Conjunction) -> int:
    """How far below a way there is more to be broken."""
    if _denied(way) is not None:
        return 2
    return int(any(not _is_leaf(facet) for facet in way))


def _is_leaf(facet: Facet) -> bool:
    """True for a made schema that says what it says without another one."""
    return facet.is_made and isinstance(facet.raw, dict) and _INNER.isdisjoint(facet.raw)


def openness(branches: Branches) -> int:
    """How much alternatives leave open to what is chosen for others: most of all a `not` with many ways."""
    return len(branches.alternatives) if branches.keyword == "not" else 0
