"""What answers show of a resource is what its paths ask for."""

from typing import Any

import pytest

from checker.core.operation import Label
from checker.openapi.operation import OpenApiOperation

from .documents import opened

ID = {"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}}


def _answer(value: Any, status: str = "200") -> dict[str, Any]:
    content = {"application/json": {"examples": {"one": {"value": value}}}}
    return {"responses": {status: {"description": "", "content": content}}}


def _identifiers(paths: dict[str, Any], label: str = "GET /pets/{petId}", version: str = "3.0.3") -> list[object]:
    found = opened(version, paths).find(Label(label))
    assert isinstance(found, OpenApiOperation), found
    return [example.value for one in found.parameters for example in one.examples]


def _paths(listed: dict[str, Any], shown: dict[str, Any], **parameter: Any) -> dict[str, Any]:
    member = {"parameters": [ID | parameter], "get": shown, "delete": {"responses": {}}}
    return {"/pets": {"get": listed}, "/pets/{petId}": member}


NOTHING: dict[str, Any] = {"responses": {}}


@pytest.mark.parametrize(
    ("listed", "shown", "expected"),
    [
        (NOTHING, _answer({"id": 17, "name": "Rex"}), [17]),
        (NOTHING, _answer({"petId": 3, "id": 17}), [3]),
        (_answer([{"id": 1}, {"id": 2}, {"id": 1}]), NOTHING, [1, 2]),
        (_answer({"total": 2, "items": [{"id": 1}, {"id": 2}]}), NOTHING, [1, 2]),
        (_answer({"data": {"id": 4}}, "201"), _answer({"id": 5}), [4, 5]),
        (_answer({"id": 9}, "404"), NOTHING, []),
        (_answer(["a", 5, None]), _answer("text"), []),
        ({"responses": {"200": {"$ref": "#/nowhere"}}}, {"responses": 5}, []),
    ],
)
def test_answers_of_the_collection_and_of_the_member_count(
    listed: dict[str, Any], shown: dict[str, Any], expected: list[object]
) -> None:
    paths = _paths(listed, shown)
    assert _identifiers(paths) == expected
    assert _identifiers(paths, "DELETE /pets/{petId}") == expected


@pytest.mark.parametrize("said", [{"example": 8}, {"schema": {"type": "integer", "default": 8}}])
def test_what_the_author_says_of_the_parameter_counts_more(said: dict[str, Any]) -> None:
    found = _identifiers(_paths(NOTHING, _answer({"id": 17}), **said))
    assert 17 not in found


@pytest.mark.parametrize(
    ("schema", "shown", "expected"),
    [
        ({"type": "string"}, {"id": 17}, ["17"]),
        ({"type": "string", "pattern": "^[a-z]+$"}, {"id": 17}, []),
        ({"type": "integer", "maximum": 9}, {"id": 17}, []),
        ({"type": "string", "format": "uuid"}, {"id": "Rex"}, []),
    ],
)
def test_only_what_the_parameter_admits_counts(
    schema: dict[str, Any], shown: dict[str, Any], expected: list[object]
) -> None:
    assert _identifiers(_paths(NOTHING, _answer(shown), schema=schema)) == expected


def test_swagger_has_examples_by_media_type() -> None:
    shown = {"responses": {"200": {"description": "", "examples": {"application/json": {"id": 6}}}}}
    parameter = {"name": "petId", "in": "path", "required": True, "type": "integer"}
    paths = {"/pets/{petId}": {"get": {"parameters": [parameter], **shown}}}
    assert _identifiers(paths, version="2.0") == [6]


def test_below_a_member_each_variable_has_its_own() -> None:
    toy = {"name": "toyId", "in": "path", "required": True, "schema": {"type": "integer"}}
    paths = _paths(NOTHING, _answer({"id": 17})) | {
        "/pets/{petId}/toys": {"parameters": [ID], "get": _answer([{"id": 90}])},
        "/pets/{petId}/toys/{toyId}": {"parameters": [ID, toy], "get": NOTHING},
    }
    assert _identifiers(paths, "GET /pets/{petId}/toys/{toyId}") == [17, 90]
