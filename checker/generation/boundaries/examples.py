"""Requests made of the values that a description gives: each value is in one of them at least."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from checker.config.overrides import Overrides
from checker.core.meta import GenerationMode, Origin
from checker.core.operation import Body, Example, Location, Operation
from checker.core.schema_warnings import SchemaWarning, WarningKind
from checker.generation.boundaries.cases import BoundaryCase, Parts
from checker.generation.boundaries.positives import Edges
from checker.generation.boundaries.said import SaidValues
from checker.generation.boundaries.usual import REASONS, UsualRequest
from checker.generation.boundaries.values import Scenario
from checker.generation.components import PartCompiler
from checker.generation.likeness import distinct
from checker.generation.narrowing import SchemaPart
from checker.generation.normalization.store import FormStore
from checker.generation.provenance import forced_parts
from checker.generation.settings import GenerationSettings
from checker.generation.sources.context import Budget, DrawContext
from checker.validation.messages import shown

PHASE: Final = "examples"
_Place = tuple[Location, str]
"""Of a part: location and name; the name of a body is its media type."""
_Column = list[Example]
"""Valid values of one part, each once."""


@dataclass(slots=True)
class OperationExamples:
    """The cases of one operation: the same ones in the same order, every time."""

    operation: Operation
    settings: GenerationSettings
    store: FormStore | None = None
    """What is shared with other operations."""
    warn: Callable[[SchemaWarning], None] = lambda warning: None
    """Told of values that their own schema forbids."""
    _compiler: PartCompiler = field(init=False)
    _usual: UsualRequest = field(init=False)

    def __post_init__(self) -> None:
        # Dictionaries are for chance; what is forced is forced everywhere.
        forced = tuple(one for one in self.settings.overrides.parameters if one.is_forced)
        settings = replace(self.settings, overrides=Overrides(forced))
        self._compiler = PartCompiler(self.operation, settings, DrawContext(), Budget(), self.store)
        self._usual = UsualRequest(self._compiler, credentials=None)

    def cases(self) -> Iterator[BoundaryCase]:
        """Each request once; none where nothing is given, or where something that is required has no value."""
        columns = dict(self._columns())
        if not columns and not self.settings.fills_missing_examples:
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
                if parts.key() not in seen:
                    seen.add(parts.key())
                    yield replace(_case(parts, row), outside=outside)

    def _columns(self) -> Iterator[tuple[_Place, _Column]]:
        for parameter in self._usual.declared():
            if self._compiler.forced(parameter) is not None or self.settings.is_fixed(parameter):
                continue
            part = self._part(partial(self._compiler.parameter, parameter))
            column = [] if part is None else self._column(part, parameter.examples)
            given = [one for one, is_default in column if parameter.required or not is_default]
            if given:
                yield (parameter.location, parameter.name), given
        for body in self.operation.bodies:
            part = self._part(partial(self._compiler.body_part, body))
            column = [] if part is None else self._column(part, body.examples)
            given = [one for one, is_default in column if not is_default]
            if given:
                yield _place_of(body), given

    def _column(self, part: SchemaPart, beside: tuple[Example, ...]) -> list[tuple[Example, bool]]:
        """Values that are declared beside a schema, then those in it; and whether each is a default."""
        found: dict[Any, tuple[Example, bool]] = {}
        said = SaidValues(Edges(part.compiler), self._refused)
        for example in beside:
            if example.is_settled:
                found.setdefault(distinct(example.value), (example, False))
                continue
            whole = said.completed(example.value, part.conjunction, part.place)
            for value in self._compiler.fitting((whole,), part):
                found.setdefault(distinct(value), (replace(example, value=value), False))
        for one in said.of(part.conjunction, part.place):
            example = Example(one.value, one.pointer)
            found.setdefault(distinct(one.value), (example, one.is_default))
        return list(found.values())

    def _refused(self, pointer: str, value: Any) -> None:
        kind = "default" if pointer.endswith("/default") else "example"
        message = (
            f"the {kind} {shown(value)} at {pointer} does not fit the schema that it stands in; "
            "correct one of them"
        )
        label = str(self.operation.label)
        self.warn(SchemaWarning(WarningKind.INVALID_EXAMPLE, label, pointer, message))

    def _parts(self, row: Mapping[_Place, Example], body: Body | None) -> Parts | None:
        """What is sent: the values of a row, and usual ones of all else that is required. None if there are none."""
        parts = Parts()
        for parameter in self._usual.declared():
            forced = self._compiler.forced(parameter)
            given = row.get((parameter.location, parameter.name))
            try:
                if forced is not None:
                    value = forced.entries[0]
                elif given is not None:
                    value = given.value
                elif parameter.required:
                    value = self._usual.value(self._compiler.parameter(parameter), parameter)
                else:
                    continue
            except REASONS:
                return None
            if value is not None or parameter.required:
                parts = parts.with_value(parameter.location, parameter.name, value)
        if body is not None:
            given = row[_place_of(body)]
            if given.is_settled:
                return parts.with_body(given.value, body.media_type)
            return self._usual.with_body(parts, given.value, body)
        return self._with_usual_body(parts) if self.operation.body_required else parts

    def _with_usual_body(self, parts: Parts) -> Parts | None:
        for body in self.operation.bodies:
            try:
                value = self._usual.value(self._compiler.body_part(body), body)
                return self._usual.with_body(parts, value, body)
            except REASONS:
                continue
        return None

    def _part(self, make: Callable[[], SchemaPart]) -> SchemaPart | None:
        try:
            return make()
        except REASONS:
            return None


def _place_of(body: Body) -> _Place:
    return Location.BODY, body.media_type


def rows(columns: Mapping[_Place, _Column]) -> list[dict[_Place, Example]]:
    """Values that are sent together: those of one name first, then as few rows as show each value at least once."""
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
    for row in found:
        for at, column in columns.items():
            if at not in row:
                row[at] = unused[at].pop(0) if unused[at] else column[len(found) % len(column)]
    while any(unused.values()):
        number = len(found)
        found.append(
            {
                at: unused[at].pop(0) if unused[at] else column[number % len(column)]
                for at, column in columns.items()
            }
        )
    return found


def _case(parts: Parts, row: Mapping[_Place, Example]) -> BoundaryCase:
    given = next(iter(row.values()), None)
    names = dict.fromkeys(example.name for example in row.values() if example.name)
    if given is None:
        text = "Generated, since no examples are declared"
        return BoundaryCase(
            parts, GenerationMode.POSITIVE, text, Scenario.DEFAULT_CASE, phase=PHASE
        )
    text = f"Example {', '.join(names)}" if names else "Example values"
    return BoundaryCase(
        parts,
        GenerationMode.POSITIVE,
        text,
        Scenario.EXAMPLE,
        given.pointer,
        origin=Origin.EXAMPLE,
        phase=PHASE,
    )
