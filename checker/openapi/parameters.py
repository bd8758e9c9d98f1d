"""Parameters of an operation: path item and operation merged, styles explicit. Also reads their examples, and identifiers for paths."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, structs

from checker.core.media_types import is_form, is_multipart
from checker.core.operation import Example, Location, Parameter
from checker.core.resource_names import identifier_in, normalised
from checker.core.schema import Dialect, Direction, Schema, UnresolvableReference, pointer_child
from checker.core.system import later
from checker.openapi.contents import notations_of, variable_name
from checker.openapi.documents.dialects import (
    COLLECTION_FORMATS,
    DEFAULT_STYLES,
    elements,
    flag,
    items_of,
    kind_of,
    members,
)
from checker.openapi.documents.references import OpenApiDocument
from checker.schema.views import outline_of
from checker.transport.wire.bodies import reason_not
from checker.transport.wire.styles import HEADER_DELIMITERS
from checker.validation.compiled import Compiled, UnusableSchema, compile_schema


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
        # `value` and `externalValue` exclude each other (OpenAPI 3.0, Example Object); if both are given, the one that
        # needs no download counts.
        known = [key for key in ("value", "dataValue") if key in found]
        for key in known:
            yield Example(found[key], pointer_child(place, key), name)
        external = found.get("externalValue")
        if not known and isinstance(external, str):
            value, _ = document.resolve(f"{external.partition('#')[0]}#", at=place)
            yield Example(value, pointer_child(place, "externalValue"), name)
    except UnresolvableReference:
        return


_MOST: Final = 5  # Identifiers of one parameter.
_KEYWORDS: Final = frozenset(("example", "examples", "default", "enum", "const"))
"""Keywords by which an author enumerates the values of a schema."""


def with_identifiers(document: OpenApiDocument, path: str, parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Give path parameters without an example the identifiers in example responses of their resource."""
    return tuple(
        _with_identifiers(document, path, one) if one.location is Location.PATH and not one.examples else one
        for one in parameters
    )


def _with_identifiers(document: OpenApiDocument, path: str, parameter: Parameter) -> Parameter:
    """Return the parameter with the identifiers from response examples that its schema admits, unless it lists values itself.

    Other identifiers are skipped without a warning, because a response example was not written for this parameter.
    """
    # The identifiers of `/a/{id}/b/{b_id}` are in the responses of `/a/{id}/b` (lists and creations) and of the
    # resource itself.
    before, variable, _ = path.partition("{" + parameter.name + "}")
    collection = before.rstrip("/")
    # Most paths below a resource repeat its variable.
    key = (_with_identifiers, collection, parameter.name, parameter.doubt, parameter.schema.pointer)
    known: Parameter | None = document.facts.get(key)
    if known is None:
        answers = (one for at in (collection, f"{collection}/{variable}") for one in _answers(document, at))
        is_open = _KEYWORDS.isdisjoint(dict(items_of(parameter.schema.raw)))
        found = tuple(_identifiers_in(answers, parameter)) if is_open else ()
        known = document.facts[key] = replace(parameter, examples=found) if found else parameter
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
        # An object with an `id` is the resource, and a list in it is one of its properties. If there are two lists, it
        # is unknown which holds the resources.
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
                response, place = document.object_at(raw, place)
                if document.dialect is Dialect.OPENAPI20:
                    yield from (Example(one, of) for _, one, of in members(response, place, "examples"))
                for _, content, of in members(response, place, "content"):
                    yield from declared_examples(document, *document.object_at(content, of))


if TYPE_CHECKING:
    import checker.validation.referee as opinions
else:
    # Imported when the first value is wrong, because jsonschema takes a sixth of the import time of a worker.
    opinions = later("checker.validation.referee", by_all=False)


class ValueReader(Struct):
    """Finds out why a value of a request violates a schema. The schema is compiled when the first value is read."""

    schema: Schema
    _compiled: Compiled | None = None

    def __call__(self, value: Any) -> str | None:
        """Return the reason; None if the value fits. Raises `UnresolvableReference`, `UnusableSchema`."""
        if self._compiled is None:
            self._compiled = compile_schema(self.schema, Direction.REQUEST)
        if self._compiled.is_valid(value):
            return None
        found = opinions.referee(self.schema, Direction.REQUEST).errors(value)
        return found[0].message if found else "it breaks the schema"


_LOCATIONS = {location.value: location for location in Location if location is not Location.BODY}
_QUERY_STRING = "querystring"
_NOT_OF_THE_SCHEMA = frozenset({"name", "in", "description", "required", "collectionFormat", "allowEmptyValue"})

_IGNORED = "accept"
"""A further header that parameters must not describe (OpenAPI 3.0, 4.7.12.2): content negotiation sets it.

The specification says the same of `Authorization`, but frameworks declare it if a handler reads it, and refuse a
request without it.
"""
_DEEPEST_LISTS = 8
_OF_THE_MESSAGE = frozenset(
    ["content-type", "content-length", "transfer-encoding", "trailer", "host", "connection", "keep-alive", "te", "upgrade",
     "expect"]
)  # fmt: skip
"""Headers about the framing and routing of a message: any wrong value breaks the connection."""


UNDECLARED: Final = "no parameter declares it"  # The doubt about a variable of the path that no parameter declares.
OTHER_VERSION: Final = "it is declared as in another version of OpenAPI"
"""The doubt about a parameter or body of another version."""


class MalformedOperation(ValueError):
    """An operation that cannot be read; the message is one sentence."""


class Declared(Struct, frozen=True):
    """A parameter object of the document, references followed."""

    raw: Mapping[str, Any]
    pointer: str
    name: str
    place: str  # The value of `in`.
    fault: str = ""  # The reason why the parameter cannot be sent, if that is visible without reading its schema.

    @property
    def key(self) -> tuple[str, str]:
        """Return the identity of a parameter: its place and name; case does not matter in header names."""
        return self.place, self.name.lower() if self.place == "header" else self.name


DeclaredByKey = Mapping[tuple[str, str], Declared]


def declared_parameters(document: OpenApiDocument, *lists: tuple[object, str]) -> dict[tuple[str, str], Declared]:
    """Return the parameters of a path item and its operation, `(raw list, pointer)` each; later ones override.

    Raises `MalformedOperation` and `UnresolvableReference`.
    """
    found: dict[tuple[str, str], Declared] = {}
    for raw, pointer in lists:
        own: dict[tuple[str, str], Declared] = {}
        for declared in _declared(document, raw, pointer):
            # Bodies have no names that distinguish them, and faulty parameters may have none.
            is_told = not declared.fault and (declared.place != "body" or declared.key not in own)
            own[declared.key if is_told else (declared.place, declared.pointer)] = declared
        found |= own
    return found


def _declared(document: OpenApiDocument, raw: object, pointer: str) -> Iterator[Declared]:
    if raw is None:
        return
    if not isinstance(raw, list):
        raise MalformedOperation(f"{pointer} must be a list of parameters; found {kind_of(raw)}")
    for index, item in enumerate(raw):
        value, at = document.dereferenced(item, f"{pointer}/{index}")
        if not isinstance(value, dict):
            raise MalformedOperation(f"the parameter at {at} must be an object; found {kind_of(value)}")
        name, place = value.get("name"), value.get("in")
        if not isinstance(place, str):
            name = name if isinstance(name, str) else ""
            named = Declared(value, at, name, "", f"the parameter at {at} has no `in`; add it")
        elif isinstance(name, str):
            named = Declared(value, at, name, place)
        elif place == "body":
            # The name of a body has no meaning (Swagger 2.0, Parameter Object).
            named = Declared(value, at, "", place)
        else:
            fault = "has no `name`; add it" if name is None else f"has {kind_of(name)} as its `name`; make it text"
            named = Declared(value, at, "", place, f"the parameter at {at} {fault}")
        yield named


def parameters(
    document: OpenApiDocument, path: str, declared: DeclaredByKey
) -> tuple[tuple[Parameter, ...], dict[str, str]]:
    """Return the parameters outside the body in order of declaration, and the reasons why optional ones cannot be sent, by pointer.

    `path` is as declared. An undeclared variable of the path is text. Raises `MalformedOperation` and `UnresolvableReference`.
    """
    notations = notations_of(path)
    variables = dict.fromkeys(notations)
    declared = _by_variable(declared, variables)
    whole = next((item for item in declared.values() if item.place == _QUERY_STRING), None)
    found = []
    unusable: dict[str, str] = {}
    for item in declared.values():
        if item.fault or _is_skipped(item.place, item.name, document.dialect, variables):
            continue
        # Without a variable of the path, the request goes to another path: `required` must be true there (OpenAPI 3.0,
        # Parameter Object), but often is left out.
        required = item.place == "path" or bool(flag(item.raw, "required"))
        try:
            if whole is not None and item is not whole and item.place in ("query", _QUERY_STRING):
                # OpenAPI 3.2, 4.12: `in: querystring` excludes parameters in the query.
                raise MalformedOperation(
                    f"the parameter `{item.name}` at {item.pointer} is beside the query string `{whole.name}`, "
                    "which is the whole query; keep one of them"
                )
            # Operations of a path share its parameters, and operations of all paths share components.
            parameter = document.parameters.get(item.pointer)
            if parameter is None:
                parameter = _parameter(document, item, required=required)
                parameter = replace(parameter, problem_of=ValueReader(parameter.schema))
                document.require_sound(parameter.schema)
                _require_text(parameter)
                document.parameters[item.pointer] = parameter

        except (MalformedOperation, UnresolvableReference) as error:
            if required:
                raise
            unusable[item.pointer] = str(error)
            continue
        if item.place == "path":
            del variables[item.name]
            notation = notations[item.name].strip()
            doubt = parameter.doubt if notation == item.name else f"it is `{{{notation}}}` in the path"
            if (item.name, doubt) != (parameter.name, parameter.doubt):
                parameter = replace(parameter, name=item.name, doubt=doubt)
        found.append(parameter)
    for item in declared.values():
        if _is_needed(item, variables):
            raise MalformedOperation(item.fault)
        if item.fault:
            unusable[item.pointer] = item.fault
    found += _chosen_by_fragment(document, path, found)
    text = document.schema({"type": "string", "minLength": 1}, "#/paths")
    for name in variables:
        found.append(Parameter(name, Location.PATH, True, text, "simple", False, pointer="#/paths", doubt=UNDECLARED))
    return tuple(found), unusable


def _by_variable(declared: DeclaredByKey, variables: Iterable[str]) -> DeclaredByKey:
    """Return the parameters; those of the path get the names of their variables: `ID` for a parameter `id` of `/a/{ID}`."""
    free = {normalised(name): name for name in variables if ("path", name) not in declared}
    if not free:
        return declared
    found = dict(declared)
    for key, item in declared.items():
        if item.place == "path" and not item.fault and item.name not in variables:
            name = free.pop(normalised(variable_name(item.name)), item.name)
            found[key] = structs.replace(item, name=name)
    return found


def _chosen_by_fragment(document: OpenApiDocument, path: str, found: Iterable[Parameter]) -> list[Parameter]:
    """Return the header that a fragment such as `X-Amz-Target=Service.Operation` gives, unless a parameter describes it."""
    name, _, value = path.partition("#")[2].partition("=")
    is_header = name.lower().startswith("x-") and value != ""
    if not is_header or any(one.name.lower() == name.lower() for one in found):
        return []
    schema = document.schema({"type": "string", "enum": [value]}, "#/paths")
    return [Parameter(name, Location.HEADER, True, schema, "simple", False, pointer="#/paths")]


def _is_needed(item: Declared, variables: Mapping[str, object]) -> bool:
    """Whether no request is valid without a faulty parameter: no other parameter declares these variables of the path."""
    if not item.fault:
        return False
    if item.place:
        return item.place == "path" and bool(variables)
    return item.name != "" and (bool(flag(item.raw, "required")) or item.name in variables)


def parameter_names(document: OpenApiDocument, path: str, *lists: tuple[object, str]) -> Iterator[str]:
    """Yield the names of the same parameters, if they are known without reading schemas."""
    variables = notations_of(path)
    yield from variables
    for raw, pointer in lists:
        for item in raw if isinstance(raw, list) else ():
            try:
                value, _ = document.dereferenced(item, pointer)
            except UnresolvableReference:
                continue
            name, place = dict(items_of(value)).get("name"), dict(items_of(value)).get("in")
            if not isinstance(name, str) or not isinstance(place, str):
                continue
            if not _is_skipped(place, name, document.dialect, variables):
                yield name


def _is_skipped(place: str, name: str, dialect: Dialect, variables: Mapping[str, object]) -> bool:
    if place in ("body", "formData"):
        return True
    if place == "path":
        return name not in variables
    if place != "header":
        return False
    name = name.lower()
    return name in _OF_THE_MESSAGE or (name == _IGNORED and dialect is not Dialect.OPENAPI20)


def _require_text(parameter: Parameter) -> None:
    """Raise `MalformedOperation` for a parameter of a media type without a text form here."""
    media_type = parameter.media_type
    if media_type is None:
        return
    reason = reason_not(media_type, outline_of(parameter.schema).types)
    if reason is None and is_multipart(media_type):
        reason = f"no serialiser for {media_type} outside of a body"
    if reason is not None:
        raise MalformedOperation(f"the parameter `{parameter.name}` at {parameter.pointer} cannot be sent: {reason}")


def _parameter(document: OpenApiDocument, item: Declared, *, required: bool) -> Parameter:
    if item.place == _QUERY_STRING:
        schema, media_type, examples = _schema_of(document, item)
        if media_type is None or reason_not(media_type) is not None:
            raise MalformedOperation(
                f"the query string `{item.name}` at {item.pointer} is {media_type or 'of no media type'}, "
                "which cannot be sent; declare it as application/x-www-form-urlencoded"
            )
        inner = next(iter(dict(items_of(item.raw.get("content"))).values()), None)
        if isinstance(inner, dict) and inner.get("encoding"):
            raise MalformedOperation(
                f"the query string `{item.name}` at {item.pointer} has an `encoding`, which is not supported; "
                "declare its properties as parameters"
            )
        has_pairs = is_form(media_type)
        return Parameter(
            item.name,
            Location.QUERY,
            required,
            schema,
            "form" if has_pairs else _QUERY_STRING,
            True,
            None if has_pairs else media_type,
            pointer=item.pointer,
            examples=examples,
        )
    location = _LOCATIONS.get(item.place)
    if location is None:
        raise MalformedOperation(
            f"the parameter `{item.name}` at {item.pointer} is in `{item.place}`, which is not known; "
            f"use one of {', '.join(_LOCATIONS)}"
        )
    # Swagger 2.0 has the schema beside `in`, OpenAPI 3 inside `schema`.
    is_older, is_newer = "type" in item.raw, not item.raw.keys().isdisjoint(("schema", "content"))
    # If a parameter has the marks of both versions or of none, the version of the document decides.
    is_swagger = document.dialect is Dialect.OPENAPI20 if is_older == is_newer else is_older
    found = (swagger_parameter if is_swagger else newer_parameter)(document, item, location, required=required)
    is_usual = is_swagger == (document.dialect is Dialect.OPENAPI20)
    return found if is_usual else replace(found, doubt=OTHER_VERSION)


def newer_parameter(document: OpenApiDocument, item: Declared, location: Location, *, required: bool) -> Parameter:
    """Return a parameter or header of OpenAPI 3. Raises `MalformedOperation` and `UnresolvableReference`."""
    schema, media_type, examples = _schema_of(document, item)
    style = item.raw.get("style")
    if not isinstance(style, str):
        style = DEFAULT_STYLES[item.place]
    explode = flag(item.raw, "explode")
    return Parameter(
        item.name,
        location,
        required,
        schema,
        style,
        style == "form" if explode is None else explode,
        media_type,
        bool(flag(item.raw, "allowReserved")),
        flag(item.raw, "allowEmptyValue"),
        item.pointer,
        examples,
    )


def _schema_of(document: OpenApiDocument, item: Declared) -> tuple[Schema, str | None, tuple[Any, ...]]:
    """Return the schema, the media type if `content` declares one, and the examples."""
    examples = declared_examples(document, item.raw, item.pointer)
    content = item.raw.get("content")
    if "schema" not in item.raw and isinstance(content, dict) and content:
        # The map of a parameter must have one entry only (OpenAPI 3.0, Parameter Object).
        media_type, value = next(iter(content.items()))
        at = pointer_child(item.pointer, "content", media_type)
        value, at = document.dereferenced(value, at)
        value = value if isinstance(value, dict) else {}
        schema = _checked(document, value.get("schema", {}), pointer_child(at, "schema"), item)
        return schema, media_type, (*examples, *declared_examples(document, value, at))
    raw = item.raw.get("schema", {})
    return _checked(document, raw, pointer_child(item.pointer, "schema"), item), None, examples


def _checked(document: OpenApiDocument, raw: object, pointer: str, item: Declared) -> Schema:
    if not isinstance(raw, dict | bool):
        raise MalformedOperation(
            f"the schema of parameter `{item.name}` at {pointer} must be an object; found {kind_of(raw)}"
        )
    return document.schema(raw, pointer)


def swagger_parameter(document: OpenApiDocument, item: Declared, location: Location, *, required: bool) -> Parameter:
    """Return a parameter or header of Swagger 2.0."""
    style, explode = swagger_style(item.raw.get("collectionFormat"), item.place)
    return Parameter(
        item.name,
        location,
        required,
        document.schema(swagger_schema(item.raw), item.pointer),
        style,
        explode,
        inner=inner_delimiters(item.raw),
        allow_empty=flag(item.raw, "allowEmptyValue"),
        pointer=item.pointer,
        examples=declared_examples(document, item.raw, item.pointer),
    )


def swagger_style(collection_format: object, place: str) -> tuple[str, bool]:
    """Return style and explode of a `collectionFormat`. Tabs, spaces and bars stay the delimiter in a path or header."""
    name = collection_format if isinstance(collection_format, str) else "csv"
    style, explode = COLLECTION_FORMATS.get(name, COLLECTION_FORMATS["csv"])
    if place in ("path", "header") and style == "form":
        return "simple", False
    return style, explode


def inner_delimiters(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the delimiters of lists in a list, outermost first."""
    found: list[str] = []
    inner = raw.get("items")
    # YAML aliases may contain themselves.
    while isinstance(inner, dict) and inner.get("type") == "array" and len(found) < _DEEPEST_LISTS:
        style, _ = swagger_style(inner.get("collectionFormat"), "query")
        found.append(HEADER_DELIMITERS.get(style, ","))
        inner = inner.get("items")
    return tuple(found)


def swagger_schema(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema that a Swagger 2.0 parameter spells inline. A `file` is binary text."""
    schema = {key: value for key, value in raw.items() if key not in _NOT_OF_THE_SCHEMA}
    if schema.get("type") == "file":
        schema |= {"type": "string", "format": "binary"}
    return schema
