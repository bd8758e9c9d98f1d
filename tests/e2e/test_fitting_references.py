"""A body that names several resources names some that belong to each other, and to the path."""

import json
import re
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

_STOCK = {2: 7, 4: 9}
"""Product -> its only stock record; other products have none."""
_PRODUCTS, _BASKETS = range(1, 6), (3, 5)
_REFUSED = {status: {"description": "no"} for status in ("400", "404", "405", "415", "422")}


class Shop:
    """Lines of baskets name a product, a stock record of that product, and the basket of their path: by URL or by id."""

    def __init__(self, *, by_url: bool) -> None:
        self.by_url = by_url
        self.url = ""
        self.served: set[str] = set()
        self.accepted = self.read = 0
        self.lines: dict[str, Any] = {}

    def document(self) -> dict[str, Any]:
        reference = {"type": "string", "format": "uri"} if self.by_url else {"type": "integer"}
        shown = {"id": {"type": "integer"}} | ({"url": reference} if self.by_url else {})
        item = {"type": "object", "properties": shown}
        line = {
            "type": "object",
            "required": self._names,
            "properties": {**dict.fromkeys(self._names, reference), "quantity": {"type": "integer", "minimum": 1}},
        }
        return {
            "openapi": "3.0.3",
            "info": {"title": "Shop", "version": "1"},
            "paths": {
                "/products": {"get": _operation([item])},
                "/products/{id}": {"get": _operation(item, "id")},
                "/products/{product}/stockrecords": {"get": _operation([item], "product")},
                "/products/{product}/stockrecords/{id}": {"get": _operation(item, "product", "id")},
                "/baskets": {"get": _operation([item])},
                "/baskets/{id}": {"get": _operation(item, "id")},
                "/baskets/{id}/lines": {"post": _operation(item, "id", body=line), "get": _operation([item], "id")},
                "/baskets/{basket}/lines/{id}": {"get": _operation(item, "basket", "id")},
            },
        }

    @property
    def _names(self) -> list[str]:
        return [name if self.by_url else f"{name}Id" for name in ("product", "stockrecord", "basket")]

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        for template, item in self.document()["paths"].items():
            names = re.findall(r"\{(\w+)\}", template)
            found = re.fullmatch(re.sub(r"\{\w+\}", "([0-9]+)", template), path)
            if found and request.method.lower() in item:
                reply = self._answered(request, template, [int(one) for one in found.groups()])
                if reply.status < 300 and names:
                    self.served.add(f"{request.method} {template}")
                return reply
            if found:
                return Reply(405, headers=(("Allow", ", ".join(one.upper() for one in item)),))
        return json_reply({"detail": "not found"}, 404)

    def _answered(self, request: Request, template: str, numbers: list[int]) -> Reply:
        lists: dict[str, list[str]] = {
            "/products": [f"/products/{one}" for one in _PRODUCTS],
            "/baskets": [f"/baskets/{one}" for one in _BASKETS],
        }
        lists |= {f"/products/{one}/stockrecords": [] for one in _PRODUCTS}
        lists |= {f"/products/{one}/stockrecords": [f"/products/{one}/stockrecords/{_STOCK[one]}"] for one in _STOCK}
        for one in _BASKETS:
            lists[f"/baskets/{one}/lines"] = [each for each in self.lines if each.startswith(f"/baskets/{one}/")]
        path = request.target.decode().partition("?")[0]
        if request.method == "POST" and path in lists:
            return self._added(request, path, numbers[0])
        if path in lists:
            return json_reply([self._shown(one) for one in lists[path]])
        if any(path in each for each in lists.values()):
            return json_reply(self._shown(path))
        return json_reply({"detail": "not found"}, 404)

    def _added(self, request: Request, path: str, basket: int) -> Reply:
        self.read += 1
        try:
            body = json.loads(request.body)
            given = {name.removesuffix("Id"): self._named(name, body[name]) for name in self._names}
        except (ValueError, KeyError, TypeError):
            return json_reply({"detail": "invalid"}, 422)
        quantity = body.get("quantity", 1)
        if isinstance(quantity, bool) or not isinstance(quantity, int) or quantity < 1:
            return json_reply({"detail": "invalid"}, 422)
        wanted = [f"/products/{one}/stockrecords/{stock}" for one, stock in _STOCK.items()]
        for one, stock in zip(_STOCK, wanted, strict=True):
            record = stock if self.by_url else stock.rpartition("/")[2]
            product = f"/products/{one}" if self.by_url else f"{one}"
            own = f"/baskets/{basket}" if self.by_url else f"{basket}"
            if given == {"product": product, "stockrecord": record, "basket": own}:
                self.accepted += 1
                created = f"{path}/{len(self.lines) + 101}"
                self.lines[created] = body
                return json_reply(self._shown(created), 201)
        return json_reply({"detail": "no such combination"}, 400)

    def _named(self, name: str, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str if self.by_url else int):
            raise TypeError(name)
        return str(value).removeprefix(self.url)

    def _shown(self, path: str) -> dict[str, Any]:
        shown: dict[str, Any] = {"id": int(path.rpartition("/")[2])}
        return shown | ({"url": self.url + path} if self.by_url else {})


def _operation(shown: Any, *variables: str, body: Any = None) -> dict[str, Any]:
    schema = {"type": "array", "items": shown[0]} if isinstance(shown, list) else shown
    answer = {"description": "", "content": {"application/json": {"schema": schema}}}
    found: dict[str, Any] = {
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "integer"}} for name in variables
        ],
        "responses": {"201" if body else "200": answer, **_REFUSED},
    }
    return found | (
        {"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}} if body else {}
    )


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.thorough), pytest.param(3, marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("by_url", [True, False])
def test_references_of_one_body_belong_together(command: Command, seed: int, *, by_url: bool) -> None:
    shop = Shop(by_url=by_url)
    with serving(shop, shop.document()) as app:
        shop.url = app.url
        ran = command.run_as_usual(app.document_url, "-n", "20", seed=seed, inline=True)
    assert {"POST /baskets/{id}/lines", "GET /baskets/{basket}/lines/{id}"} <= shop.served, ran.shown
    assert shop.accepted >= shop.read / 8, (shop.accepted, shop.read)
