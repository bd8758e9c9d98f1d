"""Draw functions for the parts of a request: parameters by location, and the body."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from checker.core.case import NOT_SET
from checker.core.errors import Unsatisfiable
from checker.core.media_types import is_form, is_json, is_multipart, parse
from checker.core.operation import Body, Location, Operation, Parameter
from checker.core.schema import Dialect, Direction, Document
from checker.generation import alphabets, forms
from checker.generation.canonical import Canon
from checker.generation.compiling import Compiler
from checker.generation.forms import Conjunction, Facet
from checker.generation.places import Place, body_place, place_of
from checker.generation.reuse import pooled
from checker.generation.settings import GenerationSettings
from checker.generation.sources import Source
from checker.generation.turn import OPTIONAL, Budget, Draw, Turn

_OPTIONAL = 0.5
_OPTIONAL_BODY = 0.9
_EMPTY: Draw = lambda source: {}  # noqa: E731 - one shape with the compiled ones
DrawnBody = tuple[Any, str | None]
"""Value and media type."""


class SchemaPart(NamedTuple):
    """What is known of the schema of one part: what `compile` takes."""

    compiler: Compiler
    conjunction: Conjunction
    place: Place


@dataclass(slots=True)
class PartCompiler:
    """Compiles the parts of one operation."""

    operation: Operation
    settings: GenerationSettings
    turn: Turn
    budget: Budget
    opaque: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Pointer -> reason of each optional part that no value can satisfy."""
    unbroken: dict[str, str] = field(default_factory=dict)
    """Pointer -> reason of each part that cannot be wrong."""
    _compilers: dict[tuple[int, Dialect, bool], Compiler] = field(default_factory=dict)

    def parameters(self, location: Location) -> Draw:
        """Draws all parameters of a location. Raises `Unsatisfiable`."""
        steps: list[tuple[str, Draw, bool]] = []
        for parameter in self.operation.parameters:
            if parameter.location is not location:
                continue
            try:
                draw = self._parameter(parameter)
            except Unsatisfiable as error:
                if parameter.required:
                    raise
                self.left_out[error.pointer] = error.reason
                continue
            steps.append((parameter.name, draw, parameter.required))
        return _named(steps) if steps else _EMPTY

    def parameter(self, parameter: Parameter) -> SchemaPart:
        """The schema of one parameter."""
        schema = parameter.schema
        compiler = self._compiler(schema.document, schema.dialect, reuses=False)
        return SchemaPart(compiler, (Facet(schema.raw, schema.pointer),), self._place(parameter))

    def _parameter(self, parameter: Parameter) -> Draw:
        compiler, conjunction, place = self.parameter(parameter)
        draw = compiler.compile(conjunction, place)
        form = compiler.canonical(conjunction)
        if not self.settings.reuse or parameter.media_type is not None:
            return draw
        is_scalar = not form.types & {forms.ARRAY, forms.OBJECT} or form.types == frozenset(
            forms.TYPES
        )
        if location_is_free(parameter.location, form.enum is None) and is_scalar:
            is_valid = compiler.validator(conjunction)
            target = (parameter.location, parameter.name)
            kinds = tuple(form.types)
            return pooled(
                draw,
                target,
                kinds,
                lambda value: place.carries(value) and is_valid(value),
                self.turn,
            )
        return draw

    def _place(self, parameter: Parameter) -> Place:
        settings = self.settings
        if parameter.media_type is not None and is_json(parameter.media_type):
            text = alphabets.VISIBLE
            return Place(f"{parameter.location}-json", text, allows_null=True, is_body=True)
        return place_of(parameter.location, self._text(), settings.exclude_header_characters)

    def _text(self) -> alphabets.Alphabet:
        return alphabets.text_of(self.settings.codec, allows_nul=self.settings.allow_x00)

    def _compiler(self, document: Document, dialect: Dialect, *, reuses: bool) -> Compiler:
        key = (id(document), dialect, reuses)
        found = self._compilers.get(key)
        if found is None:
            found = self._compilers[key] = Compiler(
                Canon(document, dialect, Direction.REQUEST, self.budget),
                self.turn,
                self.budget,
                dict(self.settings.formats),
                self.settings.max_body_bytes // 2,
                reuses=reuses,
                opaque=self.opaque,
            )
        return found

    def body(self) -> tuple[Draw, bool]:
        """Draws `(value, media type)`, and whether there is any body to draw. Raises `Unsatisfiable`."""
        draws: list[tuple[Draw, str]] = []
        reason: Unsatisfiable | None = None
        for body in self.operation.bodies:
            try:
                draws.append((self._body(body), body.media_type))
            except Unsatisfiable as error:
                reason = reason or error
                self.left_out[error.pointer] = error.reason
        if not draws:
            if reason is not None and self.operation.body_required:
                raise reason
            return (lambda source: (NOT_SET, None)), False
        return _body_draw(draws, required=self.operation.body_required), True

    def _body(self, body: Body) -> Draw:
        compiler, conjunction, place = self.body_part(body, reuses=self.settings.reuse)
        return compiler.compile(conjunction, place)

    def body_part(self, body: Body, *, reuses: bool = False) -> SchemaPart:
        """The schema of one kind of body."""
        schema = body.schema
        parsed = parse(body.media_type)
        is_multi = is_multipart(body.media_type)
        is_bytes = is_multi or (
            parsed is not None and not is_json(body.media_type) and not is_form(body.media_type)
        )
        facets = [Facet(schema.raw, schema.pointer)]
        if is_multi or is_form(body.media_type):
            facets.append(Facet({"type": "object"}, f"{schema.pointer}/form", is_made=True))
        compiler = self._compiler(schema.document, schema.dialect, reuses=reuses)
        place = body_place(
            self._text(),
            is_form=is_form(body.media_type) or is_multi,
            is_bytes=is_bytes,
        )
        return SchemaPart(compiler, tuple(facets), place)


def location_is_free(location: Location, has_no_list: bool) -> bool:
    """True when a parameter may take a value of an earlier response."""
    return location is Location.PATH or (
        has_no_list and location in (Location.QUERY, Location.HEADER)
    )


def _named(steps: list[tuple[str, Draw, bool]]) -> Draw:
    if all(required for _, _, required in steps):
        if len(steps) == 1:
            ((only, make, _),) = steps
            return lambda source: {only: make(source)}
        pairs = [(name, make) for name, make, _ in steps]
        return lambda source: {name: make(source) for name, make in pairs}

    def draw(source: Source) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, make, required in steps:
            if required:
                values[name] = make(source)
                continue
            if source.boolean(_OPTIONAL):
                source.start_span(OPTIONAL)
                value = make(source)
                # An optional null would be sent as text that the schema may not admit.
                if value is not None:
                    values[name] = value
                source.stop_span()
        return values

    return draw


def _body_draw(draws: list[tuple[Draw, str]], *, required: bool) -> Draw:
    count = len(draws)
    (first, media_type) = draws[0]

    def draw(source: Source) -> DrawnBody:
        if count == 1:
            return first(source), media_type
        make, chosen = draws[source.choice(count)]
        return make(source), chosen

    def maybe(source: Source) -> DrawnBody:
        if not source.boolean(_OPTIONAL_BODY):
            return NOT_SET, None
        source.start_span(OPTIONAL)
        drawn: DrawnBody = draw(source)
        source.stop_span()
        return drawn

    return draw if required else maybe
