"""Notes of two users, on a server that knows who is calling; with `is_planted` anybody who is logged in reads all of them."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

USERS = ("anna", "bert")
NOTE = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
KEPT = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, **NOTE["properties"]},  # type: ignore[dict-item]
}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}


def _answers(schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": "", "content": {"application/json": {"schema": schema}}}


DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Notebooks", "version": "1"},
    "security": [{"B": []}],
    "paths": {
        "/notes": {
            "get": {"responses": {"200": _answers({"type": "array", "items": KEPT})}},
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": NOTE}}},
                "responses": {"201": _answers(KEPT)},
            },
        },
        "/notes/{id}": {
            "get": {"parameters": [ID], "responses": {"200": _answers(KEPT), "404": {"description": ""}}}
        },
    },
    "components": {"securitySchemes": {"B": {"type": "http", "scheme": "bearer"}}},
}  # fmt: skip


def wfc_document() -> dict[str, Any]:
    """Both users, each with a token of its own."""
    return {
        "auth": [
            {"name": name, "fixedHeaders": [{"name": "Authorization", "value": f"Bearer tok-{name}"}]} for name in USERS
        ]
    }


@dataclass
class Notebooks:
    """The application."""

    is_planted: bool = True
    is_shared: bool = False
    """Whether lists hold everybody's notes: then they are meant to be read."""
    is_paged: bool = False
    """Whether lists hold the first three notes alone."""
    is_public: bool = False
    """Whether nobody has to say who he is to read a note."""
    notes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """(owner, note)."""
    readers: Counter[str] = field(default_factory=Counter)

    def answer(self, request: Request) -> Reply:
        who = request.headers.get("authorization", "").removeprefix("Bearer tok-")
        path = request.target.decode("latin-1").partition("?")[0]
        if path == "/notes":
            return json_reply({}, 401) if who not in USERS else self._all(who, request)
        last = path.rpartition("/")[2]
        number = int(last) if last.isdecimal() and len(last) < 9 else -1
        if who not in USERS and not self.is_public:
            return json_reply({}, 401)
        self.readers[who] += 1
        if not 0 <= number < len(self.notes):
            return json_reply({}, 404)
        owner, note = self.notes[number]
        is_let_in = owner == who or self.is_planted or self.is_shared or self.is_public
        return json_reply(note) if is_let_in else json_reply({}, 404)

    def _all(self, who: str, request: Request) -> Reply:
        if request.method == "GET":
            mine = [note for owner, note in self.notes if owner == who or self.is_shared]
            return json_reply(mine[:3] if self.is_paged else mine[-50:])
        try:
            given = json.loads(request.body)
        except ValueError:
            return json_reply({}, 400)
        if not isinstance(given, dict) or not isinstance(given.get("text"), str):
            return json_reply({}, 400)
        note = {"id": len(self.notes), "text": given["text"]}
        self.notes.append((who, note))
        return json_reply(note, 201)
