"""Examples that a description declares beside a schema, not in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from checker.core.operation import Example
from checker.core.schema import Dialect, UnresolvableReference
from checker.openapi.documents.references import OpenApiDocument
from checker.validation.pointers import pointer_child


def declared_examples(
    document: OpenApiDocument, raw: Mapping[str, Any], at: str
) -> tuple[Example, ...]:
    """Values of `example` and `examples` of a parameter or media type; in Swagger 2.0 of `x-example` and `x-examples`.

    An `externalValue` is the document that it leads to. What is found at no place is left out.
    """
    single, several = ("x-example", "x-examples"), ("example", "examples")
    if document.dialect is Dialect.OPENAPI20:
        return tuple(_said(document, raw, at, *single))
    return (*_said(document, raw, at, *several), *_said(document, raw, at, *single))


def _said(
    document: OpenApiDocument, raw: Mapping[str, Any], at: str, single: str, several: str
) -> Iterator[Example]:
    if single in raw:
        yield Example(raw[single], pointer_child(at, single))
    listed, place = raw.get(several), pointer_child(at, several)
    is_extension = several.startswith("x-")
    if isinstance(listed, dict):
        for name, item in listed.items():
            inner = pointer_child(place, str(name))
            found = list(_of_object(document, str(name), item, inner))
            if is_extension and not found:
                found = [Example(item, inner, str(name))]
            yield from found
    elif isinstance(listed, list) and is_extension:
        for number, value in enumerate(listed):
            yield Example(value, pointer_child(place, str(number)))


def _of_object(document: OpenApiDocument, name: str, item: object, at: str) -> Iterator[Example]:
    """The value of an Example Object (OpenAPI 3.2 says `dataValue`)."""
    try:
        found, place = document.dereferenced(item, at)
        if not isinstance(found, dict):
            return
        known = [key for key in ("value", "dataValue") if key in found]
        for key in known:
            yield Example(found[key], pointer_child(place, key), name)
        external = found.get("externalValue")
        if not known and isinstance(external, str):
            value, _ = document.resolve(f"{external.partition('#')[0]}#", at=place)
            yield Example(value, pointer_child(place, "externalValue"), name)
    except UnresolvableReference:
        return
