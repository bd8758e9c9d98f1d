from typing import Any

import pytest

from checker.kinds.protocol import ApiLink

from .documents import opened

TARGET = {
    "operationId": "getUser",
    "parameters": [
        {"name": "id", "in": "path", "required": True, "schema": {}},
        {"name": "id", "in": "query", "schema": {}},
        {"name": "X-Key", "in": "header", "schema": {}},
        {"name": "path.x", "in": "query", "schema": {}},
    ],
}
PATHS = {
    "/users/{id}": {"get": TARGET, "put": {"operationId": "putUser", "requestBody": {"content": {"text/plain": {}}}}},
    "/moved": {"$ref": "#/components/x-items/Moved"},
}
MORE: Any = {"components": {"x-items": {"Moved": {"get": {}}}, "links": {"Shared": {"operationId": "getUser"}}}}


def found(link: Any, **more: Any) -> ApiLink:
    source = {"responses": {"201": {"description": "", "links": {"Next": link}}}}
    schema = opened("3.0.3", {"/users": {"post": source}, **PATHS}, **{**MORE, **more})
    (one,) = schema.links()
    assert (one.name, one.source, one.status) == ("Next", "POST /users", "201")
    return one


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ({"operationId": "getUser"}, "GET /users/{id}"),
        ({"operationRef": "#/paths/~1users~1{id}/get"}, "GET /users/{id}"),
        ({"operationRef": "#/paths/~1users~1%7Bid%7D/put"}, "PUT /users/{id}"),
        ({"operationRef": "#/paths/~1moved/get"}, "GET /moved"),
        ({"operationRef": "#/components/x-items/Moved/get"}, "GET /moved"),
        ({"$ref": "#/components/links/Shared"}, "GET /users/{id}"),
    ],
)
def test_target_is_found_by_id_or_reference(link: Any, target: str) -> None:
    one = found(link)
    assert not one.error
    assert (one.target, one.values) == (target, ())


def test_parameters_are_found_by_name_or_by_place_and_name() -> None:
    values = {"id": "$response.body#/id", "query.id": 5, "header.x-key": "k", "path.x": "{$statusCode}!"}
    one = found({"operationId": "getUser", "parameters": values})
    assert not one.error
    assert [(taken.location, taken.name, taken.value) for taken in one.values] == [
        ("path", "id", values["id"]),
        ("query", "id", 5),
        ("header", "X-Key", "k"),
        ("query", "path.x", values["path.x"]),
    ]


def test_body_of_a_link_is_a_value_with_expressions() -> None:
    one = found({"operationId": "putUser", "requestBody": {"a": "$statusCode", "b": 1}})
    assert not one.error
    assert [(taken.location, taken.name) for taken in one.values] == [("body", "")]
    assert one.values[0].value == {"a": "$statusCode", "b": 1}


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"operationId": "getUsr"}, "did you mean `getUser`?"),
        ({"operationId": ""}, "add it or correct the name"),
        ({"operationRef": "#/paths/~1none/get"}, "is not an operation"),
        ({"operationRef": "#/components/none"}, "points at nothing"),
        ({"operationRef": "#/components"}, "is not an operation"),
        ({"operationRef": "gone.yaml#/paths/~1a/get"}, "points at nothing"),
        ({}, "add `operationId` or `operationRef`"),
        (5, "is not an object"),
        ({"$ref": "#/components/links/Shard"}, "did you mean `Shared`?"),
        ({"operationId": "getUser", "parameters": {"ids": 1}}, "has no parameter `ids`; did you mean `id`?"),
        ({"operationId": "getUser", "parameters": {"moon.id": 1}}, "has no parameter `moon.id`"),
        ({"operationId": "getUser", "parameters": {"id": "$response.body.id"}}, "write `$response.body#/id`"),
        ({"operationId": "getUser", "requestBody": 1}, "has no request body"),
    ],
)
def test_link_that_cannot_be_followed_says_why(link: Any, words: str) -> None:
    one = found(link)
    assert one.target is None
    assert words in one.error
    assert one.error.startswith(f"the link `Next` at {one.pointer} cannot be followed: ")


def test_swagger_has_links_as_an_extension() -> None:
    source = {"responses": {"200": {"description": "", "x-links": {"N": {"operationId": "b"}}}}}
    (one,) = opened("2.0", {"/a": {"get": source}, "/b": {"get": {"operationId": "b"}}}).links()
    assert not one.error
    assert one.target == "GET /b"
