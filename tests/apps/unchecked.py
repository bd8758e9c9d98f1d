"""A service that declares a token for all its operations and does not look at it in one of them."""

import json
import re
from collections import Counter
from typing import Any
from zlib import crc32

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

TOKEN = "right"
_SKU = {"type": "string", "minLength": 3, "maxLength": 12, "pattern": "^[A-Z0-9]+$"}
_QUANTITY = {"type": "integer", "minimum": 1}
_ORDER = {"type": "object", "required": ["sku"], "properties": {"sku": _SKU, "quantity": _QUANTITY}}
_RESPONSES = {status: {"description": status} for status in ("200", "201", "400", "401", "409")}
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
    """`POST /orders` accepts few valid orders and takes them from any client; `GET /stock` checks the token.

    One of `accepted` valid orders is accepted, as chance has it. With a `rule`, the quantity is required and has to be a multiple of that.
    """

    def __init__(self, *, accepted: int = 10, rule: int = 1) -> None:
        self.accepted, self.rule = accepted, rule
        self.strangers: Counter[str] = Counter()
        """Requests without the right token, by path."""

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        is_known = request.headers.get("authorization", "") == f"Bearer {TOKEN}"
        self.strangers[path] += not is_known
        if path == "/stock":
            return json_reply({}, 200 if is_known else 401)
        order = _order_in(request.body)
        if order is None:
            return json_reply({"message": "no order"}, 400)
        if self.rule > 1 and "quantity" not in order:
            return json_reply({"message": "quantity is required"}, 400)
        if order.get("quantity", 1) % self.rule:
            return json_reply({"message": f"quantity must be a multiple of {self.rule}"}, 400)
        is_sold_out = crc32(request.body) % self.accepted
        return json_reply({"message": "not now"}, 409 if is_sold_out else 201)


def _order_in(content: bytes) -> dict[str, Any] | None:
    try:
        order = json.loads(content)
    except ValueError:
        return None
    if not isinstance(order, dict):
        return None
    sku, quantity = order.get("sku"), order.get("quantity", 1)
    is_right = isinstance(sku, str) and re.fullmatch("[A-Z0-9]{3,12}", sku) is not None
    return order if is_right and type(quantity) is int and quantity > 0 else None
