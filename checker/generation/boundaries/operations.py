"""Requests at the edges of an operation, one thing changed at a time.

What is usual comes first: a template with the usual value of each part. Then the values of the body, those of each
parameter, other methods and content types, what is missing, and other sets of parameters.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.config.overrides import Overrides
from checker.core.case import NOT_SET
from checker.core.idempotency import is_idempotency_key
from checker.core.media_types import is_multipart
from checker.core.meta import GenerationMode, Violation
from checker.core.operation import Body, Location, Operation, Parameter
from checker.core.phases import MOST_LISTED
from checker.core.security import SecurityRequirement
from checker.generation.boundaries.cases import (
    BoundaryCase,
    Container,
    Parts,
    about,
    content_type_case,
    some_case,
    with_last_listed,
)
from checker.generation.boundaries.negatives import negatives
from checker.generation.boundaries.positives import positives
from checker.generation.boundaries.renewal import Renewals
from checker.generation.boundaries.usual import UsualRequest
from checker.generation.boundaries.values import Boundary, Scenario
from checker.generation.components import PartCompiler, forced_parts
from checker.generation.dictionaries import SchemaPart
from checker.generation.negation.breaches import Breach
from checker.generation.negation.parts import may_be_missing, negation_of_body, negation_of_parameter
from checker.generation.normalization.canonical import FormStore
from checker.generation.security import Alternative, SecurityParameter, alternatives
from checker.generation.settings import GenerationSettings
from checker.generation.sources.context import NO_VALUE, Budget, DrawContext
from checker.schema.pointers import pointer_child

_POSITIVE, _NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE


def other_methods(methods: Iterable[str], template: Parts) -> Iterator[BoundaryCase]:
    """The usual request with each of the methods."""
    for method in methods:
        text = f"Unspecified HTTP method: {method}"
        case = BoundaryCase(template, _NEGATIVE, text, Scenario.UNSPECIFIED_METHOD)
        yield replace(case, method=method)


def content_types(operation: Operation, template: Parts) -> Iterator[BoundaryCase]:
    """Content types that are not well-formed, or not declared; none where the kind of the description writes bodies itself."""
    if any(body.write is not None for body in operation.bodies):
        return
    malformed = "multipart/form-data"
    parts = template
    if template.media_type is not None and is_multipart(template.media_type):
        parts = template.with_body(NOT_SET, None)
    text = f"Malformed Content-Type: {malformed} without boundary"
    yield content_type_case(parts, malformed, text, Scenario.MALFORMED_CONTENT_TYPE)
    if template.body is NOT_SET:
        return
    declared = {body.media_type.partition(";")[0].strip() for body in operation.bodies}
    declared |= {body.media_type for body in operation.unusable_bodies}
    if "*/*" in declared:
        return
    other = "application/xml" if declared & {"text/plain", "text/*"} else "text/plain"
    if other not in declared and "application/*" not in declared:
        text = f"Unsupported Content-Type: {other}"
        yield content_type_case(template, other, text, Scenario.UNSUPPORTED_CONTENT_TYPE)


def forms_of_body(operation: Operation, template: Parts, *, costly: bool) -> Iterator[BoundaryCase]:
    """The usual body as its kind also writes it, once for each path."""
    for body in operation.bodies:
        if body.forms is None or template.media_type != body.media_type:
            continue
        for form in body.forms(template.body, costly=costly):
            parts = template.with_body(form.body, body.media_type if form.body is not NOT_SET else None)
            for name, value in form.query.items():
                parts = parts.with_value(Location.QUERY, name, value)
            case = BoundaryCase(parts, _NEGATIVE, form.description, form.scenario)
            yield replace(case, method=form.method)


def empty_lists(parameters: Iterable[Parameter], template: Parts) -> Iterator[BoundaryCase]:
    """Yield the usual request with an empty list in the query, `ids=`, as a form with an empty field sends it."""
    for parameter in parameters:
        raw = parameter.schema.raw
        is_list = isinstance(raw, dict) and raw.get("type") == "array"
        if parameter.location is Location.QUERY and is_list and parameter.media_type is None:
            yield BoundaryCase(
                template.with_value(Location.QUERY, parameter.name, [""]),
                _NEGATIVE,
                "Name of a list without items",
                Scenario.EMPTY_LIST,
                parameter.pointer,
                parameter.name,
                Location.QUERY,
            )


def sent_again(case: BoundaryCase) -> Iterator[BoundaryCase]:
    """The case; where it is about an idempotency key that is right, once more: servers look up what they answered to that key."""
    yield case
    is_header, is_right = case.location is Location.HEADER, case.mode is GenerationMode.POSITIVE
    if is_header and is_right and is_idempotency_key(case.parameter or ""):
        yield replace(case, description=f"{case.description}, again", is_again=True)


def repeated_parameters(parameters: Iterable[Parameter], template: Parts, full: Parts) -> Iterator[BoundaryCase]:
    """Yield the usual request with one parameter of the query twice, as `full` has it."""
    query = full.containers.get(Location.QUERY, {})
    for parameter in parameters:
        if parameter.location is not Location.QUERY or parameter.name not in query:
            continue
        value = query[parameter.name]
        is_plain = parameter.explode and parameter.style == "form" and parameter.media_type is None
        if is_plain and not isinstance(value, list | dict):
            # A list of two is sent as the parameter twice.
            yield BoundaryCase(
                template.with_value(Location.QUERY, parameter.name, [value, value]),
                _NEGATIVE,
                f"Duplicate `{parameter.name}` query parameter",
                Scenario.DUPLICATE_PARAMETER,
                parameter.pointer,
                parameter.name,
                Location.QUERY,
            )


def other_credentials(
    security: Sequence[SecurityRequirement], usual: Alternative | None, others: Iterable[Alternative], template: Parts
) -> Iterator[BoundaryCase]:
    """The usual request with each of the other alternatives of what says who sends it, in place of the `usual` one."""
    for one in usual.made_up if usual is not None else ():
        template = template.without(one.location, one.name)
    for other in others:
        parts = template
        for one in other.made_up:
            parts = parts.with_value(one.location, one.name, one.usual)
        names = " and ".join(scheme.name for scheme in security[other.place].schemes)
        text = f"Credentials of {names}" if names else "No credentials, which are optional"
        yield BoundaryCase(parts, GenerationMode.POSITIVE, text, Scenario.OTHER_CREDENTIALS, alternative=other.place)


def missing_credentials(needed: Iterable[SecurityParameter], template: Parts) -> Iterator[BoundaryCase]:
    """The usual request without one of the things that say who sends it."""
    for one in needed:
        yield BoundaryCase(
            template.without(one.location, one.name),
            _NEGATIVE,
            f"Missing `{one.name}` at {one.location}",
            Scenario.MISSING_PARAMETER,
            one.pointer,
            one.name,
            one.location,
            violation=Violation(one.pointer, "required", True, None),
        )


UNKNOWN: Final = "x-checker-unknown-property"
_OPTIONAL: Final = (Location.QUERY, Location.HEADER, Location.COOKIE)
_OF_BODIES: Final = 0.8
"""Share of all cases that may be about bodies."""


class Coverage(Struct, frozen=True):
    """The kinds of boundary cases that are listed for an operation."""

    mode: GenerationMode | None = None
    """None: valid and invalid ones."""
    unexpected_methods: tuple[str, ...] = ()
    """Methods that the path of the operation does not have."""
    duplicates_query: bool = False
    """Send query parameters twice."""
    has_forms: bool = True
    """Send the usual body in the other forms that its kind knows."""
    costly: bool = False
    """Those among them that ask for much at once, too."""
    most: int = MOST_LISTED
    """Cases; what is beyond is left out, and `is_cut` says so."""


@dataclasses.dataclass(slots=True)
class OperationEdges:
    """The boundary cases of one operation: the same ones in the same order, every time."""

    operation: Operation
    settings: GenerationSettings
    coverage: Coverage = dataclasses.field(default_factory=Coverage)
    is_cut: bool = False
    """True when there were more of them."""
    store: FormStore | None = None
    """What is shared with other operations."""
    _compiler: PartCompiler = dataclasses.field(init=False)
    _choices: tuple[Alternative, ...] = dataclasses.field(init=False)
    """What requests may carry to say who sends them."""
    _usual: UsualRequest = dataclasses.field(init=False)
    _shown: int = 0
    """Cases that were given."""

    def __post_init__(self) -> None:
        # Dictionaries are for chance; what is forced is forced everywhere.
        forced = tuple(one for one in self.settings.overrides.parameters if one.is_forced)
        settings = replace(self.settings, overrides=Overrides(forced))
        self._compiler = PartCompiler(self.operation, settings, DrawContext(), Budget(), self.store, is_sampled=False)
        self._choices = choices = alternatives(self.operation, settings)
        making_up = () if settings.met_alternatives else (one for one in choices if one.made_up)
        usual_choice = next(iter((*making_up, *choices)), None)
        self._usual = UsualRequest(self._compiler, usual_choice)

    @property
    def problems(self) -> dict[str, str]:
        """Pointer -> why a part has no valid value."""
        return self._usual.problems

    def cases(self) -> Iterator[BoundaryCase]:
        """Each request once."""
        shown: set[Any] = set()
        wanted = self.coverage.mode
        self._shown = 0
        outside = forced_parts(self._compiler)
        renewals = Renewals(self._compiler, self._usual.full_body)
        for found in self._all():
            if wanted is not None and found.mode is not wanted:
                continue
            renewal = None if found.parts.body is NOT_SET else renewals.of(found.parts.media_type)
            case = replace(found, outside=outside, renewal=renewal)
            if case.key in shown:
                continue
            if self._shown >= self.coverage.most:
                self.is_cut = True
                return
            shown.add(case.key)
            self._shown += 1
            yield case

    def _all(self) -> Iterator[BoundaryCase]:
        template, full = self._usual.parts(), self._usual.parts(is_full=True)
        if template is None or full is None:
            yield from self._only_missing_body()
            return
        smallest = self._usual.smallest()
        words = self.settings.overrides.of(self.operation)
        is_given = bool(words.types) or not all(one.is_forced for one in words.parameters)
        is_given |= any(body.strategy is not None for body in self.operation.bodies)
        # Where users say what values are drawn from, a create with made-up ones is not what they want.
        if smallest is not None and not (is_given and self.operation.resource_method == "POST"):
            yield BoundaryCase(smallest, _POSITIVE, "Smallest request", Scenario.SMALLEST)
        yield from self._bodies(template)
        if template.body is not NOT_SET and not self.operation.body_required:
            text, bare = "Request without the optional body", template.with_body(NOT_SET, None)
            yield BoundaryCase(bare, _POSITIVE, text, Scenario.ONLY_REQUIRED, location=Location.BODY)
        # A list may end at its first failure, and optional parameters are refused more often.
        for parameter in sorted(self._usual.declared(), key=lambda one: not one.required):
            yield from self._of_parameter(parameter, template)
        yield from empty_lists(self._free(), template)
        yield from other_methods(self.coverage.unexpected_methods, template)
        yield from content_types(self.operation, template)
        if self.coverage.has_forms:
            yield from forms_of_body(self.operation, template, costly=self.coverage.costly)
        if self.coverage.duplicates_query:
            yield from repeated_parameters(self._usual.declared(), template, full)
        yield from self._missing(template)
        usual, security = self._usual.credentials, self.operation.security
        if usual is not None and all(one.made_up for one in self._choices):
            yield from missing_credentials(usual.made_up, template)
        for location in _OPTIONAL:
            yield from self._containers(location, template, full)
        text = "All optional parameters"
        yield BoundaryCase(full, _POSITIVE, text, Scenario.SOME_OPTIONAL)
        others = (one for one in self._choices if one is not usual)
        yield from other_credentials(security, usual, others, template)

    def _bodies(self, template: Parts) -> Iterator[BoundaryCase]:
        if not self.operation.bodies or template.body is NOT_SET:
            text = "Default positive test case"
            yield BoundaryCase(template, _POSITIVE, text, Scenario.DEFAULT_CASE)
            return
        for body in self.operation.bodies:
            part = self._compiler.body_part(body)
            proof, is_wanted = negation_of_body(self.settings, body, part)
            if self._compiler.has_forced_body:
                proof = None
            for boundary in chain(self._valid(part, body), self._invalid(part, proof, is_wanted)):
                if self._shown >= self.coverage.most * _OF_BODIES:
                    # Deep schemas have thousands; the parameters have their turn, too.
                    self.is_cut = True
                    return
                parts = self._usual.with_body(template, boundary.value, body)
                yield about(boundary, parts, Location.BODY, body.media_type)

    def _valid(self, part: SchemaPart, declared: Parameter | Body) -> Iterator[Boundary]:
        if self.coverage.mode is _NEGATIVE:
            return
        for example in declared.examples:
            for value in self._compiler.fitting((example.value,), part):
                yield Boundary(value, "Example value", Scenario.EXAMPLE, example.pointer)
        edges = self._usual.edges(part, declared)
        try:
            yield from positives(edges, part.conjunction, part.place)
        except NO_VALUE:
            return
        finally:
            self.is_cut = self.is_cut or edges.is_cut

    def _invalid(
        self, part: SchemaPart, proof: Callable[[Any], bool] | None, is_wanted: Callable[[Breach], bool]
    ) -> Iterator[Boundary]:
        if self.coverage.mode is _POSITIVE or proof is None:
            return
        try:
            yield from negatives(*part, proof, is_wanted)
        except NO_VALUE:
            return

    def _of_parameter(self, parameter: Parameter, template: Parts) -> Iterator[BoundaryCase]:
        location, name = parameter.location, parameter.name
        if self._compiler.forced(parameter) is not None:
            return
        try:
            part = self._compiler.parameter(parameter)
            for boundary in chain(self._valid(part, parameter), self._wrong(parameter, part)):
                if boundary.value is None and boundary.is_valid and not parameter.required:
                    # An optional null would be sent as text that the schema may not admit.
                    continue
                parts = template.with_value(location, name, boundary.value)
                yield from sent_again(about(boundary, parts, location, name))
                is_search = boundary.scenario is Scenario.SIGNS
                searched = with_last_listed(parts, self._free()) if is_search else None
                if searched is not None:
                    yield about(boundary, searched, location, name)
        except NO_VALUE as error:
            self.problems.setdefault(parameter.pointer, str(error))

    def _free(self) -> Iterator[Parameter]:
        return (one for one in self._usual.declared() if self._compiler.forced(one) is None)

    def _wrong(self, parameter: Parameter, part: SchemaPart) -> Iterator[Boundary]:
        """Yield values of a parameter that no server can read as valid ones."""
        if self.settings.is_fixed(parameter):
            return iter(())
        return self._invalid(part, *negation_of_parameter(self.settings, parameter, part))

    def _is_always_there(self, parameter: Parameter) -> bool:
        """True for what is required, and for what a user wants in every request."""
        return parameter.required or self._compiler.forced(parameter) is not None

    def _missing(self, template: Parts) -> Iterator[BoundaryCase]:
        for parameter in self._usual.declared():
            location, name = parameter.location, parameter.name
            is_free = not self.settings.is_fixed(parameter) and self._compiler.forced(parameter) is None
            if not (is_free and may_be_missing(parameter)):
                continue
            yield BoundaryCase(
                template.without(location, name),
                _NEGATIVE,
                f"Missing `{name}` at {location}",
                Scenario.MISSING_PARAMETER,
                pointer_child(parameter.pointer, "required"),
                name,
                location,
                violation=Violation(pointer_child(parameter.pointer, "required"), "required", True, None),
            )
        if template.body is not NOT_SET and self.operation.body_required:
            yield self._missing_body(template)

    def _missing_body(self, template: Parts) -> BoundaryCase:
        declared = self._usual.declared_body
        at = "#" if declared is None else declared.pointer.partition("/content/")[0]
        return BoundaryCase(
            template.with_body(NOT_SET, None),
            _NEGATIVE,
            "Missing request body",
            Scenario.MISSING_PARAMETER,
            pointer_child(at, "required"),
            location=Location.BODY,
            violation=Violation(pointer_child(at, "required"), "required", True, None),
        )

    def _only_missing_body(self) -> Iterator[BoundaryCase]:
        """Yield the case that is left when a required body cannot be made."""
        parts = self._usual.parameters() if self.operation.body_required else None
        if parts is not None:
            yield self._missing_body(parts)

    def _containers(self, location: Location, template: Parts, full: Parts) -> Iterator[BoundaryCase]:
        """Yield cases with other sets of the parameters of one location."""
        whole = full.containers.get(location, {})
        declared = [p for p in self._usual.declared() if p.location is location and p.name in whole]
        optional = [p.name for p in declared if not self._is_always_there(p)]
        required = {name: value for name, value in whole.items() if name not in optional}
        reduced = template.with_container(location, required)
        if declared and self.settings.allow_extra_parameters:
            yield _extra(template, location)
        if not optional:
            return
        text = "Only required properties"
        yield BoundaryCase(reduced, _POSITIVE, text, Scenario.ONLY_REQUIRED, location=location)
        for parameter in declared:
            if parameter.required and self._compiler.forced(parameter) is None:
                yield from self._reduced(parameter, reduced)
        for name in optional if required or len(optional) > 1 else ():
            text = f"All required properties and optional '{name}'"
            yield some_case(template, location, {**required, name: whole[name]}, text)
        for size in range(2, len(optional)):
            some: Container = {name: whole[name] for name in islice(optional, size)}
            text = f"All required and {size} optional properties"
            yield some_case(template, location, required | some, text)
        yield some_case(template, location, whole, "All optional properties")

    def _reduced(self, parameter: Parameter, reduced: Parts) -> Iterator[BoundaryCase]:
        """Yield wrong values of a required parameter in requests without optional ones."""
        location, name = parameter.location, parameter.name
        try:
            part = self._compiler.parameter(parameter)
            for boundary in self._wrong(parameter, part):
                named = replace(boundary, description=f"{name}: {boundary.description}")
                parts = reduced.with_value(location, name, boundary.value)
                yield about(named, parts, location, name)
        except NO_VALUE:
            return


def _extra(template: Parts, location: Location) -> BoundaryCase:
    return BoundaryCase(
        template.with_value(location, UNKNOWN, "42"),
        _NEGATIVE,
        "Object with unexpected properties",
        Scenario.UNEXPECTED_PROPERTIES,
        parameter=UNKNOWN,
        location=location,
    )
