"""A service that shows in its traffic, its answers or what is told of a run whether a setting acts."""

import json
from itertools import count
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

LINES = "\n".join(f"line {number}" for number in range(60))
LONG = "x" * 300
FIRST = 7301
"""Identifier of the first item: no guess."""
IMPOSSIBLE = {"allOf": [{"type": "string"}, {"type": "integer"}]}
ITEM = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "maxLength": 3}}}
ANSWER = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}


def parameter(name: str, place: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    schema = {"type": kind, "maxLength": 12} if kind == "string" else {"type": kind}
    return {"name": name, "in": place, "required": True, "schema": schema, **more}


def answers(*statuses: int) -> dict[str, Any]:
    content = {"application/json": {"schema": ANSWER}}
    return {str(status): {"description": "", "content": content} for status in statuses}


ONE = {"parameters": [parameter("id", "path", "integer")]}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "/"}],
    "paths": {
        # What makes things stands behind what needs them.
        "/items/{id}": {
            "get": {**ONE, "responses": answers(200, 404)},
            "delete": {**ONE, "responses": {"204": {"description": ""}, "404": {"description": ""}}},
        },
        "/items": {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": ITEM}}},
                "responses": answers(201, 400),
            }
        },
        "/broken": {
            "get": {
                "parameters": [
                    parameter("zork", "query", example="plain"),
                    parameter("token", "query", example="t-masked"),
                    parameter("limit", "query", "integer", required=False),
                    {"name": "note", "in": "query", "schema": IMPOSSIBLE},
                    {"name": "size", "in": "query", "schema": {"enum": ["s", "m", "l"]}},
                ],
                "responses": answers(200),
            }
        },
        "/worse": {
            "get": {
                "parameters": [parameter("a", "query", example="b"), parameter("c", "query", example="d")],
                "responses": answers(200),
            }
        },
    },
}


class Shop:
    """Keeps items; breaks at two places."""

    def __init__(self) -> None:
        self._ids = count(FIRST)
        self._items: set[str] = set()

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode("latin-1").partition("?")[0]
        name = path.rpartition("/")[2]
        if path.endswith(("/broken", "/worse")):
            text = LINES if path.endswith("/broken") else LONG
            return Reply(500, "text/plain", text.encode())
        if path.endswith("/items") and request.method == "POST":
            return self._made(request)
        if "/items/" in path and request.method in ("GET", "DELETE"):
            if name not in self._items:
                return json_reply({"id": 0}, 404)
            if request.method == "DELETE":
                self._items.discard(name)
                return Reply(204, "", b"")
            return json_reply({"id": int(name)})
        return json_reply({"id": 0}, 405)

    def _made(self, request: Request) -> Reply:
        try:
            body = json.loads(request.body)
        except ValueError:
            return json_reply({"id": 0}, 400)
        if not isinstance(body, dict) or not isinstance(body.get("name"), str):
            return json_reply({"id": 0}, 400)
        number = next(self._ids)
        self._items.add(str(number))
        return json_reply({"id": number}, 201)
