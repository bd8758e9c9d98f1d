"""The usual request of an operation. Each boundary case changes one place of the usual request."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct, field

from checker.core.case import NOT_SET
from checker.core.constraints import MOSTLY, REQUIRED, SELDOM
from checker.core.operation import Body, Location, Operation, Parameter, UnusableBody
from checker.core.resources import REMOVING
from checker.generation.boundaries.cases import LOCATIONS, Parts
from checker.generation.boundaries.positives import Edges, first_positive
from checker.generation.boundaries.values import distinct
from checker.generation.components import PartCompiler, is_mostly_refused, parts_of_users, said_of
from checker.generation.dictionaries import SchemaPart, forced_into
from checker.generation.security import Alternative
from checker.generation.sources.basic import draw_strategy
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import NO_VALUE


class UsualRequest(Struct):
    """Makes the usual request of one operation.

    It has all required parts. Of the optional parameters and properties it has those that users force, and those for which
    the description gives a value: one optional part with an invented value may make a server refuse every case. An optional
    body is included, because most descriptions do not say that a required body is required.
    """

    compiler: PartCompiler
    credentials: Alternative | None
    problems: dict[str, str] = field(default_factory=dict)  # Pointer -> why a part has no valid value.
    _values: dict[tuple[Location, str | None], Any] = field(default_factory=dict)
    """(location, name or media type) -> usual value of a parameter or body. Copy it before changing it."""
    _wholes: dict[int, dict[Any, Any]] = field(default_factory=dict)
    """`id` of a compiler -> usual values that all its walks share. The compiler lives as long as its operation, so ids stay unique."""

    @property
    def operation(self) -> Operation:
        return self.compiler.operation

    @property
    def declared_body(self) -> Body | UnusableBody | None:
        """The first body of the description, even if it cannot be sent."""
        declared: list[Body | UnusableBody] = [*self.operation.bodies]
        return next(iter(declared + list(self.operation.unusable_bodies)), None)

    def declared(self) -> Iterator[Parameter]:
        """Yield the parameters, location by location."""
        for location in LOCATIONS:
            yield from (one for one in self.operation.parameters if one.location is location)

    def parts(self, *, is_full: bool = False) -> Parts | None:
        """Return the values of all parts; None if a required one has no value. `is_full`: with all optional parameters."""
        parts = self.parameters(is_full=is_full)
        if parts is None:
            return None
        for one in self.credentials.made_up if self.credentials is not None else ():
            parts = parts.with_value(one.location, one.name, one.usual)
        is_needed = self.declared_body is not None and self.operation.body_required
        return self.with_usual_body(parts) or (None if is_needed else parts)

    def with_usual_body(self, parts: Parts) -> Parts | None:
        """Return the parts with the first body that has a valid value; None if no body has one."""
        for body in self.operation.bodies:
            try:
                if body.strategy is not None:
                    # A strategy has no simplest value. The seed is fixed: the usual request is the same in each run.
                    return self.with_body(parts, draw_strategy(body.strategy, RandomSource(0)), body)
                value, changed = self.value(self.compiler.body_part(body), body), parts_of_users(body)
                value = value if changed is None else changed(value, RandomSource(0))
                return self.with_body(parts, value, body)
            except NO_VALUE as error:
                self.problems[body.pointer] = str(error)
        return None

    def parameters(
        self, *, is_full: bool = False, given: Mapping[tuple[Location, str], Any] | None = None
    ) -> Parts | None:
        """Return the values of the parameters; None if a required one has no value.

        If values are `given`, only required and forced parameters are added.
        """
        parts = Parts()
        for parameter in self.declared():
            at, forced = (parameter.location, parameter.name), self.compiler.forced(parameter)
            is_certain = parameter.required or forced is not None or self.compiler.learned.says(REQUIRED, *at)
            if not is_certain and (at not in given if given is not None else not self._is_wanted(parameter, is_full)):
                continue
            try:
                if forced is not None:
                    value = forced.entries[0]
                elif given is not None and at in given:
                    value = given[at]
                else:
                    value = self.value(self.compiler.parameter(parameter), parameter)
            except NO_VALUE as error:
                self.problems[parameter.pointer] = str(error)
                if parameter.required:
                    return None
                continue
            # Sending null for an optional parameter tests no more than leaving it out.
            if parameter.required or value is not None:
                parts = parts.with_value(*at, value)
        return parts

    def smallest(self, usual: Parts) -> Parts | None:
        """Return the smallest valid request; None if it equals the `usual` request.

        A `POST` with inputs, and a `GET` without required ones, always have a smallest request, because later requests use
        names from their responses. `DELETE` has none: without its filters it would remove resources that other operations need.
        """
        operation = self.operation
        method, has_inputs = operation.resource_method, bool(operation.parameters or operation.bodies)
        if method == REMOVING or not (has_inputs or method == "GET"):
            return None
        smallest = self._without_optional(usual, keeps_body=method != "GET")
        is_open = method == "GET" and not any(one.required for one in operation.parameters)
        return smallest if method == "POST" or is_open or smallest.key() != usual.key() else None

    def _without_optional(self, parts: Parts, *, keeps_body: bool) -> Parts:
        made_up = () if self.credentials is None else self.credentials.made_up
        needed = {(one.location, one.name) for one in made_up}
        certain = (one for one in self.declared() if one.required or self.compiler.forced(one) is not None)
        needed |= {(one.location, one.name) for one in certain}
        for location, values in parts.containers.items():
            kept = {name: value for name, value in values.items() if (location, name) in needed}
            parts = parts.with_container(location, kept)
        if not self.operation.body_required and not keeps_body:
            return parts.with_body(NOT_SET, None)
        body = next((b for b in self.operation.bodies if b.media_type == parts.media_type), None)
        if body is None or not isinstance(parts.body, dict):
            return parts
        part = self.compiler.body_part(body)
        form = part.compiler.canonical(part.conjunction)
        # A property that one alternative requires stays, because the usual body may belong to that alternative.
        forms = [form]
        if form.branches:
            forms += map(part.compiler.canonical, self.edges(part, body).alternatives(form))
        value = {name: one for name, one in parts.body.items() if any(name in f.objects.required for f in forms)}
        # An object without required properties stays unchanged.
        if not value or not part.compiler.validator(part.conjunction)(value):
            return parts
        return self.with_body(parts, value, body)

    def _is_wanted(self, parameter: Parameter, is_full: bool) -> bool:
        """Whether the usual request includes this optional parameter."""
        if self.compiler.learned.says(SELDOM, parameter.location, parameter.name) and not is_full:
            return False
        try:
            part = self.compiler.parameter(parameter)
            if self.compiler.learned.says(MOSTLY, parameter.location, parameter.name) or self.compiler.fitting(
                (one.value for one in parameter.examples), part
            ):
                return True
            # A condition that is false, or a page that does not exist, would make servers refuse all cases.
            if is_mostly_refused(parameter, self.operation.parameters):
                return False
            # With all optional parameters, one strict header made the server refuse all cases: 9 of 20 planted errors
            # were found, and all 20 without it.
            edges = self.edges(part, parameter)
            return is_full or edges.is_given(part.conjunction, part.place)
        except NO_VALUE as error:
            self.problems[parameter.pointer] = str(error)
            return False

    def with_body(self, parts: Parts, value: Any, body: Body) -> Parts:
        """Return the parts with a body and the values that users force in it."""
        return parts.with_body(forced_into(value, self.compiler.overrides.body()), body.media_type)

    def value(self, part: SchemaPart, declared: Parameter | Body) -> Any:
        """Return the first value that respects the target's demands; without demands, the plain value. Raises one of `NO_VALUE`."""
        key = (Location.BODY, declared.media_type) if isinstance(declared, Body) else (declared.location, declared.name)
        if key in self._values:
            return self._values[key]
        narrowed = self.compiler.narrowed(part, declared)
        # Demands are read from refusals, so they may contradict each other or the description.
        if narrowed is not part:
            with suppress(*NO_VALUE):
                self._values[key] = self.plain(narrowed, declared)
                return self._values[key]
        self._values[key] = self.plain(part, declared)
        return self._values[key]

    def plain(self, part: SchemaPart, declared: Parameter | Body) -> Any:
        """Return the first valid example, the condition that holds, or the first value of the schema. Raises one of `NO_VALUE`."""
        for value in self.compiler.fitting(said_of(declared), part):
            return value
        return self.varied(part, declared)

    def varied(self, part: SchemaPart, declared: Parameter | Body) -> Any:
        """Return the first value of the schema of a part, the base of its other values. Raises one of `NO_VALUE`."""
        return first_positive(self.edges(part, declared), part.conjunction, part.place)

    def full_body(self, part: SchemaPart, body: Body) -> Any:
        """Return the usual body with all optional properties. Raises one of `NO_VALUE`."""
        part = self.compiler.narrowed(part, body)
        for value in self.compiler.fitting(said_of(body), part):
            return value
        return self.edges(part, body).full(part.conjunction, part.place)

    def edges(self, part: SchemaPart, declared: Parameter | Body) -> Edges:
        """Return the walk through the schema of a part. In GraphQL and in bodies of PATCH, absent parts are known to be optional."""
        is_body = isinstance(declared, Body) and declared.write is None
        completes = is_body and self.operation.resource_method != "PATCH"
        return Edges(part.compiler, completes=completes, _whole=self._wholes.setdefault(id(part.compiler), {}))


def rebased(value: Any, usual: Any, base: Any, *, keeps_names: bool = False) -> Any:
    """Return `value` with its unchanged parts taken from another base: where it equals the usual value, it gets the part of `base`.

    With `keeps_names`, objects keep their names.
    """
    is_object = all(isinstance(one, dict) for one in (value, usual, base))
    # The untested parts equal the usual value. The parts of an example or an accepted body are more likely to be accepted.
    if distinct(value) == distinct(usual) and not (is_object and keeps_names):
        return base
    if is_object:
        found = {}
        for name, one in value.items():
            if name in usual and name in base:
                found[name] = rebased(one, usual[name], base[name], keeps_names=keeps_names)
            elif keeps_names or name not in usual or distinct(one) != distinct(usual[name]):
                found[name] = one
        added = {} if keeps_names else base
        return found | {name: one for name, one in added.items() if name not in usual and name not in value}
    if all(isinstance(one, list) for one in (value, usual, base)) and len(value) == len(usual) == len(base):
        each = zip(value, usual, base, strict=True)
        return [rebased(*three, keeps_names=keeps_names) for three in each]
    return value
