"""Notes with versions, sessions and purses; each mistake is one that only several requests together show."""

import json
import time
from contextlib import nullcontext
from threading import Lock
from typing import Any
from uuid import uuid4

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
_TOKEN = {
    "name": "X-Session",
    "in": "header",
    "required": True,
    "description": "`token` of the session",
    "schema": {"type": "string"},
}
_KEY = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": {"type": "string", "minLength": 4}}
_PURSE = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "balance": {"type": "integer"}},
    "required": ["id", "balance"],
}
_SUM = {
    "type": "object",
    "properties": {"amount": {"type": "integer", "minimum": 1, "maximum": 1000}},
    "required": ["amount"],
    "additionalProperties": False,
}
_NOTE = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "pattern": "^[A-Z][a-z]{3,8}$"},
        "text": {"type": "string", "pattern": "^[a-z]{4,9}$"},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{3,5}$"}, "minItems": 1, "maxItems": 2},
    },
    "required": ["title"],
    "additionalProperties": False,
}
_SHOWN = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "version": {"type": "integer"}, **_NOTE["properties"]},  # type: ignore[dict-item]
    "required": ["id", "version", "title"],
}


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _responses(status: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    shown = {"description": "", **({"content": _content(schema)} if schema else {})}
    return {"responses": {status: shown, "default": {"description": "refused"}}}


_BODY = {"requestBody": {"required": True, "content": _content(_NOTE)}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Notes", "version": "1"},
    "paths": {
        "/notes": {"post": {**_responses("201", _SHOWN), **_BODY}},
        "/notes/{id}": {"parameters": [_ID], "get": _responses("200", _SHOWN), "put": {**_responses("200", _SHOWN), **_BODY}},
        "/sessions": {"post": _responses("201", {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]})},
        "/logout": {"post": {**_responses("204"), "parameters": [_TOKEN]}},
        "/payments": {"post": {**_responses("201", {"type": "object", "properties": {"id": {"type": "string"}}}), "parameters": [_KEY]}},
        "/purses": {"post": _responses("201", _PURSE)},
        "/purses/{id}/spend": {"post": {**_responses("200", _PURSE), "parameters": [_ID], "requestBody": {"required": True, "content": _content(_SUM)}}},
        "/me": {"get": {**_responses("200", {"type": "object"}), "parameters": [_TOKEN]}},
    },
}  # fmt: skip


class Versioned:
    """The service. `mistake`: `adds`, `keeps`, `loses`, `304`, `412`, `counts`, `logout`, `key`, `spends`, `twice`, or empty for none."""

    def __init__(self, mistake: str) -> None:
        self.mistake = mistake
        self.notes: dict[str, dict[str, Any]] = {}
        self.sessions: set[str] = set()
        self.purses: dict[str, int] = {}
        self.paid: dict[str, str] = {}
        self.lock = Lock()

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        token = request.headers.get("x-session", "")
        match request.method, path.split("/")[1:]:
            case "POST", ["sessions"]:
                made = uuid4().hex
                self.sessions.add(made)
                return json_reply({"token": made}, 201)
            case "POST", ["logout"] if token in self.sessions:
                if self.mistake != "logout":
                    self.sessions.discard(token)
                return Reply(204)
            case "GET", ["me"] if token in self.sessions:
                return json_reply({"name": "Ann"})
            case "POST", ["payments"] if len(key := request.headers.get("idempotency-key", "")) > 3:
                made = uuid4().hex
                return json_reply({"id": made if self.mistake == "key" else self.paid.setdefault(key, made)}, 201)
            case "POST", ["purses"]:
                made = uuid4().hex
                self.purses[made] = 1000
                return json_reply({"id": made, "balance": 1000}, 201)
            case "POST", ["purses", name, "spend"] if name in self.purses:
                return self._spend(request, name)
            case _, ["logout" | "me"]:
                return json_reply({}, 401)
            case "POST", ["notes"] if (sent := _note(request)) is not None:
                name = uuid4().hex
                self.notes[name] = {"id": name, "version": 1, **sent}
                return self._shown(name, 201)
            case method, ["notes", name] if name in self.notes:
                return self._of_note(request, method, name)
            case _, ["notes", _]:
                return json_reply({}, 404)
            case _:
                return json_reply({}, 400)

    def _of_note(self, request: Request, method: str, name: str) -> Reply:
        note, known = self.notes[name], request.headers.get("if-none-match", "")
        if method == "GET":
            if self.mistake == "counts":
                note["version"] += 1
            tags = (_tag(note), f'"{note["version"] - 1}-{name}"') if self.mistake == "304" else (_tag(note),)
            return Reply(304) if known in tags else self._shown(name)
        if method != "PUT":
            return json_reply({}, 405)
        sent, condition = _note(request), request.headers.get("if-match", "")
        if sent is None:
            return json_reply({}, 400)
        is_old = condition == f'"{note["version"] - 1}-{name}"' and self.mistake == "412"
        if condition and condition != _tag(note) and not is_old:
            return json_reply({}, 412)
        if self.mistake == "twice" and sent == {key: note[key] for key in note.keys() - {"id", "version"}}:
            return json_reply({}, 500)
        shown = {"id": name, "version": note["version"] + 1, **sent}
        stored = dict(shown)
        if self.mistake == "adds":
            stored["tags"] = [*note.get("tags", []), *sent.get("tags", [])]
        if self.mistake == "keeps":
            stored = {**note, **stored}
        if self.mistake == "loses":
            stored["title"] = note["title"]
        self.notes[name] = stored
        return json_reply(shown)

    def _spend(self, request: Request, name: str) -> Reply:
        try:
            amount = json.loads(request.body)["amount"]
        except (ValueError, LookupError, TypeError):
            return json_reply({}, 400)
        if type(amount) is not int or amount < 1:
            return json_reply({}, 400)
        with nullcontext() if self.mistake == "spends" else self.lock:
            rest = self.purses[name] - amount
            if rest < 0:
                return json_reply({}, 409)
            if self.mistake == "spends":
                # Until the other one of two requests has read the balance as well.
                time.sleep(0.05)
            self.purses[name] = rest
        return json_reply({"id": name, "balance": rest})

    def _shown(self, name: str, status: int = 200) -> Reply:
        note = self.notes[name]
        return Reply(status, "application/json", json.dumps(note).encode(), (("ETag", _tag(note)),))


def _tag(note: dict[str, Any]) -> str:
    return f'"{note["version"]}-{note["id"]}"'


def _note(request: Request) -> dict[str, Any] | None:
    try:
        sent = json.loads(request.body)
    except ValueError:
        return None
    is_note = isinstance(sent, dict) and {"title"} <= sent.keys() <= {"title", "text", "tags"}
    tags = sent.get("tags", ["abc"]) if is_note else None
    is_valid = is_note and isinstance(sent["title"], str) and isinstance(sent.get("text", ""), str)
    return sent if is_valid and isinstance(tags, list) and all(isinstance(one, str) for one in tags) else None
