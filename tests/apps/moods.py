"""An application with failures of each class: always, one time in three, at one hour of the day, after two earlier steps."""

from dataclasses import dataclass, field
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

OK = {"description": ""}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
NUMBER = {"name": "number", "in": "query", "required": True, "schema": {"type": "integer"}}
THING = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
BASIC = {"scheme": {"type": "http", "scheme": "basic"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Moods", "version": "1"},
    "components": {"securitySchemes": BASIC},
    "paths": {
        "/always": {"get": {"responses": {"200": OK}}},
        "/third": {"get": {"parameters": [NUMBER], "responses": {"200": OK}}},
        "/clock": {"get": {"parameters": [NUMBER], "responses": {"200": OK}}},
        "/vault": {"get": {"security": [{"scheme": []}], "responses": {"200": OK, "401": OK}}},
        "/things": {
            "post": {
                "responses": {
                    "201": {
                        **OK,
                        "content": {"application/json": {"schema": THING}},
                        "links": {
                            "close": {"operationId": "close", "parameters": {"id": "$response.body#/id"}},
                            "read": {"operationId": "read", "parameters": {"id": "$response.body#/id"}},
                        },
                    }
                }
            }
        },
        "/things/{id}": {"get": {"operationId": "read", "parameters": [ID], "responses": {"200": OK, "404": OK}}},
        "/things/{id}/close": {
            "post": {"operationId": "close", "parameters": [ID], "responses": {"200": OK, "404": OK}}
        },
    },
}


@dataclass
class Moods:
    """A fresh instance numbers its things from one."""

    count: int = 0
    hour: int = 0
    """Of the clock, which every request to it moves on; only in one it fails."""
    closed: dict[str, bool] = field(default_factory=dict)

    def answer(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        match path.strip("/").split("/"):
            case ["always"]:
                return json_reply({}, 500)
            case ["third"]:
                self.count += 1
                return json_reply({}, 500 if self.count % 3 == 0 else 200)
            case ["clock"]:
                self.hour += 1
                return json_reply({}, 500 if self.hour == 4 else 200)
            case ["vault"]:
                return json_reply({})
            case ["things"]:
                name = f"t{len(self.closed) + 1}"
                self.closed[name] = False
                return json_reply({"id": name}, 201)
            case ["things", name, *rest] if name in self.closed:
                if rest:
                    self.closed[name] = True
                    return json_reply({})
                return json_reply({}, 500 if self.closed[name] else 200)
        return json_reply({}, 404)
