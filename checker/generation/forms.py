"""What is known of a value: canonical forms, and the facets that they are read from."""

from dataclasses import dataclass, field
from typing import Any, Final

from checker.generation.bounds import Numbers, Sizes

NULL, BOOLEAN, INTEGER, NUMBER, STRING, ARRAY, OBJECT = (
    "null", "boolean", "integer", "number", "string", "array", "object",
)  # fmt: skip
TYPES: Final = (NULL, BOOLEAN, INTEGER, NUMBER, STRING, ARRAY, OBJECT)
_ALL_TYPES = frozenset(TYPES)


@dataclass(frozen=True, slots=True)
class Facet:
    """A schema that a value has to satisfy, some of its keywords left out."""

    raw: object
    pointer: str
    without: frozenset[str] = frozenset()
    is_made: bool = False
    """Not in the document: it says what a keyword there means."""

    @property
    def is_partial(self) -> bool:
        """True when the document has no such schema at that place."""
        return self.is_made or bool(self.without)

    @property
    def key(self) -> tuple[str, frozenset[str]]:
        """Two facets with equal keys are the same."""
        return self.pointer, self.without


Conjunction = tuple[Facet, ...]
"""Schemas that a value has to satisfy together. The empty one admits everything."""


def key_of(conjunction: Conjunction) -> frozenset[tuple[str, frozenset[str]]]:
    """Names a conjunction, whatever its order."""
    return frozenset(facet.key for facet in conjunction)


@dataclass(frozen=True, slots=True)
class Branches:
    """Alternatives of one `anyOf` or `oneOf`, or of a condition."""

    pointer: str
    owner: Facet
    keyword: str
    alternatives: tuple[Conjunction, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why no value satisfies a schema."""

    pointer: str
    text: str


@dataclass(slots=True)
class Canonical:
    """All that holds for a value."""

    pointer: str
    types: frozenset[str] = _ALL_TYPES
    type_pointer: str = ""
    enum: list[Any] | None = None
    enum_pointer: str = ""
    numbers: Numbers = field(default_factory=Numbers)
    lengths: Sizes = field(default_factory=lambda: Sizes("Length"))
    patterns: list[tuple[str, str]] = field(default_factory=list)
    """(pattern, pointer) of each."""
    formats: list[str] = field(default_factory=list)
    items: Conjunction = ()
    no_items: bool = False
    """Nothing may come after `prefix`."""
    prefix: list[Conjunction] = field(default_factory=list)
    item_count: Sizes = field(default_factory=lambda: Sizes("Items"))
    unique: bool = False
    properties: dict[str, Conjunction] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    """Properties that do not travel in this direction."""
    required: dict[str, str] = field(default_factory=dict)
    """Name -> pointer of who requires it."""
    additional: Conjunction = ()
    no_additional: str | None = None
    """Pointer of the `additionalProperties` that is false."""
    says_additional: bool = False
    """True when the schema speaks of additional properties at all."""
    property_count: Sizes = field(default_factory=lambda: Sizes("Properties"))
    branches: list[Branches] = field(default_factory=list)
    opaque: dict[str, str] = field(default_factory=dict)
    """Pointer -> keyword that is not looked into."""
    needs_check: bool = False
    """What is drawn may be invalid now and then, although every keyword is looked into."""
    pattern_properties: list[tuple[str, Facet]] = field(default_factory=list)
    names: Conjunction = ()
    """What names of properties have to satisfy."""
    contained: list[Facet] = field(default_factory=list)
    """Schemas that one item each has to satisfy."""
    examples: list[Any] = field(default_factory=list)
    impossible: Reason | None = None
    facets: list[Facet] = field(default_factory=list)
    """Every place that was read."""

    def base(self, owner: Facet | None = None, keyword: str = "") -> Conjunction:
        """The same without one keyword of `owner`; references and `allOf` are already followed."""
        return tuple(
            Facet(
                facet.raw,
                facet.pointer,
                facet.without | _FOLLOWED | ({keyword} if facet is owner else frozenset()),
                facet.is_made,
            )
            for facet in self.facets
        )


_FOLLOWED = frozenset({"$ref", "allOf"})


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)
