"""The settings with which a program is compiled."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

from checker.config.operation_settings import OperationSettings
from checker.config.overrides import NO_OVERRIDES, Overrides
from checker.config.table import default_of
from checker.core.constraints import Constraint
from checker.core.meta import GenerationMode
from checker.core.operation import Location, Parameter
from checker.core.scenarios import REQUEST_SHAPES
from checker.generation.sources.context import Shared

_SECTION = ("generation",)
UNEXPECTED_METHODS: Final = (
    "GET", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "TRACE", "QUERY",
)  # fmt: skip
"""Undeclared methods that the coverage phase tries by default."""


def mode_of(names: tuple[str, ...]) -> GenerationMode | None:
    """Return the only mode of a setting; None for several."""
    return GenerationMode(names[0]) if len(names) == 1 else None


class ListingSettings(Struct, frozen=True):
    """The settings of listed cases: examples and boundary cases."""

    fills_missing_examples: bool = default_of(("phases", "examples"), "fill-missing")
    """Whether the examples phase generates a case if an operation has no examples."""
    repeats_query: bool = default_of(("phases", "coverage"), "generate-duplicate-query-parameters")
    """Whether the coverage phase sends query parameters twice."""
    costly_queries: bool = default_of(("phases", "coverage"), "costly-queries")
    """Whether the coverage phase sends queries that ask for much data at once."""
    unexpected_methods: tuple[str, ...] = UNEXPECTED_METHODS
    """Methods, in upper case, that the coverage phase sends to paths that do not declare them."""
    judged_modes: frozenset[GenerationMode] = frozenset(GenerationMode)
    """Modes of cases that some check judges. The coverage phase lists no others."""
    judged_shapes: frozenset[str] = REQUEST_SHAPES
    """Scenarios that test no operation, such as an undeclared method, and that some check judges."""


class GenerationSettings(Struct, frozen=True):
    """The keys of `[generation]`."""

    mode: GenerationMode | None = GenerationMode.POSITIVE  # None for cases of both modes.
    allow_x00: bool = default_of(_SECTION, "allow-x00")  # NUL in strings.
    codec: str | None = default_of(_SECTION, "codec")  # Strings keep to characters of this encoding.
    exclude_header_characters: str = default_of(_SECTION, "exclude-header-characters")
    max_body_bytes: int = 32_768
    formats: Mapping[str, Any] = field(default_factory=dict)  # Format name -> `SearchStrategy`, as users registered it.
    reuse: bool = False  # Values of earlier responses may replace random ones.
    allow_extra_parameters: bool = default_of(_SECTION, "allow-extra-parameters")
    """Requests, including negative ones, may have undeclared parameters and properties."""
    unique_inputs: bool = default_of(_SECTION, "unique-inputs")  # No request of an operation is made twice.
    overrides: Overrides = NO_OVERRIDES  # Values in place of generated ones.
    listing: ListingSettings = ListingSettings()  # Settings of listed cases.
    fixed_headers: frozenset[str] = frozenset()
    """Headers, in lower case, that are sent as the user configures them in every case."""
    fixed_places: frozenset[tuple[Location, str]] = frozenset()
    """Query parameters and cookies that credentials set in every case."""
    references: tuple[str, ...] = ()
    """Pointers into bodies to values that name resources of other operations; `*` stands for every item of a list."""
    learned: tuple[Constraint, ...] = ()
    """Demands of the target beyond the description. Valid cases respect them, unless no value would be left."""
    security_parameters: bool = default_of(_SECTION, "with-security-parameters")
    """Whether requests carry invented credentials if the description requires credentials and the user configures none."""
    shared: Shared | None = None  # The compiled parts that programs with these settings share; None to share nothing.
    met_alternatives: tuple[int, ...] = ()
    """Indexes of the operation's security alternatives that the configured credentials satisfy; the one used by ordinary requests comes first."""

    @classmethod
    def of(cls, own: OperationSettings, mode: GenerationMode | None) -> "GenerationSettings":
        """Return the settings for the cases of an operation; `mode` is None for valid and invalid data."""
        cases, methods = own.cases, own.cases.unexpected_methods
        methods = UNEXPECTED_METHODS if methods is None else methods
        return cls(
            mode=mode,
            allow_x00=cases.allow_x00,
            codec=cases.codec,
            exclude_header_characters=cases.exclude_header_characters,
            allow_extra_parameters=cases.allow_extra_parameters,
            unique_inputs=cases.unique_inputs,
            security_parameters=cases.security_parameters,
            listing=ListingSettings(cases.fill_missing, cases.repeats_query, cases.costly_queries, methods),
        )

    def is_fixed(self, parameter: Parameter) -> bool:
        """Whether the value of a parameter is replaced before it is sent."""
        return self.is_fixed_place(parameter.location, parameter.name)

    def is_fixed_place(self, location: Location, name: str) -> bool:
        """Whether the value under a name is replaced before it is sent."""
        if (location, name) in self.fixed_places:
            return True
        if location is Location.COOKIE:
            return "cookie" in self.fixed_headers
        return location is Location.HEADER and name.lower() in self.fixed_headers
