"""Fields of an operation that hold what they cannot hold, and cost nothing but what they say.

What cannot be done without them is told elsewhere: as an error of the operation, or as a part that is never sent.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from checker.core.schema import UnresolvableReference
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.fields import flag, kind_of
from checker.validation.pointers import pointer_child

Malformed = tuple[str, str]
"""Place, sentence."""


class _Field(Struct, frozen=True):
    """What may stand in a field, and what is looked at inside of it."""

    noun: str
    is_right: Callable[[object], bool]
    inside: Mapping[str, "_Field"] = field(default_factory=dict)
    """Fields of the object that stands here."""
    each: Mapping[str, "_Field"] | None = None
    """Fields of every object in the list or map that stands here."""
    each_noun: str = ""


def _is(*kinds: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kinds)


_TEXT: Final = _Field("text", _is(str))
_LIST: Final = _Field("a list", _is(list))
_OBJECT: Final = _Field("an object", _is(dict))
_SCHEMA: Final = _Field("a schema", _is(dict, bool))
_BOOLEAN: Final = _Field("a boolean", _is(bool))


def _map(noun: str, fields: Mapping[str, _Field]) -> _Field:
    """An object of named objects."""
    return _Field("an object", _is(dict), each=fields, each_noun=noun)


_STYLED: Final = {"style": _TEXT, "explode": _BOOLEAN, "allowReserved": _BOOLEAN}
_HEADER: Final = {
    "$ref": _TEXT,
    "schema": _SCHEMA,
    "required": _BOOLEAN,
    "explode": _BOOLEAN,
    "content": _map("media type", {"schema": _SCHEMA}),
}
_SENT: Final = {
    "encoding": _map("encoding", {**_STYLED, "contentType": _TEXT, "headers": _OBJECT}),
    "examples": _OBJECT,
}
_PARAMETER: Final = {
    **_STYLED,
    "$ref": _TEXT,
    "required": _BOOLEAN,
    "allowEmptyValue": _BOOLEAN,
    "collectionFormat": _TEXT,
    "examples": _OBJECT,
    "content": _map("media type", _SENT),
}
_BODY: Final = {
    "$ref": _TEXT,
    "required": _BOOLEAN,
    # One without media types is never sent, which is told.
    "content": _Field("an object", lambda value: True, each=_SENT, each_noun="media type"),
}
_RESPONSE: Final = {
    "$ref": _TEXT,
    "schema": _SCHEMA,
    "headers": _map("header", _HEADER),
    "content": _map("media type", {"schema": _SCHEMA, "itemSchema": _SCHEMA}),
    "links": _OBJECT,
}
_OF_ALL: Final = {"consumes": _LIST, "produces": _LIST, "security": _LIST}
_PARAMETERS: Final = _Field("a list", _is(list), each=_PARAMETER, each_noun="parameter")
_OPERATION: Final = {
    **_OF_ALL,
    "parameters": _PARAMETERS,
    "requestBody": _Field("an object", lambda value: value is not None, inside=_BODY),
    "responses": _map("response", _RESPONSE),
    "servers": _LIST,
    "tags": _LIST,
    "operationId": _TEXT,
    "deprecated": _BOOLEAN,
    "callbacks": _OBJECT,
}
_PATH_ITEM: Final = {"parameters": _PARAMETERS, "servers": _LIST}
_IS_STATUS: Final = re.compile(r"\s*(?:[1-9][0-9]{2}|[1-9]xx|default)\s*", re.IGNORECASE).fullmatch


def malformed_parts(
    document: OpenApiDocument,
    definition: Mapping[str, Any],
    at: str,
    path_item: tuple[Mapping[str, Any], str],
) -> Iterator[Malformed]:
    """Faults of an operation that can be read, in document order; what it takes from its surroundings included."""
    yield from _fields(document, dict(path_item[0]), path_item[1], _PATH_ITEM)
    inherited = {name: one for name, one in _OF_ALL.items() if name not in definition}
    yield from _fields(document, document.root, "#", inherited)
    yield from _fields(document, dict(definition), at, _OPERATION)
    yield from _statuses(definition.get("responses"), pointer_child(at, "responses"))


def _fields(
    document: OpenApiDocument, owner: object, at: str, fields: Mapping[str, _Field]
) -> Iterator[Malformed]:
    try:
        value, at = document.dereferenced(owner, at)
    except UnresolvableReference:
        # Said of what needs it.
        return
    if not isinstance(value, dict):
        return
    for name, expected in fields.items():
        if name not in value:
            continue
        found, place = value[name], pointer_child(at, name)
        if not expected.is_right(found):
            yield place, f"`{name}` at {place} {_found(expected.noun, found, _read(value, name))}"
        elif expected.each is None:
            yield from _fields(document, found, place, expected.inside)
        else:
            for key, item in _items(found):
                inner = pointer_child(place, key)
                if isinstance(item, dict):
                    yield from _fields(document, item, inner, expected.each)
                elif not key.startswith("x-"):
                    yield inner, f"the {expected.each_noun} at {inner} {_found('an object', item)}"


def _items(found: object) -> Iterator[tuple[str, object]]:
    if isinstance(found, dict):
        yield from found.items()
    elif isinstance(found, list):
        yield from ((str(index), item) for index, item in enumerate(found))


def _read(owner: Mapping[str, Any], name: str) -> str:
    """What becomes of a field that is not what it must be."""
    meant = flag(owner, name)
    if meant is not None:
        return f"read as {str(meant).lower()}"
    is_alone = name in ("consumes", "produces") and isinstance(owner[name], str)
    return "read as a list of it" if is_alone else "ignored"


def _found(noun: str, found: object, read: str = "ignored") -> str:
    return f"must be {noun}; found {kind_of(found)}, which is {read}"


def _statuses(responses: object, at: str) -> Iterator[Malformed]:
    for status in responses if isinstance(responses, dict) else ():
        if not status.lower().startswith("x-") and _IS_STATUS(status) is None:
            place = pointer_child(at, status)
            yield place, f"{status!r} at {place} is no status; no response can match it"
