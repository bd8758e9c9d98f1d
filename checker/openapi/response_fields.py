"""Places and names of the scalars in responses and bodies: read from schemas, or from examples if there is no schema."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from msgspec import Struct

from checker.core.resource_names import normalised, singular, words
from checker.core.schema import Schema
from checker.openapi.documents.dialects import elements, members
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.operation import OpenApiOperation
from checker.schema.pointers import pointer_child
from checker.schema.views import AppliedSchema, Outline, outline_of

_DEEP: Final = 7
_MOST: Final = 120
"""Fields of one schema."""
_STEPS: Final = 400
"""Schemas that are read for one response."""
_SCALARS: Final = frozenset(("string", "integer", "number", "boolean"))
_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}
_AFFIXES: Final = frozenset(
    ["response", "request", "output", "input", "out", "in", "dto", "schema", "model", "entity", "resource", "read",
     "create", "public", "full", "detail", "details", "view", "base"]
)  # fmt: skip
_COMPONENTS: Final = ("#/components/schemas/", "#/definitions/")


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
    """Key of the response; empty if none is described."""
    fields: tuple[AnswerField, ...] = ()
    noun: str = ""
    """The noun of the things in the schema's name: `user` of `UserResponse`."""


Outlines = dict[str, Outline]
"""Place of a schema -> its outline. Most descriptions show the same few objects in many responses: each is read once."""


def answer_fields(operation: OpenApiOperation, outlines: Outlines) -> AnswerFields:
    """Return the fields of the first 2xx response that has a schema, or else an example."""
    document = operation.owner.document
    responses = sorted(members(operation.definition.raw, operation.entry.pointer, "responses"))
    read = [(status, *document.object_at(raw, at)) for status, raw, at in responses if status.startswith("2")]
    for status, response, at in read:
        for raw, place in _schemas(response, at):
            noun, fields = _read(document.schema(raw, place), outlines)
            if fields:
                return AnswerFields(status, fields, noun)
    for status, response, at in read:
        for example in _examples(document, response, at):
            _, fields = _read(document.schema(_schema_of(example), at), {})
            if fields:
                return AnswerFields(status, fields)
    return AnswerFields(read[0][0] if read else "")


_URL_NAMES: Final = ("url", "uri", "href", "link", "links", "self", "location")
_URL_FORMATS: Final = ("uri", "uri-reference", "iri", "iri-reference", "url")


def leads_elsewhere(operation: OpenApiOperation) -> bool:
    """Whether headers of described responses may hold URLs of other resources, as their names or the statuses say."""
    document = operation.owner.document
    for status, raw, at in members(operation.definition.raw, operation.entry.pointer, "responses"):
        response, place = document.object_at(raw, at)
        headers = {name.lower() for name, _, _ in members(response, place, "headers")}
        if status in ("201", "202") or status.startswith("3") or not headers.isdisjoint(("location", "link")):
            return True
    return False


def may_show_urls(answer: AnswerFields) -> bool:
    """Whether bodies of responses may hold URLs of other resources, by names and formats of fields; they may if nothing is described."""
    fields = answer.fields
    return not fields or any(
        one.name.endswith(_URL_NAMES) or one.pointer.endswith("/@id") or one.format in _URL_FORMATS for one in fields
    )


def body_fields(operation: OpenApiOperation, outlines: Outlines) -> tuple[AnswerField, ...]:
    """Return the fields of the first body that can be sent."""
    for body in operation.bodies[:1]:
        return _read(body.schema, outlines, "readOnly")[1]
    return ()


def type_of_schema(schema: Schema) -> str:
    """Return the type of a schema; empty if it has several or none."""
    return next(filter(None, (_type(part.raw) for part in outline_of(schema).parts())), "")


def _schemas(response: Mapping[str, Any], at: str) -> Iterator[tuple[object, str]]:
    if "schema" in response:
        yield response["schema"], pointer_child(at, "schema")
    for _, value, place in members(response, at, "content"):
        if isinstance(value, dict) and "schema" in value:
            yield value["schema"], pointer_child(place, "schema")


def _examples(document: OpenApiDocument, response: Mapping[str, Any], at: str) -> Iterator[object]:
    """Yield the examples of whole responses (OpenAPI 2.0: `examples` by media type)."""
    for _, example, _ in members(response, at, "examples"):
        yield example
    for _, value, place in members(response, at, "content"):
        if isinstance(value, dict):
            yield value.get("example")
        for _, one, inner in members(value, place, "examples"):
            yield document.object_at(one, inner)[0].get("value")


def _read(schema: Schema, outlines: Outlines, hidden: str = "writeOnly") -> tuple[str, tuple[AnswerField, ...]]:
    """Return the noun of the first named object, and all fields, outermost first; fields flagged `hidden` are left out."""
    left = _STEPS
    found: dict[str, AnswerField] = {}
    nouns: list[str] = []
    level: Iterable[_FieldNode] = [_FieldNode(outline_of(schema), "", "", "", required=True)]
    for depth in range(_DEEP + 1):
        # The children of a node are made when they are reached: most reads end before the deepest level.
        below: list[Iterator[_FieldNode]] = []
        for node in level:
            parts, outline = node.outline.parts(), node.outline
            if len(parts) == 1:
                outline = outlines.setdefault(parts[0].pointer, outline)
            parts = parts[:left]
            left -= len(parts)
            references = (one.reference or "" for one in parts)
            nouns += (one.rpartition("/")[2] for one in references if one.startswith(_COMPONENTS))
            if outline.first(hidden) is True:
                continue
            for one in parts:
                kind = _type(one.raw)
                if kind in _SCALARS:
                    form = one.raw.get("format") if isinstance(one.raw, dict) else None
                    known = node.pointer, node.name, kind, depth, node.required, node.holder
                    found[node.pointer] = AnswerField(*known, form if isinstance(form, str) else "")
                    break
            below.append(_children(node, outline, parts))
            if len(found) >= _MOST or left <= 0:
                return _noun(nouns), tuple(found.values())
        level = chain.from_iterable(below)
    return _noun(nouns), tuple(found.values())


class _FieldNode(Struct, frozen=True):
    """The schemas of the value at a pointer."""

    outline: Outline
    pointer: str
    name: str
    holder: str
    required: bool


def _children(node: _FieldNode, outline: Outline, parts: tuple[AppliedSchema, ...]) -> Iterator[_FieldNode]:
    raws = [one.raw for one in parts if isinstance(one.raw, dict)]
    required = {str(name) for raw in raws for name in elements(raw.get("required"))}
    for name in outline.names:
        pointer, is_required = pointer_child(node.pointer, name), node.required and name in required
        yield _FieldNode(outline.property(name), pointer, normalised(name), singular(node.name), required=is_required)
    if any(isinstance(raw.get("items"), dict) for raw in raws):
        yield _FieldNode(outline.item(0), f"{node.pointer}/*", node.name, node.holder, required=False)


def _schema_of(value: object, depth: int = _DEEP + 1) -> dict[str, Any]:
    """Return a schema with the names and types of a value; of the JSON in it for a text that holds JSON."""
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


def _type(raw: object) -> str:
    kind = raw.get("type") if isinstance(raw, dict) else None
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
