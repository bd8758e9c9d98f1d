"""Links that responses declare (OpenAPI 3.1, 4.8.20; `x-links` in 2.0): what follows from a response, and with which values."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Protocol
from urllib.parse import unquote

from msgspec import Struct

from checker.core.case import NOT_SET
from checker.core.json_pointers import unescaped
from checker.core.locations import Location
from checker.core.operation import Label, Parameter
from checker.core.runtime_expressions import InvalidExpression, Value, parse_value
from checker.core.schema import UnresolvableReference
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.entries import Entry
from checker.openapi.operation import OpenApiOperation
from checker.validation.pointers import pointer_child

_LOCATIONS = {location.value: location for location in Location if location is not Location.BODY}


class LinkParameter(Struct, frozen=True):
    """A parameter of the target and where its value comes from."""

    location: Location
    name: str
    value: Value
    raw: Any = None
    """`value` as it is declared."""


class Link(Struct, frozen=True):
    """From a response of one operation to a request of another."""

    name: str
    pointer: str
    source: Label
    status: str
    """Key of the response: `201`, `4XX`, `default`."""
    target: Label
    parameters: tuple[LinkParameter, ...]
    body: Value = NOT_SET
    raw_body: tuple[Any, ...] = ()
    """Empty, or `body` as it is declared."""


class BrokenLink(Struct, frozen=True):
    """A link that cannot be followed, and why."""

    name: str
    pointer: str
    source: Label
    status: str
    error: str
    """One sentence: what was found, where, what to do."""


class Directory(Protocol):
    """Where operations are found."""

    @property
    def document(self) -> OpenApiDocument: ...
    def find(self, label: str) -> object: ...
    def entry_of_id(self, operation_id: str) -> Entry | str:
        """The operation of an id, or the nearest id that exists, empty for none."""
        ...

    def entry_at(self, pointer: str) -> Entry | None: ...


class _Problem(ValueError):
    """Why a link cannot be followed."""


def links_of(directory: Directory, operation: OpenApiOperation) -> Iterator[Link | BrokenLink]:
    """Links of all responses of an operation, in document order; those that cannot be followed carry their error."""
    responses = operation.definition.get("responses")
    at = pointer_child(operation.entry.pointer, "responses")
    for status, raw in responses.items() if isinstance(responses, dict) else ():
        try:
            response, place = directory.document.dereferenced(raw, pointer_child(at, status))
        except UnresolvableReference:
            # Said of the response itself.
            continue
        for key in ("links", "x-links"):
            declared = response.get(key) if isinstance(response, dict) else None
            for name, link in declared.items() if isinstance(declared, dict) else ():
                pointer = pointer_child(place, key, name)
                try:
                    yield _link(directory, (operation.label, status, name), link, pointer)
                except (_Problem, InvalidExpression, UnresolvableReference) as error:
                    sentence = f"the link `{name}` at {pointer} cannot be followed: {error}"
                    yield BrokenLink(name, pointer, operation.label, status, sentence)


def _link(directory: Directory, origin: tuple[Label, str, str], raw: object, at: str) -> Link:
    value, at = directory.document.dereferenced(raw, at)
    if not isinstance(value, dict):
        raise _Problem("it is not an object; correct it")
    target = _target(directory, value, at)
    source, status, name = origin
    declared = value.get("parameters")
    parameters = tuple(
        _parameter(target, key, item)
        for key, item in (declared.items() if isinstance(declared, dict) else ())
    )
    body = parse_value(value["requestBody"]) if "requestBody" in value else NOT_SET
    if body is not NOT_SET and not target.bodies and not target.unusable_bodies:
        raise _Problem(f"{target.label} has no request body; remove `requestBody`")
    raw_body = (value["requestBody"],) if "requestBody" in value else ()
    return Link(name, at, source, status, target.label, parameters, body, raw_body)


def _target(directory: Directory, raw: Mapping[str, Any], at: str) -> OpenApiOperation:
    identifier, reference = raw.get("operationId"), raw.get("operationRef")
    if isinstance(identifier, str):
        entry = directory.entry_of_id(identifier)
        if isinstance(entry, str):
            advice = f"did you mean `{entry}`?" if entry else "add it or correct the name"
            raise _Problem(f"no operation has the id `{identifier}`; {advice}")
    elif isinstance(reference, str):
        entry = _referred(directory, reference, at)
    else:
        raise _Problem("it names no operation; add `operationId` or `operationRef`")
    operation = directory.find(entry.label)
    if not isinstance(operation, OpenApiOperation):
        raise _Problem(f"{entry.label} cannot be read")
    return operation


def _referred(directory: Directory, reference: str, at: str) -> Entry:
    tokens = list(map(unescaped, unquote(reference.partition("#")[2]).split("/")))
    if reference.startswith("#") and len(tokens) == 4 and tokens[1] == "paths":
        # The path item may stand elsewhere: its operations are known by path and method.
        entry = directory.entry_at(f"{tokens[3].upper()} {tokens[2]}")
    else:
        entry = directory.entry_at(directory.document.resolve(reference, at=at)[1])
    if entry is None:
        raise _Problem(
            f"`{reference}` is not an operation; point it at one like `#/paths/~1users/get`"
        )
    return entry


def _parameter(target: OpenApiOperation, key: str, raw: Any) -> LinkParameter:
    prefix, _, rest = key.partition(".")
    location = _LOCATIONS.get(prefix)
    fitting = [p for p in target.parameters if _is_named(p, key, None)]
    if location is not None and rest:
        fitting = [p for p in target.parameters if _is_named(p, rest, location)] or fitting
    if not fitting:
        names = [p.name for p in target.parameters]
        near = get_close_matches(rest if location else key, names, n=1)
        advice = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(names) or 'none'}"
        raise _Problem(f"{target.label} has no parameter `{key}`; {advice}")
    return LinkParameter(fitting[0].location, fitting[0].name, parse_value(raw), raw)


def _is_named(parameter: Parameter, name: str, location: Location | None) -> bool:
    if location not in (None, parameter.location):
        return False
    if parameter.location is Location.HEADER:
        return parameter.name.lower() == name.lower()
    return parameter.name == name
