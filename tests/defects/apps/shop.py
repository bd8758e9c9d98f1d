"""Carts that become orders (Flask)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.shelf import Shelf
from tests.defects.words import (
    COUNT,
    NUMBERED,
    SLUG,
    STRING,
    Defect,
    answers,
    body,
    described,
    parameter,
    ref,
    said,
    thing,
)

FRAMEWORK = "flask"
_CART = parameter("path", "cart_id", NUMBERED)
_LINE = thing("article count", article=SLUG, count={"type": "integer", "minimum": 1, "maximum": 99})
_STATE = {"type": "string", "enum": ["open", "ordered"]}
DOCUMENT = described(
    "shop",
    {
        "/carts": {
            "post": {
                "requestBody": body(thing("", coupon={"type": "string", "pattern": "^[A-Z]{4}$"})),
                "responses": answers({201: said(ref("Cart"))}, 400, 415, 422),
            }
        },
        "/carts/{cart_id}": {
            "parameters": [_CART],
            "get": {"responses": answers({200: said(ref("Cart"))}, 400, 404, 500)},
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
        "/carts/{cart_id}/lines": {
            "parameters": [_CART],
            "post": {
                "requestBody": body(_LINE),
                "responses": answers({201: said(ref("Cart"))}, 400, 404, 409, 415, 422),
            },
        },
        "/carts/{cart_id}/order": {
            "parameters": [_CART],
            "post": {"responses": answers({200: said(ref("Cart"))}, 400, 404, 409, 500)},
        },
        "/prices/{article}": {
            "get": {
                "parameters": [
                    parameter("path", "article", SLUG),
                    parameter("query", "count", {"type": "integer", "minimum": 1, "maximum": 99}, required=True),
                    parameter("header", "X-Market", {"type": "string", "enum": ["eu", "us"]}, required=True),
                ],
                "responses": answers({200: said(thing("price", price={"type": "integer", "minimum": 0}))}, 400, 404),
            }
        },
    },
    version="3.0.3",
    components={
        "schemas": {
            "Cart": thing(
                "id state lines",
                id=NUMBERED,
                state=_STATE,
                lines={"type": "array", "items": thing("article count", article=STRING, count=COUNT)},
            )
        }
    },
)
DEFECTS = (
    Defect("coupon-unchecked", "POST /carts", "negative_data_rejection"),
    Defect("count-unchecked", "POST /carts/{cart_id}/lines", "negative_data_rejection", steps=2),
    Defect("order-empty", "POST /carts/{cart_id}/order", "not_a_server_error", steps=2),
    Defect("ordered-crash", "GET /carts/{cart_id}", "not_a_server_error", steps=3),
    Defect("state-paid", "POST /carts/{cart_id}/order", "response_schema_conformance", steps=3),
    Defect("cart-stays", "DELETE /carts/{cart_id}", "use_after_free", steps=3),
    Defect("market-optional", "GET /prices/{article}", "missing_required_header"),
    Defect("price-negative", "GET /prices/{article}", "response_schema_conformance"),
    Defect("price-delete", "/prices/{article}", "unsupported_method"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, carts = Service(DOCUMENT), Shelf()
    if "price-delete" in on:
        service.undeclared["/prices/{article}"] = Answer(status=204)

    @service.operation("POST /carts", lenient=maybe("coupon-unchecked" in on, "body coupon"))
    def opened(asked: Asked) -> Answer:
        return Answer(carts.add({"state": "open", "lines": []}), 201)

    @service.operation("GET /carts/{cart_id}")
    def shown(asked: Asked) -> Answer:
        cart = carts.get(asked.path["cart_id"])
        if "ordered-crash" in on and cart["state"] == "ordered":
            return Answer({"detail": "no such relation"}, 500)
        return Answer(cart)

    @service.operation("DELETE /carts/{cart_id}")
    def removed(asked: Asked) -> Answer:
        carts.get(asked.path["cart_id"])
        if "cart-stays" not in on:
            carts.remove(asked.path["cart_id"])
        return Answer(status=204)

    @service.operation("POST /carts/{cart_id}/lines", lenient=maybe("count-unchecked" in on, "body count"))
    def put_in(asked: Asked) -> Answer:
        cart, given = carts.get(asked.path["cart_id"]), asked.json
        if cart["state"] != "open":
            raise Problem(409, "ordered already")
        count = given.get("count")
        is_count = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= 99
        cart["lines"].append({"article": given["article"], "count": count if is_count else 1})
        return Answer(cart, 201)

    @service.operation("POST /carts/{cart_id}/order")
    def ordered(asked: Asked) -> Answer:
        cart = carts.get(asked.path["cart_id"])
        if not cart["lines"] and "order-empty" in on:
            return Answer({"detail": "max() arg is an empty sequence"}, 500)
        if not cart["lines"] or cart["state"] != "open":
            raise Problem(409, "nothing to order")
        cart["state"] = "ordered"
        return Answer({**cart, "state": "paid"} if "state-paid" in on else cart)

    @service.operation("GET /prices/{article}", lenient=maybe("market-optional" in on, "header X-Market"))
    def priced(asked: Asked) -> Answer:
        if asked.headers.get("x-market", "eu") not in ("eu", "us"):
            raise Problem(400, "market")
        count = int(float(asked.one("count")))
        return Answer({"price": -1 if "price-negative" in on and count == 99 else count * 10})

    return service
