"""The gate of the demo service: a request goes through as a call exactly if the document allows it."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from checker.demo.http import Reply, Request
from checker.demo.validator import Flaw, Rule, Validator
from checker.demo.wire import (
    WireError,
    cookies_decoded,
    form_decoded,
    json_decoded,
    json_encoded,
    percent_decoded,
    scalar,
)

_METHODS = ("get", "put", "post", "delete", "patch")
_FORM = "application/x-www-form-urlencoded"


class OperationCall(Struct, frozen=True):
    """One allowed request: which operation, with which values."""

    operation_id: str
    arguments: dict[str, Any]
    """Values of all parameters by name; defaults are filled in."""
    body: Any


def problem(status: int, code: str, message: str, pointer: str | None = None) -> Reply:
    """An error in the shape that the document gives to all of them."""
    body = json_encoded({"code": code, "message": message, "pointer": pointer})
    return Reply(status, "application/json", body)


NOT_FOUND = problem(404, "not_found", "There is nothing of that name.")


class _Parameter(Struct, frozen=True):
    name: str
    location: str
    is_required: bool
    is_array: bool
    kind: str
    """Type of the value, or of the items of an array."""
    rule: Rule
    default: Any

    def read(self, texts: list[str]) -> Any:
        """The value that the texts of the wire stand for, or a `Flaw`."""
        pointer = f"{self.location}/{self.name}"
        if not texts:
            return Flaw("is required", pointer) if self.is_required else self.default
        if not self.is_array and len(texts) > 1:
            return Flaw("is given more than once", pointer)
        values = [scalar(text, self.kind) for text in texts]
        value = values if self.is_array else values[0]
        return self.rule(value, pointer) or value


class _Body(Struct, frozen=True):
    media_type: str
    rule: Rule
    decode: Callable[[bytes], Any]


class _Operation(Struct, frozen=True):
    id: str
    parameters: tuple[_Parameter, ...]
    query_names: frozenset[str]
    body: _Body | None


class _PathRoute(Struct, frozen=True):
    segments: tuple[str, ...]
    """Parts of the path; those in braces are parameters."""
    operations: dict[str, _Operation]
    allow: str

    def match(self, parts: list[bytes]) -> dict[str, bytes] | None:
        """Raw path parameters by name, if this is the route of a path."""
        found: dict[str, bytes] = {}
        for segment, part in zip(self.segments, parts, strict=True):
            if segment[0] == "{":
                if not part:
                    return None
                found[segment[1:-1]] = part
            elif segment.encode() != part:
                return None
        return found


class Gate:
    """Decides by the document alone whether a request is allowed."""

    def __init__(self, document: dict[str, Any]) -> None:
        validator = Validator(document)
        self._routes: dict[int, list[_PathRoute]] = {}
        for path, item in document["paths"].items():
            route = _route(validator, path, item)
            self._routes.setdefault(len(route.segments), []).append(route)

    def admit(self, request: Request) -> OperationCall | Reply:
        """The call that a request makes, or the answer that refuses it."""
        path, _, query = request.target.partition(b"?")
        parts = path[1:].split(b"/")
        for route in self._routes.get(len(parts), ()):
            raw = route.match(parts)
            if raw is not None:
                break
        else:
            return NOT_FOUND
        method = "GET" if request.method == "HEAD" else request.method
        operation = route.operations.get(method)
        if operation is None:
            reply = problem(405, "method_not_allowed", f"Allowed here: {route.allow}.")
            return Reply(405, reply.media_type, reply.body, (("Allow", route.allow),))
        try:
            arguments = _arguments(operation, raw, query, request.headers)
            if isinstance(arguments, Flaw):
                return problem(400, "malformed", arguments.message, arguments.pointer)
            return _with_body(operation, arguments, request)
        except WireError as error:
            return problem(400, "malformed", str(error))


def _arguments(
    operation: _Operation, raw: dict[str, bytes], query: bytes, headers: dict[str, str]
) -> dict[str, Any] | Flaw:
    asked = form_decoded(query) if query else {}
    for name in asked:
        if name not in operation.query_names:
            return Flaw("is not expected", f"query/{name}")
    cookies: dict[str, list[str]] | None = None
    arguments: dict[str, Any] = {}
    for parameter in operation.parameters:
        name = parameter.name
        match parameter.location:
            case "path":
                texts = [percent_decoded(raw[name])]
            case "query":
                texts = asked.get(name, [])
            case "header":
                value = headers.get(name.lower())
                texts = [] if value is None else [value]
            case _:
                cookies = cookies_decoded(headers.get("cookie", "")) if cookies is None else cookies
                texts = cookies.get(name, [])
        read = parameter.read(texts)
        if isinstance(read, Flaw):
            return read
        arguments[name] = read
    return arguments


def _with_body(
    operation: _Operation, arguments: dict[str, Any], request: Request
) -> OperationCall | Reply:
    body = operation.body
    if body is None:
        return OperationCall(operation.id, arguments, None)
    if request.is_too_large:
        return problem(413, "too_large", "The body is larger than 1 MiB.")
    if not _is_media_type(request.headers.get("content-type", ""), body.media_type):
        return problem(415, "unsupported_media_type", f"The body must be {body.media_type}.")
    value = body.decode(request.body)
    flaw = body.rule(value, "")
    if flaw is not None:
        return problem(422, "invalid", flaw.message, flaw.pointer)
    return OperationCall(operation.id, arguments, value)


def _is_media_type(header: str, wanted: str) -> bool:
    essence, _, rest = header.partition(";")
    if essence.strip().lower() != wanted:
        return False
    for parameter in rest.split(";"):
        name, equals, value = parameter.strip().partition("=")
        if not name and not equals:
            continue
        is_charset = name.lower() == "charset"
        if not equals or (is_charset and value.strip('"').lower() not in ("utf-8", "utf8")):
            return False
    return True


def _route(validator: Validator, path: str, item: dict[str, Any]) -> _PathRoute:
    shared = item.get("parameters", [])
    operations = {
        method.upper(): _operation(validator, item[method], shared)
        for method in _METHODS
        if method in item
    }
    allowed = sorted(operations) + (["HEAD"] if "GET" in operations else [])
    return _PathRoute(tuple(path[1:].split("/")), operations, ", ".join(allowed))


def _operation(
    validator: Validator, definition: dict[str, Any], shared: list[dict[str, Any]]
) -> _Operation:
    nodes = shared + definition.get("parameters", [])
    parameters = tuple(_parameter(validator, node) for node in nodes)
    names = frozenset(each.name for each in parameters if each.location == "query")
    body = None
    for media_type, entry in definition.get("requestBody", {}).get("content", {}).items():
        decode = _form_decoder(validator, entry["schema"]) if media_type == _FORM else json_decoded
        body = _Body(media_type, validator.compile(entry["schema"]), decode)
    return _Operation(definition["operationId"], parameters, names, body)


def _parameter(validator: Validator, node: dict[str, Any]) -> _Parameter:
    schema = validator.resolve(node["schema"])
    is_array = schema["type"] == "array"
    kind = validator.resolve(schema["items"])["type"] if is_array else schema["type"]
    return _Parameter(
        node["name"],
        node["in"],
        node.get("required", False),
        is_array,
        kind,
        validator.compile(node["schema"]),
        schema.get("default"),
    )


def _form_decoder(validator: Validator, schema: dict[str, Any]) -> Callable[[bytes], Any]:
    """Reads a form into an object; the fields of the document's forms are all scalar."""
    properties = validator.resolve(schema)["properties"]
    kinds = {
        name: validator.resolve(each).get("type", "string") for name, each in properties.items()
    }

    def fields(body: bytes) -> Iterator[tuple[str, Any]]:
        for name, texts in form_decoded(body).items():
            if len(texts) > 1:
                raise WireError(f"the field {name!r} is given more than once")
            yield name, scalar(texts[0], kinds.get(name, "string"))

    return lambda body: dict(fields(body))
