"""Sequences remove the members that they create. The removal of all members of a collection is tested on its own."""

import json
from itertools import count
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

_ROOM = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}}
_SHOWN = {**_ROOM, "properties": {**_ROOM["properties"], "id": {"type": "string"}}}  # type: ignore[dict-item]
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def _answers(status: str) -> dict[str, Any]:
    refused = {code: {"description": ""} for code in ("400", "404", "422")}
    return {"responses": {status: {"description": ""}, **refused}}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Rooms", "version": "1"},
    "paths": {
        "/rooms": {
            "get": _answers("200"),
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": _ROOM}}},
                "responses": {
                    **_answers("422")["responses"],
                    "201": {"description": "", "content": {"application/json": {"schema": _SHOWN}}},
                },
            },
            "delete": {"parameters": [{**_ID, "in": "query", "required": False}], **_answers("204")},
        },
        "/rooms/{id}": {"parameters": [_ID], "get": _answers("200"), "delete": _answers("204")},
    },
}


class Rooms:
    """A collection with one member that `DELETE /rooms` empties."""

    def __init__(self) -> None:
        self.rooms: dict[str, Any] = {"000001": {"name": "hall", "id": "000001"}}
        self._numbers = count(1)

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode("latin-1").partition("?")[0]
        name = path.removeprefix("/rooms").removeprefix("/")
        if name:
            if name not in self.rooms:
                return json_reply({}, 404)
            return Reply(204) if request.method == "DELETE" and self.rooms.pop(name) else json_reply({})
        if request.method == "DELETE":
            self.rooms.clear()
            return Reply(204)
        if request.method == "GET":
            return json_reply(list(self.rooms))
        try:
            room = json.loads(request.body)
        except ValueError:
            return json_reply({}, 400)
        if not isinstance(room, dict) or not isinstance(room.get("name"), str) or not room["name"]:
            return json_reply({}, 422)
        room = {"name": room["name"], "id": f"{next(self._numbers) * 7919:06x}"}
        self.rooms[room["id"]] = room
        return json_reply(room, 201)


def _sent(command: Command, phase: str) -> set[str]:
    with serving(Rooms(), DOCUMENT) as app:
        command.run(app.document_url, "--phases", phase, inline=True)
    return {f"{one.method} {one.target.decode('latin-1').partition('?')[0]}" for one in app.seen}


@pytest.mark.thorough
def test_no_sequence_removes_members_of_others(command: Command) -> None:
    sent = _sent(command, "stateful")
    assert any(one.startswith("DELETE /rooms/") for one in sent)
    assert not {"DELETE /rooms", "DELETE /rooms/000001"} & sent


def test_the_emptying_of_a_collection_is_tested_alone(command: Command) -> None:
    assert "DELETE /rooms" in _sent(command, "coverage")
