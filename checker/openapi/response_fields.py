"""Places and names of the scalars in responses and bodies: read from schemas, or from examples if there is no schema."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.resource_names import normalised, singular, words
from checker.core.schema import Schema, pointer_child
from checker.openapi.documents.dialects import elements, items_of, members
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.operation import OpenApiOperation
from checker.schema.views import Outline, outline_of

# A limit of four levels left out `/data/*/lines/*/id` in a page of orders.
_DEEP: Final = 7
_MOST: Final = 120  # Fields of one schema.
_STEPS: Final = 400  # Schemas that are read for one response.
_SCALARS: Final = frozenset(("string", "integer", "number", "boolean"))
_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}
_AFFIXES: Final = frozenset(
    ["response", "request", "output", "input", "out", "in", "dto", "schema", "model", "entity", "resource", "read",
     "create", "public", "full", "detail", "details", "view", "base"]
)  # fmt: skip
_COMPOUND: Final = frozenset(("$ref", "allOf", "anyOf", "oneOf", "properties", "items"))
_FLAGS: Final = frozenset(("readOnly", "writeOnly"))
_COMPONENTS: Final = ("#/components/schemas/", "#/definitions/")


class AnswerField(Struct, frozen=True):
    """One scalar."""

    pointer: str  # `/items/*/id`: `*` for every item.
    name: str  # Normalised; for an item that is a scalar, the name of its list.
    kind: str
    depth: int
    required: bool = False
    holder: str = ""
    """The singular name of the object or list around it: `line` of `/data/*/lines/*/id`; empty at the root."""
    format: str = ""


class AnswerFields(Struct, frozen=True):
    """Fields of the successful responses of one operation."""

    status: str  # Key of the response; empty if none is described.
    fields: tuple[AnswerField, ...] = ()
    noun: str = ""  # The noun in the name of the schema: `user` of `UserResponse`.
    _by_name: dict[str, list[tuple[int, AnswerField]]] = field(default_factory=dict)
    """Shared by all operations with the same fields."""

    def named(self, names: Iterable[str]) -> Iterator[tuple[int, AnswerField]]:
        """Yield the fields with one of these names, each with its index among all."""
        if self.fields and not self._by_name:
            for place, one in enumerate(self.fields):
                self._by_name.setdefault(one.name, []).append((place, one))
        for name in names:
            yield from self._by_name.get(name, ())


class _Member(Struct):
    """A property of the values of a schema, or its items."""

    token: str  # Token of the pointer of the member: `/id`, `/*`.
    key: str | None  # None: the items.
    name: str
    required: bool
    shape: "_Shape | None" = None  # None until it is first reached.


class _Shape(Struct):
    """The fields of a schema. Each schema is read once, because most descriptions show the same few objects in many responses."""

    size: int  # Number of its parts.
    noun: str
    kind: str  # Its first scalar type; empty if there is none.
    format: str
    flags: frozenset[str]
    members: tuple[_Member, ...]
    outline: Outline | None  # None without members.
    read: dict[str, AnswerFields] = field(default_factory=dict)
    """Keyword of omitted fields (`writeOnly`) -> the remaining fields of this shape."""


Shapes = dict[tuple[object, ...], _Shape]
"""Key of a schema -> its shape. The key is (place, identity) of each part, which the shape keeps alive; for scalars it is type, format and flags.

Forms of Swagger 2.0 have the place of their first field, which operations may share.
"""
_FieldNode = tuple[_Shape, str, str, str, bool]
"""A value: shape, pointer, normalised name, singular name of the object around it, whether it is required."""


def answer_fields(operation: OpenApiOperation, shapes: Shapes) -> AnswerFields:
    """Return the fields of the first 2xx response that has a schema, or else an example."""
    document = operation.owner.document
    responses = sorted(members(operation.definition.raw, operation.entry.pointer, "responses"))
    read = [(status, *document.object_at(raw, at)) for status, raw, at in responses if status.startswith("2")]
    for status, response, at in read:
        for raw, place in _schemas(response, at):
            found = _read(document.schema(raw, place), shapes)
            if found.fields:
                return replace(found, status=status)
    for status, response, at in read:
        for example in _examples(document, response, at):
            fields = _read(document.schema(_schema_of(example), at), {}).fields
            if fields:
                return AnswerFields(status, fields)
    return AnswerFields(read[0][0] if read else "")


_URL_NAMES: Final = ("url", "uri", "href", "link", "links", "self", "location")
_URL_FORMATS: Final = ("uri", "uri-reference", "iri", "iri-reference", "url")


def leads_elsewhere(operation: OpenApiOperation) -> bool:
    """Whether headers of described responses may hold URLs of other resources, by their names or the statuses."""
    document = operation.owner.document
    for status, raw, at in members(operation.definition.raw, operation.entry.pointer, "responses"):
        response, place = document.object_at(raw, at)
        headers = {name.lower() for name, _, _ in members(response, place, "headers")}
        if status in ("201", "202") or status.startswith("3") or not headers.isdisjoint(("location", "link")):
            return True
    return False


def may_show_urls(answer: AnswerFields) -> bool:
    """Whether bodies of responses may hold URLs of other resources, judged by names and formats of fields; True if nothing is described."""
    fields = answer.fields
    return not fields or any(
        one.name.endswith(_URL_NAMES) or one.pointer.endswith("/@id") or one.format in _URL_FORMATS for one in fields
    )


def body_fields(operation: OpenApiOperation, shapes: Shapes) -> tuple[AnswerField, ...]:
    """Return the fields of the first body that can be sent, including undeclared fields of its examples."""
    for body in operation.bodies[:1]:
        found = {one.pointer: one for one in _read(body.schema, shapes, "readOnly").fields}
        for example in body.examples:
            schema = operation.owner.document.schema(_schema_of(example.value), example.pointer)
            found = {one.pointer: one for one in _read(schema, {}).fields} | found
        return tuple(found.values())
    return ()


def type_of_values(outline: Outline) -> str:
    """Return the type of the values of a schema; empty if it has several or none."""
    return next(filter(None, (_type(part.raw) for part in outline.parts())), "")


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


def _read(schema: Schema, shapes: Shapes, hidden: str = "writeOnly") -> AnswerFields:
    """Return the fields without a status, outermost first; fields flagged `hidden` are left out."""
    shape = _shape_of(outline_of(schema), shapes)
    # Reading each schema once for all responses takes 0.6 of the time for GitHub's description, 0.4 for Kubernetes.
    known = shape.read.get(hidden)
    if known is None:
        known = shape.read[hidden] = _walked(shape, shapes, hidden)
    return known


def _walked(root: _Shape, shapes: Shapes, hidden: str) -> AnswerFields:
    left, noun = _STEPS, ""
    found: dict[str, AnswerField] = {}
    level: Iterable[_FieldNode] = [(root, "", "", "", True)]
    for depth in range(_DEEP + 1):
        # The children of a node are made when they are reached: most reads end before the deepest level.
        below: list[Iterator[_FieldNode]] = []
        for node in level:
            shape, pointer, name, holder, is_required = node
            left -= shape.size
            noun = noun or shape.noun
            if hidden in shape.flags:
                continue
            if shape.kind:
                found[pointer] = AnswerField(pointer, name, shape.kind, depth, is_required, holder, shape.format)
            if shape.members:
                below.append(_children(node, shapes))
            if len(found) >= _MOST or left <= 0:
                return AnswerFields("", tuple(found.values()), noun)
        level = chain.from_iterable(below)
    return AnswerFields("", tuple(found.values()), noun)


def _shape_of(outline: Outline, shapes: Shapes) -> _Shape:
    parts = outline.parts()
    places = tuple((one.pointer, id(one.raw)) for one in parts)
    known = shapes.get(places)
    if known is not None:
        return known
    raws: list[dict[str, Any]] = [one.raw for one in parts if isinstance(one.raw, dict)]
    references = (one.reference or "" for one in parts)
    named = next((one.rpartition("/")[2] for one in references if one.startswith(_COMPONENTS)), "")
    required = {str(name) for raw in raws for name in elements(raw.get("required"))}
    only = raws[0] if len(raws) == 1 and "patternProperties" not in raws[0] else {}
    plain = {name: _scalar(raw, shapes) for name, raw in items_of(only.get("properties"))}
    members = [
        _Member(pointer_child("", name), name, normalised(name), name in required, plain.get(name))
        for name in outline.names
    ]
    if any(isinstance(raw.get("items"), dict) for raw in raws):
        members.append(_Member("/*", None, "", required=False))
    own = list(words(named.rpartition(".")[2]))
    while len(own) > 1 and own[-1] in _AFFIXES:
        own.pop()
    noun = singular("".join(own))
    flags = frozenset(flag for flag in _FLAGS if outline.first(flag) is True)
    shapes[places] = found = _Shape(len(parts), noun, *_kind_of(raws), flags, tuple(members), outline)
    return found


def _scalar(raw: object, shapes: Shapes) -> _Shape | None:
    """Return the shape of a schema by itself without members, as most properties have; None for other schemas."""
    if not isinstance(raw, dict) or not _COMPOUND.isdisjoint(raw):
        return None
    # Most properties have none.
    flags = frozenset[str]() if _FLAGS.isdisjoint(raw) else frozenset(flag for flag in _FLAGS if raw.get(flag) is True)
    key = (*_kind_of([raw]), flags)
    return shapes.get(key) or shapes.setdefault(key, _Shape(1, "", *key, (), None))


def _kind_of(raws: Iterable[dict[str, Any]]) -> tuple[str, str]:
    """Return the first scalar type in schemas of one value and its format; empty if there is none."""
    for raw in raws:
        kind, form = _type(raw), raw.get("format")
        if kind in _SCALARS:
            return kind, form if isinstance(form, str) else ""
    return "", ""


def _children(node: _FieldNode, shapes: Shapes) -> Iterator[_FieldNode]:
    shape, pointer, name, holder, is_required = node
    inner = singular(name)
    for one in shape.members:
        if one.shape is None:
            assert shape.outline is not None
            below = shape.outline.item(0) if one.key is None else shape.outline.property(one.key)
            one.shape = _shape_of(below, shapes)
        if one.key is None:
            yield one.shape, f"{pointer}/*", name, holder, False
        else:
            yield one.shape, pointer + one.token, one.name, inner, is_required and one.required


def _schema_of(value: object, depth: int = _DEEP + 1) -> dict[str, Any]:
    """Return a schema with the names and types of a value. For a text that contains JSON, it describes that JSON."""
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
    if isinstance(value, str) and value.startswith(("http://", "https://")):
        return {"type": "string", "format": "uri"}
    return {"type": _TYPES[type(value)]} if type(value) in _TYPES else {}


def _type(raw: object) -> str:
    kind = raw.get("type") if isinstance(raw, dict) else None
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        kind = kinds[0] if len(kinds) == 1 else ""
    return kind if isinstance(kind, str) else ""
