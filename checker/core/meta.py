"""Provenance of cases: the origin of each part, bindings to earlier responses, recipes that make a case again."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import takewhile
from typing import Any, Final, Protocol

from msgspec import Struct, field

from checker.core.operation import Label, Location
from checker.core.user_code import require


class GenerationMode(StrEnum):
    """Schema-valid or schema-violating data."""

    POSITIVE = "positive"
    NEGATIVE = "negative"

    @property
    def is_negative(self) -> bool:
        """True for schema-violating data."""
        return self is GenerationMode.NEGATIVE


def generation_mode(given: Any) -> GenerationMode:
    """Return the mode that a caller names. Raises `IncorrectUsage`."""
    modes = list(GenerationMode)
    require(given in modes, "generation_mode", " or ".join(f"`{one}`" for one in modes), given)
    return GenerationMode(given)


class Origin(StrEnum):
    """The source from which a component was drawn."""

    RANDOM = "random"
    POOL = "pool"
    DICTIONARY = "dictionary"
    EXAMPLE = "example"
    EXPLICIT = "explicit"  # Given by a user: hook, override, argument.


class Violation(Struct, frozen=True):
    """The rule that a negative component breaks."""

    pointer: str
    keyword: str
    was: object
    became: object


class Binding(Struct, frozen=True, array_like=True):
    """A value that comes from a response. It is read again when the sequence is sent again; otherwise the literal is used."""

    location: Location
    name: str  # Parameter name, or a JSON pointer inside the body, where `*` is every item of a list.
    producer: Label
    pointer: str  # JSON pointer in the producer's response body, or `header:NAME`.
    index: int  # Rank of the chosen value among the values that fit, best first.
    literal: object
    expression: str = ""
    """Expression of a link as JSON (OpenAPI 3.1, 4.8.20.4), which gives the value. Empty if the value was chosen while drawing."""
    step: int = -1  # Index of the step in the sequence that `expression` refers to.

    @property
    def stands_alone(self) -> bool:
        """Whether the value can be used without its producer, because the request of the producer invented it: a tenant in a header or query.

        A value in the path or the body may name a resource that has to exist.
        """
        return self.pointer.startswith(("$request.header.", "$request.query."))


ANYTHING: Final = "*"  # Stands in place of names if any value of a part may have come from outside.


class ComponentProvenance(Struct, frozen=True):
    """The record that the draw program makes of one component."""

    mode: GenerationMode = GenerationMode.POSITIVE
    origin: Origin = Origin.RANDOM
    violation: Violation | None = None
    outside: tuple[str, ...] = (ANYTHING,)
    """The parts that came from the configuration, a dictionary or a hook: names of parameters, paths in bodies (`user.token`).

    Values of earlier responses are the bindings of a case.
    """


class GenerationInfo(Struct, frozen=True):
    """`case.meta.generation`."""

    mode: GenerationMode
    time: float = 0.0  # Seconds spent on making the case.


class PhaseData(dict[str, str | None]):
    """The data that a phase attaches to a case: `meta.phase.data.description`, or `data["description"]`. None if there are none."""

    @property
    def scenario(self) -> str | None:
        """Return the scenario of the case: `minimum_value`."""
        return self.get("scenario")

    @property
    def description(self) -> str | None:
        """Return the scenario as a sentence."""
        return self.get("description")

    @property
    def location(self) -> str | None:
        """JSON pointer to the tested part of the schema."""
        return self.get("location")

    @property
    def parameter(self) -> str | None:
        """Name of the tested parameter, or media type of the tested body."""
        return self.get("parameter")

    @property
    def parameter_location(self) -> str | None:
        """Return the location of the parameter: `query`, `body`, ..."""
        return self.get("parameter_location")


class PhaseInfo(Struct):
    """`case.meta.phase`."""

    name: str
    data: PhaseData = field(default_factory=PhaseData)


class CaseMetadata(Struct):
    """`case.meta`. A case made by hand has none."""

    mode: GenerationMode
    components: Mapping[Location, ComponentProvenance]  # Cases that are alike share it.
    phase: PhaseInfo
    bindings: tuple[Binding, ...] = ()
    time: float = 0.0  # Seconds spent on making the case.

    def outside(self, location: Location) -> tuple[str, ...]:
        """Return the parts of a component that came from outside, values of earlier responses included."""
        names = self.components[location].outside
        if not self.bindings:
            return names
        bound = (binding for binding in self.bindings if binding.location is location)
        return (*names, *(outside_name(binding) for binding in bound))

    @property
    def generation(self) -> GenerationInfo:
        """Return mode and time as users know them. Made on demand, because most cases pass and their metadata are not read."""
        return GenerationInfo(self.mode, self.time)

    @property
    def broken(self) -> frozenset[tuple[Location, str]]:
        """Return the places where the case is meant to be wrong, with the keyword broken there; empty for a positive case."""
        return frozenset(
            (location, part.violation.keyword)
            for location, part in self.components.items()
            if part.violation is not None
        )


def body_path(names: Iterable[str]) -> str:
    """Return a place in a body as provenance writes it: `user.token`; `ANYTHING` for the whole body."""
    return ".".join(names).replace("/", ".") or ANYTHING


def outside_name(binding: Binding) -> str:
    """Return the name of a value that a binding gave; in a body only up to the first array."""
    if binding.location is not Location.BODY:
        return binding.name
    # Names with a tilde are escaped in pointers but not in other places, so they cannot be compared.
    if "~" in binding.name:
        return ANYTHING
    tokens = binding.name.split("/")[1:]
    return body_path(takewhile(lambda token: token != "*" and not token.isdigit(), tokens))


class ValuePool(Protocol):
    """Earlier values as one operation may use them."""

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """Return the binding of a value to this parameter: the best one for index 0, less likely ones above; None if none fits."""
        ...


Choice = bool | int | float | str | bytes
"""A typed value that a draw program requests from its source. Hypothesis stores values of the same types."""


class Drawn(Struct, frozen=True, array_like=True, tag=0):
    """The case that the draw program of the operation makes of these choices."""

    choices: tuple[
        Any, ...
    ]  # Each item is a `Choice`. The type is `Any`, because msgspec has no union of `str` and `bytes`.
    learned: str = ""
    """Demands of the target that the draw program respected (`core.constraints.written`); empty for the description alone."""


class Listed(Struct, frozen=True, array_like=True, tag=1):
    """One of the cases that a phase lists for the operation, such as a boundary case or an example."""

    phase: str
    number: int  # Index of the case in the list, from 0.
    likeness: str  # Digest of the case. Another description may list another case at this place.
    without: tuple[str, ...] = ()  # Places that a shrink left out: `query limit`, `body /address/street`.
    token: str = ""
    """Text from which fresh names in the body follow, so that it differs from the default body; empty for none."""
    learned: str = ""  # Demands of the target that its list respected.


class Literal(Struct, frozen=True, array_like=True, tag=2):
    """The parts themselves, for a case that cannot be made in another way."""

    path_parameters: dict[str, Any]
    query: dict[str, Any]
    headers: dict[str, Any]
    cookies: dict[str, Any]
    body: tuple[Any, ...]  # At most one body.
    media_type: str | None
    mode: str
    data: tuple[tuple[str, str | None], ...] = ()  # Data of the phase (`case.meta.phase.data`).
    method: str | None = None  # Set only if it differs from that of the operation.
    alternative: int | None = None  # Index of the security alternative of the operation, if it is not the default one.
    outside: tuple[tuple[Location, tuple[str, ...]], ...] = ()
    """(location, names of its parts that came from outside). A location without an entry is unknown."""


Recipe = Drawn | Listed | Literal
"""Every way to make a case again. Files hold the tags of these classes: never use one for another class."""


class Step(Struct, frozen=True, array_like=True):
    """One case of a sequence: its recipe, and the values that come from earlier responses."""

    label: Label
    recipe: Recipe
    bindings: tuple[Binding, ...] = ()
    names: tuple[tuple[str, str | int], ...] = ()
    """(JSON pointer in the body or `path id`, value) pairs. These values replace values of the recipe with names that are new to the server."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Choices of a drawn step; empty for other steps."""
        return self.recipe.choices if isinstance(self.recipe, Drawn) else ()


def told(recipe: Recipe) -> str:
    """Return the recipe in words, for readers without the corpus."""
    match recipe:
        case Drawn(choices=choices):
            return f"choices {list(choices)!r}"
        case Listed(phase, number):
            return f"number {number} of the {phase} phase"
        case Literal():
            return f"{recipe!r}"
