"""A description of many operations with large bodies, as of an accounting or a payment service."""

from typing import Any

_STRING = {"type": "string", "maxLength": 40}
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}
_RESPONSES = {
    str(status): {
        "description": "",
        "content": {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "integer"}}}}},
    }
    for status in (200, 201, 404, 400)
}
_MONEY = {
    "type": "object",
    "required": ["amount", "currency"],
    "properties": {
        "amount": {"type": "number", "minimum": 0, "maximum": 100_000},
        "currency": {"enum": ["EUR", "USD", "GBP", "CHF"]},
    },
}
_ADDRESS = {
    "type": "object",
    "required": ["street", "city"],
    "properties": {
        "street": _STRING,
        "city": _STRING,
        "code": {"type": "string", "pattern": "^[0-9]{5}$"},
        "country": {"type": "string", "minLength": 2, "maxLength": 2},
        "is_default": {"type": "boolean"},
    },
}


def large_document(resources: int, *, fields: int) -> dict[str, Any]:
    """Return a description with five operations for each resource, whose bodies have so many fields of nine kinds."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {"Money": _MONEY, "Address": _ADDRESS}
    for number in range(resources):
        schemas[f"Thing{number}"] = _thing(number, fields)
        body = {"required": True, "content": {"application/json": {"schema": _ref(f"Thing{number}")}}}
        plain, with_body = {"responses": _RESPONSES}, {"requestBody": body, "responses": _RESPONSES}
        paths[f"/things{number}"] = {"get": plain, "post": with_body}
        paths[f"/things{number}/{{id}}"] = {"parameters": [_ID], "get": plain, "put": with_body, "delete": plain}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Large", "version": "1"},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _thing(number: int, fields: int) -> dict[str, Any]:
    """Return a schema that no other resource has: its limits and names differ."""
    kinds: list[dict[str, Any]] = [
        {"type": "string", "minLength": 1, "maxLength": 20 + number},
        {"type": "integer", "minimum": number, "maximum": 1_000 + number},
        {"enum": [f"state{number}_{one}" for one in range(4)]},
        {"type": "string", "format": "date-time"},
        {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 9 + number}},
        {"type": "boolean"},
        _ref("Money"),
        _ref("Address"),
        {
            "type": "object",
            "properties": {
                "text": {"type": "string", "maxLength": 10 + number},
                "lines": {"type": "array", "maxItems": 2, "items": _ref("Money")},
            },
        },
    ]
    properties = {f"field{one}": kinds[one % len(kinds)] for one in range(fields)}
    return {"type": "object", "required": ["field0", "field1"], "properties": properties}
