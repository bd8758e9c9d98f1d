"""Values that a schema gives itself: its examples, and those of its parts put together."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from msgspec import Struct, field

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.generation.boundaries.positives import Edges
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.likeness import distinct
from checker.generation.normalization import forms
from checker.generation.normalization.forms import Canonical, Conjunction, FacetKey, key_of
from checker.generation.normalization.reading import authors_values
from checker.generation.sources.context import Rejected

_DEEPEST: Final = 8
_SCHEMAS: Final = 1_000
"""Schemas that are looked at for one part of a request."""
_MOST: Final = 100
"""Values of one schema."""
_REASONS: Final = (Unsatisfiable, BudgetSpent, Rejected)


class SaidValue(Struct, frozen=True):
    """A value that stands in a schema, or is made of such values."""

    value: Any
    pointer: str
    """Where it stands; of a value that is made, the first that it is made of."""
    is_default: bool = False


class SaidValues(Struct):
    """Reads the values of one part of a request."""

    edges: Edges
    refused: Callable[[str, Any], None]
    """Told the place and value of what its own schema forbids."""
    _left: int = _SCHEMAS
    _open: set[frozenset[FacetKey]] = field(default_factory=set)

    def of(
        self, conjunction: Conjunction, place: TextPlace, but: frozenset[str] = frozenset()
    ) -> list[SaidValue]:
        """Valid examples, then values made of the examples of properties and items, then defaults; each once.

        What is made has all that is required: the default or usual value where there is no example. Values that stand
        at the places `but` are left out.
        """
        try:
            conjunction = self.edges.targets(conjunction)
            key = key_of(conjunction)
            if key in self._open or len(self._open) >= _DEEPEST or self._left <= 0:
                return []
            self._left -= 1
            self._open.add(key)
            try:
                return self._known(conjunction, place, but)
            finally:
                self._open.discard(key)
        except _REASONS:
            return []

    def _known(
        self, conjunction: Conjunction, place: TextPlace, but: frozenset[str]
    ) -> list[SaidValue]:
        compiler = self.edges.compiler
        form = compiler.canonical(conjunction)
        if form.impossible is not None:
            return []
        own = [one for one in self._own(form, conjunction, place) if one.pointer not in but]
        made = list(islice(self._made(form, place, but.union(one.pointer for one in own)), _MOST))
        if not own and not made:
            return []
        is_valid = compiler.validator(conjunction)
        right = [one for one in own if place.carries_listed(one.value) and is_valid(one.value)]
        right += [one for one in made if place.carries(one.value) and is_valid(one.value)]
        found: dict[Any, SaidValue] = {}
        for one in sorted(right, key=lambda one: one.is_default):
            found.setdefault(distinct(one.value), one)
        return list(found.values())

    def completed(
        self, value: Any, conjunction: Conjunction, place: TextPlace, depth: int = _DEEPEST
    ) -> Any:
        """What an author gives, with all that declared objects in it require: the default or usual value of what they lack."""
        if not isinstance(value, dict | list) or not depth:
            return value
        try:
            form = self.edges.compiler.canonical(self.edges.targets(conjunction))
            return value if form.impossible else self._whole(value, form, item_of(place), depth - 1)
        except _REASONS:
            return value

    def _whole(self, value: Any, form: Canonical, inner: TextPlace, depth: int) -> Any:
        if isinstance(value, list):
            if form.prefix or forms.ARRAY not in form.types:
                return value
            return [self.completed(item, form.items, inner, depth) for item in value]
        if forms.OBJECT not in form.types:
            return value
        whole = {
            name: self.completed(part, form.properties.get(name, ()), inner, depth)
            for name, part in value.items()
        }
        for name in form.required:
            if name not in whole:
                whole[name] = self.edges.usual(form.of_name(name), inner)
        return whole

    def _own(
        self, form: Canonical, conjunction: Conjunction, place: TextPlace
    ) -> Iterator[SaidValue]:
        """What stands in the schemas of a form. What breaks the very schema that it stands in is told."""
        for facet in form.facets:
            for pointer, value, is_default in authors_values(facet):
                if self.edges.compiler.validator((facet,))(value):
                    yield SaidValue(value, pointer, is_default)
                else:
                    self.refused(pointer, value)
                    yield SaidValue(self.completed(value, conjunction, place), pointer, is_default)

    def _made(self, form: Canonical, place: TextPlace, but: frozenset[str]) -> Iterator[SaidValue]:
        """Values of alternatives, and objects and arrays of what is said of their parts."""
        if form.branches:
            for branch in self.edges.alternatives(form):
                yield from (one for one in self.of(branch, place, but) if not one.is_default)
            return
        if forms.OBJECT in form.types:
            yield from self._objects(form, item_of(place))
        if forms.ARRAY in form.types and not form.no_items:
            yield from self._arrays(form, item_of(place))

    def _objects(self, form: Canonical, inner: TextPlace) -> Iterator[SaidValue]:
        columns: dict[str, list[SaidValue]] = {}
        for name, child in form.properties.items():
            said = [one for one in self.of(child, inner) if not one.is_default]
            if said:
                columns[name] = said
        for number in range(max(map(len, columns.values()), default=0)):
            row = {name: said[number % len(said)] for name, said in columns.items()}
            value = {name: one.value for name, one in row.items()}
            for name in form.required:
                if name not in value:
                    value[name] = self.edges.usual(form.of_name(name), inner)
            yield SaidValue(value, next(iter(row.values())).pointer)

    def _arrays(self, form: Canonical, inner: TextPlace) -> Iterator[SaidValue]:
        said = [one for one in self.of(form.items, inner) if not one.is_default]
        size = max(form.item_count.low, 1)
        if form.prefix or size > _MOST:
            return
        for number, one in enumerate(said):
            turned = [*said[number:], *said[:number]]
            yield SaidValue([turned[at % len(turned)].value for at in range(size)], one.pointer)
