"""A service that breaks one rule of each check at a place of its own."""

import json
from itertools import count
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply
from tests.settings.shop import parameter

_TEXT = {"application/json": {"schema": {"type": "string"}}}
_OK = {"200": {"description": "", "content": _TEXT}}
_REFUSED = {"400": {"description": ""}, "404": {"description": ""}, "405": {"description": ""}}
_ONE = {"parameters": [parameter("id", "path", "integer")]}
_NOTE = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
_MADE = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
_BODY = {"required": True, "content": {"application/json": {"schema": _NOTE}}}


def _made(at: str) -> dict[str, Any]:
    content = {"application/json": {"schema": _MADE}}
    linked = {"one": {"operationId": at, "parameters": {"id": "$response.body#/id"}}}
    return {"201": {"description": "", "content": content, "links": linked}, **_REFUSED}


def _get(responses: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"get": {"responses": {**responses, **_REFUSED}, **more}}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Careless", "version": "1"},
    "servers": [{"url": "/"}],
    "components": {"securitySchemes": {"Key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "paths": {
        "/type": _get(_OK),
        "/schema": _get(_OK),
        "/headers": _get(
            {
                "200": {
                    "description": "",
                    "content": _TEXT,
                    "headers": {"X-Pages": {"required": True, "schema": {"type": "integer"}}},
                }
            }
        ),
        "/refusing": _get(_OK, parameters=[parameter("name", "query")]),
        "/headless": _get(_OK, parameters=[parameter("X-Tenant", "header")]),
        "/open": _get({**_OK, "401": {"description": ""}}, security=[{"Key": []}]),
        "/notes": {"post": {"requestBody": _BODY, "responses": _made("oneNote")}},
        "/notes/{id}": {
            "get": {**_ONE, "operationId": "oneNote", "responses": {**_OK, **_REFUSED}},
            "delete": {**_ONE, "responses": {"204": {"description": ""}, **_REFUSED}},
        },
        "/drafts": {"post": {"requestBody": _BODY, "responses": _made("oneDraft")}},
        "/drafts/{id}": {"get": {**_ONE, "operationId": "oneDraft", "responses": {**_OK, **_REFUSED}}},
    },
}


class Careless:
    """Keeps notes, also those that are deleted, and no drafts."""

    def __init__(self) -> None:
        self._ids = count(4100)
        self._notes: set[str] = set()

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode("latin-1").partition("?")[0]
        name = path.strip("/").partition("/")[0]
        if request.method not in _methods(path):
            allowed = ", ".join(sorted(_methods(path) - {"DELETE"}))
            return Reply(405, "text/plain", b"", (("Allow", allowed),))
        if request.method == "POST":
            return self._made(name, request.body)
        if request.method == "DELETE":
            return Reply(204, "", b"")
        return self._read(name, path.rpartition("/")[2])

    def _read(self, name: str, last: str) -> Reply:
        if name in ("notes", "drafts"):
            return json_reply("text") if last in self._notes else json_reply("", 404)
        if name == "type":
            return Reply(200, "text/html", b"text")
        if name == "refusing":
            return json_reply("Traceback (most recent call last):", 400)
        return json_reply(7 if name == "schema" else "text")

    def _made(self, name: str, body: bytes) -> Reply:
        try:
            value = json.loads(body)
        except ValueError:
            return json_reply("", 400)
        if not isinstance(value, dict) or set(value) != {"text"} or not isinstance(value["text"], str):
            return json_reply("", 400)
        number = next(self._ids)
        if name == "notes":
            self._notes.add(str(number))
        return json_reply({"id": number}, 201)


def _methods(path: str) -> set[str]:
    described = DOCUMENT["paths"].get(path)
    if described is None:
        described = DOCUMENT["paths"].get(f"{path.rpartition('/')[0]}/{{id}}", {})
    return {method.upper() for method in described}
