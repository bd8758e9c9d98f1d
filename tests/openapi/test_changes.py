"""The operations that differ from an earlier version of a description."""

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest

from checker.openapi.loaders import from_dict

Change = Callable[[dict[str, Any]], None]
PETS, PET, ORDERS = "GET /pets", "POST /pets", "GET /orders"


def document() -> dict[str, Any]:
    """Return a description in which two operations share a schema that refers to itself, and the third uses another one."""

    def answer(name: str) -> dict[str, Any]:
        schema = {"$ref": f"#/components/schemas/{name}"}
        return {"200": {"description": "Fine", "content": {"application/json": {"schema": schema}}}}

    owner = {"type": "object", "properties": {"pets": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}
    pet = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "owner": {"$ref": "#/components/schemas/Owner"}},
    }
    base = {"type": "object", "properties": {"kind": {"type": "string"}}, "discriminator": {"propertyName": "kind"}}
    heir = {"allOf": [{"$ref": "#/components/schemas/Order"}, {"properties": {"floor": {"type": "integer"}}}]}
    limit = {
        "in": "query",
        "name": "limit",
        "schema": {"type": "integer"},
        "example": {"$ref": "http://127.0.0.1:9/no"},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "security": [{"key": []}],
        "paths": {
            "/pets": {
                "parameters": [{"$ref": "#/components/parameters/limit"}],
                "get": {"responses": answer("Pet"), "security": []},
                "post": {"responses": answer("Owner"), "servers": [{"url": "http://127.0.0.1:8"}]},
            },
            "/orders": {"get": {"responses": answer("Order")}},
        },
        "components": {
            "schemas": {"Pet": pet, "Owner": owner, "Order": base, "Pickup": heir},
            "parameters": {"limit": limit},
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        },
    }  # fmt: skip


def changed(before: dict[str, Any], now: dict[str, Any]) -> set[str]:
    return set(from_dict(now).changed_since(from_dict(before)))


def _set(*path: Any, to: Any) -> Change:
    def change(value: Any) -> None:
        for key in path[:-1]:
            value = value[key]
        value[path[-1]] = to

    return change


def _schema(*path: Any, to: Any) -> Change:
    return _set("components", "schemas", *path, to=to)


@pytest.mark.parametrize(
    ("change", "labels"),
    [
        (_set("info", "version", to="2"), set()),
        (_schema("Unused", to={"type": "integer"}), set()),
        (_schema("Pet", "properties", "name", "minLength", to=1), {PETS, PET}),
        (_schema("Owner", "properties", "pets", "items", to={"type": "object"}), {PETS, PET}),
        (_schema("Pickup", "allOf", 1, "properties", "floor", to={"type": "number"}), {ORDERS}),
        (_schema("Heir", to={"allOf": [{"$ref": "#/components/schemas/Order"}]}), {ORDERS}),
        (_set("components", "parameters", "limit", "required", to=True), {PETS, PET}),
        (_set("components", "parameters", "limit", "example", to={"$ref": "http://127.0.0.1:9/other"}), {PETS, PET}),
        (_set("components", "parameters", to={}), {PETS, PET}),
        (_set("components", "securitySchemes", "key", "name", to="X-Other"), {PET, ORDERS}),
        (_set("security", to=[]), {PET, ORDERS}),
        (_set("servers", 0, "url", to="http://127.0.0.1:7"), {PETS, ORDERS}),
        (_set("paths", "/pets", "get", "description", to="`limit` is 5 at most."), {PETS}),
        (_set("paths", "/pets", "put", to={"responses": {}}), {"PUT /pets"}),
        (_set("paths", "/orders", "get", to=[]), {ORDERS}),
    ],
)
def test_a_change_selects_the_operations_that_use_what_changed(change: Change, labels: set[str]) -> None:
    now = document()
    change(now)
    assert changed(document(), now) == labels
    # An operation that exists only in the earlier version is not one to test.
    assert changed(now, document()) == labels - {"PUT /pets"}


def _shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, list):
        return [_shuffled(one, chance) for one in value]
    if isinstance(value, dict):
        items = [(key, _shuffled(one, chance)) for key, one in value.items()]
        return dict(chance.sample(items, len(items)))
    return value


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, list):
        return [_renamed(one, old, new) for one in value]
    if isinstance(value, dict):
        return {new if key == old else key: _renamed(one, old, new) for key, one in value.items()}
    return f"#/components/schemas/{new}" if value == f"#/components/schemas/{old}" else value


@pytest.mark.parametrize("seed", range(5))
def test_order_of_keys_and_names_of_schemas_change_nothing(seed: int) -> None:
    now = _renamed(_renamed(_shuffled(document(), random.Random(seed)), "Pet", "Animal"), "Owner", "Pet")
    assert now != document()
    assert changed(document(), now) == set()


def test_a_schema_that_is_written_at_its_place_is_the_same() -> None:
    now = document()
    content = now["paths"]["/pets"]["get"]["responses"]["200"]["content"]["application/json"]
    content["schema"] = copy.deepcopy(now["components"]["schemas"]["Pet"])
    now["components"]["schemas"]["Pet"] = {"$ref": "#/components/schemas/Animal"}
    now["components"]["schemas"]["Animal"] = copy.deepcopy(content["schema"])
    assert changed(document(), now) == set()


def test_names_of_schemas_count_where_they_are_values() -> None:
    """A discriminator without a mapping is the name of a schema."""
    assert changed(document(), _renamed(document(), "Pickup", "Delivery")) == {ORDERS}
