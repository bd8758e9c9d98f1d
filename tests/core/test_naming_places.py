"""Where bodies name things of others."""

from typing import Any, Final

from checker.core.resource_names import place_word
from checker.openapi.loaders import from_dict

TEXT: Final = {"type": "string"}
WHOLE: Final = {"type": "integer"}


def thing(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def creating(schema: Any, answer: Any) -> dict[str, Any]:
    return {
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "responses": {"201": {"description": "", "content": {"application/json": {"schema": answer}}}},
    }


def one(variable: str, schema: Any) -> dict[str, Any]:
    given = {"name": variable, "in": "path", "required": True, "schema": schema}
    return {"parameters": [given], "get": {"responses": {"200": {"description": ""}}}}


def test_bodies_name_things_by_their_noun_or_as_paths_call_them() -> None:
    car, order = thing(vin=TEXT, year=WHOLE), thing(id=WHOLE, vin=TEXT)
    lines = {"type": "array", "items": thing(productId=WHOLE, amount=WHOLE, sku=TEXT, id=WHOLE)}
    parts = {"type": "array", "items": thing(sku=TEXT)}
    asked = thing(
        vin=TEXT, year=WHOLE, driver_id=WHOLE, lines=lines, productIds={"type": "array", "items": WHOLE}, status=TEXT
    )
    paths = {
        "/cars": {"post": creating(car, car)},
        "/cars/{vin}": one("vin", TEXT),
        "/drivers": {"post": creating(thing(name=TEXT), thing(id=WHOLE, status=TEXT))},
        "/drivers/{id}": one("id", WHOLE),
        "/products": {"post": creating(thing(), thing(id=WHOLE))},
        "/products/{id}": one("id", WHOLE),
        "/stats/{year}": one("year", WHOLE),
        "/parts": {"get": {"responses": creating({}, parts)["responses"]}},
        "/parts/{sku}": one("sku", TEXT) | {"put": creating(thing(sku=TEXT), thing(sku=TEXT))},
        "/orders": {"post": creating(asked, order)},
    }
    described = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": paths}
    model = from_dict(described).resources()
    places = model.naming_places
    assert {label: set(found) for label, found in places.items()} == {
        "POST /orders": {*("/vin", "/driver_id", "/lines/*/productId", "/productIds/*"), "/lines/*/sku"}
    }
    (collections,) = model.named_collections.values()
    assert set(collections) == {("cars",), ("drivers",), ("products",), ("parts",)}
    assert model.layers["POST /orders"] > model.layers["POST /cars"]  # type: ignore[index]


def test_a_place_asks_for_what_its_last_names_say() -> None:
    words = {
        "/driver_id": "driver_id",
        "/lines/0/productId": "productId",
        "/lines/*/productId": "productId",
        "/productIds/*": "productId",
        "/productIds/3": "productId",
        "/rooms/0/id": "rooms_id",
        "/address/city": "address_city",
        "/tags/0": "tags",
        "": "",
    }
    assert {pointer: place_word(pointer) for pointer in words} == words
    assert place_word("/lines/*/sku", {"sku"}) == "sku"
