"""What shows the parts of arrays and objects."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from checker.generation.boundaries.values import Boundary
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.forms import Conjunction


class Walk(Protocol):
    """The walk through the schemas of a value (`positives.Edges`)."""

    compiler: Compiler
    is_cut: bool
    is_lean: bool
    is_full: bool
    completes: bool

    def values(
        self, conjunction: Conjunction, place: TextPlace, path: tuple[str, ...]
    ) -> Iterator[Boundary]: ...
    def usual(self, conjunction: Conjunction, place: TextPlace) -> Any: ...
    def full(self, conjunction: Conjunction, place: TextPlace) -> Any: ...
    def is_given(self, conjunction: Conjunction, place: TextPlace) -> bool: ...
    def drawn(
        self, conjunction: Conjunction, place: TextPlace, accepts: Callable[[Any], bool] = ...
    ) -> Any: ...
    def narrowed(
        self, conjunction: Conjunction, place: TextPlace, tag: str, raw: dict[str, Any]
    ) -> Any: ...
