"""Conditions as alternatives: `if` with its branches, and what the presence of a property asks for."""

from itertools import product
from typing import Any

from checker.generation.forms import Branches, Canonical, Conjunction, Facet
from checker.validation.pointers import pointer_child

_MOST = 3
"""Properties with dependents; each doubles the alternatives."""
_DEPENDENT = ("dependentRequired", "dependentSchemas", "dependencies")


def conditions(facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
    """Add the alternatives that the conditions of a schema mean."""
    if "if" in raw and ("then" in raw or "else" in raw):
        found.branches.append(_if(facet, raw))
        # Nothing says of the other branch that the condition does not hold.
        found.needs_check = True
    for keyword in _DEPENDENT:
        dependents = raw.get(keyword)
        if not dependents:
            continue
        at = pointer_child(facet.pointer, keyword)
        if len(dependents) > _MOST:
            found.opaque[at] = keyword
            continue
        ways = [_with_and_without(name, what, at) for name, what in dependents.items()]
        alternatives = tuple(sum(chosen, ()) for chosen in product(*ways))
        found.branches.append(Branches(at, facet, keyword, alternatives))


def _if(facet: Facet, raw: dict[str, Any]) -> Branches:
    condition, then, other = (
        Facet(raw.get(keyword, True), pointer_child(facet.pointer, keyword))
        for keyword in ("if", "then", "else")
    )
    return Branches(condition.pointer, facet, "if", ((condition, then), (other,)))


def _with_and_without(name: str, what: Any, at: str) -> tuple[Conjunction, Conjunction]:
    """The property with what it asks for, or without it."""
    place = pointer_child(at, name)
    names = what if isinstance(what, list) else []
    there: Conjunction = (Facet({"required": [name, *names]}, f"{place}/required", is_made=True),)
    if not isinstance(what, list):
        there += (Facet(what, place),)
    absent: Conjunction = (
        Facet({"properties": {name: False}}, f"{place}/properties", is_made=True),
    )
    return there, absent
