"""Collections that do not know each other, four operations each, in one description; some of them have a planted defect."""

import json
from itertools import count
from threading import Lock
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import Answer, json_reply

OPERATIONS = 4
"""Operations of one collection."""
_BROKEN_EVERY = 7
"""Every seventh collection answers 500 to a request for a member that exists."""


def store(number: int) -> str:
    """Return the path of a collection."""
    return f"/store{number:02}s"


def broken(stores: int) -> set[str]:
    """Return the labels of the operations with a planted defect."""
    return {f"GET {store(number)}/{{id}}" for number in range(0, stores, _BROKEN_EVERY)}


def document(stores: int, *, joined: bool = False) -> dict[str, Any]:
    """Return a description of so many collections; in `joined` ones each member names one of the first collection."""
    paths: dict[str, Any] = {}
    for number in range(stores):
        # Collections differ in the number of their fields, so that groups of operations differ in their costs.
        fields = {f"field{n}": {"type": "string", "maxLength": 8} for n in range(1 + number % 4)}
        required = ["field0"]
        if joined and number:
            fields["store00_id"] = {"type": "integer"}
            required.append("store00_id")
        body: dict[str, Any] = {
            "type": "object",
            "required": required,
            "properties": fields,
            "additionalProperties": False,
        }
        shown = {**body, "properties": {**fields, "id": {"type": "integer"}}}
        schema = {"schema": {"type": "integer", "minimum": 1, "maximum": 10_000_000}}
        item = [{"in": "path", "name": "id", "required": True, **schema}]
        refused, missing = {"description": "refused"}, {"description": "missing"}
        paths[store(number)] = {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
                "responses": {"201": _answer(shown), "400": refused, "404": missing, "415": refused},
            },
            "get": {"responses": {"200": _answer({"type": "array", "items": shown})}},
        }
        paths[f"{store(number)}/{{id}}"] = {
            "parameters": item,
            "get": {"responses": {"200": _answer(shown), "400": refused, "404": missing}},
            "delete": {"responses": {"204": {"description": "gone"}, "400": refused, "404": missing}},
        }
    return {"openapi": "3.0.3", "info": {"title": "Stores", "version": "1"}, "paths": paths}


def _answer(schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": "ok", "content": {"application/json": {"schema": schema}}}


def answering(stores: int, *, stateless: bool = False, joined: bool = False) -> Answer:
    """Return the application. A `stateless` one answers equal requests equally, whatever was sent before."""
    made: dict[str, dict[int, Any]] = {store(number)[1:]: {} for number in range(stores)}
    bad = broken(stores)
    numbers, lock = count(1), Lock()

    def answer(request: Request) -> Reply:
        name, _, key = request.target.decode("latin-1").partition("?")[0].strip("/").partition("/")
        if name not in made:
            return json_reply({}, 404)
        with lock:
            return on_item(request, name, key) if key else on_all(request, name)

    def on_all(request: Request, name: str) -> Reply:
        if request.method == "GET":
            return json_reply(list(made[name].values())[:3])
        if request.method != "POST":
            return Reply(405, headers=(("Allow", "GET, POST"),))
        if request.headers.get("content-type") != "application/json":
            return json_reply({}, 415)
        try:
            given = json.loads(request.body)
        except ValueError:
            return json_reply({}, 400)
        fields = {f"field{n}" for n in range(1 + int(name[5:7]) % 4)}
        if not isinstance(given, dict):
            return json_reply({}, 400)
        owner = given.pop("store00_id", None) if joined and name != "store00s" else None
        is_good = "field0" in given and set(given) <= fields
        if not is_good or not all(isinstance(text, str) and len(text) <= 8 for text in given.values()):
            return json_reply({}, 400)
        if joined and name != "store00s":
            if type(owner) is not int:
                return json_reply({}, 400)
            if owner not in made["store00s"]:
                return json_reply({}, 404)
            given["store00_id"] = owner
        number = 1 if stateless else next(numbers)
        shown = {**given, "id": number}
        if not stateless:
            made[name][number] = shown
        return json_reply(shown, 201)

    def on_item(request: Request, name: str, key: str) -> Reply:
        if request.method not in ("GET", "DELETE"):
            return Reply(405, headers=(("Allow", "DELETE, GET"),))
        if not key.isascii() or not key.isdigit() or not 1 <= int(key) <= 10_000_000:
            return json_reply({}, 400)
        found = made[name].get(int(key))
        if found is None:
            return json_reply({}, 404)
        if request.method == "DELETE":
            del made[name][int(key)]
            return Reply(204)
        return json_reply({}, 500) if f"GET /{name}/{{id}}" in bad else json_reply(found)

    return answer
