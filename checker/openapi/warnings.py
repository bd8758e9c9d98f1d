"""Faults of a description that cost a part of an operation: found without sending anything."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from checker.core.contract import SchemaViolation
from checker.core.media_types import is_json, parse
from checker.core.operation import Example
from checker.core.request import BaseUrl
from checker.core.schema import Dialect, Direction, Schema, UnresolvableReference
from checker.core.schema_warnings import SchemaWarning, WarningKind
from checker.openapi.bodies import body_parameters, form_fields, is_swagger
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.documents.walking import Found, circle_in, is_lost
from checker.openapi.links import BrokenLink, Directory, links_of
from checker.openapi.malformed import malformed_parts
from checker.openapi.operation import OpenApiOperation
from checker.openapi.parameters import declared_parameters, swagger_schema
from checker.validation.compiled import UnusableSchema, compile_schema
from checker.validation.ecma import ecma_pattern
from checker.validation.keywords import keywords_of, subschemas
from checker.validation.messages import shown
from checker.validation.pointers import pointer_child
from checker.validation.referee import referee

_REASONS: Final = 3
"""Ways in which one example breaks its schema that are told."""
_PATTERN: Final = 200
"""Characters of a regular expression that are told."""
_ELSEWHERE: Final = {"$ref": str, "discriminator": dict}
"""Keywords of which the tables of dialects say nothing, and what they hold."""
_NOT_VALIDATED: Final = "what it describes in a response is not validated"


def operation_warnings(
    directory: Directory, operation: OpenApiOperation
) -> Iterator[SchemaWarning]:
    """Everything that is wrong with one operation that can be read, each place once."""
    seen: set[tuple[WarningKind, str]] = set()
    for kind, pointer, message in _all(directory, operation):
        if (kind, pointer) not in seen:
            seen.add((kind, pointer))
            yield SchemaWarning(kind, operation.label, pointer, message)


_Warning = tuple[WarningKind, str, str]
"""Kind, place, sentence."""


def _all(directory: Directory, operation: OpenApiOperation) -> Iterator[_Warning]:
    yield from _left_out(operation)
    yield from _several_bodies(directory, operation)
    entry = operation.entry
    around = (entry.path_item, entry.path_item_pointer)
    for place, message in malformed_parts(
        directory.document, entry.definition, entry.pointer, around
    ):
        yield WarningKind.MALFORMED_PART, place, message
    for fault in operation.contract.unvalidated():
        kind = WarningKind.MISSING_DESERIALIZER
        if not fault.is_unread:
            kind = _or_lost(WarningKind.UNVALIDATED_RESPONSE, fault.reason)
        yield kind, fault.pointer, f"{fault.reason}; {_NOT_VALIDATED}"
    schemas = []
    for part in _response_parts(directory, operation):
        if isinstance(part, Schema):
            schemas.append(part)
        else:
            yield part
    schemas += [parameter.schema for parameter in operation.parameters]
    schemas += _body_schemas(directory, operation)
    yield from _ignored(directory, schemas)
    yield from _examples(operation)
    for link in links_of(directory, operation):
        if isinstance(link, BrokenLink):
            yield WarningKind.BROKEN_LINK, link.pointer, link.error
    yield from _other_server(operation)
    for requirement in operation.security:
        for name in requirement.undeclared:
            message = (
                f"the security scheme `{name}` is not declared; add it to the security schemes"
            )
            yield WarningKind.UNDECLARED_SECURITY, operation.entry.pointer, message


def _other_server(operation: OpenApiOperation) -> Iterator[_Warning]:
    own, usual = operation.base_url, operation.owner.base_url_of(None)
    if own is None or usual is None or own == usual:
        return
    if _host(own) != _host(usual):
        message = f"its server {own} is on another host than {usual}; requests go to the latter, give its own with `--url`"
        yield WarningKind.OTHER_SERVER, operation.entry.pointer, message


def _host(url: str) -> str:
    try:
        return BaseUrl.from_url(url).url
    except ValueError:
        return url


def _left_out(operation: OpenApiOperation) -> Iterator[_Warning]:
    """Parameters and bodies that are never sent."""
    for pointer, reason in operation.unusable_parameters.items():
        kind = WarningKind.UNUSABLE_PARAMETER
        yield _or_lost(kind, reason), pointer, f"the parameter is never sent: {reason}"
    for body in operation.unusable_bodies:
        kind = _or_lost(WarningKind.UNUSABLE_BODY, body.reason)
        yield kind, body.pointer, f"{body.media_type} is never sent: {body.reason}"


def _several_bodies(directory: Directory, operation: OpenApiOperation) -> Iterator[_Warning]:
    document = directory.document
    if not is_swagger(document):
        return
    whole = body_parameters(declared_parameters(document, *operation.entry.parameter_lists))
    if len(whole) > 1:
        at = operation.entry.pointer
        message = f"the operation at {at} has {len(whole)} `body` parameters, and Swagger 2.0 allows one; requests are made for each of them"
        yield WarningKind.SEVERAL_BODIES, at, message


def _or_lost(kind: WarningKind, reason: str) -> WarningKind:
    return WarningKind.UNRESOLVABLE_REFERENCE if is_lost(reason) else kind


def _response_parts(
    directory: Directory, operation: OpenApiOperation
) -> Iterator[Schema | _Warning]:
    """Schemas of responses and of their headers; warnings of media types that are none."""
    responses = operation.definition.get("responses")
    at = pointer_child(operation.entry.pointer, "responses")
    document = directory.document
    for status, raw in responses.items() if isinstance(responses, dict) else ():
        pointer = pointer_child(at, status)
        try:
            response, place = document.dereferenced(raw, pointer)
        except UnresolvableReference:
            continue
        if not isinstance(response, dict):
            continue
        owners: list[tuple[Any, str]] = []
        if is_swagger(document):
            owners.append((response, place))
        for key in ("content", "headers"):
            group = response.get(key)
            for name, value in group.items() if isinstance(group, dict) else ():
                inner = pointer_child(place, key, name)
                if key == "content" and parse(name) is None:
                    message = f"{name!r} at {inner} is no media type; no response can match it"
                    yield WarningKind.UNUSABLE_MEDIA_TYPE, inner, message
                owners.append((value, inner))
        for owner, inner in owners:
            yield from _schemas(directory, owner, inner)


def _body_schemas(directory: Directory, operation: OpenApiOperation) -> list[Schema]:
    """Schemas of request bodies as they stand in the document: fields of a Swagger form are parameters there."""
    document = directory.document
    fields = (
        form_fields(declared_parameters(document, *operation.entry.parameter_lists))
        if is_swagger(document)
        else []
    )
    return [document.schema(swagger_schema(item.raw), item.pointer) for item in fields] or [
        body.schema for body in operation.bodies
    ]


def _schemas(directory: Directory, owner: object, at: str) -> Iterator[Schema]:
    try:
        value, at = directory.document.dereferenced(owner, at)
    except UnresolvableReference:
        return
    for key in ("schema", "itemSchema"):
        raw = value.get(key) if isinstance(value, dict) else None
        if isinstance(raw, dict):
            yield directory.document.schema(raw, pointer_child(at, key))


def _ignored(directory: Directory, schemas: Iterable[Schema]) -> Iterator[_Warning]:
    """Regular expressions that nobody here can read, and keywords with a value that means nothing.

    Most operations lead to the same schemas: where nothing is wrong below one that is referred to, nobody looks again.
    """
    document, is_faultless = directory.document, True
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
            for found, is_same in _leading_on(document, raw, at):
                if is_same:
                    same.append(found[1])
                if found[1] not in document.faultless:
                    todo.append(found)
        except UnresolvableReference:
            is_faultless = False
    circle = circle_in(whole)
    if circle is not None:
        message = f"the schema at {circle} is all of itself; that says nothing, take it out of the `allOf`"
        yield WarningKind.MALFORMED_KEYWORD, circle, message
    elif is_faultless:
        document.faultless.update(*whole.values())


def _leading_on(document: OpenApiDocument, raw: object, at: str) -> Iterator[tuple[Found, bool]]:
    """What stands in a schema, or is referred to, and whether it holds for the same value. Raises `UnresolvableReference`."""
    if not isinstance(raw, dict):
        return
    if isinstance(raw.get("$ref"), str):
        yield document.resolve(raw["$ref"], at=at), True
    for tokens, inner in subschemas(raw, document.dialect_at(at)):
        yield (inner, pointer_child(at, *tokens)), tokens[0] == "allOf"


def _of_schema(document: OpenApiDocument, raw: object, at: str) -> Iterator[_Warning]:
    """What is wrong with a schema itself."""
    if isinstance(raw, dict):
        yield from _malformed(raw, at, document.dialect_at(at))
        yield from _unsupported(raw, at)
    elif not isinstance(raw, bool):
        message = f"the schema at {at} cannot be {shown(raw)}; it is ignored"
        yield WarningKind.MALFORMED_KEYWORD, at, message


def _malformed(raw: dict[str, Any], at: str, dialect: Dialect) -> Iterator[_Warning]:
    table = keywords_of(dialect)
    for name, value in raw.items():
        keyword = table.get(name)
        is_right = keyword is None or keyword.is_well_formed(value)
        if name in _ELSEWHERE:
            is_right = isinstance(value, _ELSEWHERE[name])
        if is_right:
            continue
        if dialect is Dialect.OPENAPI20 and (name, value) == ("type", "file"):
            continue
        place = pointer_child(at, name)
        message = f"`{name}` at {place} cannot be {shown(value)}; it is ignored"
        yield WarningKind.MALFORMED_KEYWORD, place, message


def _unsupported(raw: dict[str, Any], at: str) -> Iterator[_Warning]:
    for keyword, pattern in _regexes(raw):
        if ecma_pattern(pattern) is None:
            place = pointer_child(at, keyword)
            message = f"the regular expression {pattern[:_PATTERN]!r} at {place} is not supported; nothing is checked by it"
            yield WarningKind.UNSUPPORTED_REGEX, place, message


def _regexes(raw: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if isinstance(raw.get("pattern"), str):
        yield "pattern", raw["pattern"]
    by_pattern = raw.get("patternProperties")
    if isinstance(by_pattern, dict):
        yield from (("patternProperties", str(name)) for name in by_pattern)


def _examples(operation: OpenApiOperation) -> Iterator[_Warning]:
    """Examples beside a schema that the schema forbids."""
    for parameter in operation.parameters:
        yield from _forbidden(parameter.examples, parameter.schema)
    for body in operation.bodies:
        if is_json(body.media_type):
            yield from _forbidden(body.examples, body.schema)


def _forbidden(examples: tuple[Example, ...], schema: Schema) -> Iterator[_Warning]:
    if not examples:
        return
    try:
        is_valid = compile_schema(schema, Direction.REQUEST).is_valid
    except (UnresolvableReference, UnusableSchema):
        return
    for example in examples:
        value, at = example.value, example.pointer
        violations = () if is_valid(value) else referee(schema, Direction.REQUEST).errors(value)
        if violations:
            message = f"{_named(value, violations)} at {at} does not fit its schema at {schema.pointer}: {_why(violations)}; correct one of them"
            yield WarningKind.INVALID_EXAMPLE, at, message


def _named(example: object, violations: Sequence[SchemaViolation]) -> str:
    # What is wrong as a whole is quoted by the reason.
    is_quoted = not violations[0].instance_path and violations[0].message.startswith(shown(example))
    return "the example" if is_quoted else f"the example {shown(example)}"


def _why(violations: Sequence[SchemaViolation]) -> str:
    """What the first of them say, each with its place in the value."""
    told = []
    for violation in violations[:_REASONS]:
        place = pointer_child("", *map(str, violation.instance_path))
        told.append(f"{violation.message} at {place}" if place else violation.message)
    more = len(violations) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")
