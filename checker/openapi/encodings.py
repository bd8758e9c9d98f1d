"""The Encoding Objects of a form: how each property travels."""

from collections.abc import Iterator, Mapping
from typing import Any

from checker.core.operation import PropertyEncoding
from checker.core.schema import UnresolvableReference
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.fields import flag
from checker.transport.wire.styles import text_of
from checker.validation.pointers import pointer_child

_STYLED = ("style", "explode", "allowReserved")
_ANY = {"integer": 0, "number": 0, "boolean": True, "string": "a"}


def encodings(
    document: OpenApiDocument, media_type: Mapping[str, Any], at: str
) -> dict[str, PropertyEncoding]:
    """Encodings by property of a Media Type Object that stands at `at`."""
    raw = media_type.get("encoding")
    if not isinstance(raw, dict):
        return {}
    return {
        name: _encoding(document, value, pointer_child(at, "encoding", name))
        for name, value in raw.items()
        if isinstance(value, dict)
    }


def _encoding(document: OpenApiDocument, raw: Mapping[str, Any], at: str) -> PropertyEncoding:
    content_type, style, explode = raw.get("contentType"), raw.get("style"), flag(raw, "explode")
    style = style if isinstance(style, str) else "form"
    return PropertyEncoding(
        content_type if isinstance(content_type, str) else None,
        style,
        style == "form" if explode is None else explode,
        bool(flag(raw, "allowReserved")),
        any(keyword in raw for keyword in _STYLED),
        dict(_headers(document, raw.get("headers"), pointer_child(at, "headers"))),
    )


def _headers(document: OpenApiDocument, raw: object, at: str) -> Iterator[tuple[str, str]]:
    """Headers of a part that have a value in the document, and the required ones; `Content-Type` is not theirs to say."""
    for name, item in raw.items() if isinstance(raw, dict) else ():
        if name.lower() in ("content-type", "content-disposition"):
            continue
        try:
            header, place = document.dereferenced(item, pointer_child(at, name))
            owner = header.get("schema", {}) if isinstance(header, dict) else {}
            schema, _ = document.dereferenced(owner, pointer_child(place, "schema"))
        except UnresolvableReference:
            continue
        if isinstance(header, dict):
            value = _value(header, schema if isinstance(schema, dict) else {})
            text = None if value is None else text_of(value)
            if text is not None and text.isascii() and text.isprintable():
                yield name, text


def _value(header: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    for owner in (header, schema):
        if owner.get("example") is not None:
            return owner["example"]
    for keyword in ("enum", "examples"):
        listed = schema.get(keyword)
        if isinstance(listed, list) and listed:
            return listed[0]
    for keyword in ("const", "default"):
        if schema.get(keyword) is not None:
            return schema[keyword]
    kind = schema.get("type", "string")
    return (
        _ANY.get(kind if isinstance(kind, str) else "string") if flag(header, "required") else None
    )
