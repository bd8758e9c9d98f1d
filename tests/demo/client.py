"""Requests to the demo service and the judgement of its answers, independent of its own code."""

import http.client
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import jsonschema

BASE64 = re.compile(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

formats = jsonschema.FormatChecker(("date", "email", "ipv4", "ipv6", "uuid"))
formats.checks("byte")(lambda value: not isinstance(value, str) or bool(BASE64.fullmatch(value)))
formats.checks("date-time")(lambda value: not isinstance(value, str) or bool(DATE_TIME.match(value)))


@dataclass(frozen=True)
class Wanted:
    """One request, its parts by place."""

    method: str
    template: str
    path: dict[str, Any] | None = None
    query: dict[str, Any] | None = None
    headers: dict[str, str] | None = None
    json: Any = None
    form: dict[str, Any] | None = None


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """One kept connection."""

    def __init__(self, url: str) -> None:
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=540)

    def raw(self, method: str, target: str, body: bytes | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, target, body=body, headers=named)
        response = self.connection.getresponse()
        lowered = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, lowered, response.read())

    def send(self, wanted: Wanted) -> Answer:
        path = re.sub(r"\{(\w+)\}", lambda m: quote(str((wanted.path or {})[m[1]]), safe=""), wanted.template)
        query = urlencode(_texts(wanted.query), doseq=True) if wanted.query else ""
        headers, body = dict(wanted.headers or {}), None
        if wanted.form is not None:
            body = urlencode(_texts(wanted.form)).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        elif wanted.json is not None:
            body, headers["Content-Type"] = json.dumps(wanted.json).encode(), "application/json"
        return self.raw(wanted.method, f"{path}?{query}" if query else path, body, **headers)


def _texts(values: dict[str, Any]) -> dict[str, Any]:
    return {name: str(v).lower() if isinstance(v, bool) else v for name, v in values.items()}


class Judge:
    """What is wrong with an answer by the document: the four checks of a single response."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.components = {"components": _draft4(document["components"])}

    def failures(self, wanted: Wanted, answer: Answer) -> set[str]:
        found = {"not_a_server_error"} if answer.status >= 500 else set()
        operation = self.document["paths"][wanted.template][wanted.method.lower()]
        response = operation["responses"].get(str(answer.status))
        if response is None:
            return found | {"status_code_conformance"}
        if "$ref" in response:
            response = self.document["components"]["responses"][response["$ref"].split("/")[-1]]
        content = response.get("content")
        if content is None:
            return found | ({"response_schema_conformance"} if answer.body else set())
        media_type = answer.headers.get("content-type", "")
        if media_type not in content:
            return found | {"content_type_conformance"}
        if media_type == "application/json" and not self.is_valid(content[media_type], answer.body):
            found.add("response_schema_conformance")
        return found

    def is_valid(self, content: dict[str, Any], body: bytes) -> bool:
        try:
            value = json.loads(body)
        except ValueError:
            return False
        return self.validator(content["schema"]).is_valid(value)

    def validator(self, schema: dict[str, Any]) -> jsonschema.Draft4Validator:
        whole = {**_draft4(schema), **self.components}
        if "$ref" in whole:
            whole = {"allOf": [{"$ref": whole["$ref"]}], **self.components}
        return jsonschema.Draft4Validator(whole, format_checker=formats)


def _draft4(node: Any) -> Any:
    """`nullable` said in the words of JSON Schema."""
    if isinstance(node, list):
        return [_draft4(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {name: _draft4(each) for name, each in node.items() if name != "nullable"}
    if node.get("nullable") is True:
        return {"anyOf": [plain, {"type": "null"}]}
    return plain
