"""Conditions as alternatives: `if` with its branches, and what the presence of a property asks for."""

from itertools import product
from typing import Any

from checker.generation.normalization.forms import (
    Branches,
    Canonical,
    Conjunction,
    Facet,
    inverse,
    made,
)
from checker.validation.pointers import pointer_child

_MOST = 3
"""Properties with dependents; each doubles the alternatives."""
_DEPENDENT = ("dependentRequired", "dependentSchemas", "dependencies")


def conditions(facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
    """Add the alternatives that the conditions of a schema mean."""
    if "if" in raw and ("then" in raw or "else" in raw):
        found.branches.append(_if(facet, raw))
    for keyword in _DEPENDENT:
        dependents = raw.get(keyword)
        if not dependents:
            continue
        at = pointer_child(facet.pointer, keyword)
        if len(dependents) > _MOST:
            found.opaque[at] = keyword
            continue
        ways = [_with_and_without(facet, keyword, *item) for item in dependents.items()]
        alternatives = tuple(sum(chosen, ()) for chosen in product(*ways))
        found.branches.append(Branches(at, facet, keyword, alternatives))


def _if(facet: Facet, raw: dict[str, Any]) -> Branches:
    condition, then, other = (
        facet.below(raw.get(keyword, True), keyword) for keyword in ("if", "then", "else")
    )
    return Branches(
        condition.pointer, facet, "if", ((condition, then), (inverse(condition), other))
    )


def _with_and_without(
    facet: Facet, keyword: str, name: str, asked: Any
) -> tuple[Conjunction, Conjunction]:
    """The property with what it asks for, or without it."""
    names = asked if isinstance(asked, list) else []
    tag = f"{facet.tag}{keyword} {name}"
    there: Conjunction = (made(facet, f"{tag} there", {"required": [name, *names]}),)
    if not isinstance(asked, list):
        there += (facet.below(asked, keyword, name),)
    absent: Conjunction = (made(facet, f"{tag} absent", {"properties": {name: False}}),)
    return there, absent
