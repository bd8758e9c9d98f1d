"""Where in the requests of an operation something may be that nobody declared: nowhere where it could pass for something else."""

from collections.abc import Set
from functools import cache
from typing import Final

from checker.core.media_types import is_json
from checker.core.operation import Location, Operation
from checker.generation.components import PartCompiler
from checker.generation.drawing.extras import Room
from checker.generation.sources import alphabets
from checker.transport.wire.outline import outline_of
from checker.transport.wire.ownership import may_spread

_LOCATIONS: Final = (Location.QUERY, Location.HEADER, Location.COOKIE)
_WHOLE_QUERY: Final = "querystring"


def room_of(compiler: PartCompiler, locations: Set[Location]) -> Room:
    """The room in these locations. Of bodies only JSON has any: what other media types write is read in several ways."""
    operation, settings = compiler.operation, compiler.settings
    bodies = {}
    for body in operation.bodies if Location.BODY in locations else ():
        if is_json(body.media_type):
            part = compiler.body_part(body, reuses=settings.reuse)
            bodies[body.media_type] = part.compiler.validator(part.conjunction)
    return Room(
        tuple([location for location in _LOCATIONS if location in locations]),
        # Few cases ask, and many operations have none.
        cache(lambda location: _taken(operation, location)),
        bodies,
        alphabets.text_of(settings.codec, allows_nul=settings.allow_x00),
        settings.exclude_header_characters,
    )


def _taken(operation: Operation, location: Location) -> frozenset[str] | None:
    """Names that mean something, credentials included; None where a pair may be a part of some parameter's value."""
    names = []
    for parameter in operation.parameters:
        if parameter.location is not location:
            continue
        if parameter.style == _WHOLE_QUERY or may_spread(parameter, outline_of(parameter.schema)):
            return None
        names.append(parameter.name.lower())
    for requirement in operation.security:
        names += [
            scheme.parameter.lower()
            for scheme in requirement.schemes
            if scheme.location is location
        ]
    return frozenset(names)
