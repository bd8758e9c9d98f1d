"""One meaning of a schema: all that holds for a value, gathered from references, `allOf` and siblings.

A value is described by a conjunction of facets, places of the document that it has to satisfy together. Children are
conjunctions again and are looked at when somebody asks, so that recursive schemas are nothing special.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final

from checker.core.schema import Dialect, Direction, Document
from checker.generation.conditions import conditions
from checker.generation.forms import (
    INTEGER,
    NULL,
    NUMBER,
    Branches,
    Canonical,
    Conjunction,
    Facet,
    Reason,
    same,
)
from checker.generation.properties import Properties, read_rest
from checker.validation.formats import INTEGER_RANGES
from checker.validation.keywords import Keyword, keywords_of
from checker.validation.pointers import pointer_child

OPENAPI: Final = (Dialect.OPENAPI20, Dialect.OPENAPI30, Dialect.OPENAPI31)
_HAS_SIBLINGS = frozenset(
    {Dialect.OPENAPI31, Dialect.DRAFT2019, Dialect.DRAFT2020},
)
_OPAQUE: Final = ("not", "$dynamicRef", "$recursiveRef")
_MANY = 32
_ANNOTATIONS: Final = frozenset(
    {
        "description",
        "title",
        "$comment",
        "deprecated",
        "externalDocs",
        "xml",
        "readOnly",
        "writeOnly",
    }
)
_NULLABLE = {Dialect.OPENAPI20: "x-nullable", Dialect.OPENAPI30: "nullable"}
_HIDDEN_FLAG = {Direction.REQUEST: "readOnly", Direction.RESPONSE: "writeOnly"}


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
        read = [(facet, self.said(facet)) for facet in facets]
        self._read_objects(read, found)
        for facet, raw in read:
            self._read_types(facet, raw, found)
            self._read_scalars(facet, raw, found)
            self._read_arrays(facet, raw, found)
            self._read_branches(facet, raw, found)
            self._read_examples(facet, raw, found)
        return found

    def target(self, facet: Facet) -> Facet:
        """What a facet that only refers to another one refers to: both are the same schema.

        Raises `UnresolvableReference`.
        """
        seen = set()
        while facet.key not in seen and not facet.is_partial and isinstance(facet.raw, dict):
            seen.add(facet.key)
            raw, at = facet.raw, facet.pointer
            said = [name for name in raw if name not in _ANNOTATIONS]
            parts = raw.get("allOf")
            if isinstance(raw.get("$ref"), str) and (not self._siblings or len(said) == 1):
                facet = Facet(*self.document.resolve(raw["$ref"], at=at))
            elif said == ["allOf"] and isinstance(parts, list) and len(parts) == 1:
                facet = Facet(parts[0], pointer_child(at, "allOf", "0"))
            else:
                break
        return facet

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

    def said(self, facet: Facet) -> dict[str, Any]:
        """Keywords of a facet that the dialect has and that are well-formed: what it says of values."""
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
        _read_contained(facet, raw, found)
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
        said = [Properties.of(facet, raw) for facet, raw in read]
        named = [item for properties in said for item in properties.named.items()]
        found.hidden = {name for name, facet in named if self._is_hidden(facet)}
        names = [name for name, _ in named]
        if any(properties.patterns for properties in said):
            # A required name may match a pattern; without patterns it is just an additional one.
            names += [name for _, raw in read for name in raw.get("required") or ()]
        for name in dict.fromkeys(names):
            if name not in found.hidden:
                parts = [facet for properties in said for facet in properties.facets(name)]
                found.properties[name] = tuple(parts)
        for (facet, raw), properties in zip(read, said, strict=True):
            for name in raw.get("required") or ():
                if name not in found.hidden:
                    found.required.setdefault(name, pointer_child(facet.pointer, "required"))
            found.property_count.read(raw, facet.pointer)
            read_rest(properties, raw, facet, found)

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
                alternatives = tuple(
                    (Facet(part, pointer_child(at, str(index))),)
                    for index, part in enumerate(raw[keyword])
                )
                found.branches.append(Branches(at, facet, keyword, alternatives))
        conditions(facet, raw, found)
        whole: Any = facet.raw
        for keyword in _OPAQUE:
            if keyword in whole and keyword not in facet.without:
                found.opaque[pointer_child(facet.pointer, keyword)] = keyword

    def _read_examples(self, facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
        whole: Any = facet.raw
        for keyword in ("example", "default"):
            if keyword in whole:
                found.examples.append(whole[keyword])
        if isinstance(whole.get("examples"), list):
            found.examples.extend(whole["examples"])


def _read_contained(facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
    if "contains" in raw:
        inner = Facet(raw["contains"], pointer_child(facet.pointer, "contains"))
        least = raw.get("minContains", 1)
        if least > _MANY:
            found.opaque[inner.pointer] = "contains"
        found.contained.extend([inner] * int(min(least, _MANY)))
        found.needs_check = found.needs_check or "maxContains" in raw
    if raw.get("unevaluatedItems") is False and "items" not in raw:
        found.no_items = True
    found.needs_check = found.needs_check or "unevaluatedItems" in raw


def _keywords(dialect: Dialect) -> dict[str, Keyword]:
    if dialect in OPENAPI:
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


def _contains(values: list[Any], value: Any) -> bool:
    return any(same(value, other) for other in values)


def _listed(names: Iterable[str]) -> str:
    return " or ".join(sorted(names)) or "none"
