"""A shop that refuses some requests that its description allows, and others for good reasons."""

import json
from typing import Any
from urllib.parse import parse_qsl

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

_ANY = {"type": "object"}
_RESPONSES = {
    status: {"description": "as it says", "content": {"application/json": {"schema": _ANY}}}
    for status in ("200", "400")
}


def _body(schema: dict[str, Any], media_type: str = "application/json") -> dict[str, Any]:
    return {"required": True, "content": {media_type: {"schema": schema}}}


_ORDER = {
    "type": "object",
    "required": ["amount"],
    "properties": {"amount": {"type": "integer", "minimum": 1, "maximum": 1000}},
    "additionalProperties": False,
}
_LOGIN = {
    "type": "object",
    "required": ["username", "password"],
    "properties": {"username": {"type": "string"}, "password": {"type": "string"}},
}
_LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 0}}
_LEVEL = {"name": "X-Level", "in": "header", "schema": {"type": "integer"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/orders": {"post": {"requestBody": _body(_ORDER), "responses": _RESPONSES}},
        "/items": {"get": {"parameters": [_LIMIT], "responses": _RESPONSES}},
        "/levels": {"get": {"parameters": [_LEVEL], "responses": _RESPONSES}},
        "/token": {
            "post": {"requestBody": _body(_LOGIN, "application/x-www-form-urlencoded"), "responses": _RESPONSES}
        },
    },
    "components": {
        "securitySchemes": {"login": {"type": "oauth2", "flows": {"password": {"tokenUrl": "token", "scopes": {}}}}}
    },
}


class Shop:
    """Defects: orders of more than 900 are refused. What else it refuses is nobody's fault."""

    def __init__(self, *, is_planted: bool = True) -> None:
        self.is_planted = is_planted
        self.refused_extras = 0

    def __call__(self, request: Request) -> Reply:
        path, _, query = request.target.decode("latin-1").partition("?")
        match path:
            case "/orders":
                amount = json.loads(request.body)["amount"]
                return self._answer(is_fine=amount <= 900 or not self.is_planted)
            case "/items":
                # Not a word of other parameters in the description, and so no promise that they may be sent.
                extras = [name for name, _ in parse_qsl(query, True) if name != "limit"]
                self.refused_extras += bool(extras)
                return self._answer(is_fine=not extras)
            case "/levels":
                return self._answer(is_fine=request.headers.get("x-level") != "none")
            case _:
                # Whoever it is: nobody has such a password.
                return self._answer(is_fine=False)

    def _answer(self, *, is_fine: bool) -> Reply:
        return json_reply({}) if is_fine else json_reply({"error": "refused"}, 400)
