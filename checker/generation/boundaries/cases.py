"""One request at an edge of an operation: its parts, what it tests, and how it becomes a case."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.case import NOT_SET, Case, copied
from checker.core.digests import digest
from checker.core.meta import CaseMetadata, ComponentProvenance, GenerationMode, Origin, PhaseData, PhaseInfo, Violation
from checker.core.operation import Location, Operation, Parameter
from checker.generation.boundaries.renewal import Renewal
from checker.generation.boundaries.values import PARAMETERS, Boundary, Scenario, likeness_of

LOCATIONS: Final = (Location.PATH, Location.HEADER, Location.COOKIE, Location.QUERY)
Container = dict[str, Any]


class Parts(Struct, frozen=True):
    """Values of all parts of a request. Several `Parts` share values: copy a value before changing it."""

    containers: dict[Location, Container] = field(default_factory=dict)
    body: Any = NOT_SET
    media_type: str | None = None

    def with_value(self, location: Location, name: str, value: Any) -> "Parts":
        """Return these parts with another value of one parameter."""
        return self.with_container(location, {**self.containers.get(location, {}), name: value})

    def without(self, location: Location, name: str) -> "Parts":
        kept = {key: value for key, value in self.containers[location].items() if key != name}
        return self.with_container(location, kept)

    def with_container(self, location: Location, container: Container) -> "Parts":
        """Return these parts with other parameters in one location."""
        return replace(self, containers={**self.containers, location: container})

    def with_body(self, value: Any, media_type: str | None) -> "Parts":
        return replace(self, body=value, media_type=media_type)

    def key(self) -> str:
        """Return a key that is equal for equal requests. The key is short because lists keep thousands of them."""
        return digest(likeness_of((self.containers.get(one, {}) for one in PARAMETERS), self.body, self.media_type))


class BoundaryCase(Struct, frozen=True, dict=True):
    """A request that tests one value or one omission."""

    parts: Parts
    mode: GenerationMode
    description: str
    scenario: Scenario
    pointer: str | None = None  # Pointer to the keyword that the case tests.
    parameter: str | None = None  # Name of the tested parameter, or media type of the tested body.
    location: Location | None = None
    method: str | None = None  # Set if it is not the method of the operation.
    alternative: int | None = None
    """Index of the security alternative that the request meets; None for the usual one."""
    violation: Violation | None = None
    origin: Origin = Origin.RANDOM
    phase: str = "coverage"  # Phase that lists the case.
    outside: Mapping[Location, tuple[str, ...]] = field(default_factory=dict)
    """Names of the values that users force, by location."""
    renewal: Renewal | None = None  # Values of its body that differ from case to case.
    is_again: bool = False  # Whether it repeats an earlier case on purpose.

    @cached_property
    def key(self) -> Any:
        """A key that is equal for equal requests."""
        key = self.method, self.parts.key(), *(("again",) if self.is_again else ())
        return key if self.alternative is None else (*key, self.alternative)

    def case(self, operation: Operation, case_id: str) -> Case:
        """Return a new case that shares no value with this one."""
        data = PhaseData(
            scenario=str(self.scenario),
            description=self.description,
            location=self.pointer,
            parameter=self.parameter,
            parameter_location=None if self.location is None else str(self.location),
        )
        present = [place for place, values in self.parts.containers.items() if values]
        if self.parts.body is not NOT_SET:
            present.append(Location.BODY)
        # If one part is tested, the case has the origin of that part, and the other parts are usual.
        usual = Origin.RANDOM if self.location is not None else self.origin
        components = {
            place: ComponentProvenance(origin=usual, outside=self.outside.get(place, ())) for place in present
        }
        if self.location is not None:
            outside = self.outside.get(self.location, ())
            components[self.location] = ComponentProvenance(self.mode, self.origin, self.violation, outside=outside)
        meta = CaseMetadata(self.mode, components, PhaseInfo(self.phase, data))
        parts, containers = self.parts, self.parts.containers
        case = Case(
            operation,
            case_id,
            path_parameters=copied(containers.get(Location.PATH, {})),
            headers=copied(containers.get(Location.HEADER, {})),
            cookies=copied(containers.get(Location.COOKIE, {})),
            query=copied(containers.get(Location.QUERY, {})),
            body=parts.body if parts.body is NOT_SET else copied(parts.body),
            media_type=parts.media_type,
            meta=meta,
        )
        case.other_method, case.alternative = self.method, self.alternative
        return case


def about(boundary: Boundary, parts: Parts, location: Location, name: str) -> BoundaryCase:
    """Return the case that sends a boundary value; all other parts are the usual ones."""
    mode = GenerationMode.POSITIVE if boundary.is_valid else GenerationMode.NEGATIVE
    violation = None
    if not boundary.is_valid and boundary.keyword is not None:
        violation = Violation(boundary.pointer, boundary.keyword, boundary.was, boundary.became)
    is_example = boundary.scenario in (Scenario.EXAMPLE, Scenario.DEFAULT)
    origin = Origin.EXAMPLE if is_example else Origin.RANDOM
    return BoundaryCase(
        parts, mode, boundary.description, boundary.scenario, boundary.pointer, name, location,
        violation=violation, origin=origin,
    )  # fmt: skip


def with_last_listed(parts: Parts, parameters: Iterable[Parameter]) -> Parts | None:
    """Return parts in which each query parameter with an `enum` has its last member, as `mode=regex`; None if no parameter has an `enum`."""
    query = parts.containers.get(Location.QUERY, {})
    last = {}
    for one in parameters:
        raw = one.schema.raw
        listed = raw.get("enum") if isinstance(raw, dict) else None
        is_sent = one.location is Location.QUERY and one.name in query
        if is_sent and isinstance(listed, list) and listed and one.is_valid(listed[-1]):
            last[one.name] = listed[-1]
    return parts.with_container(Location.QUERY, query | last) if last else None
