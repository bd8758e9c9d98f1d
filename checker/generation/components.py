"""Draw functions for the parts of a request: parameters by location, and the body."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from checker.config.overrides import Override, Overrides
from checker.core import constraints
from checker.core.case import NOT_SET, is_idempotency_key
from checker.core.constraints import MOSTLY, RELATIONS, REQUIRED, USUAL
from checker.core.errors import SerializationNotPossible, UnresolvableBody, Unsatisfiable
from checker.core.media_types import is_form, is_json, is_multipart, is_xml, is_yaml, parse
from checker.core.meta import ANYTHING, ComponentProvenance, Origin
from checker.core.operation import Body, BodyFault, Example, Location, Operation, Parameter
from checker.core.registry import BODY_STRATEGIES
from checker.core.request import CONDITIONS
from checker.core.resource_names import marks_among, may_be_segment
from checker.core.schema import Dialect, Direction, Document
from checker.generation.dictionaries import Narrowing, SchemaPart, mismatch, overridden, path_of
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.files import TABLES, file_type, named_columns, named_type
from checker.generation.drawing.objects import SELDOM, Property, is_accepted, is_free, members, related
from checker.generation.drawing.places import body_place, filled, json_place, place_of
from checker.generation.drawing.scalars import compile_listed
from checker.generation.drawing.words import (
    EXAMPLES,
    HOLDING_WEIGHT,
    KNOWN,
    STRUCTURED,
    TOPICAL,
    Words,
    fitting,
    holding,
    pooled,
    topical,
    words_of_types,
)
from checker.generation.hooks import ComponentHooks
from checker.generation.normalization import forms
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Facet
from checker.generation.normalization.prose_values import named_members
from checker.generation.relations import Relations, relations_of
from checker.generation.settings import GenerationSettings
from checker.generation.sources import alphabets
from checker.generation.sources.basic import EMPTY, draw_strategy, either, listed
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import OPTIONAL, Budget, Draw, DrawContext, Shared
from checker.schema.views import ALL_TYPES, outline_of
from checker.transport.wire.bodies import carried_types, codec_of, is_file_type
from checker.transport.wire.decoding import may_spread

_OPTIONAL: Final = 0.5
_OPTIONAL_BODY: Final = 0.9
_FEW: Final = 1.0  # Usual number of optional parameters in one location of a sparse request.
_SPARSE: Final = 0.6
"""Share of requests with few optional parameters. Servers refuse many invented values: hardly any request with eight optional
parameters is accepted. The other requests test how parameters interact.
"""
DrawnBody = tuple[Any, str | None]  # Value and media type.


class CompiledParameter(Struct, weakref=True):
    """The schema and the draws of a parameter. Operations with equal parameters share them: a large description repeats most of its parameters."""

    pointer: str  # Pointer of its schema in the first of these operations.
    part: SchemaPart
    narrowed: SchemaPart  # The part with the target's demands added.
    draw: Draw | Unsatisfiable | None = None  # The compiled part; None before compilation.
    accepts: Callable[[Any], bool] | None = None
    negation: Any = None  # The wrong parts that `negation.parts` derives from it.
    opaque: Mapping[str, str] = {}
    """`opaque` nodes of its `draw`. When an operation first draws a wrong value, further nodes are added."""
    steps: int = 0
    """Budget steps that compiling the draw took. Each operation is charged as if it had compiled the draw itself."""


@dataclass(slots=True)
class PartCompiler:
    """Compiles the parts of one operation."""

    operation: Operation
    settings: GenerationSettings
    shared: Shared
    budget: Budget
    is_sampled: bool = True
    """False if at most two values of each schema are drawn. Draws are then not tested for repeated values."""
    opaque: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Pointer -> reason of each optional part that no value can satisfy."""
    mismatched: dict[str, str] = field(default_factory=dict)
    """Place of a parameter, or of a part of a body -> sentence about a dictionary most of whose entries the schema forbids."""
    forced_names: dict[Location, list[str]] = field(default_factory=dict)
    """Names of forced values by part, spelled as in provenance."""
    overrides: Overrides = field(init=False)  # Overrides of this operation.
    learned: Narrowing = field(init=False)  # The demands of the target.
    _compilers: dict[tuple[int, Dialect, bool], Compiler] = field(default_factory=dict)
    _steps: dict[Location, list[Property]] = field(default_factory=dict)
    _parameters: dict[tuple[Location, str], CompiledParameter] = field(default_factory=dict)
    _moved: dict[str, str] = field(default_factory=dict)
    """Pointer of a shared schema -> the pointer of the equal one in this operation."""
    _budgets: list[Budget] = field(default_factory=list)  # The budgets of the operation and of its shared parameters.

    def __post_init__(self) -> None:
        self._budgets.append(self.budget)
        self.overrides = self.settings.overrides.of(self.operation)
        self.learned = Narrowing(tuple(one for one in self.settings.learned if one.keyword not in RELATIONS))

    @property
    def context(self) -> DrawContext:
        return self.shared.context

    @property
    def nodes(self) -> int:
        """The number of compiled nodes. Nodes of a shared parameter count for each of its operations, because one operation keeps it alive."""
        return sum([one.nodes for one in self._budgets])

    def relations(self) -> Relations | None:
        """Return the relations between values of one request; None if there are none."""
        # An accepted value may break a relation to another value. The relation is repaired afterwards.
        demanded = sorted(
            (one for one in self.settings.learned if one.keyword in (*RELATIONS, USUAL)),
            key=lambda one: one.keyword != USUAL,
        )
        suggested = relations_of(self.operation)
        return Relations(tuple(demanded), suggested, self._is_valid) if demanded or suggested else None

    def _is_valid(self, location: Location, root: Any, media_type: str | None) -> bool:
        """Whether the values of a location, or a body of a media type, are valid."""
        if location is Location.BODY:
            mine = [one for one in self.operation.bodies if one.media_type == media_type]
            checked = [(self.body_part(one, reuses=self.settings.reuse), root) for one in mine]
        else:
            beside = [one for one in self.operation.parameters if one.location is location]
            if any(one.required and one.name not in root for one in beside):
                return False
            checked = [(self.parameter(one), root[one.name]) for one in beside if one.name in root]
        return all(part.compiler.validator(part.conjunction)(value) for part, value in checked)

    def settle(self) -> None:
        """Free the memory that only compilation needs."""
        for compiler in (*self._compilers.values(), *(one.part.compiler for one in self._parameters.values())):
            compiler.canon.settle()

    def parameters(self, location: Location, but: str | None = None) -> Draw:
        """Draws all parameters of a location, or all but one. Raises `Unsatisfiable`."""
        steps = self._steps.get(location)
        if steps is None:
            steps = self._steps[location] = self._of_location(location)
        wanted = [step for step in steps if step.name != but]
        if not wanted:
            return EMPTY
        some = related(members(wanted, location, len(wanted), drops_null=True), wanted, self.context)
        optional = sum(step.share <= _OPTIONAL for step in wanted)
        if optional * _OPTIONAL <= _FEW:
            return some
        fewer = [
            replace(step, share=min(step.share, _FEW / optional)) if step.share <= _OPTIONAL else step
            for step in wanted
        ]
        return either(_SPARSE, members(fewer, location, len(wanted), drops_null=True), some)

    def _of_location(self, location: Location) -> list[Property]:
        """Return the draws of the parameters of a location, each with the share of requests that have it."""
        steps: list[Property] = []
        for parameter in self.operation.parameters:
            if parameter.location is not location:
                continue
            try:
                draw = self._parameter(parameter)
            except Unsatisfiable as error:
                # An optional parameter that no value satisfies is left out. The operation can still be tested.
                if parameter.required:
                    raise
                self.left_out[error.pointer] = error.reason
                continue
            place = parameter.location, parameter.name
            is_there = parameter.required or self.forced(parameter) is not None or self.learned.says(REQUIRED, *place)
            is_refused = is_mostly_refused(parameter, self.operation.parameters)
            is_seldom = is_refused or self.learned.says(constraints.SELDOM, *place)
            # Some services require a parameter that the description calls optional, and refuse with `Bad Request`
            # alone. Such a refusal names no parameter, so no rule can be read from it; only a larger share helps.
            is_usual = self.learned.says(MOSTLY, *place)
            share = 1.0 if is_there else 1 - SELDOM if is_usual else SELDOM if is_seldom else _OPTIONAL
            accepts = None if self.forced(parameter) else self.compiled(parameter).accepts
            steps.append(Property(parameter.name, draw, share, accepts))
        return steps

    def parameter(self, parameter: Parameter) -> SchemaPart:
        return self.compiled(parameter).part

    def compiled(self, parameter: Parameter) -> CompiledParameter:
        """Return a compiled parameter. The parameter is shared unless a user or the target has demands on it in this operation alone."""
        name = parameter.location, parameter.name
        found = self._parameters.get(name)
        if found is not None:
            return found
        others: tuple[Facet, ...] = ()
        outline, pointer = outline_of(parameter.schema), parameter.schema.pointer
        if may_spread(parameter, outline) and not outline.is_closed:
            # An exploded object must not have the names of other parameters.
            beside = [one.name for one in self.operation.parameters if one is not parameter]
            taken = [one for one in beside if not outline.declares(one)]
            if taken:
                raw = {"propertyNames": {"not": {"enum": taken}}}
                others = (Facet(raw, f"{pointer}/others", is_made=True),)
        is_own = self.overrides.types or self.overrides.parameter(*name) or self.learned.is_about(parameter)
        if is_own:
            found = self._read(parameter, others, self.budget)
        else:
            # The draw of a shared parameter depends on all of this. The pointer counts only for schemas that other
            # places refer to: equal inline schemas share a draw.
            schema, own = parameter.schema, self.settings
            file, _, place = schema.pointer.partition("#")
            is_inside = bool(parameter.pointer) and schema.pointer.startswith(parameter.pointer)
            definition = parameter.definition if is_inside else None
            key = (
                id(schema.document), schema.dialect, file, place if definition is None else None, _text_of(definition),
                _text_of(schema.raw), parameter.name, parameter.location, parameter.required, parameter.style,
                parameter.explode, parameter.media_type, parameter.allow_reserved, parameter.allow_empty,
                parameter.inner, _text_of([one.value for one in parameter.examples]),
                _text_of([one.raw for one in others]), own.allow_x00, own.codec, own.exclude_header_characters,
                own.max_body_bytes, tuple(own.formats.items()), own.reuse, own.allow_extra_parameters, self.is_sampled,
            )  # fmt: skip
            # Descriptions repeat their parameters: 2,115 parameters of the 767 operations of GitHub are 275 different
            # ones, and 4,193 of bunq are 50. Each is read and compiled once.
            found = self.shared.parts.get(key)
            if found is None:
                found = self.shared.parts[key] = self._read(parameter, others, Budget())
            self._budgets.append(found.part.compiler.budget)
        self._parameters[name] = found
        if found.pointer != pointer:
            self._moved[found.pointer] = pointer
        return found

    def _read(self, parameter: Parameter, others: tuple[Facet, ...], budget: Budget) -> CompiledParameter:
        schema = parameter.schema
        opaque = self.opaque if budget is self.budget else {}
        compiler = self._new_compiler(schema.document, schema.dialect, budget, opaque, reuses=False)
        text, excluded = self._text(), self.settings.exclude_header_characters
        if parameter.media_type is not None and is_json(parameter.media_type):
            place = json_place(parameter.location, text, excluded)
        else:
            place = place_of(parameter.location, text, excluded, parameter.style, explode=parameter.explode)
            if parameter.location is Location.QUERY and not parameter.allow_empty:
                place = filled(place, carries_empty=parameter.allow_empty is None)
        part = SchemaPart(compiler, (Facet(schema.raw, schema.pointer), *others), place)
        narrowed = self.learned.narrowed(part, parameter.location, parameter.name)
        return CompiledParameter(schema.pointer, part, narrowed)

    def own_pointer(self, pointer: str) -> str:
        """Return a pointer into a shared schema as a pointer into the equal schema of this operation; other pointers unchanged."""
        for theirs, mine in self._moved.items():
            if pointer == theirs or pointer.startswith(f"{theirs}/"):
                return mine + pointer[len(theirs) :]
        return pointer

    def narrowed(self, part: SchemaPart, declared: Parameter | Body, *, takes_accepted: bool = True) -> SchemaPart:
        """Return the part with the target's demands: without values that it mostly refuses, and with values that it accepted.

        Returns the same part if there are no demands on it. Without `takes_accepted`, accepted values of bodies are not used.
        """
        if isinstance(declared, Parameter):
            return self.learned.with_usual_values.narrowed(part, declared.location, declared.name)
        learned = self.learned.of_usual_bodies or self.learned
        learned = learned.with_usual_values if takes_accepted else learned
        return learned.narrowed(part, Location.BODY, outline=outline_of(declared.schema))

    def forced(self, parameter: Parameter) -> Override | None:
        """Return the override that a user forces on a parameter, if any."""
        override = self.overrides.parameter(parameter.location, parameter.name)
        return override if override is not None and override.is_forced else None

    @property
    def has_forced_body(self) -> bool:
        """Whether a user forces a part of every body."""
        return any(one.is_forced for one in self.overrides.body())

    def _parameter(self, parameter: Parameter) -> Draw:
        location = parameter.location
        override = self.overrides.parameter(location, parameter.name)
        if override is not None and override.is_forced:
            value = override.entries[0]
            self._force(location, _name_on_wire(parameter.name, (value,)))
            return lambda source: value
        found = self.compiled(parameter)
        compiler = found.part.compiler
        if found.draw is None:
            before = compiler.budget.steps
            try:
                found.draw = self._reused(parameter, found.narrowed)
                _, conjunction, place = found.narrowed
                if parameter.media_type is None and is_free(compiler.canonical(conjunction)):
                    found.accepts = partial(is_accepted, compiler.canon, conjunction, place)
            except Unsatisfiable as error:
                found.draw = error.again()
            if compiler.budget is not self.budget:
                found.steps, found.opaque = before - compiler.budget.steps, dict(compiler.opaque)
        self.budget.spend(found.pointer, found.steps)
        self.opaque.update({self.own_pointer(at): keyword for at, keyword in found.opaque.items()})
        if isinstance(found.draw, Unsatisfiable):
            raise found.draw.at(self.own_pointer(found.draw.pointer))
        drawn = found.draw
        if override is None:
            return drawn
        part = self.compiled(parameter).narrowed
        entries, share = self.fitting(override.entries, part), override.share or 1.0
        # Entries that the schema forbids are not sent as valid values. The user gets a warning.
        if text := mismatch(override, entries):
            self.mismatched[f"{location.value} {parameter.name}"] = text
        name = _name_on_wire(parameter.name, entries)
        return Words(entries, share, Origin.DICTIONARY, location, name).sampled(drawn, self.context)

    def _force(self, location: Location, name: str) -> None:
        self.forced_names.setdefault(location, []).append(name)

    def fitting(self, entries: Iterable[Any], part: SchemaPart) -> tuple[Any, ...]:
        """Return the values that the schema of a part admits and its place can carry."""
        compiler, conjunction, place = part
        is_valid = compiler.validator(conjunction)
        types = compiler.canonical(conjunction).types
        return fitting(entries, types, lambda v: place.carries_listed(v) and is_valid(v))

    def _exampled(self, draw: Draw, examples: Iterable[Example], part: SchemaPart, location: Location) -> Draw:
        """Draws from `draw`, or a declared example that is valid."""
        entries = self.fitting((example.value for example in examples), part)
        words = Words(entries, EXAMPLES, Origin.EXAMPLE, location)
        return words.sampled(draw, self.context)

    def _reused(self, parameter: Parameter, part: SchemaPart) -> Draw:
        """Draws generated values, examples, and values of earlier responses in their place."""
        compiler, conjunction, place = part
        draw = self._structured(compiler.compile(conjunction, place), parameter, part)
        if parameter.examples:
            draw = self._exampled(draw, parameter.examples, part, parameter.location)
        form = compiler.canonical(conjunction)
        if not self.settings.reuse or parameter.media_type is not None:
            return draw
        is_scalar = not form.types & {forms.ARRAY, forms.OBJECT} or form.types == frozenset(forms.TYPES)
        is_segment = parameter.location is Location.PATH
        is_free = is_segment or (form.enum is None and parameter.location in (Location.QUERY, Location.HEADER))
        if is_free and is_scalar:
            is_valid = compiler.validator(conjunction)
            target = (parameter.location, parameter.name)
            kinds = tuple(form.types)

            # The name of a resource may have characters that are never drawn, such as emoji. Replacing it would make
            # the rest of the path invalid.
            def accepts(value: Any) -> bool:
                return (may_be_segment(f"{value}") if is_segment else place.carries(value)) and is_valid(value)

            return pooled(draw, target, kinds, accepts, self.context)
        return draw

    def _structured(self, draw: Draw, parameter: Parameter, part: SchemaPart) -> Draw:
        """Draws from `draw`, a word that the parameter's name suggests, or a value in the grammar of a standard header."""
        words = self.fitting(topical(parameter.name, part.compiler.canonical(part.conjunction), is_text=True), part)
        if words:
            draw = either(TOPICAL, listed(words), draw)
        if parameter.location is not Location.HEADER or parameter.media_type is not None:
            return draw
        name = parameter.name.lower()
        known = self.fitting(STRUCTURED.get(name, ()), part)
        if parameter.required:
            known = (*self.fitting(holding(name), part) * HOLDING_WEIGHT, *known)
        return either(KNOWN, compile_listed(list(known)), draw) if known else draw

    def _text(self) -> alphabets.Alphabet:
        return alphabets.text_of(self.settings.codec, allows_nul=self.settings.allow_x00)

    def _compiler(self, document: Document, dialect: Dialect, *, reuses: bool) -> Compiler:
        key = (id(document), dialect, reuses)
        found = self._compilers.get(key)
        if found is None:
            found = self._new_compiler(document, dialect, self.budget, self.opaque, reuses=reuses)
            self._compilers[key] = found
        return found

    def _new_compiler(
        self, document: Document, dialect: Dialect, budget: Budget, opaque: dict[str, str], *, reuses: bool
    ) -> Compiler:
        return Compiler(
            Canon(document, dialect, Direction.REQUEST, budget),
            self.context,
            budget,
            dict(self.settings.formats),
            self.settings.max_body_bytes // 2,
            reuses=reuses,
            opaque=opaque,
            is_sampled=self.is_sampled,
            allows_extra=self.settings.allow_extra_parameters,
            words=words_of_types(self.overrides.types),
        )

    def body(self) -> tuple[Draw, bool]:
        """Return the draw of `(value, media type)`, and whether there is a body.

        Raises `Unsatisfiable` and `SerializationNotPossible` when a body is required and none can be made.
        """
        draws: list[tuple[Draw, str]] = []
        reason: Unsatisfiable | None = None
        for body in self.operation.bodies:
            try:
                draws.append((self._body(body), body.media_type))
            except Unsatisfiable as error:
                reason = reason or error
                self.left_out[error.pointer] = error.reason
        if not draws:
            if self.operation.body_required:
                if reason is not None:
                    raise reason
                unusable = self.operation.unusable_bodies
                if unusable:
                    listed = "; ".join(f"{body.media_type!r}: {body.reason}" for body in unusable)
                    faults = {body.fault for body in unusable}
                    if BodyFault.UNSERIALISABLE in faults:
                        raise SerializationNotPossible(
                            f"the required body cannot be sent as any of its media types: {listed}"
                        )
                    kind = Unsatisfiable if BodyFault.MALFORMED in faults else UnresolvableBody
                    raise kind(unusable[0].pointer, f"the required body cannot be made: {listed}")
            return (lambda source: (NOT_SET, None)), False
        is_required = self.operation.body_required or self.learned.says(REQUIRED, Location.BODY)
        return _any_body(draws, required=is_required), True

    def _body(self, body: Body) -> Draw:
        if body.strategy is not None:
            return partial(draw_strategy, body.strategy)
        declared = self.body_part(body, reuses=self.settings.reuse)
        part = self.learned.narrowed(declared, Location.BODY, outline=outline_of(body.schema))
        draw = part.compiler.compile(part.conjunction, part.place)
        if self.learned.of_usual_bodies is not None:
            # Most cases omit the properties that the target refused, and have those that it accepted.
            usual = self.learned.of_usual_bodies.narrowed(declared, Location.BODY)
            with suppress(Unsatisfiable):
                draw = either(SELDOM, draw, usual.compiler.compile(usual.conjunction, usual.place))
        names = () if outline_of(body.schema).names else named_members(self._prose(body))
        if names:
            # Most objects get the members that the prose names, because the schema declares none.
            named = Facet({"type": "object", "required": names}, f"{body.schema.pointer}/prose", is_made=True)
            with suppress(Unsatisfiable):
                draw = either(SELDOM, draw, part.compiler.compile((*part.conjunction, named), part.place))
        draw = _with_parts_of_users(draw, body)
        if body.examples:
            draw = self._exampled(draw, body.examples, part, Location.BODY)
        overrides = list(self.overrides.body())
        if not overrides:
            return draw
        for override in overrides:
            if override.is_forced:
                self._force(Location.BODY, path_of(override))
        return overridden(draw, overrides, part, self.context, self.mismatched)

    def _prose(self, body: Body) -> str:
        """Return the name and the prose of the operation, and the prose and examples of a body."""
        said: Any = self.operation.definition
        request = said.get("requestBody")
        raw = body.schema.raw if isinstance(body.schema.raw, dict) else {}
        texts = [
            said.get("summary"),
            self.operation.path,
            said.get("description"),
            request.get("description") if isinstance(request, Mapping) else None,
            raw.get("description"),
            raw.get("example"),
        ]
        texts += [one.value for one in body.examples]
        return "\n".join(text for text in texts if isinstance(text, str))

    def body_part(self, body: Body, *, reuses: bool = False) -> SchemaPart:
        schema = body.schema
        parsed = parse(body.media_type)
        is_multi = is_multipart(body.media_type)
        is_text = is_json(body.media_type) or is_form(body.media_type) or is_yaml(body.media_type)
        is_written_xml = is_xml(body.media_type) and parsed is not None and parsed.type != "image"
        # If the kind of description serialises a body, it may be any value.
        is_bytes = body.write is None and (is_multi or not (is_text or is_written_xml))
        facets = [Facet(schema.raw, schema.pointer)]
        if is_form(body.media_type) or (is_multi and "object" in outline_of(schema).types):
            facets.append(Facet({"type": "object"}, f"{schema.pointer}/form", is_made=True))
        files = dict(_files_of(body)) if is_multi else {}
        if files:
            facets.append(Facet({"properties": files}, f"{schema.pointer}/files", is_made=True))
        carried = ALL_TYPES if body.write is not None else carried_types(body.media_type)
        if carried < ALL_TYPES and not outline_of(schema).types <= carried:
            facets.append(Facet({"type": sorted(carried)}, f"{schema.pointer}/text", is_made=True))
        compiler = self._compiler(schema.document, schema.dialect, reuses=reuses)
        is_file = is_bytes and (is_multi or outline_of(schema).types <= {"string", "null"})
        prose = self._prose(body) if is_file else ""
        kind = file_type(body.media_type)
        # The characters that the charsets of the body's media types can encode.
        text = self._text()
        for media_type in (body.media_type, *_types_of_parts(body)):
            codec = codec_of(media_type.strip())
            if codec is not None:
                held = alphabets.text_of(codec, allows_nul=True)
                text = alphabets.restricted(alphabets.common(text.intervals, held.intervals), "")
        place = body_place(
            text,
            is_form=is_form(body.media_type) or is_multi,
            is_bytes=is_bytes,
            is_xml=is_written_xml or any(map(is_xml, _types_of_parts(body))),
            # Texts in rows and lines have the limits of the body. Only a body that is one text is a table.
            file=(kind if is_bytes and (is_file or kind not in TABLES) else "") or named_type(prose),
            columns=named_columns(prose),
        )
        return SchemaPart(compiler, tuple(facets), place)


def _text_of(value: Any) -> object:
    """Return a text that is equal for equal values only. The value is a definition without cycles."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return repr(value)


def is_mostly_refused(parameter: Parameter, declared: Iterable[Parameter]) -> bool:
    """Whether an optional parameter gets no useful response for most of its values. `declared`: all parameters of the operation.

    Servers respond to conditional requests with 304 or 412, accept only page cursors that they made, and take an idempotency
    key once.
    """
    if parameter.required:
        return False
    if parameter.location is Location.QUERY:
        return parameter.name in marks_among([one.name for one in declared if one.location is Location.QUERY])
    return parameter.location is Location.HEADER and (
        parameter.name.lower() in CONDITIONS or is_idempotency_key(parameter.name)
    )


def _with_parts_of_users(draw: Draw, body: Body) -> Draw:
    changed = parts_of_users(body)
    return draw if changed is None else lambda source: changed(draw(source), source)


def parts_of_users(body: Body) -> Callable[[Any, Source], Any] | None:
    """Return a function that replaces the parts of a multipart body for whose media types users have strategies; None without strategies."""
    if not is_multipart(body.media_type):
        return None
    types = ((name, how.content_type) for name, how in body.encoding.items() if how.content_type)
    found = {name: BODY_STRATEGIES.find(media_type) for name, media_type in types}
    strategies: dict[str, Any] = {name: one for name, one in found.items() if one is not None}
    if not strategies:
        return None

    def changed(value: Any, source: Source) -> Any:
        for name, strategy in strategies.items():
            if isinstance(value, dict) and name in value:
                part = value[name]
                one = partial(draw_strategy, strategy, source)
                value = {**value, name: [one() for _ in part] if isinstance(part, list) else one()}
        return value

    return changed


def _any_body(draws: list[tuple[Draw, str]], *, required: bool) -> Draw:
    """Draws a body with one of its media types; (`NOT_SET`, None) stands for no body."""
    # With one media type there is no choice to record. Most operations have one.
    count = len(draws)
    first, media_type = draws[0]

    def draw(source: Source) -> DrawnBody:
        if count == 1:
            return first(source), media_type
        make, chosen = draws[source.choice(count)]
        return make(source), chosen

    def maybe(source: Source) -> DrawnBody:
        if not source.boolean(_OPTIONAL_BODY):
            return NOT_SET, None
        if source.__class__ is RandomSource:
            return draw(source)
        source.start_span(OPTIONAL)
        drawn: DrawnBody = draw(source)
        source.stop_span()
        return drawn

    return draw if required else maybe


def _name_on_wire(name: str, values: Iterable[Any]) -> str:
    """Return the name under which a parameter is sent. An object may be sent under the names of its properties."""
    has_names = any(isinstance(value, dict | list) for value in values)
    return ANYTHING if has_names else name


def _files_of(body: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, schema) of the parts that are files by their encoding alone (OpenAPI 3.1, 4.8.15.1)."""
    outline = outline_of(body.schema)
    for name, how in body.encoding.items():
        kinds = [one.strip() for one in (how.content_type or "").split(",")]
        if all(map(is_file_type, kinds)):
            one = {"type": "string", "format": "binary"}
            types = outline.property(name).types
            is_list = types != ALL_TYPES and "string" not in types
            yield name, {"items": one} if is_list else one


def _types_of_parts(body: Body) -> list[str]:
    declared = [how.content_type.split(",") for how in body.encoding.values() if how.content_type is not None]
    return list(chain(*declared))


def said_of(declared: Parameter | Body) -> list[Any]:
    """Return the given values of a parameter or a body: its examples, and the value with which a condition holds."""
    said = [example.value for example in declared.examples]
    if isinstance(declared, Parameter) and declared.location is Location.HEADER:
        said += holding(declared.name)
    return said


def usual_parts(
    compiler: PartCompiler, hooks: ComponentHooks, present: Iterable[Location]
) -> dict[Location, ComponentProvenance]:
    """Return the known provenance of each part before a case is made, in the order of locations."""
    locations, found = set(present), dict[Location, ComponentProvenance]()
    for place in Location:
        if place in locations:
            names = compiler.forced_names.get(place, [])
            outside = (*names, *_fixed(place, compiler.settings))
            if hooks.case.changes or getattr(hooks, place.container).changes:
                outside = (ANYTHING,)
            origin = Origin.EXPLICIT if names else Origin.RANDOM
            found[place] = ComponentProvenance(origin=origin, outside=outside)
    return found


def forced_parts(compiler: PartCompiler) -> dict[Location, tuple[str, ...]]:
    """Return the names of forced values in otherwise usual cases, by location."""
    found = {place: tuple(_fixed(place, compiler.settings)) for place in Location}
    for parameter in compiler.operation.parameters:
        if compiler.forced(parameter) is not None:
            found[parameter.location] += (parameter.name,)
    if compiler.has_forced_body:
        found[Location.BODY] = (ANYTHING,)
    return found


def _fixed(location: Location, settings: GenerationSettings) -> Iterable[str]:
    """Return the names whose values do not depend on the case: fixed headers, one of which may hold all cookies, and credentials."""
    if location is Location.HEADER:
        return sorted(settings.fixed_headers)
    if location is Location.COOKIE and "cookie" in settings.fixed_headers:
        return [ANYTHING]
    return sorted(name for place, name in settings.fixed_places if place is location)
