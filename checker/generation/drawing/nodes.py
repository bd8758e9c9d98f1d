"""What compiles the children of arrays and objects."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from checker.generation.drawing.places import TextPlace
from checker.generation.drawing.variety import Variety
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Canonical, Conjunction
from checker.generation.sources.context import Budget, Draw, DrawContext
from checker.generation.sources.hypothesis import Strategy


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
