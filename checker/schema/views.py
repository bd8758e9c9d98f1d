"""Views of JSON Schemas: everything that applies to one value, with references followed and `allOf` flattened.

Every room that needs to know what a schema states reads it through an `Outline`: the wire format its types, the corpus its
formats and bounds, observers its enumerations. An outline never states too much: where nothing is known, every type is
possible. Compiling and drawing need more (negations, scopes of dynamic anchors) and walk schemas themselves; the second
opinion (`validation.referee`) shares nothing with this module on purpose.
"""

import re
from collections.abc import Callable, Iterator, KeysView
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from checker.core.schema import Dialect, Document, Schema, pointer_child, target_of

ALL_TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
# Drafts before 2019-09 ignore siblings of `$ref` by the letter; stand-alone documents of theirs use them all the same, and an
# outline must not miss a type.
_SIBLINGS_COUNT: Final = frozenset(Dialect) - {Dialect.OPENAPI20, Dialect.OPENAPI30}
_NULLABLE: Final = {Dialect.OPENAPI20: "x-nullable", Dialect.OPENAPI30: "nullable"}
_DEEPEST = 4  # Levels of alternatives in alternatives. Below, every type is possible.
_COMBINING: Final = frozenset(("$ref", "allOf", "anyOf", "oneOf"))
_FEW_PARTS: Final = 32  # Parts of an outline that are looked at one by one for each property.
_LAST_ITEM: Final = -1  # Key of the newest outline of an item.


class AppliedSchema(Struct, frozen=True):
    """A raw schema that applies to a value, its place, and the reference that led to it."""

    raw: object
    pointer: str
    reference: str | None = None


class _Alternatives(Struct, frozen=True):
    alternatives: tuple["Outline", ...]


_Step = Callable[[dict[str, Any]], Iterator[tuple[object, tuple[str, ...]]]]


class Outline:
    """Everything that schemas state about one value; empty if they state nothing.

    Outlines are built on demand and keep their results, because judging a request needs the same outline several times.
    """

    __slots__ = ("_about", "_below", "_document", "_names", "_parts", "_terms", "_types", "_whole", "dialect")

    def __init__(self, document: Document, dialect: Dialect, terms: tuple[AppliedSchema | _Alternatives, ...]) -> None:
        self.dialect = dialect
        self._document = document
        self._terms = terms
        self._parts: tuple[AppliedSchema | _Alternatives, ...] | None = None
        self._types: frozenset[str] | None = None
        self._whole: tuple[AppliedSchema, ...] | None = None
        self._names: KeysView[str] | None = None
        self._below: dict[str | int, Outline] = {}
        self._about: dict[str | None, list[int]] | None = None
        """Property name -> indices of the parts that concern the property; under None those that may concern any property."""

    @property
    def types(self) -> frozenset[str]:
        """JSON types that a value can have; `number` brings `integer` with it."""
        if self._types is None:
            self._types = self._types_to(_DEEPEST)
        return self._types

    @property
    def names(self) -> KeysView[str]:
        """Names of properties that any part declares, in order."""
        if self._names is None:
            self._names = dict.fromkeys(self._keys_of("properties")).keys()
        return self._names

    @property
    def required(self) -> list[str]:
        """Names of properties that every value must have."""
        listed = [facet.raw.get("required") for facet in self.facets() if isinstance(facet.raw, dict)]
        return [name for names in listed if isinstance(names, list) for name in names if isinstance(name, str)]

    def declares(self, name: str) -> bool:
        """Whether some part declares a property, or has a pattern that matches its name."""
        if name in self.names:
            return True
        finds = [_finds(pattern) for pattern in self._keys_of("patternProperties")]
        return any(found is None or found(name) for found in finds)

    @property
    def is_closed(self) -> bool:
        """Whether undeclared properties are forbidden in every case."""
        return any(
            isinstance(facet.raw, dict)
            and False in (facet.raw.get("additionalProperties"), facet.raw.get("unevaluatedProperties"))
            for facet in self.facets()
        )

    def item(self, index: int) -> "Outline":
        """Return the outline of one item of an array."""
        found = self._below.get(index)
        if found is None:
            found = self._step("array", lambda raw: _items(raw, index), _DEEPEST)
            # Items after the prefix share an outline; otherwise each would compute its types again, even of a long enum.
            last = self._below.get(_LAST_ITEM)
            if last is not None and last._places() and last._places() == found._places():
                found = last
            self._below[index] = self._below[_LAST_ITEM] = found
        return found

    def _places(self) -> list[str]:
        """Return the places of the schemas; none if alternatives are among them."""
        places = [one.pointer for one in self._terms if isinstance(one, AppliedSchema)]
        return places if len(places) == len(self._terms) else []

    def property(self, name: str) -> "Outline":
        """Return the outline of one property of an object."""
        found = self._below.get(name)
        if found is None:
            parts = self._opened()
            if len(parts) > _FEW_PARTS:
                # With 4,096 parts of one property each, it took a minute to look at all parts for each property.
                if self._about is None:
                    self._about = {}
                    for index, part in enumerate(parts):
                        for key in _names_of(part):
                            self._about.setdefault(key, []).append(index)
                parts = tuple(parts[one] for one in sorted({*self._about.get(name, ()), *self._about.get(None, ())}))
            found = self._below[name] = self._step("object", lambda raw: _property(raw, name), _DEEPEST, parts)
        return found

    def schema(self) -> Schema | None:
        """Return the schema if a single one states everything; None otherwise."""
        first = self._terms[0] if len(self._terms) == 1 else None
        if not isinstance(first, AppliedSchema):
            return None
        return self.schema_at(first.raw, first.pointer)

    def schema_at(self, raw: object, pointer: str) -> Schema:
        """Return another schema of the same document."""
        return Schema(raw, pointer, self.dialect, self._document)

    def facets(self) -> list[AppliedSchema]:
        """Return the schemas that apply in every case: targets of references and parts of `allOf` included."""
        return [part for part in self._opened() if isinstance(part, AppliedSchema)]

    def alternatives(self) -> list[list["Outline"]]:
        """Return the outlines of the branches of each `anyOf` and `oneOf`."""
        return [list(part.alternatives) for part in self._opened() if isinstance(part, _Alternatives)]

    def parts(self) -> tuple[AppliedSchema, ...]:
        """Return every object schema that may apply, each once: first the facets, then the schemas of alternatives."""
        if self._whole is None:
            opened = self._opened()
            only = opened[0] if len(opened) == 1 else None
            if isinstance(only, AppliedSchema):
                self._whole = (only,) if isinstance(only.raw, dict) else ()
            else:
                self._whole = tuple(self._flattened())
        return self._whole

    def _flattened(self) -> Iterator[AppliedSchema]:
        seen: set[str] = set()
        entered: set[str] = set()
        level: list[Outline] = [self]
        while level:
            branches: list[Outline] = []
            for outline in level:
                for part in outline._opened():
                    if isinstance(part, _Alternatives):
                        branches += part.alternatives
                    elif isinstance(part.raw, dict) and part.pointer not in seen:
                        seen.add(part.pointer)
                        yield part
            # Alternatives of syntax trees contain each other: each place is entered once.
            level = [one for one in branches if entered.isdisjoint(one._places())]
            entered.update(place for one in level for place in one._places())

    def first(self, *keywords: str) -> Any:
        """Return the value of the first of these keywords that a part has; None if no part has one."""
        for part in self.parts():
            raw: Any = part.raw
            for keyword in keywords:
                if keyword in raw:
                    return raw[keyword]
        return None

    def _opened(self) -> tuple[AppliedSchema | _Alternatives, ...]:
        if self._parts is None:
            only = self._terms[0] if len(self._terms) == 1 else None
            # Fast path: in large descriptions nearly every schema is a single one without combining keywords.
            is_plain = isinstance(only, AppliedSchema) and (
                not isinstance(only.raw, dict) or _COMBINING.isdisjoint(only.raw)
            )
            self._parts = self._terms if is_plain else tuple(self._open())
        return self._parts

    def _open(self) -> Iterator[AppliedSchema | _Alternatives]:
        todo, seen = list(self._terms), set()
        while todo:
            term = todo.pop(0)
            if isinstance(term, _Alternatives):
                yield term
                continue
            raw = term.raw
            if isinstance(raw, dict) and isinstance(raw.get("$ref"), str):
                target = self.lookup(raw["$ref"], term.pointer)
                if target is not None and target[1] not in seen:
                    seen.add(target[1])
                    # The target comes before further parts, so that facets keep the order of the document.
                    todo.insert(0, AppliedSchema(*target, raw["$ref"]))
                if self.dialect not in _SIBLINGS_COUNT:
                    continue
            yield term
            if isinstance(raw, dict):
                todo += _branches(raw, term.pointer, "allOf")
                for keyword in ("anyOf", "oneOf"):
                    if branches := _branches(raw, term.pointer, keyword):
                        yield _Alternatives(tuple(self._of((branch,)) for branch in branches))

    def lookup(self, reference: str, at: str) -> tuple[object, str] | None:
        """Return the target of a reference in the document and its place; None if it leads nowhere."""
        return target_of(self._document, reference, at)

    def _of(self, terms: tuple[AppliedSchema | _Alternatives, ...]) -> "Outline":
        return Outline(self._document, self.dialect, terms)

    def _types_to(self, depth: int) -> frozenset[str]:
        # The depth is bounded because alternatives of syntax trees contain each other.
        found = ALL_TYPES
        for part in self._opened() if depth else ():
            if isinstance(part, AppliedSchema):
                found &= _own_types(part.raw, self.dialect)
            else:
                # At least one alternative applies, so the value may have the types of any of them.
                found &= frozenset().union(*(one._types_to(depth - 1) for one in part.alternatives))
        return found

    def _keys_of(self, keyword: str) -> Iterator[str]:
        for part in self.parts():
            raw: Any = part.raw
            named = raw.get(keyword)
            yield from named if isinstance(named, dict) else ()

    def _step(
        self, kind: str, step: _Step, depth: int, parts: tuple[AppliedSchema | _Alternatives, ...] | None = None
    ) -> "Outline":
        """Return the outline below `step`, of some parts or all; alternatives that cannot be of that kind are left out."""
        found: list[AppliedSchema | _Alternatives] = []
        for part in (self._opened() if parts is None else parts) if depth else ():
            if isinstance(part, _Alternatives):
                inner = tuple(
                    one._step(kind, step, depth - 1) for one in part.alternatives if kind in one._types_to(depth)
                )
                # If one alternative states nothing about the inner value, nothing is known about it.
                if inner and all(one._terms for one in inner):
                    found.append(_Alternatives(inner))
            elif isinstance(part.raw, dict):
                for raw, tokens in step(part.raw):
                    found.append(AppliedSchema(raw, pointer_child(part.pointer, *tokens)))
        return self._of(tuple(found))


def outline_of(schema: Schema) -> Outline:
    """Return the outline of the values of a schema."""
    return Outline(schema.document, schema.dialect, (AppliedSchema(schema.raw, schema.pointer),))


def type_of(value: object) -> frozenset[str]:
    """Return the JSON types of a value. A whole number has two types."""
    if value is None:
        return frozenset({"null"})
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int | float):
        is_whole = isinstance(value, int) or value.is_integer()
        return frozenset({"integer", "number"}) if is_whole else frozenset({"number"})
    if isinstance(value, str | bytes):
        return frozenset({"string"})
    return frozenset({"array" if isinstance(value, list) else "object"})


def _own_types(raw: object, dialect: Dialect) -> frozenset[str]:
    if raw is False:
        return frozenset()
    if not isinstance(raw, dict):
        return ALL_TYPES
    found = ALL_TYPES
    declared = raw.get("type")
    names = [declared] if isinstance(declared, str) else declared
    if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
        found = frozenset(names) & ALL_TYPES or ALL_TYPES
        if "number" in found:
            found |= {"integer"}
    for values in (raw.get("enum"), [raw["const"]] if "const" in raw else None):
        if isinstance(values, list) and values:
            listed = frozenset[str]().union(*map(type_of, values))
            # A type that no listed value has is ignored.
            found = found & listed or listed
    nullable = _NULLABLE.get(dialect)
    return found | {"null"} if nullable and raw.get(nullable) is True else found


def _branches(raw: dict[str, Any], at: str, keyword: str) -> list[AppliedSchema]:
    branches = raw.get(keyword)
    if not isinstance(branches, list):
        return []
    return [AppliedSchema(branch, f"{at}/{keyword}/{index}") for index, branch in enumerate(branches)]


def _names_of(part: AppliedSchema | _Alternatives) -> Iterator[str | None]:
    """Yield the names of the properties that a part concerns, and None if it may concern any property."""
    if isinstance(part, _Alternatives):
        yield None
        return
    raw = part.raw if isinstance(part.raw, dict) else {}
    properties = raw.get("properties")
    yield from (name for name in properties) if isinstance(properties, dict) else ()
    if isinstance(raw.get("patternProperties"), dict) or isinstance(raw.get("additionalProperties"), dict):
        yield None


def _items(raw: dict[str, Any], index: int) -> Iterator[tuple[object, tuple[str, ...]]]:
    items, prefix = raw.get("items"), raw.get("prefixItems")
    if isinstance(prefix, list) and index < len(prefix):
        yield prefix[index], ("prefixItems", str(index))
    elif isinstance(items, dict | bool):
        yield items, ("items",)
    elif isinstance(items, list):
        if index < len(items):
            yield items[index], ("items", str(index))
        elif isinstance(raw.get("additionalItems"), dict):
            yield raw["additionalItems"], ("additionalItems",)


def _property(raw: dict[str, Any], name: str) -> Iterator[tuple[object, tuple[str, ...]]]:
    properties, patterns = raw.get("properties"), raw.get("patternProperties")
    is_declared = False
    if isinstance(properties, dict) and name in properties:
        is_declared = True
        yield properties[name], ("properties", name)
    for pattern, inner in patterns.items() if isinstance(patterns, dict) else ():
        finds = _finds(pattern)
        if finds is None:
            # It is unknown whether such a pattern matches, so nothing is known about the property.
            is_declared = True
        elif finds(name):
            is_declared = True
            yield inner, ("patternProperties", pattern)
    if not is_declared and isinstance(raw.get("additionalProperties"), dict):
        yield raw["additionalProperties"], ("additionalProperties",)


@lru_cache(maxsize=256)
def _finds(pattern: str) -> Callable[[str], object] | None:
    try:
        return re.compile(pattern, re.ASCII).search
    except (re.error, RecursionError, OverflowError):
        return None
