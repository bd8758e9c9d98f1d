"""Credentials that a case makes up, as the security schemes of its operation want them written."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from msgspec import Struct

from checker.core.operation import Location, Operation
from checker.core.security import SecurityRequirement, SecurityScheme
from checker.generation.settings import GenerationSettings
from checker.generation.sources import alphabets
from checker.generation.sources.basic import constant, either, finished, texts, together
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw

_KNOWN: Final = "checker"
"""User, password, token and key of most cases: who makes something has to be the one who looks for it."""
_OTHERS: Final = 0.1
"""Share of cases that somebody else sends."""
_LONGEST: Final = 24
_TOKEN: Final = texts(alphabets.NAME, 1, _LONGEST)
_ORDER: Final = (Location.PATH, Location.HEADER, Location.COOKIE, Location.QUERY)


class SecurityParameter(Struct, frozen=True):
    """One thing that a request carries to say who sends it."""

    location: Location
    name: str
    pointer: str
    """Of the scheme that asks for it."""
    usual: str
    """Its value in most cases."""
    draw: Draw
    """Its value in all others."""


Alternative = tuple[SecurityParameter, ...]


def alternatives(operation: Operation, settings: GenerationSettings) -> tuple[Alternative, ...]:
    """What requests may carry, the first alternative first; an empty one where a request without is right.

    What a user gives, and what is declared as a parameter, is nobody else's. Empty where nothing is to be made up.
    """
    if not settings.security_parameters:
        return ()
    found = tuple(
        tuple(_parameters(requirement, operation, settings)) for requirement in operation.security
    )
    return found if any(found) else ()


def _parameters(
    requirement: SecurityRequirement, operation: Operation, settings: GenerationSettings
) -> Iterator[SecurityParameter]:
    declared = {_place(one.location, one.name) for one in operation.parameters}
    for scheme in requirement.schemes:
        written = _writer(scheme)
        location, name = scheme.place
        is_given = settings.is_fixed_place(location, name)
        if written is None or is_given or _place(location, name) in declared:
            continue
        usual = written(_KNOWN, _KNOWN)
        draw = finished(together(_TOKEN, _TOKEN), partial(_spread, written))
        yield SecurityParameter(location, name, scheme.pointer, usual, draw)


def _spread(write: Callable[[str, str], str], pair: tuple[str, str]) -> str:
    return write(*pair)


def _writer(scheme: SecurityScheme) -> Callable[[str, str], str] | None:
    """Writes a user or token, and a password, as a scheme wants them; None for what nobody can make up."""
    if scheme.type == "apiKey":
        return lambda user, password: user
    if scheme.type in ("oauth2", "openIdConnect") or scheme.scheme == "bearer":
        return lambda user, password: f"Bearer {user}"
    if scheme.scheme == "basic":
        return _basic
    return None


def _basic(user: str, password: str) -> str:
    """Credentials of a user (RFC 7617, 2)."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def _place(location: Location, name: str) -> tuple[Location, str]:
    return location, name.lower() if location is Location.HEADER else name


def with_credentials(whole: Draw, choices: tuple[Alternative, ...]) -> Draw:
    """Draws all parts of a case with the credentials of one alternative; what is there already stays."""
    if not choices:
        return whole
    drawn = [_of_alternative(one) for one in choices]
    count = len(drawn)

    def draw(source: Source) -> Any:
        parts = list(whole(source))
        steps = drawn[source.choice(count)] if count > 1 else drawn[0]
        for index, name, make in steps:
            value = make(source)
            if name not in parts[index]:
                parts[index] = {**parts[index], name: value}
        return tuple(parts)

    return draw


def _of_alternative(alternative: Alternative) -> list[tuple[int, str, Draw]]:
    return [
        (_ORDER.index(one.location), one.name, either(_OTHERS, one.draw, constant(one.usual)))
        for one in alternative
    ]
