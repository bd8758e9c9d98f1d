"""Faults of a description that affect a part of an operation, found without sending requests.

A field of the wrong type only loses its own meaning. Faults that make an operation unusable are errors of the
operation, or of a part that is never sent.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from checker.core.media_types import is_json, parse
from checker.core.operation import Body, Example, Parameter
from checker.core.request import BaseUrl, Location
from checker.core.schema import (
    Dialect,
    Direction,
    Schema,
    SchemaWarning,
    UnresolvableReference,
    WarningKind,
    pointer_child,
    shown,
)
from checker.core.system import later
from checker.openapi.bodies import body_parameters, form_fields, is_swagger
from checker.openapi.contents import Entry, variable_name
from checker.openapi.documents.dialects import elements, flag, items_of, kind_of, members
from checker.openapi.documents.references import OpenApiDocument, circle_in, is_lost
from checker.openapi.operation import OpenApiOperation
from checker.openapi.parameters import OTHER_VERSION, UNDECLARED, declared_parameters, swagger_schema
from checker.openapi.resources import links_of
from checker.schema.keywords import misunderstood
from checker.schema.scopes import Found
from checker.validation.compiled import UnusableSchema, compile_schema
from checker.validation.ecma import ecma_pattern

if TYPE_CHECKING:
    import checker.validation.referee as opinions
else:
    # Imported when the first value is wrong, because jsonschema takes a sixth of the import time of a worker.
    opinions = later("checker.validation.referee", by_all=False)

Malformed = tuple[str, str]  # (place, sentence).


class _Field(Struct, frozen=True):
    noun: str
    types: type | tuple[type, ...]
    inside: Mapping[str, "_Field"] = field(default_factory=dict)  # Fields of the object.
    each: Mapping[str, "_Field"] | None = None  # Fields of every object in the list or map.
    each_noun: str = ""


_NOT_NULL: Final = (bool, int, float, str, list, dict)
_TEXT: Final = _Field("text", str)
_LIST: Final = _Field("a list", list)
_OBJECT: Final = _Field("an object", dict)
_SCHEMA: Final = _Field("a schema", (dict, bool))
_BOOLEAN: Final = _Field("a boolean", bool)


def _map(noun: str, fields: Mapping[str, _Field]) -> _Field:
    return _Field("an object", dict, each=fields, each_noun=noun)


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
    **_STYLED, "$ref": _TEXT, "required": _BOOLEAN, "allowEmptyValue": _BOOLEAN, "collectionFormat": _TEXT,
    "examples": _OBJECT, "content": _map("media type", _SENT),
}  # fmt: skip
_BODY: Final = {
    "$ref": _TEXT,
    "required": _BOOLEAN,
    # A body without media types is never sent, which has a warning of its own.
    "content": _Field("an object", object, each=_SENT, each_noun="media type"),
}
_RESPONSE: Final = {
    "$ref": _TEXT,
    "schema": _SCHEMA,
    "headers": _map("header", _HEADER),
    "content": _map("media type", {"schema": _SCHEMA, "itemSchema": _SCHEMA}),
    "links": _OBJECT,
}
_OF_ALL: Final = {"consumes": _LIST, "produces": _LIST, "security": _LIST}
_PARAMETERS: Final = _Field("a list", list, each=_PARAMETER, each_noun="parameter")
_OPERATION: Final = {
    **_OF_ALL,
    "parameters": _PARAMETERS,
    "requestBody": _Field("an object", _NOT_NULL, inside=_BODY),
    "responses": _map("response", _RESPONSE),
    "servers": _LIST,
    "tags": _LIST,
    "operationId": _TEXT,
    "deprecated": _BOOLEAN,
    "callbacks": _OBJECT,
}
_PATH_ITEM: Final = {"parameters": _PARAMETERS, "servers": _LIST}
_IS_STATUS: Final = re.compile(r"\s*(?:[1-9][0-9]{2}|[1-9]xx|default)\s*", re.IGNORECASE).fullmatch


def malformed_parts(document: OpenApiDocument, entry: Entry) -> Iterator["_Warning"]:
    """Yield the faults of an operation that can be read, in document order, including those of its path item and document."""
    definition, at = dict(entry.definition), entry.pointer
    inherited = {name: one for name, one in _OF_ALL.items() if name not in definition}
    for owner, place, fields in (
        (dict(entry.path_item), entry.path_item_pointer, _PATH_ITEM),
        (document.root, "#", inherited),
        (definition, at, _OPERATION),
    ):
        for fault in _fields(document, owner, place, fields):
            yield WarningKind.MALFORMED_PART, *fault
    for status, _, place in members(definition, at, "responses"):
        if not status.lower().startswith("x-") and _IS_STATUS(status) is None:
            message = f"{status!r} at {place} is no status; no response can match it"
            yield WarningKind.MALFORMED_PART, place, message


def _fields(document: OpenApiDocument, owner: object, at: str, fields: Mapping[str, _Field]) -> Iterator[Malformed]:
    # A lost reference is an error of the part that needs it.
    value, at = document.object_at(owner, at)
    for name, expected in fields.items():
        if name not in value:
            continue
        found, place = value[name], pointer_child(at, name)
        if not isinstance(found, expected.types):
            meant = flag(value, name)
            if meant is not None:
                consequence = f"read as {str(meant).lower()}"
            else:
                is_alone = name in ("consumes", "produces") and isinstance(value[name], str)
                consequence = "read as a list of it" if is_alone else "ignored"
            yield place, f"`{name}` at {place} {_found(expected.noun, found, consequence)}"
        elif expected.each is None:
            yield from _fields(document, found, place, expected.inside)
        else:
            for key, item in items_of(found) or enumerate(elements(found)):
                inner = pointer_child(place, str(key))
                if isinstance(item, dict):
                    yield from _fields(document, item, inner, expected.each)
                elif not str(key).startswith("x-"):
                    yield inner, f"the {expected.each_noun} at {inner} {_found('an object', item)}"


def _found(noun: str, found: object, read: str = "ignored") -> str:
    return f"must be {noun}; found {kind_of(found)}, which is {read}"


_REASONS: Final = 3  # Reported violations of one example.
_PATTERN: Final = 200  # Reported characters of a regular expression.
_ELSEWHERE: Final = {"$ref": str, "discriminator": dict}
"""Keywords that are not in the tables of dialects, and their types."""
_NOT_VALIDATED: Final = "what it describes in a response is not validated"


def operation_warnings(operation: OpenApiOperation) -> Iterator[SchemaWarning]:
    """Yield all faults of one readable operation, each place once."""
    seen: set[tuple[WarningKind, str]] = set()
    for kind, pointer, message in _all(operation):
        if (kind, pointer) not in seen:
            seen.add((kind, pointer))
            yield SchemaWarning(kind, operation.label, pointer, message)


_Warning = tuple[WarningKind, str, str]  # (kind, place, sentence).


def _all(operation: OpenApiOperation) -> Iterator[_Warning]:
    entry, document = operation.entry, operation.owner.document
    yield from _left_out(operation)
    is_old = is_swagger(document)
    declared = declared_parameters(document, *entry.parameter_lists) if is_old else {}
    whole = body_parameters(declared)
    if len(whole) > 1:
        message = f"the operation at {entry.pointer} has {len(whole)} `body` parameters, and Swagger 2.0 allows one; requests are made for each of them"
        yield WarningKind.SEVERAL_BODIES, entry.pointer, message
    yield from _of_path(operation)
    parts: list[Parameter | Body] = [*operation.parameters, *operation.bodies]
    for one in parts:
        if one.doubt == OTHER_VERSION:
            version = "OpenAPI 3" if is_old else "Swagger 2.0"
            noun = "body" if isinstance(one, Body) else f"parameter `{one.name}`"
            message = f"the {noun} at {one.pointer} is declared as in {version}; it is read as {version}, and no verdict depends on it"
            yield WarningKind.MALFORMED_PART, one.pointer, message
    yield from malformed_parts(document, entry)
    for fault in operation.contract.unvalidated():
        kind = WarningKind.MISSING_DESERIALIZER
        if not fault.is_unread:
            kind = _or_lost(WarningKind.UNVALIDATED_RESPONSE, fault.reason)
        yield kind, fault.pointer, f"{fault.reason}; {_NOT_VALIDATED}"
    schemas = []
    for part in _response_parts(operation):
        if isinstance(part, Schema):
            schemas.append(part)
        else:
            yield part
    requests = [part.schema for part in parts]
    if document.has_lost:
        yield from _lost_options(document, requests)
    schemas += [parameter.schema for parameter in operation.parameters]
    # Fields of a Swagger form are parameters in the document.
    fields = [document.schema(swagger_schema(item.raw), item.pointer) for item in form_fields(declared)]
    schemas += fields or [body.schema for body in operation.bodies]
    yield from _ignored(document, schemas)
    for parameter in operation.parameters:
        yield from _forbidden(parameter.examples, parameter.schema)
    for body in operation.bodies:
        if is_json(body.media_type):
            yield from _forbidden(body.examples, body.schema)
    yield from ((WarningKind.BROKEN_LINK, link.pointer, link.error) for link in links_of(operation) if link.error)
    yield from _other_server(operation)
    for requirement in operation.security:
        for name in requirement.undeclared:
            message = f"the security scheme `{name}` is not declared; add it to the security schemes"
            yield WarningKind.UNDECLARED_SECURITY, entry.pointer, message


def _of_path(operation: OpenApiOperation) -> Iterator[_Warning]:
    """Yield warnings about the notation of the path, and about variables and parameters that do not match."""
    entry, kind = operation.entry, WarningKind.MALFORMED_PART
    path = entry.declared_path.partition("#")[0]
    if path != entry.path:
        yield kind, entry.path_item_pointer, f"the path `{path}` is sent as `{entry.path}`"
    variables = {one.pointer: one for one in operation.parameters if one.location is Location.PATH}
    for item in declared_parameters(operation.owner.document, *entry.parameter_lists).values():
        if item.place != "path" or item.fault:
            continue
        named = variables.get(item.pointer)
        said = f"the parameter `{item.name}` at {item.pointer} is"
        if named is None:
            yield kind, item.pointer, f"{said} no variable of `{path}`; it is not sent"
        elif named.name != variable_name(item.name):
            yield kind, item.pointer, f"{said} read as the variable `{{{named.name}}}` of `{path}`"
    free = [one.name for one in operation.parameters if one.location is Location.PATH and one.doubt == UNDECLARED]
    if free:
        listed = ", ".join(f"`{{{name}}}`" for name in free)
        message = f"no parameter of the operation at {entry.pointer} declares {listed}; any text is sent, and no verdict depends on it"
        yield kind, entry.pointer, message


def _other_server(operation: OpenApiOperation) -> Iterator[_Warning]:
    own, usual = operation.declared_base_url, operation.owner.base_url_of(None)
    if own is None or usual is None or own == usual:
        return
    if _host(own) != _host(usual):
        message = (
            f"its server {own} is on another host than {usual}; requests go to the latter, give its own with `--url`"
        )
        yield WarningKind.OTHER_SERVER, operation.entry.pointer, message


def _host(url: str) -> str:
    try:
        return BaseUrl.from_url(url).url
    except ValueError:
        return url


def _left_out(operation: OpenApiOperation) -> Iterator[_Warning]:
    """Yield warnings about parameters and bodies that are never sent."""
    for pointer, reason in operation.unusable_parameters.items():
        kind = WarningKind.UNUSABLE_PARAMETER
        yield _or_lost(kind, reason), pointer, f"the parameter is never sent: {reason}"
    for body in operation.unusable_bodies:
        kind = _or_lost(WarningKind.UNUSABLE_BODY, body.reason)
        yield kind, body.pointer, f"{body.media_type} is never sent: {body.reason}"


def _or_lost(kind: WarningKind, reason: str) -> WarningKind:
    return WarningKind.UNRESOLVABLE_REFERENCE if is_lost(reason) else kind


def _response_parts(operation: OpenApiOperation) -> Iterator[Schema | _Warning]:
    """Yield the schemas of responses and their headers, and warnings about malformed media types."""
    document = operation.owner.document
    for _, raw, at in members(operation.definition.raw, operation.entry.pointer, "responses"):
        response, place = document.object_at(raw, at)
        owners = [(response, place)] if is_swagger(document) else []
        for key in ("content", "headers"):
            for name, value, inner in members(response, place, key):
                if key == "content" and parse(name) is None:
                    message = f"{name!r} at {inner} is no media type; no response can match it"
                    yield WarningKind.UNUSABLE_MEDIA_TYPE, inner, message
                owners.append(document.object_at(value, inner))
        for owner, inner in owners:
            for key in ("schema", "itemSchema"):
                if isinstance(owner.get(key), dict):
                    yield document.schema(owner[key], pointer_child(inner, key))


def _lost_options(document: OpenApiDocument, schemas: Iterable[Schema]) -> Iterator[_Warning]:
    """Yield warnings about optional properties that are never sent, because a reference in their schema leads nowhere."""
    todo: list[Found] = [(schema.raw, schema.pointer) for schema in schemas]
    seen: set[str] = set()
    while todo:
        raw, at = todo.pop()
        try:
            below = [found for _, found in document.leads_to(raw, at)]
        except UnresolvableReference as error:
            yield WarningKind.UNRESOLVABLE_REFERENCE, at, f"the property around it is never sent: {error}"
            continue
        todo += [found for found in below if found[1] not in seen]
        seen.update(place for _, place in below)


def _ignored(document: OpenApiDocument, schemas: Iterable[Schema]) -> Iterator[_Warning]:
    """Yield warnings about unsupported regular expressions and malformed keywords.

    Most operations lead to the same schemas, so a referenced schema without faults is checked once.
    """
    is_faultless = True
    todo: list[Found] = [(schema.raw, schema.pointer) for schema in schemas]
    whole: dict[str, list[str]] = {}
    while todo:
        raw, at = todo.pop()
        if at in whole:
            continue
        same = whole[at] = []
        for warning in _of_schema(document, raw, at):
            is_faultless = False
            yield warning
        try:
            for keyword, found in document.leads_to(raw, at):
                if keyword in ("$ref", "allOf"):
                    same.append(found[1])
                # Sound schemas of earlier operations are skipped: a walk from each operation through shared schemas
                # would be quadratic.
                if found[1] not in document.faultless:
                    todo.append(found)
        except UnresolvableReference:
            is_faultless = False
    circle = circle_in(whole)
    if circle is not None:
        message = f"the schema at {circle} contains itself in its `allOf`, which constrains nothing; remove it there"
        yield WarningKind.MALFORMED_KEYWORD, circle, message
    elif is_faultless:
        document.faultless.update(*whole.values())


def _of_schema(document: OpenApiDocument, raw: object, at: str) -> Iterator[_Warning]:
    """Yield the faults of a schema itself."""
    if isinstance(raw, dict):
        yield from _malformed(raw, at, document.dialect_at(at))
        reference = raw.get("$ref")
        if isinstance(reference, str) and document.has_strayed(reference, at):
            message = f"`{reference}` at {at} leads nowhere from the `$id` above it; it is looked up in the description"
            yield WarningKind.MALFORMED_KEYWORD, at, message
        patterns = [("patternProperties", name) for name, _ in items_of(raw.get("patternProperties"))]
        for keyword, pattern in [("pattern", raw.get("pattern")), *patterns]:
            if isinstance(pattern, str) and ecma_pattern(pattern) is None:
                place = pointer_child(at, keyword)
                message = f"the regular expression {pattern[:_PATTERN]!r} at {place} is not supported, and is ignored"
                yield WarningKind.UNSUPPORTED_REGEX, place, message
    elif not isinstance(raw, bool):
        message = f"the schema at {at} cannot be {shown(raw)}; it is ignored"
        yield WarningKind.MALFORMED_KEYWORD, at, message


def _malformed(raw: dict[str, Any], at: str, dialect: Dialect) -> Iterator[_Warning]:
    faults = dict(misunderstood(raw, dialect))
    faults |= {name: "" for name, kind in _ELSEWHERE.items() if name in raw and not isinstance(raw[name], kind)}
    for name in raw:
        if name in faults:
            place = pointer_child(at, name)
            reason = f"`{name}` at {place} cannot be {shown(raw[name])}; it is ignored"
            if faults[name]:
                reason = f"`{name}` at {place} is ignored: {faults[name]}"
            yield WarningKind.MALFORMED_KEYWORD, place, reason


def _forbidden(examples: tuple[Example, ...], schema: Schema) -> Iterator[_Warning]:
    if not examples:
        return
    try:
        is_valid = compile_schema(schema, Direction.REQUEST).is_valid
    except (UnresolvableReference, UnusableSchema):
        return
    for example in examples:
        value, at = example.value, example.pointer
        violations = () if is_valid(value) else opinions.referee(schema, Direction.REQUEST).errors(value)
        if violations:
            # If an example is wrong as a whole, the reason quotes it.
            is_quoted = not violations[0].instance_path and violations[0].message.startswith(shown(value))
            named = "the example" if is_quoted else f"the example {shown(value)}"
            told = []
            for violation in violations[:_REASONS]:
                place = pointer_child("", *map(str, violation.instance_path))
                told.append(f"{violation.message} at {place}" if place else violation.message)
            more = len(violations) - len(told)
            why = ", ".join(told) + (f" and {more} more" if more else "")
            message = f"{named} at {at} does not fit its schema at {schema.pointer}: {why}; correct one of them"
            yield WarningKind.INVALID_EXAMPLE, at, message
