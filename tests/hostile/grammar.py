"""Something wrong at every place of a description that has one of everything."""

import json
from functools import partial
from typing import Any, Final

from tests.hostile.making import INFO, OK, TEXT, Row, S, written

RICH: Final[dict[str, Any]] = {
    "openapi": "3.1.0",
    "info": INFO,
    "servers": [{"url": "http://{h}/v1", "variables": {"h": {"default": "127.0.0.1", "enum": ["a"]}}}],
    "security": [{"k": []}],
    "tags": [{"name": "t"}],
    "paths": {
        "/ok": {"get": OK},
        "/a/{id}": {
            "summary": "s",
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}],
            "post": {
                "operationId": "o",
                "tags": ["t"],
                "parameters": [{"name": "q", "in": "query", "style": "form", "explode": True, "schema": {"type": "array", "items": TEXT}, "examples": {"e": {"value": ["a"]}}}],
                "requestBody": {
                    "required": True,
                    "content": {"multipart/form-data": {"schema": {"$ref": S + "A"}, "encoding": {"a": {"contentType": "text/plain", "headers": {"X": {"schema": TEXT}}}}}},
                },
                "responses": {
                    "200": {
                        "description": "d",
                        "headers": {"X-A": {"required": True, "schema": {"type": "integer"}}},
                        "content": {"application/json": {"schema": {"$ref": S + "A"}, "example": {"a": "x"}}},
                        "links": {"l": {"operationId": "o", "parameters": {"id": "$response.body#/a"}}},
                    },
                    "default": {"$ref": "#/components/responses/R"},
                },
                "callbacks": {"c": {"{$request.body#/u}": {"post": OK}}},
                "servers": [{"url": "/v2"}],
            },
        },
    },
    "components": {
        "responses": {"R": {"description": "r"}},
        "securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "K"}},
        "schemas": {
            "A": {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"type": "string", "minLength": 1, "pattern": "^a"}, "b": {"$ref": S + "B"}},
                "additionalProperties": False,
            },
            "B": {"oneOf": [{"$ref": S + "C"}, {"type": "null"}], "discriminator": {"propertyName": "k", "mapping": {"c": S + "C"}}},
            "C": {"type": "object", "properties": {"k": {"enum": ["c"]}}, "xml": {"name": "c"}},
        },
    },
}  # fmt: skip
"""A description that has one of everything, and nothing wrong."""
WRONG: Final[tuple[object, ...]] = (None, 5, "x", [], {}, True, [[None]], {"$ref": "#/paths"})


def _places(value: Any, way: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, item in inside for place in _places(item, (*way, key)))]


def _with(way: tuple[str | int, ...], wrong: object) -> bytes:
    copy = json.loads(json.dumps(RICH))
    owner = copy
    for key in way[:-1]:
        owner = owner[key]
    owner[way[-1]] = wrong
    return written(copy)


def grammar() -> dict[str, Row]:
    """Something wrong at every place of a description that has one of everything."""
    rows = {}
    for number, way in enumerate(_places(RICH)[1:]):
        is_above = way[0] == "openapi" or way == ("paths",) or way[:2] == ("paths", "/ok")
        # Each place has two of them: next to one with the others.
        for wrong in (WRONG[number % len(WRONG)], WRONG[(number + 3) % len(WRONG)]):
            name = f"{'/'.join(map(str, way))} is {json.dumps(wrong)}"
            data = partial(_with, way, wrong)
            refused = "Unable to determine the Open API version" if way[0] == "openapi" else ""
            rows[name] = Row(data, refused=refused, tested=() if is_above else ("GET /ok",))
    return rows
