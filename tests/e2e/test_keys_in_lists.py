"""Bodies name things of other resources in their lists: `{"lines": [{"productId": "..."}]}`."""

import json
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

TEXT = {"type": "string", "minLength": 1}
LINE = {
    "type": "object",
    "required": ["productId", "count"],
    "properties": {"productId": TEXT, "count": {"type": "integer", "minimum": 1}},
}
PRODUCT = {"type": "object", "required": ["productId", "title"], "properties": {"productId": TEXT, "title": TEXT}}


def creation(body: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    body = {"type": "object", "required": list(body), "properties": body}
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "201": {"description": "made", "content": {"application/json": {"schema": made}}},
            "400": {"description": "no"},
            "422": {"description": "of what there is not"},
        },
    }


LISTS = {"lines": {"type": "array", "minItems": 1, "items": LINE}}
NAMES = {"productIds": {"type": "array", "minItems": 1, "items": TEXT}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/products": {"post": creation({"title": TEXT}, PRODUCT)},
        "/orders": {"post": creation(LISTS, {"type": "object"})},
        "/bundles": {"post": creation(NAMES, {"type": "object"})},
    },
}


class Shop:
    """Products, and what is made of them."""

    def __init__(self) -> None:
        self.products: set[str] = set()
        self.statuses: Counter[tuple[str, int]] = Counter()
        self._numbers = count()

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode("latin-1").partition("?")[0]
        status, body = self._answer(path.strip("/"), request.body)
        self.statuses[path, status] += 1
        return json_reply(body, status)

    def _answer(self, what: str, content: bytes) -> tuple[int, dict[str, Any]]:
        try:
            given = json.loads(content)
            if what == "products":
                name = f"p-{next(self._numbers)}x"
                self.products.add(name)
                return 201, {"productId": name, "title": given["title"]}
            named = (
                given["productIds"]
                if what == "bundles"
                else [line["productId"] for line in given["lines"] if line["count"] > 0]
            )
        except (ValueError, TypeError, KeyError):
            return 400, {}
        return (201 if named and self.products.issuperset(named) else 422), {}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("path", ["/orders", "/bundles"])
def test_what_was_made_is_named_in_lists(tmp_path: Path, path: str) -> None:
    shop = Shop()
    with serving(shop, DOCUMENT) as app:
        arguments = ("--phases", "stateful", "--mode", "positive", "--checks", "not_a_server_error")
        ran = Command(tmp_path).run(app.document_url, *arguments, "-n", "40", "--seed", "1", inline=True)
    assert ran.code == 0, ran.shown
    assert shop.statuses[path, 201] > shop.statuses[path, 422], shop.statuses
