"""Examples outside of schemas, and identifiers for paths from examples of responses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from checker.core.operation import Example, Location, Parameter
from checker.core.resource_names import identifier_in
from checker.core.schema import Dialect, Direction, UnresolvableReference
from checker.openapi.documents.dialects import elements, items_of, members
from checker.openapi.documents.references import OpenApiDocument
from checker.schema.pointers import pointer_child
from checker.validation.compiled import UnusableSchema, compile_schema


def declared_examples(document: OpenApiDocument, raw: Mapping[str, Any], at: str) -> tuple[Example, ...]:
    """Return the values of `example` and `examples` of a parameter or media type; in Swagger 2.0 of `x-example` and `x-examples`.

    An `externalValue` stands for the document at its URL. A lost one is left out.
    """
    single, several = ("x-example", "x-examples"), ("example", "examples")
    if document.dialect is Dialect.OPENAPI20:
        return tuple(_said(document, raw, at, *single))
    return (*_said(document, raw, at, *several), *_said(document, raw, at, *single))


def _said(document: OpenApiDocument, raw: Mapping[str, Any], at: str, single: str, several: str) -> Iterator[Example]:
    if single in raw:
        yield Example(raw[single], pointer_child(at, single))
    is_extension = several.startswith("x-")
    for name, item, place in members(raw, at, several):
        found = list(_of_object(document, name, item, place))
        yield from found or ([Example(item, place, name)] if is_extension else ())
    for number, value in enumerate(elements(raw.get(several)) if is_extension else ()):
        yield Example(value, pointer_child(at, several, str(number)))


def _of_object(document: OpenApiDocument, name: str, item: object, at: str) -> Iterator[Example]:
    """Return the value of an Example Object (`dataValue` in OpenAPI 3.2)."""
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


_MOST: Final = 5
"""Identifiers of one parameter."""
_KEYWORDS: Final = frozenset(("example", "examples", "default", "enum", "const"))
"""Keywords by which an author enumerates the values of a schema."""


def with_identifiers(document: OpenApiDocument, path: str, parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Give path parameters without an example the identifiers in example responses of their resource."""
    return tuple(
        replace(one, examples=_identifiers(document, path, one))
        if one.location is Location.PATH and not one.examples and _KEYWORDS.isdisjoint(dict(items_of(one.schema.raw)))
        else one
        for one in parameters
    )


def _identifiers(document: OpenApiDocument, path: str, parameter: Parameter) -> tuple[Example, ...]:
    """Return the identifiers that the schema of the parameter admits: an example of a response is no faulty example of a parameter."""
    before, variable, _ = path.partition("{" + parameter.name + "}")
    collection = before.rstrip("/")
    # Most paths below a resource repeat its variable.
    key = (_identifiers, collection, parameter.name, parameter.schema.pointer)
    known: tuple[Example, ...] | None = document.facts.get(key)
    if known is None:
        answers = (one for at in (collection, f"{collection}/{variable}") for one in _answers(document, at))
        known = document.facts[key] = tuple(_identifiers_in(answers, parameter))
    return known


def _identifiers_in(answers: Iterable[Example], parameter: Parameter) -> Iterator[Example]:
    seen: set[str | int] = set()
    for answer in answers:
        for thing in _things(answer.value):
            value = identifier_in(thing, (parameter.name,))
            if value is None or value in seen or len(seen) == _MOST:
                continue
            seen.add(value)
            yield from (Example(one, answer.pointer) for one in _admitted(parameter, value))


def _admitted(parameter: Parameter, value: str | int) -> Iterator[str | int]:
    """Return a value in the type that the schema of a parameter admits: in a path, a number and its text are the same."""
    try:
        is_valid = compile_schema(parameter.schema, Direction.REQUEST).is_valid
    except (UnresolvableReference, UnusableSchema):
        return
    yield from islice(filter(is_valid, (value, str(value))), 1)


def _things(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of an example: the example itself, or the members of a list, also of a wrapped list."""
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        things = [one for one in lists[0] if isinstance(one, dict)] if len(lists) == 1 else []
        yield from islice(things, _MOST) if things and "id" not in value else (value,)
    elif isinstance(value, list):
        yield from (one for one in islice(value, _MOST) if isinstance(one, dict))


def _answers(document: OpenApiDocument, template: str) -> Iterator[Example]:
    """Yield the examples of successful responses of all operations of a path."""
    paths = document.root.get("paths")
    if not isinstance(paths, dict) or template not in paths:
        return
    item, at = document.object_at(paths[template], pointer_child("#", "paths", template))
    for method in ("post", "get", "put", "patch"):
        operation = item.get(method)
        for status, raw, place in members(operation, pointer_child(at, method), "responses"):
            if status.startswith("2"):
                yield from _shown(document, *document.object_at(raw, place))


def _shown(document: OpenApiDocument, response: Mapping[str, Any], at: str) -> Iterator[Example]:
    if document.dialect is Dialect.OPENAPI20:
        for _, raw, place in members(response, at, "examples"):
            yield Example(raw, place)
    for _, raw, place in members(response, at, "content"):
        yield from declared_examples(document, *document.object_at(raw, place))
