"""Invented credentials in the form that the security schemes of an operation declare."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec import Struct

from checker.core.credentials import basic_authorization
from checker.core.operation import Location, Operation
from checker.core.security import SecurityRequirement, SecurityScheme
from checker.generation.components import PartCompiler
from checker.generation.drawing.words import AUTHORIZATIONS
from checker.generation.settings import GenerationSettings
from checker.generation.sources import alphabets
from checker.generation.sources.basic import constant, either, finished, listed, texts, together
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw

_KNOWN: Final = "checker"
"""User, password, token and key of most cases. They are the same for all operations, because a resource must be read with the
credentials that created it.
"""
_OTHERS: Final = 0.1  # Share of cases with other credentials.
_LONGEST: Final = 24
_TOKEN: Final = texts(alphabets.NAME, 1, _LONGEST)
_ORDER: Final = (Location.PATH, Location.HEADER, Location.COOKIE, Location.QUERY)


class SecurityParameter(Struct, frozen=True):
    """A parameter that carries a credential."""

    location: Location
    name: str
    pointer: str  # Pointer of the security scheme.
    usual: str  # The value in most cases.
    draw: Draw  # Draws the value of all other cases.


class Alternative(Struct, frozen=True):
    """One security requirement of an operation."""

    place: int  # Index in the security of the operation.
    made_up: tuple[SecurityParameter, ...]
    """The credentials that users do not configure; empty if the requirement has no schemes."""


def alternatives(operation: Operation, settings: GenerationSettings) -> tuple[Alternative, ...]:
    """Return the security alternatives that requests may meet, the usual one first; empty for a single alternative without invented credentials.

    If credentials are configured, only the alternatives that they meet are returned. Credentials that are configured, or
    declared as parameters, are not invented.
    """
    if not settings.security_parameters:
        return ()
    security, met = operation.security, settings.met_alternatives
    if not met and any(_is_given(one, settings) for one in security):
        return ()
    declared = {_place(one.location, one.name) for one in operation.parameters}
    found: list[Alternative] = []
    for index in met or range(len(security)):
        made_up: list[SecurityParameter] = []
        for scheme in security[index].schemes:
            written = _writer(scheme)
            location, name = scheme.place
            is_given = settings.is_fixed_place(location, name)
            if written is None or is_given or _place(location, name) in declared:
                continue
            draw: Draw = finished(together(_TOKEN, _TOKEN), partial(_spread, written))
            if name.lower() == "authorization":
                draw = either(0.5, listed(AUTHORIZATIONS), draw)
            made_up.append(SecurityParameter(location, name, scheme.pointer, written(_KNOWN, _KNOWN), draw))
        found.append(Alternative(index, tuple(made_up)))
    return tuple(found) if len(met) > 1 or any(one.made_up for one in found) else ()


def _is_given(requirement: SecurityRequirement, settings: GenerationSettings) -> bool:
    """Whether the headers that users configure meet a requirement."""
    written = [one for one in requirement.schemes if _writer(one) is not None]
    return bool(written) and all(settings.is_fixed_place(*one.place) for one in written)


def _spread(write: Callable[[str, str], str], pair: tuple[str, str]) -> str:
    return write(*pair)


def _writer(scheme: SecurityScheme) -> Callable[[str, str], str] | None:
    """Return a function from (user or token, password) to the credential of a scheme; None if the scheme's credentials cannot be invented."""
    if scheme.type == "apiKey":
        return lambda user, password: user
    if scheme.type in ("oauth2", "openIdConnect") or scheme.scheme == "bearer":
        return lambda user, password: f"Bearer {user}"
    if scheme.scheme == "basic":
        return basic_authorization
    return None


def _place(location: Location, name: str) -> tuple[Location, str]:
    return location, location.key(name)


def with_credentials(whole: Draw, choices: tuple[Alternative, ...], compiler: PartCompiler) -> Draw:
    """Draws all parts of a case with the credentials of one alternative, which is stored in the context.

    Parameters of the case take precedence.

    Without configured credentials, all alternatives are equally likely. With them, most cases use the first alternative.
    """
    if not choices:
        return whole
    context = compiler.context
    drawn = [
        [
            (_ORDER.index(one.location), one.name, either(_OTHERS, one.draw, constant(one.usual)))
            for one in choice.made_up
        ]
        for choice in choices
    ]
    places: list[int | None] = [one.place for one in choices]
    is_given = bool(compiler.settings.met_alternatives)
    if is_given:
        places[0] = None
    count, others = len(choices), len(choices) - 1

    def draw(source: Source) -> Any:
        parts = list(whole(source))
        # With one alternative there is no choice to record.
        chosen = 0
        if count > 1 and not is_given:
            chosen = source.choice(count)
        elif count > 1 and source.boolean(_OTHERS):
            chosen = 1 + source.choice(others)
        context.alternative = places[chosen]
        for index, name, make in drawn[chosen]:
            value = make(source)
            if name not in parts[index]:
                parts[index] = {**parts[index], name: value}
        return tuple(parts)

    return draw
