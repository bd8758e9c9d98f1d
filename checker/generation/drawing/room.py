"""Where in the requests of an operation something may be that nobody declared: nowhere where it could pass for something else."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from checker.core.media_types import is_json
from checker.core.operation import Location, Operation
from checker.core.schema import Direction, Schema, UnresolvableReference
from checker.transport.wire.outline import outline_of
from checker.transport.wire.ownership import may_spread
from checker.validation.compiled import UnusableSchema, compile_schema

_WHOLE_QUERY: Final = "querystring"
IsValid = Callable[[Any], bool]


class Room:
    """The room in some parts of the requests of an operation. Few cases ask: what they need is worked out then."""

    __slots__ = ("_bodies", "_operation", "_taken", "_validators", "locations")

    def __init__(self, operation: Operation, locations: Iterable[Location]) -> None:
        self._operation = operation
        self._bodies: dict[str, Schema] = {}
        self._taken: dict[Location, frozenset[str] | None] = {}
        self._validators: dict[str, IsValid | None] = {}
        named = []
        for location in locations:
            if location is Location.BODY:
                # What other media types write is read in several ways.
                bodies = [body for body in operation.bodies if is_json(body.media_type)]
                self._bodies = {body.media_type: body.schema for body in bodies}
            elif location is not Location.PATH:
                named.append(location)
        self.locations: tuple[Location, ...] = tuple(named)
        """Those of parameters that may have some."""

    @property
    def has_bodies(self) -> bool:
        """True when some body may have some."""
        return bool(self._bodies)

    def is_free(self, location: Location, name: str) -> bool:
        """True when a parameter of that name would mean nothing."""
        if location not in self._taken:
            self._taken[location] = self._names(location)
        taken = self._taken[location]
        return taken is not None and name.lower() not in taken

    def admits(self, media_type: str | None, body: Any) -> bool:
        """True when a body is valid, and could be nothing else."""
        if media_type not in self._bodies:
            return False
        if media_type not in self._validators:
            self._validators[media_type] = _validator(self._bodies[media_type])
        is_valid = self._validators[media_type]
        return is_valid is not None and is_valid(body)

    def _names(self, location: Location) -> frozenset[str] | None:
        """Names that mean something, credentials included; None where a pair may be a part of some parameter's value."""
        names = []
        for parameter in self._operation.parameters:
            if parameter.location is not location:
                continue
            outline = outline_of(parameter.schema)
            if parameter.style == _WHOLE_QUERY or may_spread(parameter, outline):
                return None
            names.append(parameter.name.lower())
        for requirement in self._operation.security:
            keys = [scheme for scheme in requirement.schemes if scheme.location is location]
            names += [scheme.parameter.lower() for scheme in keys]
        return frozenset(names)


def _validator(schema: Schema) -> IsValid | None:
    """True for values of a body; None where nobody can say."""
    try:
        return compile_schema(schema, Direction.REQUEST).is_valid
    except (UnusableSchema, UnresolvableReference):
        return None
