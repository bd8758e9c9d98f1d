"""What a description demands of requests, judged with `jsonschema` alone: services refuse what it refuses."""

import json
import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jsonschema import Draft4Validator, Draft202012Validator, FormatChecker, ValidationError
from jsonschema.validators import extend


def _pattern(_: object, pattern: str, value: object, __: object) -> Iterable[ValidationError]:
    # In ECMAScript `$` does not match before a line end; in Python it does.
    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


_OLD, _NEW = (extend(one, {"pattern": _pattern}) for one in (Draft4Validator, Draft202012Validator))
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_NOTHING = object()
PROBLEM = {"type": "object", "required": ["detail"], "properties": {"detail": {"type": "string"}}}


@dataclass(frozen=True)
class Asked:
    """A request as a service sees it."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    """By names in small letters."""
    cookies: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def one(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        return next((value for key, value in self.query if key == name), default)

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Refusal:
    """Why a request is not served."""

    status: int
    detail: str
    allow: tuple[str, ...] = ()


class Book:
    """The rules of a document with inline schemas, components and one server."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.operations: dict[str, dict[str, Any]] = {}
        self.methods: dict[str, tuple[str, ...]] = {}
        """Path template -> methods, as an `Allow` header lists them."""
        for path, item in document["paths"].items():
            methods = [name for name in item if name != "parameters"]
            self.methods[path] = tuple(sorted(name.upper() for name in methods))
            for method in methods:
                shared = item.get("parameters", [])
                operation = dict(item[method])
                operation["parameters"] = [*shared, *operation.get("parameters", [])]
                self.operations[f"{method.upper()} {path}"] = operation
        self._validator = cache(self._compiled)

    def refusal(self, label: str, asked: Asked, lenient: Iterable[str] = ()) -> Refusal | None:
        """What is wrong with a request; `lenient` names what is not looked at: `query limit`, `body`, `body age`."""
        passed = frozenset(lenient)
        operation = self.operations[label]
        for parameter in operation["parameters"]:
            place, name = parameter["in"], parameter["name"]
            if f"{place} {name}" not in passed:
                problem = self._of_parameter(parameter, self._sent(parameter, asked))
                if problem:
                    return Refusal(404 if place == "path" else 400, f"{place} {name}: {problem}")
        return self._of_body(label, operation, asked, passed)

    @staticmethod
    def _sent(parameter: dict[str, Any], asked: Asked) -> list[str]:
        place, name = parameter["in"], parameter["name"]
        if place == "query":
            return [value for key, value in asked.query if key == name]
        by_name = {"path": asked.path, "header": asked.headers, "cookie": asked.cookies}[place]
        key = name.lower() if place == "header" else name
        return [by_name[key]] if key in by_name else []

    def _of_parameter(self, parameter: dict[str, Any], sent: list[str]) -> str | None:
        schema = parameter["schema"]
        if not sent:
            return "missing" if parameter.get("required") else None
        if schema.get("type") == "array":
            value: Any = [_read(text, schema["items"].get("type", "string")) for text in sent]
            if any(one is _NOTHING for one in value):
                return "of the wrong type"
        elif len(sent) > 1:
            return "sent more than once"
        else:
            value = _read(sent[0], schema.get("type", "string"))
            if value is _NOTHING:
                return "of the wrong type"
        return self._problem(json.dumps(schema), value)

    def _of_body(self, label: str, operation: dict[str, Any], asked: Asked, passed: frozenset[str]) -> Refusal | None:
        described = operation.get("requestBody")
        if described is None or "body" in passed:
            return None
        media_type = asked.headers.get("content-type", "")
        if not asked.body and not media_type:
            return Refusal(400, "a body is required") if described.get("required") else None
        if media_type.partition(";")[0].strip().lower() not in described["content"]:
            return Refusal(415, "not a type of body that is served")
        try:
            value = json.loads(asked.body, parse_constant=_refuse)
        except ValueError:
            return Refusal(400, "the body is no JSON")
        (content,) = described["content"].values()
        schema = content["schema"]
        lenient = [one.removeprefix("body ") for one in passed if one.startswith("body ")]
        if lenient:
            schema = _loosened(self._resolved(schema), lenient)
        problem = self._problem(json.dumps(schema), value)
        return Refusal(422, f"body: {problem}") if problem else None

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return deepcopy(schema)

    def _problem(self, schema: str, value: Any) -> str | None:
        found = next(self._validator(schema).iter_errors(value), None)
        return None if found is None else found.message[:200]

    def _compiled(self, schema: str) -> Any:
        whole = {"allOf": [json.loads(schema)], "components": self.document.get("components", {})}
        if self.document["openapi"].startswith("3.0"):
            return _OLD(whole, format_checker=FormatChecker())
        return _NEW(whole, format_checker=FormatChecker())


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _read(text: str, kind: str) -> Any:
    if kind == "string":
        return text
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, _NOTHING)
    if not _NUMBER.fullmatch(text):
        return _NOTHING
    value = json.loads(text)
    if kind == "integer" and value != int(value):
        return _NOTHING
    return value


def _loosened(schema: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The schema of an object without what it says of some members; `-name` only lifts that it is required."""
    for name in names:
        plain = name.removeprefix("-")
        if name == plain and plain in schema.get("properties", {}):
            schema["properties"][plain] = {}
        if plain in schema.get("required", []):
            schema["required"] = [one for one in schema["required"] if one != plain]
            if not schema["required"]:
                del schema["required"]
        if plain == "additionalProperties":
            schema.pop(plain, None)
    return schema
