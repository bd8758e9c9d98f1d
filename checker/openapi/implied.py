"""What a schema says of the type of a value and of its parts, before there is a value: text is read by it.

Never too little: where it cannot be known, every type is possible. Only the raw document is asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from checker.core.schema import Dialect, Document, Schema, UnresolvableReference
from checker.validation.ecma import ecma_pattern
from checker.validation.pointers import pointer_child

ALL_TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_NULLABLE: Final = {Dialect.OPENAPI20: "x-nullable", Dialect.OPENAPI30: "nullable"}
_DEPTH = 24


@dataclass(frozen=True, slots=True)
class Choice:
    """Groups of which at least one holds."""

    alternatives: tuple["Node", ...]


Place = tuple[object, str]
"""A raw schema and where it stands."""
Node = tuple[Place | Choice, ...]
"""What all holds of one value; empty when nothing is said of it."""


def node_of(schema: Schema) -> Node:
    """Everything that is said of a value of the schema."""
    return ((schema.raw, schema.pointer),)


class Implied:
    """Questions to the schemas of one document."""

    def __init__(self, document: Document, dialect: Dialect) -> None:
        self._document = document
        self._dialect = dialect

    def types(self, node: Node) -> frozenset[str]:
        """JSON types that a value can have; `number` brings `integer` with it."""
        return self._types_of(node, 0)

    def item(self, node: Node, index: int) -> Node:
        """What is said of one item of an array."""
        return self._below(node, lambda raw: _items(raw, index), 0)

    def property(self, node: Node, name: str) -> Node:
        """What is said of one property of an object."""
        return self._below(node, lambda raw: _property(raw, name), 0)

    def names(self, node: Node) -> frozenset[str]:
        """Names of properties that are declared anywhere."""
        return frozenset(self._names(node, 0))

    def is_closed(self, node: Node) -> bool:
        """True when undeclared properties are forbidden in every case."""
        return any(
            not isinstance(term, Choice) and isinstance(term[0], dict) and _is_closed(term[0])
            for term in self._opened(node)
        )

    def _types_of(self, node: Node, depth: int) -> frozenset[str]:
        found = ALL_TYPES
        if depth > _DEPTH:
            return found
        for term in self._opened(node):
            if isinstance(term, Choice):
                union: frozenset[str] = frozenset()
                for alternative in term.alternatives:
                    union |= self._types_of(alternative, depth + 8)
                found &= union
            else:
                found &= self._own_types(term[0])
        return found

    def _own_types(self, raw: object) -> frozenset[str]:
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
                found &= frozenset().union(*map(_types_of_value, values))
        nullable = _NULLABLE.get(self._dialect)
        return found | {"null"} if nullable and raw.get(nullable) is True else found

    def _opened(self, node: Node) -> Iterator[Place | Choice]:
        """Terms with references followed and `allOf` laid open; each place once."""
        todo, seen = list(node), set()
        while todo:
            term = todo.pop(0)
            if isinstance(term, Choice):
                yield term
                continue
            raw, at = term
            if isinstance(raw, dict) and isinstance(raw.get("$ref"), str):
                try:
                    target = self._document.resolve(raw["$ref"], at=at)
                except UnresolvableReference:
                    continue
                if target[1] not in seen:
                    seen.add(target[1])
                    todo.append(target)
                if self._dialect in (Dialect.OPENAPI20, Dialect.OPENAPI30):
                    continue
            yield term
            if isinstance(raw, dict):
                todo += _places(raw, at, "allOf")
                for keyword in ("anyOf", "oneOf"):
                    branches = _places(raw, at, keyword)
                    if branches:
                        yield Choice(tuple((branch,) for branch in branches))

    def _below(self, node: Node, step: Any, depth: int) -> Node:
        if depth > 4:
            return ()
        found: list[Place | Choice] = []
        for term in self._opened(node):
            if isinstance(term, Choice):
                inner = tuple(self._below(one, step, depth + 1) for one in term.alternatives)
                # Where one alternative says nothing, nothing is known.
                if all(inner):
                    found.append(Choice(inner))
            elif isinstance(term[0], dict):
                found += ((raw, pointer_child(term[1], *tokens)) for raw, tokens in step(term[0]))
        return tuple(found)

    def _names(self, node: Node, depth: int) -> Iterator[str]:
        for term in self._opened(node):
            if isinstance(term, Choice):
                for one in term.alternatives if depth < 4 else ():
                    yield from self._names(one, depth + 1)
            elif isinstance(term[0], dict):
                properties = term[0].get("properties")
                yield from properties if isinstance(properties, dict) else ()


def _places(raw: dict[str, Any], at: str, keyword: str) -> list[Place | Choice]:
    branches = raw.get(keyword)
    if not isinstance(branches, list):
        return []
    return [
        (branch, pointer_child(at, keyword, str(index))) for index, branch in enumerate(branches)
    ]


def _items(raw: dict[str, Any], index: int) -> Iterator[tuple[object, tuple[str, ...]]]:
    items, prefix = raw.get("items"), raw.get("prefixItems")
    if isinstance(prefix, list) and index < len(prefix):
        yield prefix[index], ("prefixItems", str(index))
    elif isinstance(items, dict):
        yield items, ("items",)
    elif isinstance(items, list) and index < len(items):
        yield items[index], ("items", str(index))


def _property(raw: dict[str, Any], name: str) -> Iterator[tuple[object, tuple[str, ...]]]:
    properties, patterns = raw.get("properties"), raw.get("patternProperties")
    is_declared = False
    if isinstance(properties, dict) and name in properties:
        is_declared = True
        yield properties[name], ("properties", name)
    for pattern, inner in patterns.items() if isinstance(patterns, dict) else ():
        compiled = ecma_pattern(pattern)
        if compiled is not None and compiled.finds(name):
            is_declared = True
            yield inner, ("patternProperties", pattern)
    if not is_declared and isinstance(raw.get("additionalProperties"), dict):
        yield raw["additionalProperties"], ("additionalProperties",)


def _is_closed(raw: dict[str, Any]) -> bool:
    return raw.get("additionalProperties") is False or raw.get("unevaluatedProperties") is False


def _types_of_value(value: object) -> frozenset[str]:
    if value is None:
        return frozenset({"null"})
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int | float):
        is_whole = isinstance(value, int) or value.is_integer()
        return frozenset({"integer", "number"}) if is_whole else frozenset({"number"})
    if isinstance(value, str):
        return frozenset({"string"})
    return frozenset({"array" if isinstance(value, list) else "object"})
