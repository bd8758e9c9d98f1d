"""Canonical forms of schemas, and the facets that they are read from."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite, lcm
from typing import Any, Final

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.schema import pointer_child
from checker.schema.scopes import Scope
from checker.transport.wire.bodies import is_file_type

_EXACT = 2**53
_ROUNDED = {float(2**bits): 2**bits - 1 for bits in (63, 64)}
"""The largest integers of 63 and 64 bits, as written by tools that store every bound as a float."""
Place = tuple[str, object, str]  # Keyword, value, pointer.


class Reason(Struct, frozen=True):
    """The reason why no value satisfies a schema."""

    pointer: str
    text: str


class Numbers(Struct):
    """Bounds of numbers."""

    low: Fraction | None = None
    high: Fraction | None = None
    is_low_open: bool = False
    is_high_open: bool = False
    low_said: Place | None = None
    high_said: Place | None = None
    step: Fraction | None = None

    def bound(self, keyword: str, value: float, pointer: str, *, is_exclusive: bool = False) -> None:
        """Tighten one bound. `exclusiveMinimum` and `exclusiveMaximum` are exclusive by themselves."""
        is_open = is_exclusive or keyword.startswith("exclusive")
        is_low = keyword in ("minimum", "exclusiveMinimum")
        exact = Fraction(str(value))
        if abs(value) >= _EXACT:
            # The decimal text and its double are different numbers. Some validators read the text, others the double.
            exact = (max if is_low else min)(exact, Fraction(value))
        if type(value) is float and keyword == "maximum" and not is_exclusive:
            exact = min(exact, Fraction(_ROUNDED.get(value, exact)))
        if is_low:
            if self.low is None or exact > self.low or (exact == self.low and is_open):
                self.low, self.is_low_open = exact, is_open
                self.low_said = (keyword, value, pointer)
        elif self.high is None or exact < self.high or (exact == self.high and is_open):
            self.high, self.is_high_open = exact, is_open
            self.high_said = (keyword, value, pointer)

    def multiple(self, step: Fraction) -> None:
        """Allow only multiples of `step` among the multiples of earlier steps."""
        if self.step is not None:
            denominator = lcm(self.step.denominator, step.denominator)
            step = Fraction(lcm(int(self.step * denominator), int(step * denominator)), denominator)
        self.step = step

    def conflict(self) -> Reason | None:
        """Return the reason when no number lies between the bounds."""
        if self.low is None or self.high is None or self.low_said is None or self.high_said is None:
            return None
        is_open = self.is_low_open or self.is_high_open
        if self.low < self.high or (self.low == self.high and not is_open):
            return None
        return Reason(self.high_said[2], f"{self._said()} exclude every number")

    def empty(self, what: str) -> tuple[str, str]:
        """Return pointer and sentence if no number of a type lies between the bounds."""
        said = self._said() + (f" and multipleOf {self.step}" if self.step else "")
        place = self.high_said or self.low_said
        return (place[2] if place else ""), f"{said} exclude every {what}"

    def _said(self) -> str:
        places = [place for place in (self.low_said, self.high_said) if place is not None]
        return " and ".join(f"{keyword} {value}" for keyword, value, _ in places)


class Sizes(Struct):
    """Bounds of a length or a count."""

    noun: str  # `Length`, `Items` or `Properties`: the end of the keywords.
    low: int = 0
    high: int | None = None
    low_pointer: str = ""
    high_pointer: str = ""

    def read(self, raw: Mapping[str, Any], pointer: str) -> None:
        """Tighten by the keywords of a schema."""
        low, high = raw.get("min" + self.noun), raw.get("max" + self.noun)
        if low is not None and low > self.low:
            self.low, self.low_pointer = int(low), f"{pointer}/min{self.noun}"
        if high is not None and (self.high is None or high < self.high):
            self.high, self.high_pointer = int(high), f"{pointer}/max{self.noun}"

    def conflict(self) -> Reason | None:
        """Return the reason when the maximum is below the minimum."""
        if self.high is None or self.low <= self.high:
            return None
        return Reason(self.high_pointer, f"min{self.noun} {self.low} and max{self.noun} {self.high} exclude every size")


NULL, BOOLEAN, INTEGER, NUMBER, STRING, ARRAY, OBJECT = (
    "null", "boolean", "integer", "number", "string", "array", "object",
)  # fmt: skip
TYPES: Final = (NULL, BOOLEAN, INTEGER, NUMBER, STRING, ARRAY, OBJECT)
_ALL_TYPES = frozenset(TYPES)
FacetKey = tuple[str, frozenset[str], str, Scope, frozenset[str]]
"""Pointer, omitted keywords, tag, scope, keywords that other facets replace."""


class Facet(Struct, frozen=True):
    """A schema that a value has to satisfy, possibly without some of its keywords."""

    raw: object
    pointer: str
    without: frozenset[str] = frozenset()
    is_made: bool = False
    """True if the schema is not in the document but derived from it. Such a schema may contain facets as subschemas."""
    annotates: bool = False
    """True if `unevaluatedProperties` counts its keywords like those of the document."""
    tag: str = ""  # Distinguishes derived schemas of one place.
    scope: Scope = ()  # Dynamic anchors of the schemas on the way here.
    taken: frozenset[str] = frozenset()
    """Keywords that other facets of the conjunction replace. Those keywords still hold, but are not read again."""

    @property
    def is_partial(self) -> bool:
        """True if the document has no such schema at that place."""
        return self.is_made or bool(self.without) or bool(self.taken)

    @property
    def unread(self) -> frozenset[str]:
        """Keywords that are not read."""
        return self.without | self.taken

    @property
    def key(self) -> FacetKey:
        """Facets with equal keys are equal."""
        return self.pointer, self.without, self.tag, self.scope, self.taken

    def below(self, value: object, *tokens: str) -> "Facet":
        """Return `value`, the subschema at these JSON pointer tokens below this schema, as a facet."""
        if isinstance(value, Facet):
            return value
        place = pointer_child(self.pointer, *tokens)
        if self.is_made:
            # The document may have a different schema at that place.
            tag = f"{self.tag}/{'/'.join(tokens)}"
            return Facet(value, place, is_made=True, annotates=self.annotates, tag=tag, scope=self.scope)
        return Facet(value, place, scope=self.scope)


def made(place: Facet, tag: str, raw: dict[str, Any]) -> Facet:
    """Return a schema that is derived from a facet and has its place."""
    return Facet(raw, place.pointer, is_made=True, tag=tag, scope=place.scope)


def inverse(facet: Facet) -> Facet:
    """Return the schema of all values that a facet does not admit."""
    return made(facet, f"{facet.tag}!", {"not": facet})


Conjunction = tuple[Facet, ...]  # Schemas that a value has to satisfy together. The empty one admits everything.


def pointer_of(conjunction: Conjunction) -> str:
    """Return the JSON pointer of a conjunction."""
    return conjunction[0].pointer if conjunction else "#"


def key_of(conjunction: Conjunction) -> frozenset[FacetKey]:
    """Return a key of a conjunction that does not depend on the order of its facets."""
    return frozenset(facet.key for facet in conjunction)


class Properties(Struct, frozen=True):
    """The constraints of one facet on the properties of an object."""

    named: dict[str, Facet]
    patterns: tuple[tuple[str, Callable[[str], bool], Facet], ...]  # Pattern, does a name match it, schema.
    rest: Facet | None
    is_silent: bool = False  # True for derived schemas that `unevaluatedProperties` does not count.

    def facets(self, name: str) -> Conjunction:
        """Return the schemas of a property; empty if any value is valid."""
        found = self.declared(name)
        return (self.rest,) if not found and self.rest is not None else found

    def declared(self, name: str) -> Conjunction:
        """Return the schemas of a property by its name or a pattern, without those for undeclared names."""
        found = (self.named[name],) if name in self.named else ()
        return (*found, *(facet for _, matches, facet in self.patterns if matches(name))) if self.patterns else found


class Exclusions(Struct, frozen=True):
    """The values, patterns and steps that the keywords under a `not` forbid."""

    values: list[Any] = field(default_factory=list)
    steps: list[Fraction] = field(default_factory=list)  # Numbers that must not be multiples of these.
    patterns: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)


class Content(Struct, frozen=True):
    """The content of a text: `contentEncoding`, `contentMediaType` (lower case) and `contentSchema`."""

    encoding: str
    media_type: str
    schema: Facet | None = None
    is_asserted: bool = False  # Whether validators check the content.

    @property
    def is_file(self) -> bool:
        """Whether the content is plain bytes, which OpenAPI 3.1 writes for `format: binary` (4.8.14.3)."""
        return not self.encoding and is_file_type(self.media_type)


class Branches(Struct, frozen=True):
    """Alternatives of one `anyOf` or `oneOf`, or of one condition."""

    pointer: str
    owner: Facet
    keyword: str
    alternatives: tuple[Conjunction, ...]


class StringForm(Struct):
    """The constraints on strings, without their formats."""

    lengths: Sizes = field(default_factory=lambda: Sizes("Length"))
    patterns: list[tuple[str, str]] = field(default_factory=list)  # (pattern, pointer) of each.
    content: Content | None = None  # The declared content of the text.


class ArrayForm(Struct):
    """The constraints on arrays."""

    count: Sizes = field(default_factory=lambda: Sizes("Items"))
    unique: bool = False
    prefix: list[Conjunction] = field(default_factory=list)
    items: Conjunction = ()  # Schemas of the items after `prefix`.
    is_closed: bool = False  # True if no items may follow `prefix`.
    declares_items: bool = False  # True when the schema constrains the items after `prefix`.
    unevaluated: Conjunction = ()  # Schemas of the items that no other keyword evaluates.
    contained: list[Facet] = field(default_factory=list)  # Schemas of `contains`: at least one item satisfies each.
    uncontained: Conjunction = ()  # Schemas of all items beyond those drawn for `contains`.
    has_duplicates: bool = False  # True if two items must be equal.
    impossible: Reason | None = None  # The reason why no array satisfies the schema.


class ObjectForm(Struct):
    """The constraints on objects."""

    count: Sizes = field(default_factory=lambda: Sizes("Properties"))
    properties: dict[str, Conjunction] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    """Properties that this direction does not have (`readOnly` in requests, `writeOnly` in responses)."""
    required: dict[str, str] = field(default_factory=dict)  # Name -> pointer of the `required` that lists it.
    additional: Conjunction = ()
    closed_at: str | None = None  # Pointer of the `additionalProperties` that is false.
    declares_additional: bool = False  # True when the schema constrains additional properties.
    pattern_properties: list[tuple[str, Facet]] = field(default_factory=list)
    rules: list[Properties] = field(default_factory=list)  # The rules of each facet.
    unevaluated: Conjunction = ()  # Schemas of the properties that no other keyword evaluates.
    names: Conjunction = ()  # Schemas of the names.

    def of_name(self, name: str) -> Conjunction:
        """Return the schemas that hold for a property whatever its name."""
        found = tuple(facet for rule in self.rules for facet in rule.facets(name))
        if not self.unevaluated or any(
            rule.rest is not None or rule.declared(name) for rule in self.rules if not rule.is_silent
        ):
            return found
        return found + self.unevaluated


class Canonical(Struct):
    """The constraints of a conjunction, grouped by type."""

    pointer: str
    types: frozenset[str] = _ALL_TYPES
    type_pointer: str = ""
    enum: list[Any] | None = None
    enum_pointer: str = ""
    numbers: Numbers = field(default_factory=Numbers)
    formats: list[str] = field(default_factory=list)  # Formats of strings and numbers.
    strings: StringForm = field(default_factory=StringForm)
    arrays: ArrayForm = field(default_factory=ArrayForm)
    objects: ObjectForm = field(default_factory=ObjectForm)
    branches: list[Branches] = field(default_factory=list)
    excluded: Exclusions = field(default_factory=Exclusions)
    examples: list[Any] = field(default_factory=list)
    told: list[Any] = field(default_factory=list)
    """Values from prose and from other places of the document; empty if there are examples (`prose_values.py`)."""
    opaque: dict[str, str] = field(default_factory=dict)  # Pointer -> keyword that only the validator enforces.
    needs_check: bool = False  # True if drawn values may still be invalid, although every keyword was read.
    impossible: Reason | None = None
    facets: list[Facet] = field(default_factory=list)  # All facets that were read.
    forbidden: list[tuple[Facet, str]] = field(default_factory=list)
    """The schema under each `not`, with the pointer of the `not`."""
    pushed: set[FacetKey] = field(default_factory=set)  # Facets whose `not` became a part of the conjunction.

    def base(self, owner: Facet | None = None, keyword: str = "") -> Conjunction:
        """Return the conjunction without one keyword of `owner`. References and `allOf` are resolved already."""
        return tuple(
            replace(
                facet,
                taken=facet.taken
                | FOLLOWED
                | ({keyword} if facet is owner else frozenset())
                | (_NOT if facet.key in self.pushed else frozenset()),
            )
            for facet in self.facets
        )


_NOT = frozenset({"not"})
FOLLOWED = frozenset({"$ref", "allOf", "$dynamicRef", "$recursiveRef"})


def identity(value: Any) -> bytes:
    """Return bytes that are equal for equal JSON values only: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(value, float):
        if not isfinite(value):
            # Values of YAML, which JSON cannot express. orjson would write each as null.
            return repr(value).encode()
        if value.is_integer():
            value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return b"%d" % value
    if isinstance(value, list):
        return b"[" + b",".join(map(identity, value)) + b"]"
    if isinstance(value, dict):
        return (
            b"{"
            + b",".join(repr(k).encode("utf-8", "surrogatepass") + b":" + identity(value[k]) for k in sorted(value))
            + b"}"
        )
    try:
        return orjson.dumps(value)
    except TypeError:
        return repr(value).encode("utf-8", "surrogatepass")


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal."""
    return identity(left) == identity(right)
