"""A service that declares a token for all its operations and does not look at it in one of them."""

from collections import Counter
from typing import Any
from zlib import crc32

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

TOKEN = "right"
ACCEPTED = 10
"""One of so many valid orders is accepted."""
_SKU = {"type": "string", "minLength": 3, "maxLength": 12, "pattern": "^[A-Z0-9]+$"}
_ORDER = {"type": "object", "required": ["sku"], "properties": {"sku": _SKU}}
_RESPONSES = {status: {"description": status} for status in ("200", "201", "401", "409")}
_LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Orders", "version": "1"},
    "security": [{"token": []}],
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "paths": {
        "/orders": {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": _ORDER}}},
                "responses": _RESPONSES,
            }
        },
        "/stock": {"get": {"parameters": [_LIMIT], "responses": _RESPONSES}},
    },
}


class Orders:
    """`POST /orders` accepts few orders and takes them from any client; `GET /stock` checks the token."""

    def __init__(self) -> None:
        self.strangers: Counter[str] = Counter()
        """Requests without the right token, by path."""

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        is_known = request.headers.get("authorization", "") == f"Bearer {TOKEN}"
        self.strangers[path] += not is_known
        if path == "/stock":
            return json_reply({}, 200 if is_known else 401)
        is_sold_out = crc32(request.body) % ACCEPTED
        return json_reply({"message": "not now"}, 409 if is_sold_out else 201)
