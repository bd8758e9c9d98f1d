"""What an operation asks of its callers: security schemes and the alternatives of them."""

from dataclasses import dataclass

from checker.core.locations import Location


@dataclass(frozen=True, slots=True)
class SecurityScheme:
    """One way to say who is calling."""

    name: str
    """As the description calls it."""
    type: str
    """`http`, `apiKey`, `oauth2`, `openIdConnect` or `mutualTLS`; `basic` of Swagger 2.0 is `http`."""
    pointer: str
    """Where it is declared."""
    scheme: str = ""
    """`basic`, `bearer`, ...: for `http` alone, lower case."""
    location: Location | None = None
    """For `apiKey` alone."""
    parameter: str = ""
    """Name of the header, query parameter or cookie: for `apiKey` alone."""


@dataclass(frozen=True, slots=True)
class SecurityRequirement:
    """One alternative: all of its schemes are needed."""

    schemes: tuple[SecurityScheme, ...]
    undeclared: tuple[str, ...] = ()
    """Names that no scheme of the description has."""

    @property
    def is_none(self) -> bool:
        """True when a request without credentials is right: an empty object in the description."""
        return not self.schemes and not self.undeclared
