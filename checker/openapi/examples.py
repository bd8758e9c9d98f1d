"""Examples that a description declares beside a schema, not in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from checker.core.schema import Dialect, UnresolvableReference
from checker.openapi.documents.references import OpenApiDocument
from checker.validation.pointers import pointer_child


def declared_examples(
    document: OpenApiDocument, raw: Mapping[str, Any], at: str
) -> tuple[Any, ...]:
    """Values of `example` and `examples` of a parameter or media type; in Swagger 2.0 of `x-example` and `x-examples`.

    What is elsewhere (`externalValue`), or is found at no place, is left out.
    """
    if document.dialect is Dialect.OPENAPI20:
        return tuple(_swagger_examples(raw))
    single = [raw["example"]] if "example" in raw else []
    return (*single, *_examples(document, raw.get("examples"), pointer_child(at, "examples")))


def _examples(document: OpenApiDocument, raw: object, at: str) -> Iterator[Any]:
    """Values of Example Objects by name (OpenAPI 3.2 says `dataValue`)."""
    if not isinstance(raw, dict):
        return
    for name, item in raw.items():
        try:
            value, _ = document.dereferenced(item, pointer_child(at, str(name)))
        except UnresolvableReference:
            continue
        if isinstance(value, dict):
            for key in ("value", "dataValue"):
                if key in value:
                    yield value[key]


def _swagger_examples(raw: Mapping[str, Any]) -> Iterator[Any]:
    if "x-example" in raw:
        yield raw["x-example"]
    listed = raw.get("x-examples")
    if isinstance(listed, list):
        yield from listed
    elif isinstance(listed, dict):
        for value in listed.values():
            yield value["value"] if isinstance(value, dict) and "value" in value else value
