"""Scalars that answers and bodies hold by their schemas, or by examples where there are none: where they stand, and what they are called."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from checker.core.resource_names import normalised, singular, words
from checker.core.schema import Schema
from checker.openapi.documents.dialects import elements, members
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.operation import OpenApiOperation
from checker.schema.pointers import pointer_child

_DEEP: Final = 7
_MOST: Final = 120
"""Fields of one schema."""
_STEPS: Final = 400
"""Schemas that are looked at for one answer."""
_SCALARS: Final = frozenset(("string", "integer", "number", "boolean"))
_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}
_AFFIXES: Final = frozenset(
    ["response", "request", "output", "input", "out", "in", "dto", "schema", "model", "entity", "resource", "read",
     "create", "public", "full", "detail", "details", "view", "base"]
)  # fmt: skip
_COMPONENTS: Final = ("#/components/schemas/", "#/definitions/")
_ALTERNATIVES: Final = ("allOf", "oneOf", "anyOf")


class AnswerField(Struct, frozen=True):
    """One scalar."""

    pointer: str
    """`/items/*/id`: `*` for every item."""
    name: str
    """Normalised; of an item that is a scalar, that of its list."""
    kind: str
    depth: int
    required: bool = False
    holder: str = ""
    """The singular name of the object or list around it: `line` of `/data/*/lines/*/id`; empty at the root."""
    format: str = ""


class AnswerFields(Struct, frozen=True):
    """Fields of the successful responses of one operation."""

    status: str
    """Key of the response; empty when none is described."""
    fields: tuple[AnswerField, ...] = ()
    noun: str = ""
    """The noun of the things in the schema's name: `user` of `UserResponse`."""


class SchemaFields(Struct):
    """Reads schemas of one document, as far as names and types go."""

    document: OpenApiDocument
    _left: int = 0

    def of_answer(self, operation: OpenApiOperation) -> AnswerFields:
        """Return the fields of the first 2xx response that has a schema, or else an example."""
        responses = sorted(members(operation.definition.raw, operation.entry.pointer, "responses"))
        read = [(status, *self.document.object_at(raw, at)) for status, raw, at in responses if status.startswith("2")]
        for status, response, at in read:
            for raw, place in self._schemas(response, at):
                noun, fields = self._read(raw, place)
                if fields:
                    return AnswerFields(status, fields, noun)
        for status, response, at in read:
            for example in self._examples(response, at):
                _, fields = self._read(_schema_of(example), at)
                if fields:
                    return AnswerFields(status, fields)
        return AnswerFields(read[0][0] if read else "")

    def of_body(self, operation: OpenApiOperation) -> tuple[AnswerField, ...]:
        """Return the fields of the first body that can be sent."""
        for body in operation.bodies[:1]:
            return self._read(body.schema.raw, body.schema.pointer, "readOnly")[1]
        return ()

    def kind_of(self, schema: Schema) -> str:
        """The one type that a schema has; empty for several and for none."""
        raw, _ = self.document.object_at(schema.raw, schema.pointer)
        return _kind(raw)

    def _schemas(self, response: Mapping[str, Any], at: str) -> Iterator[tuple[object, str]]:
        if "schema" in response:
            yield response["schema"], pointer_child(at, "schema")
        for _, value, place in members(response, at, "content"):
            if isinstance(value, dict) and "schema" in value:
                yield value["schema"], pointer_child(place, "schema")

    def _examples(self, response: Mapping[str, Any], at: str) -> Iterator[object]:
        """Yield the examples of whole responses (OpenAPI 2.0: `examples` by media type)."""
        for _, example, _ in members(response, at, "examples"):
            yield example
        for _, value, place in members(response, at, "content"):
            if isinstance(value, dict):
                yield value.get("example")
            for _, one, inner in members(value, place, "examples"):
                yield self.document.object_at(one, inner)[0].get("value")

    def _read(self, raw: object, at: str, hidden: str = "writeOnly") -> tuple[str, tuple[AnswerField, ...]]:
        """The noun of the first named object, and all fields, outermost first; without those that the flag `hidden` has."""
        self._left = _STEPS
        found: dict[str, AnswerField] = {}
        nouns: list[str] = []
        level = [_FieldNode(raw, at, "", "", "", required=True)]
        for depth in range(_DEEP + 1):
            below: list[_FieldNode] = []
            for node in level:
                for schema, place in self._flattened(node.raw, node.at, nouns):
                    if schema.get(hidden) is True:
                        break
                    kind = _kind(schema)
                    if kind in _SCALARS:
                        form = schema.get("format")
                        form = form if isinstance(form, str) else ""
                        known = node.pointer, node.name, kind, depth, node.required, node.holder
                        found.setdefault(node.pointer, AnswerField(*known, form))
                    below += _children(schema, place, node)
                if len(found) >= _MOST or self._left <= 0:
                    return _noun(nouns), tuple(found.values())
            level = below
        return _noun(nouns), tuple(found.values())

    def _flattened(self, raw: object, at: str, nouns: list[str]) -> Iterator[tuple[Mapping[str, Any], str]]:
        """A schema and its alternatives and parts, without references."""
        waiting = [(raw, at)]
        while waiting and self._left > 0:
            self._left -= 1
            raw, at = waiting.pop()
            if not isinstance(raw, dict):
                continue
            reference = raw.get("$ref")
            if isinstance(reference, str) and reference.startswith(_COMPONENTS):
                nouns.append(reference.rpartition("/")[2])
            schema, at = self.document.object_at(raw, at)
            yield schema, at
            for key in _ALTERNATIVES:
                for number, part in enumerate(elements(schema.get(key))):
                    waiting.append((part, pointer_child(at, key, str(number))))


class _FieldNode(Struct, frozen=True):
    """A schema that describes what stands at a pointer."""

    raw: object
    at: str
    pointer: str
    name: str
    holder: str
    required: bool


def _children(schema: Mapping[str, Any], at: str, node: _FieldNode) -> Iterator[_FieldNode]:
    required = set(map(str, elements(schema.get("required"))))
    for name, value, place in members(schema, at, "properties"):
        if isinstance(value, dict):
            yield _FieldNode(
                value,
                place,
                pointer_child(node.pointer, name),
                normalised(name),
                singular(node.name),
                required=node.required and name in required,
            )
    if isinstance(schema.get("items"), dict):
        place = pointer_child(at, "items")
        items = f"{node.pointer}/*"
        yield _FieldNode(schema["items"], place, items, node.name, node.holder, required=False)


def _schema_of(value: object, depth: int = _DEEP + 1) -> dict[str, Any]:
    """Names and types of a value, as a schema says them; of a text that holds JSON, those of that."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and depth > _DEEP:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    if isinstance(value, dict):
        inner = islice(value.items(), _MOST) if depth else ()
        return {"type": "object", "properties": {str(name): _schema_of(one, depth - 1) for name, one in inner}}
    if isinstance(value, list):
        return {"type": "array", "items": _schema_of(value[0], depth - 1) if value and depth else {}}
    return {"type": _TYPES[type(value)]} if type(value) in _TYPES else {}


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        kind = kinds[0] if len(kinds) == 1 else ""
    return kind if isinstance(kind, str) else ""


def _noun(names: list[str]) -> str:
    """Return the first name without affixes such as `Response`, singular."""
    if not names:
        return ""
    parts = list(words(names[0].rpartition(".")[2]))
    while len(parts) > 1 and parts[-1] in _AFFIXES:
        parts.pop()
    return singular("".join(parts))
