"""The security schemes of an operation and their alternatives."""

from collections.abc import Collection, Container, Iterable, Sequence
from typing import Final

from msgspec import Struct

from checker.core.request import Location

UNAUTHORIZED: Final = frozenset((401, 403))
"""Statuses that refuse the caller, not the request (RFC 9110, 15.5.2 and 15.5.4)."""
_BASIC: Final = "`--auth USER:PASSWORD`"
_MOST_WAYS: Final = 3  # Options for credentials that a sentence names.


class SecurityScheme(Struct, frozen=True):
    """One way to authenticate a request."""

    name: str  # The name of the scheme in the description.
    type: str  # `http`, `apiKey`, `oauth2`, `openIdConnect` or `mutualTLS`; `basic` of Swagger 2.0 is `http`.
    pointer: str  # The place of its declaration.
    scheme: str = ""  # `basic`, `bearer`, ...: for `http` alone, lower case.
    location: Location | None = None  # For `apiKey` alone.
    parameter: str = ""  # Name of the header, query parameter or cookie: for `apiKey` alone.
    token_urls: tuple[tuple[str, str], ...] = ()
    """(grant, URL of its tokens) of the flows of `oauth2`: only the path if the host is that of a declared server."""

    def token_url(self, grant: str) -> str:
        """Return the token URL of a grant, or else of another grant; empty if none is declared."""
        return dict(self.token_urls).get(grant) or next((url for _, url in self.token_urls), "")

    @property
    def place(self) -> tuple[Location, str]:
        """Return the place of the credentials in a request: `Authorization` for all schemes but `apiKey`."""
        return self.location or Location.HEADER, self.parameter or "Authorization"


class SecurityRequirement(Struct, frozen=True):
    """One alternative: all of its schemes are needed."""

    schemes: tuple[SecurityScheme, ...]
    undeclared: tuple[str, ...] = ()  # Names of schemes that the description does not declare.
    scopes: tuple[tuple[str, ...], ...] = ()  # The scopes that each of `schemes` needs.

    @property
    def is_none(self) -> bool:
        """True if a request without credentials is valid: an empty object in the description."""
        return not self.schemes and not self.undeclared


def ways_in(schemes: Iterable[SecurityScheme]) -> tuple[str, ...]:
    """Return the options that set credentials for these schemes, as messages name them."""
    declared = list(schemes)
    options = {option for one in declared if (option := _option_of(one)) is not None}
    return ("`[auth.openapi]` in checker.toml",) if declared and not options else tuple(sorted(options))


def named_ways(options: Sequence[str]) -> str:
    """Return some of `ways_in` for a sentence; without a declared scheme, the options that most APIs need."""
    return " or ".join(options[:_MOST_WAYS]) or f"{_BASIC} or `-H 'Authorization: ...'`"


def _option_of(scheme: SecurityScheme) -> str | None:
    """Return the option for one scheme; None if only the configuration file has one, or a certificate authenticates the caller."""
    location, name = scheme.place
    if scheme.type == "mutualTLS":
        return "`--request-cert FILE`"
    if scheme.type == "apiKey":
        shown = "-".join(map(str.capitalize, name.split("-")))
        options = {Location.HEADER: f"`-H '{shown}: ...'`", Location.COOKIE: f"`-H 'Cookie: {name}=...'`"}
        return options.get(location)
    if scheme.type == "http" and scheme.scheme in ("basic", "digest"):
        return _BASIC if scheme.scheme == "basic" else f"{_BASIC[:-1]} --auth-type digest`"
    word = "Bearer" if scheme.type != "http" else scheme.scheme.capitalize()
    return f"`-H 'Authorization: {word} ...'`"


def is_open(alternatives: Collection[SecurityRequirement]) -> bool:
    """Whether a request without credentials is valid: none are required, or they are optional."""
    return not alternatives or any(one.is_none for one in alternatives)


def met_alternatives(alternatives: Sequence[SecurityRequirement], configured: Container[str]) -> tuple[int, ...]:
    """Return the indices of the alternatives that requests can satisfy with the configured credentials. The first is used by usual requests.

    First come the completely configured alternatives, or else the first partly configured one, then alternatives that
    require nothing. Certificates need nothing in the request. Empty if no scheme of the alternatives is configured.
    """
    filled: list[int] = []
    partly: list[int] = []
    free: list[int] = []
    for place, alternative in enumerate(alternatives):
        asked = [one.name for one in alternative.schemes if one.type != "mutualTLS"]
        found = [name for name in asked if name in configured]
        if alternative.is_none:
            free.append(place)
        elif found:
            is_filled = len(found) == len(asked) and not alternative.undeclared
            (filled if is_filled else partly).append(place)
    usual = filled or partly[:1]
    return (*usual, *free) if usual else ()


def chosen_schemes(
    alternatives: Sequence[SecurityRequirement], configured: Container[str], place: int | None = None
) -> tuple[SecurityScheme, ...]:
    """Return the schemes that a request uses: the configured schemes of the alternative at an index; None is the alternative of usual requests."""
    if place is None or place >= len(alternatives):
        met = met_alternatives(alternatives, configured)
        if not met:
            return ()
        place = met[0]
    asked = alternatives[place].schemes
    return tuple(one for one in asked if one.type != "mutualTLS" and one.name in configured)
