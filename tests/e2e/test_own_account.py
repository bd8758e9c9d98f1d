"""Requests that change or remove users take users that the run created, so that the run keeps its own account."""

import json
from itertools import count
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

OWN = "5eed00"
_SENT = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
_SHOWN = {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": _SENT}}}}


def _answers(status: str, schema: Any) -> dict[str, Any]:
    shown = {"description": "", "content": {"application/json": {"schema": schema}}}
    return {"responses": {status: shown, **{code: {"description": ""} for code in ("400", "401", "404")}}}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Users", "version": "1"},
    "paths": {
        "/users": {"get": _answers("200", {"type": "array", "items": _SHOWN}), "post": _BODY | _answers("201", _SHOWN)},
        "/users/{id}": {
            "parameters": [_ID],
            "get": _answers("200", _SHOWN),
            "put": _BODY | _answers("200", _SHOWN),
            "delete": _answers("200", {}),
        },
    },
}


class Users:
    """Users of whom one is the caller: without it, or under another name, it is refused."""

    def __init__(self) -> None:
        self.users = {OWN: "admin"}
        self._numbers = count(1)

    def __call__(self, request: Request) -> Reply:
        name = request.target.decode("latin-1").partition("?")[0].removeprefix("/users").strip("/")
        if self.users.get(OWN) != "admin":
            return json_reply({}, 401)
        if name and name not in self.users:
            return json_reply({}, 404)
        if request.method == "GET":
            return json_reply(self._shown(name) if name else [self._shown(one) for one in self.users])
        if request.method == "DELETE":
            del self.users[name]
            return json_reply({})
        sent = _read(request.body)
        if sent is None:
            return json_reply({}, 400)
        name, status = (name, 200) if name else (f"{next(self._numbers) * 7919:06x}", 201)
        self.users[name] = sent
        return json_reply(self._shown(name), status)

    def _shown(self, name: str) -> dict[str, str]:
        return {"id": name, "name": self.users[name]}


def _read(body: bytes) -> str | None:
    try:
        sent = json.loads(body)
    except ValueError:
        return None
    return sent["name"] if isinstance(sent, dict) and isinstance(sent.get("name"), str) else None


def test_a_run_keeps_its_own_account(command: Command) -> None:
    with serving(Users(), DOCUMENT) as app:
        command.run(app.document_url, "--phases", "fuzzing,stateful", "--max-examples", "30", inline=True)
    changing = {one.target for one in app.seen if one.method in ("PUT", "DELETE")}
    assert len(changing) > 3
    assert f"/users/{OWN}".encode() not in changing


def test_resources_of_the_run_are_known_behind_paths_with_a_slash_at_their_ends(command: Command) -> None:
    document = {**DOCUMENT, "paths": {f"{path}/": one for path, one in DOCUMENT["paths"].items()}}
    with serving(Users(), document) as app:
        command.run(
            app.document_url, "--safety", "create-own", "--phases", "fuzzing", "--max-examples", "9", inline=True
        )
    changed = {one.target for one in app.seen if one.method in ("PUT", "DELETE")}
    assert changed
    assert f"/users/{OWN}/".encode() not in changed
