"""Requests with the examples and defaults of a description: each of them is in at least one request.

Values of a whole schema are also put together from the examples of its properties and items.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.meta import GenerationMode, Origin
from checker.core.operation import Body, Example, Location, Operation, Parameter
from checker.core.schema import SchemaWarning, WarningKind, shown
from checker.generation.boundaries.cases import BoundaryCase, Parts
from checker.generation.boundaries.operations import boundary_compiler
from checker.generation.boundaries.positives import Edges
from checker.generation.boundaries.usual import UsualRequest
from checker.generation.boundaries.values import Scenario, distinct
from checker.generation.components import PartCompiler, forced_parts
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.normalization import forms
from checker.generation.normalization.forms import Canonical, Conjunction, FacetKey, key_of
from checker.generation.normalization.reading import authors_values
from checker.generation.settings import GenerationSettings
from checker.generation.sources.context import NO_VALUE

_DEEPEST: Final = 8
_SCHEMAS: Final = 1_000  # Schemas that are read for one part of a request.
_MOST: Final = 100  # Values of one schema.


class SaidValue(Struct, frozen=True):
    """An example or default of a schema, or a value put together from several."""

    value: Any
    pointer: str  # JSON pointer of the value. A composed value has the pointer of its first part.
    is_default: bool = False


class SaidValues(Struct):
    """Finds the examples of one part of a request."""

    edges: Edges
    refused: dict[str, Any] = {}
    """Pointer -> value of each example that its own schema forbids."""
    _left: int = _SCHEMAS
    _open: set[frozenset[FacetKey]] = set()

    def of(self, conjunction: Conjunction, place: TextPlace, but: frozenset[str] = frozenset()) -> list[SaidValue]:
        """Return valid examples, then values composed of the examples of properties and items, then defaults; each once.

        A composed value has all required parts: without an example, a part has its default or usual value. Values at the
        pointers `but` are left out.
        """
        try:
            conjunction = self.edges.compiler.targets(conjunction)
            # A recursive schema would give the same values again on each level.
            key = key_of(conjunction)
            if key in self._open or len(self._open) >= _DEEPEST or self._left <= 0:
                return []
            self._left -= 1
            self._open.add(key)
            try:
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
                # Of two equal values the example is kept, because composed values use examples but no defaults.
                for one in sorted(right, key=lambda one: one.is_default):
                    found.setdefault(distinct(one.value), one)
                return list(found.values())
            finally:
                self._open.discard(key)
        except NO_VALUE:
            return []

    def completed(self, value: Any, conjunction: Conjunction, place: TextPlace, depth: int = _DEEPEST) -> Any:
        """Return a value in which declared objects have all required properties. Missing ones get default or usual values."""
        if not isinstance(value, dict | list) or not depth:
            return value
        try:
            form = self.edges.compiler.canonical(self.edges.compiler.targets(conjunction))
            if form.impossible:
                return value
            inner, depth = item_of(place), depth - 1
            if isinstance(value, list):
                if form.arrays.prefix or forms.ARRAY not in form.types:
                    return value
                return [self.completed(item, form.arrays.items, inner, depth) for item in value]
            if forms.OBJECT not in form.types:
                return value
            whole = {
                name: self.completed(part, form.objects.properties.get(name, ()), inner, depth)
                for name, part in value.items()
            }
            for name in form.objects.required:
                if name not in whole:
                    whole[name] = self.edges.usual(form.objects.of_name(name), inner)
            return whole
        except NO_VALUE:
            return value

    def _own(self, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Iterator[SaidValue]:
        """Yield the given values of the schemas of a form. A value that its own schema forbids is reported."""
        for facet in form.facets:
            for pointer, value, is_default in authors_values(facet):
                if self.edges.compiler.validator((facet,))(value):
                    yield SaidValue(value, pointer, is_default)
                else:
                    # Examples are often incomplete: with the missing properties they may be valid.
                    self.refused[pointer] = value
                    yield SaidValue(self.completed(value, conjunction, place), pointer, is_default)

    def _made(self, form: Canonical, place: TextPlace, but: frozenset[str]) -> Iterator[SaidValue]:
        """Yield values of alternatives, and objects and arrays composed of the values of their parts."""
        if form.branches:
            for branch in self.edges.alternatives(form):
                yield from (one for one in self.of(branch, place, but) if not one.is_default)
            return
        inner = item_of(place)
        if forms.OBJECT in form.types:
            columns: dict[str, list[SaidValue]] = {}
            for name, child in form.objects.properties.items():
                said = [one for one in self.of(child, inner) if not one.is_default]
                if said:
                    columns[name] = said
            for number in range(max(map(len, columns.values()), default=0)):
                row = {name: column[number % len(column)] for name, column in columns.items()}
                # Optional properties without an example are left out: the request contains only what the author wrote.
                value = {name: one.value for name, one in row.items()}
                for name in form.objects.required:
                    if name not in value:
                        value[name] = self.edges.usual(form.objects.of_name(name), inner)
                yield SaidValue(value, next(iter(row.values())).pointer)
        if forms.ARRAY in form.types and not form.arrays.is_closed:
            said = [one for one in self.of(form.arrays.items, inner) if not one.is_default]
            size = max(form.arrays.count.low, 1)
            # Each example is the first item of one array. Arrays have as many items as the schema requires.
            if not (form.arrays.prefix or size > _MOST):
                for number, one in enumerate(said):
                    turned = [*said[number:], *said[:number]]
                    yield SaidValue([turned[at % len(turned)].value for at in range(size)], one.pointer)


PHASE: Final = "examples"
_Place = tuple[Location, str]  # Location and name of a part; the name of a body is its media type.
_Column = list[Example]  # Valid values of one part, each once.


@dataclass(slots=True)
class OperationExamples:
    """The cases of one operation: the same cases in the same order in every run."""

    operation: Operation
    settings: GenerationSettings
    warn: Callable[[SchemaWarning], None] = lambda warning: None  # Called for values that their own schema forbids.
    _compiler: PartCompiler = field(init=False)
    _usual: UsualRequest = field(init=False)

    def __post_init__(self) -> None:
        self._compiler = boundary_compiler(self.operation, self.settings, is_sampled=True)
        self._usual = UsualRequest(self._compiler, credentials=None)

    def cases(self) -> Iterator[BoundaryCase]:
        """Yield each request once; none if the description gives no value, or if a required part has no value."""
        columns = dict(self._columns())
        # Without an example, all cases would be the usual request, which the coverage phase sends.
        if not columns and not self.settings.listing.fills_missing_examples:
            return
        parameters = {at: one for at, one in columns.items() if at[0] is not Location.BODY}
        bodies = [body for body in self.operation.bodies if _place_of(body) in columns]
        choices: Sequence[Body | None] = bodies or [None]
        outside = forced_parts(self._compiler)
        seen: set[str] = set()
        for body in choices:
            of_body = {} if body is None else {_place_of(body): columns[_place_of(body)]}
            for row in rows(parameters | of_body) or [{}]:
                parts = self._parts(row, body)
                if parts is None:
                    return
                if parts.key() in seen:
                    continue
                seen.add(parts.key())
                case = BoundaryCase(
                    parts,
                    GenerationMode.POSITIVE,
                    "Generated, since no examples are declared",
                    Scenario.DEFAULT_CASE,
                    phase=PHASE,
                    outside=outside,
                )
                if row:
                    names = dict.fromkeys(example.name for example in row.values() if example.name)
                    text = f"Example {', '.join(names)}" if names else "Example values"
                    pointer = next(iter(row.values())).pointer
                    case = replace(
                        case, description=text, scenario=Scenario.EXAMPLE, pointer=pointer, origin=Origin.EXAMPLE
                    )
                yield case

    def _columns(self) -> Iterator[tuple[_Place, _Column]]:
        declared: list[Parameter | Body] = [
            one
            for one in self._usual.declared()
            if self._compiler.forced(one) is None and not self.settings.is_fixed(one)
        ]
        for one in (*declared, *self.operation.bodies):
            try:
                part = self._compiler.body_part(one) if isinstance(one, Body) else self._compiler.parameter(one)
            except NO_VALUE:
                continue
            # A default alone is sent for required parameters only.
            takes_default = isinstance(one, Parameter) and one.required
            # Examples beside the schema come before those inside. The flag tells whether a value is a default.
            found: dict[Any, tuple[Example, bool]] = {}
            said = SaidValues(Edges(part.compiler))
            for example in one.examples:
                if example.is_settled:
                    found.setdefault(distinct(example.value), (example, False))
                    continue
                whole = said.completed(example.value, part.conjunction, part.place)
                fitting = self._compiler.fitting((whole,), part)
                for value in fitting:
                    found.setdefault(distinct(value), (replace(example, value=value), False))
                if not fitting and part.place.is_body and part.place.carries(example.value):
                    # Many services accept an example that contradicts its schema, because the schema is wrong.
                    found.setdefault(distinct(example.value), (replace(example, is_settled=True), False))
            for inner in said.of(part.conjunction, part.place):
                found.setdefault(distinct(inner.value), (Example(inner.value, inner.pointer), inner.is_default))
            for pointer, value in said.refused.items():
                self._refused(pointer, value)
            given = [value for value, is_default in found.values() if takes_default or not is_default]
            if given:
                yield _place_of(one), given

    def _refused(self, pointer: str, value: Any) -> None:
        kind = "default" if pointer.endswith("/default") else "example"
        message = (
            f"the {kind} {shown(value)} at {pointer} does not fit the schema that it stands in; correct one of them"
        )
        label = str(self.operation.label)
        self.warn(SchemaWarning(WarningKind.INVALID_EXAMPLE, label, pointer, message))

    def _parts(self, row: Mapping[_Place, Example], body: Body | None) -> Parts | None:
        """Return the values of a row with usual values of all other required parts; None if a required part has no value."""
        given = {at: one.value for at, one in row.items() if at[0] is not Location.BODY}
        parts = self._usual.parameters(given=given)
        if parts is None:
            return None
        if body is None:
            return self._usual.with_usual_body(parts) if self.operation.body_required else parts
        example = row[_place_of(body)]
        if example.is_settled:
            return parts.with_body(example.value, body.media_type)
        return self._usual.with_body(parts, example.value, body)


def _place_of(one: Parameter | Body) -> _Place:
    return (Location.BODY, one.media_type) if isinstance(one, Body) else (one.location, one.name)


def rows(columns: Mapping[_Place, _Column]) -> list[dict[_Place, Example]]:
    """Return the values that are sent together: examples of one name first, then as few rows as contain each other value once."""
    # Examples of one name describe one scenario (OpenAPI 3.0, "Example Object"): mixed with others they may contradict each other.
    unused = {at: list(column) for at, column in columns.items()}
    names = [one.name for column in columns.values() for one in column if one.name]
    shared = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    found: list[dict[_Place, Example]] = []
    for name in shared:
        row = {}
        for at, column in columns.items():
            named = next((one for one in column if one.name == name), None)
            if named is not None:
                row[at] = named
                unused[at] = [one for one in unused[at] if one is not named]
        found.append(row)
    # All names are known before the named rows are filled up, because a value that belongs to a later name must not be
    # used earlier.
    for row in found:
        for at, column in columns.items():
            if at not in row:
                row[at] = unused[at].pop(0) if unused[at] else column[len(found) % len(column)]
    while any(unused.values()):
        number = len(found)
        found.append(
            {at: unused[at].pop(0) if unused[at] else column[number % len(column)] for at, column in columns.items()}
        )
    return found
