"""Looks at requests as the description of their API would: what is wrong with those that are meant to be right?"""

import json
from typing import Any
from urllib.parse import parse_qsl, unquote

from tests.apps.document import Described, Document
from tests.apps.http import Request
from tests.apps.witness import Witness

_IGNORED = frozenset({"accept", "content-type", "authorization", "content-length", "host", "transfer-encoding"})
_SCALARS = frozenset({"integer", "number", "boolean", "string"})
_COMBINED = frozenset({"allOf", "anyOf", "oneOf", "not"})
_NOTHING = object()


class Inspector:
    """Judges parameters that are single values, and bodies in JSON. The rest is not looked at."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._witness = Witness(document, is_response=False)

    def problem(self, operation: Described, request: Request, path_values: dict[str, bytes]) -> str | None:
        """What is wrong with a request, `None` when nothing is."""
        query = parse_qsl(request.target.partition(b"?")[2].decode("latin-1"), True)
        sent = {
            "path": {name: value.decode("utf-8", "replace") for name, value in path_values.items()},
            "query": {unquote(name): value for name, value in query},
            "header": request.headers,
        }
        for parameter in self._document.parameters(operation):
            place, name = parameter["in"], parameter["name"]
            if place == "body":
                continue
            if place not in sent or (place == "header" and name.lower() in _IGNORED):
                continue
            if place == "path" and name not in path_values:
                # Declared, but no part of the template; or beside another variable, and who knows where one ends.
                continue
            key = name.lower() if place == "header" else name
            problem = self._parameter_problem(parameter, sent[place].get(key))
            if problem:
                return f"{place} {name}: {problem}"
        return self._body_problem(operation, request)

    def _parameter_problem(self, parameter: dict[str, Any], text: str | None) -> str | None:
        schema = self._document.resolved(parameter.get("schema", parameter))
        kind = schema.get("type") if isinstance(schema, dict) else None
        if not isinstance(kind, str) or kind not in _SCALARS or "content" in parameter or _COMBINED & schema.keys():
            return None
        if text is None:
            return "missing" if parameter.get("required") is True else None
        if not text and parameter.get("allowEmptyValue"):
            return None
        if text in ("", "null") and schema.get(self._document.nullable):
            return None
        if parameter["in"] == "header" and kind == "string":
            # Blanks at both ends do not travel.
            return None
        value = _read(text, kind)
        return f"{text!r} is no {kind}" if value is _NOTHING else self._witness.problem(schema, value)

    def _body_problem(self, operation: Described, request: Request) -> str | None:
        sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        schema, is_required = self._body_schema(operation, sent)
        if "content-length" not in request.headers and not request.body:
            return "body: missing" if is_required else None
        if schema is _NOTHING or not sent.endswith(("/json", "+json")):
            return None
        try:
            value = json.loads(request.body)
        except ValueError as error:
            return f"body: {error}"
        problem = self._witness.problem(schema, value)
        return None if problem is None else f"body: {problem}"

    def _body_schema(self, operation: Described, sent: str) -> tuple[Any, bool]:
        if self._document.is_swagger:
            for parameter in self._document.parameters(operation):
                if parameter["in"] == "body":
                    return parameter.get("schema", _NOTHING), parameter.get("required") is True
            return _NOTHING, False
        body = self._document.resolved(operation.raw.get("requestBody") or {})
        for media_type, item in (body.get("content") or {}).items():
            if media_type.partition(";")[0].strip().lower() == sent:
                schema = self._document.resolved(item).get("schema", _NOTHING)
                return schema, body.get("required") is True
        return _NOTHING, body.get("required") is True


def _read(text: str, kind: str) -> Any:
    try:
        match kind:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return {"true": True, "false": False}[text]
            case _:
                return text
    except (ValueError, KeyError):
        return _NOTHING
