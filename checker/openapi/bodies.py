"""Request bodies of an operation: those that can be sent, and the reasons why others cannot."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import Struct, structs

from checker.core.media_types import is_multipart
from checker.core.operation import Body, BodyFault, Example, PropertyEncoding, UnusableBody
from checker.core.registry import BODY_STRATEGIES, SERIALIZERS, BuiltIn, SerializationContext, Serializer
from checker.core.schema import Dialect, UnresolvableReference, pointer_child
from checker.generation.normalization.prose_values import prose_objects
from checker.openapi.documents.dialects import elements, flag, members
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.parameters import (
    Declared,
    DeclaredByKey,
    declared_examples,
    inner_delimiters,
    swagger_schema,
    swagger_style,
)
from checker.schema.views import ALL_TYPES, outline_of
from checker.transport.wire.bodies import carried_types, reason_not
from checker.transport.wire.multipart import EACH_ITEM, part_types
from checker.transport.wire.styles import text_of


def of_users(body: Body) -> Body:
    """Return the body with the serialiser or strategy that users registered for its media type; unchanged without one."""
    serializer = SERIALIZERS.find(body.media_type)
    strategy = BODY_STRATEGIES.find(body.media_type)
    if serializer is not None and not isinstance(serializer, BuiltIn):
        body = replace(body, write=partial(_alone, serializer), serializer=serializer)
    elif serializer is None and strategy is not None:
        body = replace(body, write=octets)
    return body if strategy is None else replace(body, strategy=strategy)


def _alone(serializer: Serializer, value: Any) -> bytes:
    return serializer(SerializationContext(), value) or b""


def octets(value: Any) -> bytes:
    """Return a value that is bytes already; text in UTF-8. Raises `ValueError` for any other value."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, str):
        return value.encode()
    raise ValueError(f"bytes are wanted, got {type(value).__name__}")


_STYLED = ("style", "explode", "allowReserved")
_ANY = {"integer": 0, "number": 0, "boolean": True, "string": "a"}


def encodings(document: OpenApiDocument, media_type: Mapping[str, Any], at: str) -> dict[str, PropertyEncoding]:
    """Return the encodings of a Media Type Object at `at`, by property or by position in an array (OpenAPI 3.2, 4.14)."""
    found = list(members(media_type, at, "encoding"))
    for index, value in enumerate(elements(media_type.get("prefixEncoding"))):
        found.append((str(index), value, pointer_child(at, "prefixEncoding", str(index))))
    if "itemEncoding" in media_type:
        found.append((EACH_ITEM, media_type["itemEncoding"], pointer_child(at, "itemEncoding")))
    return {name: _encoding(document, value, place) for name, value, place in found if isinstance(value, dict)}


def _encoding(document: OpenApiDocument, raw: Mapping[str, Any], at: str) -> PropertyEncoding:
    content_type, style, explode = raw.get("contentType"), raw.get("style"), flag(raw, "explode")
    style = style if isinstance(style, str) else "form"
    return PropertyEncoding(
        content_type if isinstance(content_type, str) else None,
        style,
        style == "form" if explode is None else explode,
        bool(flag(raw, "allowReserved")),
        # If one is given, a part is serialised by style, and `contentType` is ignored (OpenAPI 3.1, Encoding Object).
        any(keyword in raw for keyword in _STYLED),
        dict(_headers(document, raw, at)),
    )


def _headers(document: OpenApiDocument, encoding: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    """Yield the headers of a part that are required or have a value in the document, without `Content-Type`."""
    for name, item, inner in members(encoding, at, "headers"):
        # `Content-Type` is described by `contentType` and ignored here (OpenAPI 3.0, Encoding Object);
        # `Content-Disposition` has the name of the part.
        if name.lower() in ("content-type", "content-disposition"):
            continue
        header, place = document.object_at(item, inner)
        schema, _ = document.object_at(header.get("schema", {}), pointer_child(place, "schema"))
        value = _value(header, schema)
        text = None if value is None else text_of(value)
        if text is not None and text.isascii() and text.isprintable():
            yield name, text


def _value(header: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    for owner in (header, schema):
        if owner.get("example") is not None:
            return owner["example"]
    for keyword in ("enum", "examples"):
        if elements(schema.get(keyword)):
            return schema[keyword][0]
    for keyword in ("const", "default"):
        if schema.get(keyword) is not None:
            return schema[keyword]
    kind = schema.get("type", "string")
    return _ANY.get(kind if isinstance(kind, str) else "string") if flag(header, "required") else None


_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
_LOST, _UNWRITTEN, _MALFORMED = (
    BodyFault.UNRESOLVABLE, BodyFault.UNSERIALISABLE, BodyFault.MALFORMED,
)  # fmt: skip


class Bodies(Struct, frozen=True):
    """The declared request bodies of an operation."""

    usable: tuple[Body, ...] = ()
    unusable: tuple[UnusableBody, ...] = ()
    required: bool = False


def request_bodies(document: OpenApiDocument, raw: object, at: str) -> Bodies:
    """Return the bodies of an OpenAPI 3 `requestBody`. A body that cannot be read is unusable, with the reason."""
    if raw is None:
        return Bodies()
    try:
        value, pointer = document.dereferenced(raw, at)
    except UnresolvableReference as error:
        # It is unknown whether a lost body is required, but bodies that are declared by reference are rarely optional.
        return Bodies((), (UnusableBody("*/*", str(error), at, _LOST),), True)
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(content, dict) or not content:
        reason = f"the request body at {pointer} declares no `content`; add media types"
        required = isinstance(value, dict) and bool(flag(value, "required"))
        return Bodies((), (UnusableBody("*/*", reason, pointer, _MALFORMED),), required)
    found = [_body(document, name, item, pointer_child(pointer, "content", name)) for name, item in content.items()]
    return _sorted(found, required=bool(flag(value, "required")))


def swagger_bodies(document: OpenApiDocument, declared: DeclaredByKey, consumes: list[str]) -> Bodies:
    """Return the bodies of Swagger 2.0: `body` parameters or all `formData` parameters, one for each consumed media type."""
    whole = body_parameters(declared)
    if whole:
        places = [pointer_child(item.pointer, "schema") for item in whole]
        if len(whole) == 1:
            schema = document.schema(whole[0].raw.get("schema", {}), places[0])
        else:
            raw = {
                "anyOf": [{"$ref": at} if "schema" in item.raw else {} for item, at in zip(whole, places, strict=True)]
            }
            # The references are relative to the main document.
            schema = document.schema(raw, next((place for place in places if place[0] == "#"), "#/paths"))
        examples = [declared_examples(document, item.raw, item.pointer) for item in whole]
        found = [
            _checked(document, Body(name, schema, whole[0].pointer, {}, sum(examples, ())))
            for name in consumes or ["application/json"]
        ]
        return _sorted(found, required=any(flag(item.raw, "required") for item in whole))
    fields = form_fields(declared)
    if not fields:
        return Bodies()
    # An urlencoded form cannot hold a file.
    has_file = any(item.raw.get("type") == "file" for item in fields)
    forms = (_MULTIPART,) if has_file else (_FORM, _MULTIPART)
    declared_forms = [name for name in consumes if name.partition(";")[0].strip().lower() in forms] or [forms[0]]
    found = [_form_body(document, name, fields) for name in declared_forms]
    return _sorted(found, required=any(flag(item.raw, "required") for item in fields))


def body_parameters(declared: DeclaredByKey) -> list[Declared]:
    """Return the parameters of Swagger 2.0 that are the body; only one is allowed."""
    return [item for item in declared.values() if item.place == "body"]


def form_fields(declared: DeclaredByKey) -> list[Declared]:
    """Return the parameters of Swagger 2.0 that are form fields; none if the body is declared as a whole."""
    # Body and form fields exclude each other (Swagger 2.0, Parameter Object).
    if body_parameters(declared):
        return []
    return [item for item in declared.values() if item.place == "formData" and not item.fault]


def _form_body(document: OpenApiDocument, media_type: str, fields: list[Declared]) -> Body:
    encoding = {}
    for item in fields:
        style, explode = swagger_style(item.raw.get("collectionFormat"), item.place)
        inner = inner_delimiters(item.raw)
        encoding[item.name] = PropertyEncoding(None, style, explode, is_styled=True, inner=inner)
    raw = {
        "type": "object",
        "properties": {item.name: swagger_schema(item.raw) for item in fields},
        "required": [item.name for item in fields if flag(item.raw, "required")],
    }
    pointer = fields[0].pointer
    return Body(media_type, document.schema(raw, pointer), pointer, encoding)


def _body(document: OpenApiDocument, media_type: str, raw: object, at: str) -> Body | UnusableBody:
    try:
        value, at = document.dereferenced(raw, at)
    except UnresolvableReference as error:
        return UnusableBody(media_type, str(error), at, _LOST)
    if not isinstance(value, dict):
        value = {}
    encoding = encodings(document, value, at)
    for name, how in encoding.items():
        if how.content_type is not None and is_multipart(how.content_type):
            reason = f"the part `{name}` at {at} is multipart itself, which is not written"
            return UnusableBody(media_type, reason, at, _UNWRITTEN)
    if "schema" in value or "itemSchema" not in value:
        schema = document.schema(value.get("schema", {}), pointer_child(at, "schema"))
    else:
        # A stream is the list of its items (OpenAPI 3.2, Media Type Object).
        items = {"$ref": pointer_child(at, "itemSchema")}
        schema = document.schema({"type": "array", "items": items}, at)
    examples = declared_examples(document, value, at)
    parts = partial(part_types, encoding) if is_multipart(media_type) else None
    return _checked(document, Body(media_type, schema, at, encoding, examples, part_types=parts))


def _checked(document: OpenApiDocument, body: Body) -> Body | UnusableBody:
    body = of_users(body)
    name, schema = body.media_type, body.schema
    reason = None if body.write is not None else reason_not(name)
    if reason is None:
        if not isinstance(schema.raw, dict | bool):
            malformed = f"the schema at {schema.pointer} must be an object; correct it"
            return UnusableBody(name, malformed, body.pointer, _MALFORMED)
        try:
            document.require_sound(schema)
        except UnresolvableReference as error:
            return UnusableBody(name, str(error), body.pointer, _LOST)
        if body.write is not None:
            return body
        # An outline needs a walk through the schema, so no outline is made if a media type can carry any value.
        is_narrow = carried_types(name) < ALL_TYPES
        reason = reason_not(name, outline_of(schema).types) if is_narrow else next(_unwritten_parts(body), None)
    return body if reason is None else UnusableBody(name, reason, body.pointer, _UNWRITTEN)


def _unwritten_parts(body: Body) -> Iterator[str]:
    """Yield reasons why properties of a form cannot be sent by their encoding; text can be sent by any encoding."""
    for name, how in body.encoding.items():
        if how.content_type is None:
            continue
        types = outline_of(body.schema).property(name).types
        reasons = [reason_not(option.strip(), types) for option in how.content_type.split(",")]
        if types.isdisjoint(("string", "array")) and None not in reasons:
            yield f"the part `{name}` at {body.pointer} cannot be written: {'; '.join(filter(None, reasons))}"


def _sorted(found: list[Body | UnusableBody], *, required: bool) -> Bodies:
    return Bodies(
        tuple(item for item in found if isinstance(item, Body)),
        tuple(item for item in found if isinstance(item, UnusableBody)),
        required,
    )


def with_examples_of_prose(bodies: Bodies, prose: object, at: str) -> Bodies:
    """Return the bodies with the JSON objects in the description of their operation as examples, if no examples are declared."""
    shown = prose_objects(prose) if bodies.usable and isinstance(prose, str) and "{" in prose else []
    if not shown:
        return bodies
    usable = []
    for body in bodies.usable:
        outline = outline_of(body.schema)
        if not body.examples and outline.first("example", "examples") is None:
            # Only objects with a property of the schema count: others are parts of bodies, or responses.
            fitting = (one for one in shown if not outline.names or not outline.names.isdisjoint(one))
            body = replace(body, examples=tuple(Example(one, at) for one in fitting))
        usable.append(body)
    return structs.replace(bodies, usable=tuple(usable))


def media_types(document: OpenApiDocument, operation: Mapping[str, Any], key: str) -> list[str]:
    """Return `consumes` or `produces` of a Swagger 2.0 operation; its own replaces the global one."""
    for owner in (operation, document.root):
        value = owner.get(key)
        if isinstance(value, str):
            # A single text is read as a list of one.
            return [value]
        if isinstance(value, list):
            return [item for item in value if isinstance(item, str)]
    return []


def is_swagger(document: OpenApiDocument) -> bool:
    """True for Swagger 2.0."""
    return document.dialect is Dialect.OPENAPI20
