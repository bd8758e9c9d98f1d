"""From the answer that refused a request to what it demands of requests like it."""

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from checker.core.case import NOT_SET, Case
from checker.core.constraints import ITEMS, Constraint, constraint
from checker.core.odd_paths import body_of, is_bare_refusal, patterns_broken
from checker.core.operation import Parameter
from checker.core.request import Location
from checker.core.response import Response
from checker.refusals import codes, names, rust
from checker.refusals.said import PlaceDemand, is_same_name


class Reader(Struct, frozen=True):
    """The reader of the error bodies of one framework."""

    framework: str
    read: Callable[[Any], Iterator[PlaceDemand]]
    """What a body says, parsed as JSON or as text; nothing where it is none of this framework."""


READERS: Final = (
    Reader("FastAPI, pydantic", codes.pydantic),
    Reader("AJV", codes.ajv),
    Reader("Fastify", codes.fastify),
    Reader("Zod", codes.zod),
    Reader("Symfony", codes.symfony),
    Reader("Spring", codes.spring),
    Reader("Go validator", codes.go_validator),
    Reader("Rust validator, serde", rust.rust),
    Reader("Litestar", names.litestar),
    Reader("marshmallow", names.marshmallow),
    Reader("Flask-RESTX", names.flask_restx),
    Reader("ASP.NET", names.aspnet),
    Reader("Laravel", names.laravel),
    Reader("Django REST framework", names.django_rest),
    Reader("Rails", names.rails),
    Reader("any", names.generic),
)


def refused_characters(case: Case, response: Response) -> Iterator[Constraint]:
    """For a 400 that gives no reason: that each odd kind of character in the path of the case is not to be there.

    What of the demands is not the reason is dropped as soon as a path with it is accepted.
    """
    if not is_bare_refusal(response):
        return
    for name, value in case.path_parameters.items():
        for pattern in patterns_broken(value) if isinstance(value, str) else ():
            found = constraint(Location.PATH, (name,), "pattern", pattern)
            if found is not None:
                yield found


_OTHER_REASONS: Final = frozenset((401, 403, 404, 405, 406, 408, 410, 413, 414, 429, 431))
"""Refusals that have nothing to do with the data."""
_MOST: Final = 50
"""Demands that are taken from one answer."""


def may_complain(status: int) -> bool:
    """Whether an answer with this status may say what is wrong with the data."""
    return 400 <= status < 500 and status not in _OTHER_REASONS


def demands_in(case: Case, response: Response, declared: Collection[str] = ()) -> list[Constraint]:
    """Return the demands of a refusal, each once, in order; empty if no reader understands it.

    `declared` are names of properties of the body, as the description spells them: targets often spell them otherwise.
    """
    read = case.operation.read_refusal
    if read is not None:
        heard = (
            constraint(Location.BODY, path, keyword, value)
            for path, keyword, value in islice(read(case.body, response), _MOST)
        )
        return sorted({one for one in heard if one is not None})
    body = body_of(response)
    for reader in READERS if body is not None else ():
        said = list(_within(reader.read(body)))
        found = {one for each in said if (one := _placed(each, case, declared)) is not None}
        if found:
            return sorted(found)[:_MOST]
    return sorted(refused_characters(case, response))[:_MOST]


def _within(said: Iterator[PlaceDemand]) -> Iterator[PlaceDemand]:
    for count, one in enumerate(said):
        if count >= _MOST:
            return
        yield one


def _placed(said: PlaceDemand, case: Case, declared: Collection[str]) -> Constraint | None:
    """Return the demand with the part of the request that it is about; None if there is no such part."""
    for location in _locations(said, case):
        path = _known_path(said.path, location, case, declared)
        if path is not None:
            return constraint(location, path, said.keyword, said.value)
    return None


def _locations(said: PlaceDemand, case: Case) -> list[Location]:
    if said.where:
        return [one for one in Location if one.value == said.where]
    has_body = bool(case.operation.bodies)
    others = [Location.QUERY, Location.PATH, Location.HEADER, Location.COOKIE]
    return [Location.BODY, *others] if has_body else others


def _known_path(
    path: tuple[str, ...], location: Location, case: Case, declared: Collection[str]
) -> tuple[str, ...] | None:
    """A path as the description spells it; None where the location has no such place."""
    if location is Location.BODY:
        return _path_in_body(path, case, declared)
    for parameter in case.operation.parameters:
        if parameter.location is location and path and is_same_name(parameter.name, path[0]):
            return parameter.name, *_steps_within(path[1:], case, parameter)
    return None


def _steps_within(steps: tuple[str, ...], case: Case, parameter: Parameter) -> tuple[str, ...]:
    """Steps below a parameter. Of items speaks a target also that takes a text for a list of one."""
    given = getattr(case, parameter.location.container).get(parameter.name)
    return steps[1:] if steps[:1] == (ITEMS,) and isinstance(given, str | int | float) else steps


def _path_in_body(
    path: tuple[str, ...], case: Case, declared: Collection[str]
) -> tuple[str, ...] | None:
    operation = case.operation
    if not operation.bodies:
        return None
    is_parameter = path and any(
        one.location is not Location.BODY and is_same_name(one.name, path[0])
        for one in operation.parameters
    )
    known = (*_names_of(case.body), *declared)
    if is_parameter and not any(is_same_name(name, path[0]) for name in known):
        return None
    return tuple(_spelled(path, case.body, declared)) if path else ()


def _names_of(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, dict) else []


def _spelled(path: tuple[str, ...], body: object, declared: Collection[str]) -> Iterator[str]:
    """A path as the body that was refused spells it, or its description, as far as they have it."""
    value = body
    for part in path:
        names = [*_names_of(value), *sorted(declared)]
        name = next((one for one in names if is_same_name(one, part)), part)
        yield name
        if isinstance(value, list):
            value = value[0] if value else NOT_SET
        else:
            value = value.get(name, NOT_SET) if isinstance(value, dict) else NOT_SET
