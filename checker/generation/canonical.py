"""One meaning of a schema: all that holds for a value, gathered from references, `allOf` and siblings.

A value is described by a conjunction of facets, places of the document that it has to satisfy together. Children are
conjunctions again and are looked at when somebody asks, so that recursive schemas are nothing special.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from checker.core.schema import Dialect, Direction, Document
from checker.generation.bounds import Numbers, Sizes
from checker.validation.formats import INTEGER_RANGES
from checker.validation.keywords import Keyword, keywords_of
from checker.validation.translate import pointer_child

NULL, BOOLEAN, INTEGER, NUMBER, STRING, ARRAY, OBJECT = (
    "null", "boolean", "integer", "number", "string", "array", "object",
)  # fmt: skip
TYPES: Final = (NULL, BOOLEAN, INTEGER, NUMBER, STRING, ARRAY, OBJECT)
_ALL_TYPES = frozenset(TYPES)
_HAS_SIBLINGS = frozenset(
    {Dialect.OPENAPI31, Dialect.DRAFT2019, Dialect.DRAFT2020},
)
_OPAQUE: Final = (
    "not", "if", "patternProperties", "propertyNames", "contains", "dependencies", "dependentRequired",
    "dependentSchemas", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_NULLABLE = {Dialect.OPENAPI20: "x-nullable", Dialect.OPENAPI30: "nullable"}
_HIDDEN_FLAG = {Direction.REQUEST: "readOnly", Direction.RESPONSE: "writeOnly"}


@dataclass(frozen=True, slots=True)
class Facet:
    """A schema that a value has to satisfy, some of its keywords left out."""

    raw: object
    pointer: str
    without: frozenset[str] = frozenset()

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
    """Alternatives of one `anyOf` or `oneOf`."""

    pointer: str
    owner: Facet
    keyword: str
    facets: tuple[Facet, ...]


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
            )
            for facet in self.facets
        )


_FOLLOWED = frozenset({"$ref", "allOf"})


class Canon:
    """Reads the schemas of one document in one direction."""

    def __init__(self, document: Document, dialect: Dialect, direction: Direction) -> None:
        self.document = document
        self.dialect = dialect
        self.direction = direction
        self._keywords = _keywords(dialect)
        self._siblings = dialect in _HAS_SIBLINGS
        self._nullable = _NULLABLE.get(dialect)
        self._flag = _HIDDEN_FLAG[direction]

    def canonical(self, conjunction: Conjunction) -> Canonical:
        """All that a conjunction says. Raises `UnresolvableReference`."""
        found = Canonical(conjunction[0].pointer if conjunction else "#")
        facets = found.facets
        seen: set[tuple[str, frozenset[str]]] = set()
        for facet in conjunction:
            self._flatten(facet, seen, facets, found)
        read = [(facet, self._well_formed(facet)) for facet in facets]
        self._read_objects(read, found)
        for facet, raw in read:
            self._read_types(facet, raw, found)
            self._read_scalars(facet, raw, found)
            self._read_arrays(facet, raw, found)
            self._read_branches(facet, raw, found)
            self._read_examples(facet, raw, found)
        return found

    def _flatten(
        self,
        facet: Facet,
        seen: set[tuple[str, frozenset[str]]],
        out: list[Facet],
        found: Canonical,
    ) -> None:
        if facet.raw is False:
            found.impossible = Reason(facet.pointer, "the schema `false` admits nothing")
        raw = facet.raw
        if not isinstance(raw, dict) or facet.key in seen:
            return
        seen.add(facet.key)
        reference = raw.get("$ref")
        if isinstance(reference, str) and "$ref" not in facet.without:
            target, pointer = self.document.resolve(reference, at=facet.pointer)
            self._flatten(Facet(target, pointer), seen, out, found)
            if not self._siblings:
                return
        out.append(facet)
        parts = raw.get("allOf")
        if isinstance(parts, list) and "allOf" not in facet.without:
            for index, part in enumerate(parts):
                at = pointer_child(facet.pointer, "allOf", str(index))
                self._flatten(Facet(part, at), seen, out, found)

    def _well_formed(self, facet: Facet) -> dict[str, Any]:
        raw: Any = facet.raw
        return {
            name: value
            for name, value in raw.items()
            if name not in facet.without and _is_said(self._keywords.get(name), value)
        }

    def _read_types(self, facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
        declared = raw.get("type")
        pointer = pointer_child(facet.pointer, "type")
        if declared is not None:
            names = {declared} if isinstance(declared, str) else set(declared)
            if NUMBER in names:
                names.add(INTEGER)
            if self._nullable and facet.raw.get(self._nullable) is True:  # type: ignore[attr-defined]
                names.add(NULL)
            both = found.types & names
            if not both and found.impossible is None:
                found.impossible = Reason(
                    pointer,
                    f"type {_listed(names)} and type {_listed(found.types)} exclude each other",
                )
            found.types = both
            found.type_pointer = pointer
        values = [raw["const"]] if "const" in raw else raw.get("enum")
        if "const" in raw and "enum" in raw:
            values = [value for value in values or () if _contains(raw["enum"], value)]
        if values is not None:
            known = found.enum
            found.enum_pointer = pointer_child(facet.pointer, "const" if "const" in raw else "enum")
            found.enum = (
                list(values) if known is None else [v for v in known if _contains(values, v)]
            )

    def _read_scalars(self, facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
        numbers, at = found.numbers, facet.pointer
        for keyword in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
            value = raw.get(keyword)
            if value is None or isinstance(value, bool):
                continue
            flag = raw.get("exclusive" + keyword.capitalize()) is True
            numbers.bound(keyword, value, pointer_child(at, keyword), is_exclusive=flag)
        if "multipleOf" in raw:
            numbers.multiple(Fraction(str(raw["multipleOf"])))
        name = raw.get("format")
        if name is not None and name not in found.formats:
            found.formats.append(name)
            bounds = INTEGER_RANGES.get(name)
            if bounds is not None:
                numbers.bound("minimum", bounds[0], pointer_child(at, "format"))
                numbers.bound("maximum", bounds[1], pointer_child(at, "format"))
        found.lengths.read(raw, at)
        if "pattern" in raw:
            found.patterns.append((raw["pattern"], pointer_child(at, "pattern")))

    def _read_arrays(self, facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
        found.item_count.read(raw, facet.pointer)
        found.unique = found.unique or raw.get("uniqueItems") is True
        at, items = facet.pointer, raw.get("items")
        prefix, rest = raw.get("prefixItems"), ("items", items)
        if isinstance(items, list):
            prefix, rest = items, ("additionalItems", raw.get("additionalItems"))
        if prefix is None and items is None:
            return
        tail: Conjunction = ()
        if rest[1] is False:
            found.no_items = True
        elif rest[1] is not None:
            tail = (Facet(rest[1], pointer_child(at, rest[0])),)
        keyword = "prefixItems" if "prefixItems" in raw else "items"
        own = [
            Facet(item, pointer_child(at, keyword, str(index)))
            for index, item in enumerate(prefix or ())
        ]
        for index in range(max(len(own), len(found.prefix))):
            mine = (own[index],) if index < len(own) else tail
            if index < len(found.prefix):
                found.prefix[index] += mine
            else:
                found.prefix.append(found.items + mine)
        found.items += tail

    def _read_objects(self, read: list[tuple[Facet, dict[str, Any]]], found: Canonical) -> None:
        said = [_Properties.of(facet, raw) for facet, raw in read]
        named = [item for properties in said for item in properties.named.items()]
        found.hidden = {name for name, facet in named if self._is_hidden(facet)}
        for name in dict.fromkeys(name for name, _ in named):
            if name not in found.hidden:
                parts = [properties.facet(name) for properties in said]
                found.properties[name] = tuple(part for part in parts if part is not None)
        for (facet, raw), properties in zip(read, said, strict=True):
            for name in raw.get("required") or ():
                if name not in found.hidden:
                    found.required.setdefault(name, pointer_child(facet.pointer, "required"))
            found.property_count.read(raw, facet.pointer)
            if properties.rest is not None:
                _read_rest(properties.rest, found)

    def _is_hidden(self, facet: Facet) -> bool:
        raw = facet.raw
        for _ in range(8):
            if not isinstance(raw, dict):
                return False
            if raw.get(self._flag) is True:
                return True
            reference = raw.get("$ref")
            if isinstance(reference, str):
                raw, _ = self.document.resolve(reference, at=facet.pointer)
            elif isinstance(raw.get("allOf"), list) and len(raw["allOf"]) == 1:
                raw = raw["allOf"][0]
            else:
                return False
        return False

    def _read_branches(self, facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
        for keyword in ("anyOf", "oneOf"):
            if keyword in raw:
                at = pointer_child(facet.pointer, keyword)
                facets = tuple(
                    Facet(part, pointer_child(at, str(index)))
                    for index, part in enumerate(raw[keyword])
                )
                found.branches.append(Branches(at, facet, keyword, facets))
        for keyword in _OPAQUE:
            if keyword in raw:
                found.opaque[pointer_child(facet.pointer, keyword)] = keyword

    def _read_examples(self, facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
        whole: Any = facet.raw
        for keyword in ("example", "default"):
            if keyword in whole:
                found.examples.append(whole[keyword])
        if isinstance(whole.get("examples"), list):
            found.examples.extend(whole["examples"])


@dataclass(frozen=True, slots=True)
class _Properties:
    """What one facet says of properties."""

    named: dict[str, Facet]
    rest: Facet | None
    has_patterns: bool

    @classmethod
    def of(cls, facet: Facet, raw: dict[str, Any]) -> "_Properties":
        at = pointer_child(facet.pointer, "properties")
        named = {
            name: Facet(value, pointer_child(at, name))
            for name, value in (raw.get("properties") or {}).items()
        }
        rest = raw.get("additionalProperties")
        place = pointer_child(facet.pointer, "additionalProperties")
        return cls(
            named, None if rest is None else Facet(rest, place), bool(raw.get("patternProperties"))
        )

    def facet(self, name: str) -> Facet | None:
        """What is said of a property; None when anything goes."""
        if name in self.named:
            return self.named[name]
        return None if self.has_patterns else self.rest


def _read_rest(rest: Facet, found: Canonical) -> None:
    found.says_additional = True
    if rest.raw is False:
        found.no_additional = found.no_additional or rest.pointer
    else:
        found.additional += (rest,)


def _keywords(dialect: Dialect) -> dict[str, Keyword]:
    if dialect in (Dialect.OPENAPI20, Dialect.OPENAPI30, Dialect.OPENAPI31):
        return dict(keywords_of(dialect))
    # The plain drafts share what they have in common with both tables.
    new = dict(keywords_of(Dialect.OPENAPI31))
    if dialect is Dialect.DRAFT2020:
        return new
    old = dict(keywords_of(Dialect.OPENAPI20))
    if dialect is Dialect.DRAFT4:
        return old
    return new | old


def _is_said(keyword: Keyword | None, value: Any) -> bool:
    return keyword is not None and keyword.is_well_formed(value)


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _contains(values: list[Any], value: Any) -> bool:
    return any(same(value, other) for other in values)


def _listed(names: Iterator[str] | set[str] | frozenset[str]) -> str:
    return " or ".join(sorted(names)) or "none"
