"""A service with thirty stable defects, three in each of ten operations; any of them can be fixed, and operations removed."""

from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

OPERATIONS = tuple(f"/shelves/{name}" for name in "abcdefghij")
DEFECTS = ("status", "type", "media type")


def document(paths: tuple[str, ...] = OPERATIONS, *, reverse: bool = False) -> dict[str, Any]:
    """The description; with `reverse` the first parameter is the last one, so that drawn choices make other requests."""
    parameters = [
        {"name": name, "in": "query", "required": True, "schema": {"type": "boolean"}}
        for name in ("old", "full", "plain")
    ]
    schema = {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}
    responses = {"200": {"description": "a shelf", "content": {"application/json": {"schema": schema}}}}
    operation = {"parameters": parameters[::-1] if reverse else parameters, "responses": responses}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shelves", "version": "1"},
        "paths": {path: {"get": operation} for path in paths},
    }


class Shelves:
    """Answers requests; `fixed` are (path, defect)."""

    def __init__(self) -> None:
        self.fixed: set[tuple[str, str]] = set()

    def __call__(self, request: Request) -> Reply:
        path, _, query = request.target.decode().partition("?")
        given = dict(pair.split("=") for pair in query.split("&") if "=" in pair)
        if path not in OPERATIONS or not {"old", "full", "plain"} <= given.keys():
            return json_reply({}, 404)

        def shows(name: str, defect: str) -> bool:
            return given[name] == "true" and (path, defect) not in self.fixed

        if shows("old", "status"):
            return json_reply({}, 500)
        if shows("full", "type"):
            return json_reply({"size": "many"})
        if shows("plain", "media type"):
            return Reply(200, "text/plain", b"1")
        return json_reply({"size": 1})
