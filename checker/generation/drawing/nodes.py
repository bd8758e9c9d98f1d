"""The seam between the compiler and the draws of arrays and objects; how freely values of a vague schema are drawn."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, Protocol

from checker.core.errors import BudgetSpent
from checker.generation.drawing.distinct import identity
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import ARRAY, OBJECT, Canonical, Conjunction
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Budget, Draw, DrawContext, Rejected
from checker.generation.sources.hypothesis import Strategy

ENOUGH: Final = 10
"""Different values of twenty."""
_TRIED = 20
_DISCARDED = 120
"""Attempts that all of the draws together may discard."""
_FEW_PROPERTIES, _FEW_ITEMS = 3, 32
_CONTAINERS = frozenset({ARRAY, OBJECT})


class Variety(Enum):
    """The degree of freedom with which values are drawn."""

    USUAL = "what is meant, and little else"
    NAMES = "many properties that the schema does not name"
    TYPES = "all types of which an untyped schema says nothing as well"
    MOST = "hardly ever without properties that the schema does not name, or with few items"


def may_be_poor(form: Canonical) -> bool:
    """True when it takes a few draws to know whether values repeat themselves."""
    is_short = form.arrays.count.low <= _FEW_ITEMS
    return bool(form.types & _CONTAINERS) and len(form.objects.properties) <= _FEW_PROPERTIES and is_short


def different(draw: Draw, context: DrawContext) -> int:
    """Return the number of different values of a few draws; stops counting at `ENOUGH`."""
    # Somebody may be drawing already: schemas are compiled when they are needed.
    with context.aside(_DISCARDED):
        return _counted(draw, context, ENOUGH)


def is_alive(draw: Draw, context: DrawContext) -> bool:
    """True when one of a few draws comes to a value."""
    with context.aside(_DISCARDED):
        return _counted(draw, context, 1) > 0


def _counted(draw: Draw, context: DrawContext, enough: int) -> int:
    source = RandomSource()
    seen: set[bytes] = set()
    for seed in range(_TRIED):
        source.reset(seed)
        context.begin(None, context.work if seed else 0)
        try:
            seen.add(identity(draw(source)))
        except Rejected:
            continue
        except BudgetSpent:
            if context.work <= context.allowance:
                raise
            # Alternatives inside alternatives each try their own: what all tries cost together has to stay small.
            break
        if len(seen) >= enough:
            break
    return len(seen)


class Nodes(Protocol):
    """A compiler, as far as its children see it."""

    canon: Canon
    context: DrawContext
    budget: Budget
    formats: Mapping[str, Strategy]
    max_text: int
    reuses: bool
    is_minimal: bool
    allows_extra: bool

    def compile(self, conjunction: Conjunction, place: TextPlace) -> Draw: ...
    def variety_of(self, form: Canonical) -> Variety: ...
    def canonical(self, conjunction: Conjunction) -> Canonical: ...
    def validator(self, conjunction: Conjunction) -> Callable[[Any], bool]: ...
