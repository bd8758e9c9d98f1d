"""Requests at the edges of an operation, one thing changed at a time.

The usual request comes first: it is the template of all others. Then come the values of the body, those of each parameter,
other methods and content types, missing parts, and other sets of parameters.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.config.overrides import Overrides
from checker.core.case import NOT_SET, is_idempotency_key
from checker.core.media_types import is_multipart
from checker.core.meta import GenerationMode, Violation
from checker.core.operation import Body, Location, Operation, Parameter
from checker.core.phases import MOST_LISTED
from checker.core.scenarios import OPTIONAL_SETS
from checker.core.schema import pointer_child
from checker.generation.boundaries.cases import BoundaryCase, Container, Parts, about, with_last_listed
from checker.generation.boundaries.negatives import negatives
from checker.generation.boundaries.positives import positives, safely
from checker.generation.boundaries.renewal import Renewals
from checker.generation.boundaries.usual import UsualRequest, rebased
from checker.generation.boundaries.values import Boundary, Scenario, distinct
from checker.generation.components import PartCompiler, forced_parts, parts_of_users
from checker.generation.dictionaries import SchemaPart
from checker.generation.negation.breaches import Breach
from checker.generation.negation.parts import may_be_missing, negation_of_body, negation_of_parameter
from checker.generation.security import Alternative, SecurityParameter, alternatives
from checker.generation.settings import GenerationSettings
from checker.generation.sources.basic import draw_strategy
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import NO_VALUE, Budget, Shared
from checker.schema.views import Outline, outline_of

_POSITIVE, _NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
UNKNOWN: Final = "x-checker-unknown-property"
_OPTIONAL: Final = (Location.QUERY, Location.HEADER, Location.COOKIE)
_OF_STRATEGY: Final = 4  # Values drawn from a user's strategy for a media type.
_BY_USER: Final = "Value of a strategy for the media type"
_OF_BODIES: Final = 0.8  # Share of all cases that may test bodies: deep schemas have thousands of them.


_RELATED_TEXTS: Final = (
    ("abcabc", "abc", "The first text contains the others"),
    ("abc", "abcabc", "Other texts contain the first one"),
    ("abc", "cba", "Other texts are the reverse of the first one"),
)


def _negative(
    parts: Parts, text: str, scenario: Scenario, tested: Parameter | SecurityParameter | None = None, **more: Any
) -> BoundaryCase:
    """Return a negative case; `tested` is the parameter with the wrong value, if a parameter is wrong."""
    about = {} if tested is None else {"pointer": tested.pointer, "parameter": tested.name, "location": tested.location}
    return BoundaryCase(parts, _NEGATIVE, text, scenario, **(about | more))


def _without(parts: Parts, one: Parameter | SecurityParameter, at: str) -> BoundaryCase:
    """Return the case without a required parameter. `at` points to the keyword that requires it."""
    text, violation = f"Missing `{one.name}` at {one.location}", Violation(at, "required", True, None)
    parts = parts.without(one.location, one.name)
    return _negative(parts, text, Scenario.MISSING_PARAMETER, one, pointer=at, violation=violation)


def content_types(operation: Operation, template: Parts) -> Iterator[BoundaryCase]:
    """Yield malformed and undeclared content types; none if the kind of description writes bodies itself."""
    if any(body.write is not None for body in operation.bodies):
        return
    # A multipart body cannot be parsed without its boundary, so a server that responds with 2xx or 5xx has not checked
    # the header.
    malformed = "multipart/form-data"
    parts = template
    if template.media_type is not None and is_multipart(template.media_type):
        parts = template.with_body(NOT_SET, None)
    text = f"Malformed Content-Type: {malformed} without boundary"
    yield _with_content_type(parts, malformed, text, Scenario.MALFORMED_CONTENT_TYPE)
    declared = {body.media_type.partition(";")[0].strip() for body in operation.bodies}
    declared |= {body.media_type for body in operation.unusable_bodies}
    if template.body is NOT_SET or "*/*" in declared:
        return
    other = "application/xml" if declared & {"text/plain", "text/*"} else "text/plain"
    if other not in declared and "application/*" not in declared:
        text = f"Unsupported Content-Type: {other}"
        yield _with_content_type(template, other, text, Scenario.UNSUPPORTED_CONTENT_TYPE)


def _with_content_type(parts: Parts, value: str, text: str, scenario: Scenario) -> BoundaryCase:
    parts = parts.with_value(Location.HEADER, "Content-Type", value)
    return _negative(parts, text, scenario, parameter="Content-Type", location=Location.HEADER)


def forms_of_body(operation: Operation, template: Parts, *, costly: bool) -> Iterator[BoundaryCase]:
    """Yield the usual body in the other forms of its kind of description, once for each path."""
    for body in operation.bodies:
        if body.forms is None or template.media_type != body.media_type:
            continue
        for form in body.forms(template.body, costly=costly):
            parts = template.with_body(form.body, body.media_type if form.body is not NOT_SET else None)
            for name, value in form.query.items():
                parts = parts.with_value(Location.QUERY, name, value)
            yield _negative(parts, form.description, form.scenario, method=form.method)


def empty_lists(parameters: Iterable[Parameter], template: Parts) -> Iterator[BoundaryCase]:
    """Yield the usual request with an empty list in the query, `ids=`: browsers send an empty form field this way."""
    for one in parameters:
        is_list = isinstance(one.schema.raw, dict) and one.schema.raw.get("type") == "array"
        if one.location is Location.QUERY and is_list and one.media_type is None:
            parts = template.with_value(Location.QUERY, one.name, [""])
            yield _negative(parts, "Name of a list without items", Scenario.EMPTY_LIST, one)


def sent_again(case: BoundaryCase) -> Iterator[BoundaryCase]:
    """Yield a case, and repeat it if it tests a valid idempotency key: a repeated key makes servers look up the first response."""
    yield case
    is_header, is_right = case.location is Location.HEADER, case.mode is _POSITIVE
    if is_header and is_right and is_idempotency_key(case.parameter or ""):
        yield replace(case, description=f"{case.description}, again", is_again=True)


def repeated_parameters(parameters: Iterable[Parameter], template: Parts, full: Parts) -> Iterator[BoundaryCase]:
    """Yield the usual request with one query parameter of `full` twice."""
    query = full.containers.get(Location.QUERY, {})
    for one in parameters:
        if one.location is not Location.QUERY or one.name not in query:
            continue
        value = query[one.name]
        is_plain = one.explode and one.style == "form" and one.media_type is None
        if is_plain and not isinstance(value, list | dict):
            # A list of two items is sent as the parameter twice.
            parts = template.with_value(Location.QUERY, one.name, [value, value])
            yield _negative(parts, f"Duplicate `{one.name}` query parameter", Scenario.DUPLICATE_PARAMETER, one)


class Coverage(Struct, frozen=True):
    """The kinds of boundary cases that are listed for an operation."""

    mode: GenerationMode | None = None  # None: valid and invalid ones.
    unexpected_methods: tuple[str, ...] = ()  # Methods that the path of the operation does not have.
    duplicates_query: bool = False  # Send query parameters twice.
    has_forms: bool = True  # Send the usual body in the other forms of its kind of description.
    costly: bool = False  # Include queries that ask for much at once.
    most: int = MOST_LISTED  # Cases; the rest are left out, and `is_cut` is set.


def boundary_compiler(operation: Operation, settings: GenerationSettings, *, is_sampled: bool) -> PartCompiler:
    """Return the compiler of listed cases: it applies forced values, but no dictionaries, whose values are drawn at random."""
    forced = tuple(one for one in settings.overrides.parameters if one.is_forced)
    settings = replace(settings, overrides=Overrides(forced))
    return PartCompiler(operation, settings, Shared(), Budget(), is_sampled=is_sampled)


@dataclasses.dataclass(slots=True)
class OperationEdges:
    """The boundary cases of one operation: the same cases in the same order in every run."""

    operation: Operation
    settings: GenerationSettings
    coverage: Coverage = dataclasses.field(default_factory=Coverage)
    is_cut: bool = False  # Whether cases were left out.
    _compiler: PartCompiler = dataclasses.field(init=False)
    _choices: tuple[Alternative, ...] = dataclasses.field(init=False)
    """The alternative sets of credentials that the security requirements allow."""
    _usual: UsualRequest = dataclasses.field(init=False)
    _shown: int = 0  # Cases that were yielded.

    def __post_init__(self) -> None:
        self._compiler = boundary_compiler(self.operation, self.settings, is_sampled=False)
        self._choices = choices = alternatives(self.operation, self._compiler.settings)
        making_up = () if self.settings.met_alternatives else (one for one in choices if one.made_up)
        self._usual = UsualRequest(self._compiler, next(iter((*making_up, *choices)), None))

    @property
    def problems(self) -> dict[str, str]:
        """Pointer -> why a part has no valid value."""
        return self._usual.problems

    def cases(self) -> Iterator[BoundaryCase]:
        """Yield each request once."""
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
            # Values of different places often lead to the same request, such as the usual one.
            if case.key in shown:
                continue
            if self._shown >= self.coverage.most:
                self.is_cut = True
                return
            shown.add(case.key)
            self._shown += 1
            yield case

    def _all(self) -> Iterator[BoundaryCase]:
        template = self._usual.parts()
        if template is None:
            # If only the required body cannot be generated, requests without it can still be sent as negative cases.
            parts = self._usual.parameters() if self.operation.body_required else None
            if parts is not None:
                yield self._missing_body(parts)
            return
        smallest = self._usual.smallest(template)
        words = self.settings.overrides.of(self.operation)
        is_given = bool(words.types) or not all(one.is_forced for one in words.parameters)
        is_given |= any(body.strategy is not None for body in self.operation.bodies)
        # Users who provide values do not want resources with invented values.
        if smallest is not None and not (is_given and self.operation.resource_method != "GET"):
            yield BoundaryCase(smallest, _POSITIVE, "Smallest request", Scenario.SMALLEST)
        # Many readers of the list stop before this point.
        full = self._usual.parts(is_full=True) or template
        yield from self._bodies(template)
        if template.body is not NOT_SET and not self.operation.body_required:
            text, bare = "Request without the optional body", template.with_body(NOT_SET, None)
            yield BoundaryCase(bare, _POSITIVE, text, Scenario.ONLY_REQUIRED, location=Location.BODY)
        # A list may end at its first failure, and servers refuse optional parameters more often. Required ones come first.
        for parameter in sorted(self._usual.declared(), key=lambda one: not one.required):
            yield from self._of_parameter(parameter, template)
        yield from empty_lists(self._free(), template)
        for method in self.coverage.unexpected_methods:
            text = f"Unspecified HTTP method: {method}"
            yield _negative(template, text, Scenario.UNSPECIFIED_METHOD, method=method)
        yield from content_types(self.operation, template)
        if self.coverage.has_forms:
            yield from forms_of_body(self.operation, template, costly=self.coverage.costly)
        if self.coverage.duplicates_query:
            yield from repeated_parameters(self._usual.declared(), template, full)
        for one in self._free():
            if may_be_missing(one) and not self.settings.is_fixed(one):
                yield _without(template, one, pointer_child(one.pointer, "required"))
        if template.body is not NOT_SET and self.operation.body_required:
            yield self._missing_body(template)
        usual = self._usual.credentials
        if usual is not None and all(one.made_up for one in self._choices):
            for secret in usual.made_up:
                yield _without(template, secret, secret.pointer)
        for location in _OPTIONAL:
            yield from self._containers(location, template, full)
        yield BoundaryCase(full, _POSITIVE, "All optional parameters", Scenario.SOME_OPTIONAL)
        yield from self._related(template, full)
        yield from self._other_credentials(template)

    def _bodies(self, template: Parts) -> Iterator[BoundaryCase]:
        if not self.operation.bodies or template.body is NOT_SET:
            yield BoundaryCase(template, _POSITIVE, "Default positive test case", Scenario.DEFAULT_CASE)
            return
        for body in self.operation.bodies:
            if body.strategy is not None:
                # The strategy replaces the schema, so boundaries of the schema do not apply to its values.
                values = (draw_strategy(body.strategy, RandomSource(seed)) for seed in range(_OF_STRATEGY))
                cases = (self._usual.with_body(template, value, body) for value in values)
                yield from (BoundaryCase(parts, _POSITIVE, _BY_USER, Scenario.DEFAULT_CASE) for parts in cases)
                continue
            part, changed = self._compiler.body_part(body), parts_of_users(body)
            proof, is_wanted = negation_of_body(self.settings, body, part)
            if self._compiler.has_forced_body:
                proof = None
            rebase = self._rebasing(part, body, proof)
            for found in chain(self._valid(part, body), self._invalid(part, proof, is_wanted)):
                if self._shown >= self.coverage.most * _OF_BODIES:
                    self.is_cut = True
                    return
                boundary = rebase(found)
                value = boundary.value
                if changed is not None and boundary.is_valid:
                    value = changed(value, RandomSource(0))
                parts = self._usual.with_body(template, value, body)
                yield about(boundary, parts, Location.BODY, body.media_type)

    def _rebasing(
        self, part: SchemaPart, body: Body, proof: Callable[[Any], bool] | None
    ) -> Callable[[Boundary], Boundary]:
        """Return a function that sets the untested parts of a body to those of an example, or to values that the target accepts."""
        is_demanded = any(one.location == Location.BODY for one in self._compiler.learned.constraints)
        if not (is_demanded or body.examples):
            return lambda boundary: boundary
        try:
            usual, base = self._usual.varied(part, body), self._usual.value(part, body)
        except NO_VALUE:
            return lambda boundary: boundary
        # A boundary value is tested alone: if another part broke a demand of the target, its refusal would hide the
        # response to the value.
        is_valid, plain = part.compiler.validator(part.conjunction), distinct(usual)

        def rebase(boundary: Boundary) -> Boundary:
            if boundary.scenario is Scenario.EXAMPLE:
                return boundary
            if not is_demanded and boundary.is_valid and distinct(boundary.value) == plain:
                # The first value of each property is kept as it is, because no other case has it.
                return boundary
            # A constraint learned from refusals may require a property that the description declares optional.
            keeps_names = boundary.scenario in OPTIONAL_SETS and not is_demanded
            value = rebased(boundary.value, usual, base, keeps_names=keeps_names)
            is_as_meant = is_valid(value) if boundary.is_valid else proof is not None and proof(value)
            return replace(boundary, value=value) if is_as_meant else boundary

        return rebase

    def _valid(self, part: SchemaPart, declared: Parameter | Body) -> Iterator[Boundary]:
        if self.coverage.mode is _NEGATIVE:
            return
        for example in declared.examples:
            for value in self._compiler.fitting((example.value,), part):
                yield Boundary(value, "Example value", Scenario.EXAMPLE, example.pointer)
        edges = self._usual.edges(part, declared)
        yield from safely(positives(edges, part.conjunction, part.place))
        self.is_cut = self.is_cut or edges.is_cut

    def _invalid(
        self, part: SchemaPart, proof: Callable[[Any], bool] | None, is_wanted: Callable[[Breach], bool]
    ) -> Iterator[Boundary]:
        if self.coverage.mode is not _POSITIVE and proof is not None:
            yield from safely(negatives(*part, proof, is_wanted))

    def _of_parameter(self, parameter: Parameter, template: Parts) -> Iterator[BoundaryCase]:
        location, name = parameter.location, parameter.name
        if self._compiler.forced(parameter) is not None:
            return
        try:
            part = self._compiler.parameter(parameter)
            for boundary in chain(self._valid(part, parameter), self._wrong(parameter, part)):
                if boundary.value is None and boundary.is_valid and not parameter.required:
                    # A null of an optional parameter would be sent as text that the schema may not admit.
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

    def _missing_body(self, template: Parts) -> BoundaryCase:
        declared = self._usual.declared_body
        at = pointer_child("#" if declared is None else declared.pointer.partition("/content/")[0], "required")
        return _negative(
            template.with_body(NOT_SET, None), "Missing request body", Scenario.MISSING_PARAMETER,
            pointer=at, location=Location.BODY, violation=Violation(at, "required", True, None),
        )  # fmt: skip

    def _containers(self, location: Location, template: Parts, full: Parts) -> Iterator[BoundaryCase]:
        """Yield cases with other sets of parameters in one location."""
        whole = full.containers.get(location, {})
        declared = [p for p in self._usual.declared() if p.location is location and p.name in whole]
        free = [p for p in declared if self._compiler.forced(p) is None]
        optional = [p.name for p in free if not p.required]
        required = {name: value for name, value in whole.items() if name not in optional}
        reduced = template.with_container(location, required)
        if declared and self.settings.allow_extra_parameters:
            extra, text = template.with_value(location, UNKNOWN, "42"), "Object with unexpected properties"
            yield _negative(extra, text, Scenario.UNEXPECTED_PROPERTIES, parameter=UNKNOWN, location=location)
        if not optional:
            return
        text = "Only required properties"
        yield BoundaryCase(reduced, _POSITIVE, text, Scenario.ONLY_REQUIRED, location=location)
        for parameter in free:
            if parameter.required:
                name = parameter.name
                with suppress(*NO_VALUE):
                    for boundary in self._wrong(parameter, self._compiler.parameter(parameter)):
                        named = replace(boundary, description=f"{name}: {boundary.description}")
                        yield about(named, reduced.with_value(location, name, boundary.value), location, name)
        sets: list[tuple[Container, str]] = []
        for name in optional if required or len(optional) > 1 else ():
            sets.append(({**required, name: whole[name]}, f"All required properties and optional '{name}'"))
        # Sets of growing size instead of all sets: n parameters have 2^n sets.
        for size in range(2, len(optional)):
            some: Container = {name: whole[name] for name in optional[:size]}
            sets.append((required | some, f"All required and {size} optional properties"))
        for container, text in (*sets, (whole, "All optional properties")):
            parts = template.with_container(location, container)
            yield BoundaryCase(parts, _POSITIVE, text, Scenario.SOME_OPTIONAL, location=location)

    def _related(self, template: Parts, full: Parts) -> Iterator[BoundaryCase]:
        """Yield requests in which one text contains another, or is its reverse. Few runs would send one by chance."""
        for base in (template, full):
            holders = {
                place: one
                for place, one in self._text_places(base).items()
                if one[1].types == {"string"} and one[1].first("enum", "const", "format", "pattern") is None
            }
            if len(holders) > 1:
                break
        else:
            return
        for first, others, text in _RELATED_TEXTS:
            parts = base
            for number, ((location, name), (declared, _)) in enumerate(holders.items()):
                value: Any = others if number else first
                if isinstance(declared, Body):
                    value = {**parts.body, name: value}
                    part = self._compiler.body_part(declared)
                else:
                    part = self._compiler.parameter(declared)
                if not self._compiler.fitting((value,), self._compiler.narrowed(part, declared)):
                    continue
                if isinstance(declared, Body):
                    parts = self._usual.with_body(parts, value, declared)
                else:
                    parts = parts.with_value(location, name, value)
            yield BoundaryCase(parts, _POSITIVE, text, Scenario.RELATED_TEXTS)

    def _text_places(self, parts: Parts) -> dict[tuple[Location, str], tuple[Parameter | Body, Outline]]:
        """Return (location, name) -> (parameter or body, outline) of the values of a request and of the members of its body."""
        found: dict[tuple[Location, str], tuple[Parameter | Body, Outline]] = {
            (one.location, one.name): (one, outline_of(one.schema))
            for one in self._free()
            if one.location in (Location.PATH, Location.QUERY) and one.name in parts.containers.get(one.location, {})
        }
        bodies = (one for one in self.operation.bodies if one.media_type == parts.media_type and one.strategy is None)
        for body in bodies if isinstance(parts.body, dict) else ():
            outline = outline_of(body.schema)
            names = [name for name in outline.names if name in parts.body]
            found |= {(Location.BODY, name): (body, outline.property(name)) for name in names}
        return found

    def _other_credentials(self, template: Parts) -> Iterator[BoundaryCase]:
        """Yield the usual request with each of the other security alternatives."""
        usual = self._usual.credentials
        for one in usual.made_up if usual is not None else ():
            template = template.without(one.location, one.name)
        for other in self._choices:
            if other is usual:
                continue
            parts = template
            for one in other.made_up:
                parts = parts.with_value(one.location, one.name, one.usual)
            names = " and ".join(scheme.name for scheme in self.operation.security[other.place].schemes)
            text = f"Credentials of {names}" if names else "No credentials, which are optional"
            yield BoundaryCase(parts, _POSITIVE, text, Scenario.OTHER_CREDENTIALS, alternative=other.place)
