"""The validation of requests to the demo service against its document."""

import json
import pkgutil
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

import orjson
from jsonschema_rs import Draft4Validator

from checker.demo.inn import NOT_FOUND, Reply, problem

MALFORMED = "malformed"
_FORM = "application/x-www-form-urlencoded"
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,30})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,300})(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,4})?")
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_BASE64 = re.compile(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_BOUNDS = {"int32": 2**31, "int64": 2**63}
# Formats that draft 4 does not define.
_FORMATS: dict[str, Callable[[str], bool]] = {
    "byte": lambda text: _BASE64.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
}


class Incoming(NamedTuple):
    """One request."""

    method: str
    path: bytes
    query: bytes
    headers: dict[str, str]  # Values by lower-case name; values of a repeated header are joined.
    body: bytes
    is_too_large: bool


class Refusal(Exception):
    """Raised for a request that the document does not allow."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


Call = tuple[str, dict[str, Any], Any]
"""The id of an operation, the values of its parameters with defaults filled in, the body."""


def document_bytes() -> bytes:
    """Return the document as it is shipped and served: JSON, OpenAPI 3.0.3."""
    # importlib.resources takes longer to import than the rest of this package together.
    data = pkgutil.get_data("checker.demo", "openapi.json")
    if data is None:
        raise FileNotFoundError("openapi.json is missing from checker.demo: install it again")
    return data


def document() -> dict[str, Any]:
    """Return the document, parsed anew for each caller."""
    parsed: dict[str, Any] = json.loads(document_bytes())
    return parsed


class Gate:
    """Validates requests by the document alone."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._components = _draft4(document["components"])
        self._routes = [
            (re.compile(re.sub(rb"\\{(\w+)\\}", rb"(?P<\1>[^/]+)", re.escape(path.encode()))), item)
            for path, item in document["paths"].items()
        ]
        self._validators: dict[str, Draft4Validator] = {}

    def admit(self, request: Incoming) -> Call:
        """Return the call of a request. Raises `Refusal` with the response for an invalid one."""
        matches = ((pattern.fullmatch(request.path), item) for pattern, item in self._routes)
        match, item = next(((match, item) for match, item in matches if match), (None, None))
        if match is None or item is None:
            raise Refusal(NOT_FOUND)
        method = "GET" if request.method == "HEAD" else request.method
        operation = item.get(method.lower()) if method.isupper() else None
        if operation is None:
            allowed = sorted(name.upper() for name in item if name != "parameters")
            allow = ", ".join([*allowed, *(["HEAD"] if "get" in item else [])])
            refusal = problem(405, "method_not_allowed", f"Allowed here: {allow}.")
            raise Refusal(refusal._replace(headers=(("Allow", allow),)))
        declared = item.get("parameters", []) + operation.get("parameters", [])
        values: dict[str, list[str]] = {}
        for pair in request.headers.get("cookie", "").split(";"):
            key, _, text = pair.strip().partition("=")
            values.setdefault(key, []).append(text)
        given = {
            "path": {name: [_text(raw)] for name, raw in match.groupdict().items()},
            "query": _form(request.query),
            "header": {name: [value] for name, value in request.headers.items()},
            "cookie": values,
        }
        expected = {parameter["name"] for parameter in declared if parameter["in"] == "query"}
        for name in given["query"].keys() - expected:
            raise _malformed("is not expected", f"query/{name}")
        arguments = {}
        for parameter in declared:
            name = parameter["name"]
            texts = given[parameter["in"]].get(name if parameter["in"] != "header" else name.lower(), [])
            pointer = f"{parameter['in']}/{parameter['name']}"
            schema = self._resolved(parameter["schema"])
            if not texts:
                if parameter.get("required"):
                    raise _malformed("is required", pointer)
                arguments[name] = schema.get("default")
            else:
                if schema["type"] == "array":
                    kind = self._resolved(schema["items"])["type"]
                    argument: Any = [_scalar(text, kind) for text in texts]
                elif len(texts) > 1:
                    raise _malformed("is given more than once", pointer)
                else:
                    argument = _scalar(texts[0], schema["type"])
                for error in self._validator(parameter["schema"]).iter_errors(argument):
                    raise _malformed(error.message, pointer)
                arguments[name] = argument
        return operation["operationId"], arguments, self._body(operation, request)

    def _body(self, operation: dict[str, Any], request: Incoming) -> Any:
        if "requestBody" not in operation:
            return None
        if request.is_too_large:
            raise Refusal(problem(413, "too_large", "The body is larger than 1 MiB."))
        ((media_type, content),) = operation["requestBody"]["content"].items()
        essence, _, rest = request.headers.get("content-type", "").partition(";")
        parameters = (each.strip().lower().partition("=") for each in rest.split(";") if each.strip())
        if not (
            essence.strip().lower() == media_type
            and all(
                (
                    equals and (name != "charset" or value.strip('"') in ("utf-8", "utf8"))
                    for name, equals, value in parameters
                )
            )
        ):
            raise Refusal(problem(415, "unsupported_media_type", f"The body must be {media_type}."))
        if media_type == _FORM:
            # All fields of forms in the document are scalar.
            properties = self._resolved(content["schema"])["properties"]
            value = {}
            for name, texts in _form(request.body).items():
                if len(texts) > 1:
                    raise _malformed("is given more than once", name)
                kind = self._resolved(properties.get(name, {})).get("type", "string")
                value[name] = _scalar(texts[0], kind)
        else:
            try:
                value = orjson.loads(request.body)
            except ValueError as error:
                raise _malformed(f"the body is not JSON: {error}") from None
        for wrong in self._validator(content["schema"]).iter_errors(value):
            pointer = "".join(f"/{part}" for part in wrong.instance_path)
            raise Refusal(problem(422, "invalid", wrong.message, pointer))
        return value

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema

    def _validator(self, schema: dict[str, Any]) -> Draft4Validator:
        key = json.dumps(schema)
        if key not in self._validators:
            whole = {"allOf": [_draft4(schema)], "components": self._components}
            self._validators[key] = Draft4Validator(whole, formats=_FORMATS, validate_formats=True)
        return self._validators[key]


def _malformed(message: str, pointer: str | None = None) -> Refusal:
    return Refusal(problem(400, MALFORMED, message, pointer))


def _draft4(node: Any) -> Any:
    """Return a schema of OpenAPI 3.0 as JSON Schema draft 4, with `nullable` and integer formats translated."""
    if isinstance(node, list):
        return [_draft4(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {name: _draft4(each) for name, each in node.items() if name != "nullable"}
    if (bound := _BOUNDS.get(str(node.get("format")))) is not None:
        plain = {"allOf": [plain, {"minimum": -bound, "maximum": bound - 1}]}
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") is True else plain


def _text(raw: bytes) -> str:
    """Return the text of a percent-encoded part of a URL."""
    if _BAD_ESCAPE.search(raw):
        raise _malformed("a percent sign is not followed by two hexadecimal digits")
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise _malformed("percent-encoded text is not UTF-8") from None


def _form(raw: bytes) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for pair in filter(None, raw.replace(b"+", b" ").split(b"&")):
        name, _, value = pair.partition(b"=")
        values.setdefault(_text(name), []).append(_text(value))
    return values


def _scalar(text: str, kind: str) -> Any:
    """Return the value of a text; an unreadable one stays a text and so violates its schema."""
    if kind == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "number" and _NUMBER.fullmatch(text):
        return int(text) if _INTEGER.fullmatch(text) else float(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text
