"""A description in several files: fetched by the first worker, found in the run directory by everybody else."""

from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

ITEM = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "integer"}, "next": {"$ref": "shared.json#/Item"}},
}
CONTENT = {"application/json": {"schema": {"$ref": "parts/shared.json#/Item"}}}
OPERATION = {
    "requestBody": {"required": True, "content": CONTENT},
    "responses": {"200": {"description": "the item", "content": CONTENT}},
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Split", "version": "1"},
    "paths": {
        "/a": {"post": OPERATION},
        "/b": {"put": OPERATION},
        "/c": {"get": {"responses": {"200": {"$ref": "parts/gone.json"}}}},
        "/d": {"post": {"$ref": "parts/create.json"}},
    },
}


def answer(request: Request) -> Reply:
    path = request.target.partition(b"?")[0]
    if path == b"/parts/shared.json":
        return json_reply({"Item": ITEM})
    if path == b"/parts/create.json":
        # References lead from where the operation stands.
        body = {"required": True, "content": {"application/json": {"schema": {"$ref": "shared.json#/Item"}}}}
        return json_reply({"requestBody": body, "responses": {"200": {"description": ""}}})
    if path == b"/parts/gone.json":
        return Reply(404)
    # A defect that only the neighbour's schema shows.
    return json_reply({"id": "not a number"} if path == b"/a" else {"id": 1})


def test_neighbours_are_fetched_once_and_their_schemas_count(command: Command) -> None:
    with serving(answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-w", "2", "-n", "20")
    assert ran.code == 1, ran.shown
    assert len(ran.findings) == 1, ran.shown
    assert "Response violates schema" in ran.stdout
    assert "parts/shared.json#/Item/properties/id" in ran.stdout
    fetched = [request.target for request in app.seen if b"/parts/" in request.target]
    assert sorted(fetched) == [b"/parts/create.json", b"/parts/gone.json", b"/parts/shared.json"]
    assert any(b'"id"' in request.body for request in app.seen if request.target == b"/d")
    # What cannot be validated is said, and the operation is tested all the same.
    assert "`parts/gone.json` at #/paths/~1c/get/responses/200 points at nothing" in ran.stdout
    assert any(request.target == b"/c" for request in app.seen)
