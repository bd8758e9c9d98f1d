"""The mock and its builder, on documents made for them."""

import json
from typing import Any

import pytest

from tests.apps.builder import Builder, Unbuildable
from tests.apps.document import Document
from tests.apps.http import Reply, Request
from tests.apps.mock import Mock

TEXT = {"200": {"description": "", "content": {"text/plain": {"schema": {"type": "string"}}}}}


def _json(schema: Any, **media: Any) -> dict[str, Any]:
    return {"200": {"description": "", "content": {"application/json": {"schema": schema} | media}}}


def _mock(paths: dict[str, Any], **more: Any) -> Mock:
    return Mock({"openapi": "3.0.3", "info": {}, "paths": paths, **more})


def _answer(mock: Mock, method: str, target: str) -> Reply:
    return mock(Request(method, target.encode(), {}))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": r"^[A-Z]{2}-\d{4}(x|y)?$"},
        {"type": "string", "pattern": "a", "minLength": 5, "maxLength": 9},
        {"type": "string", "format": "date-time"},
        {"type": "string", "enum": ["b"]},
        {"type": "integer", "minimum": 7, "maximum": 9, "exclusiveMinimum": True, "multipleOf": 3},
        {"type": "number", "minimum": 0.25, "maximum": 0.3},
        {"type": "integer", "maximum": -5},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"type": "string"}, "maxItems": 0},
        {"type": "object", "minProperties": 2, "additionalProperties": {"type": "boolean"}},
        {"allOf": [{"required": ["a"]}, {"properties": {"a": {"type": "integer"}}}]},
        {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "integer", "minimum": 3}]},
        {"$ref": "#/components/schemas/Tree"},
        {"not": {"type": "object"}},
        {},
    ],
    ids=str,
)
def test_built_values_are_valid(schema: dict[str, Any]) -> None:
    tree = {
        "type": "object",
        "required": ["leaf", "branches"],
        "properties": {
            "leaf": {"type": "integer"},
            "branches": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            "parent": {"$ref": "#/components/schemas/Tree"},
        },
    }
    builder = Builder(Document({"openapi": "3.0.3", "components": {"schemas": {"Tree": tree}}}))
    assert builder.witness.problem(schema, builder.value(schema)) is None


def test_what_no_value_fits_is_said() -> None:
    builder = Builder(Document({"openapi": "3.0.3"}))
    with pytest.raises(Unbuildable):
        builder.value({"type": "integer", "minimum": 3, "maximum": 2})


def test_properties_travel_in_their_direction_only() -> None:
    schema = {
        "type": "object",
        "required": ["secret", "id"],
        "properties": {"secret": {"type": "string", "writeOnly": True}, "id": {"type": "integer", "readOnly": True}},
    }
    document = Document({"openapi": "3.0.3"})
    assert Builder(document).value(schema).keys() == {"id"}
    assert Builder(document, is_response=False).value(schema).keys() == {"secret"}


def test_nullable_is_read_in_its_dialect() -> None:
    schema = {"type": "integer", "nullable": True}
    assert Builder(Document({"openapi": "3.0.3"})).witness.problem(schema, None) is None
    assert Builder(Document({"openapi": "3.1.0"})).witness.problem(schema, None) is not None


def test_literal_segments_beat_parameters() -> None:
    mock = _mock(
        {"/a/{b}": {"get": {"responses": TEXT}}, "/a/all": {"get": {"responses": {"204": {"description": ""}}}}}
    )
    assert _answer(mock, "GET", "/a/all").status == 204
    assert _answer(mock, "GET", "/a/al%6C?x=1").status == 204
    assert _answer(mock, "GET", "/a/other").status == 200


def test_unknown_paths_and_methods_are_refused() -> None:
    mock = _mock({"/a": {"get": {"responses": TEXT}}})
    assert _answer(mock, "GET", "/b").status == 404
    refused = _answer(mock, "POST", "/a")
    assert (refused.status, refused.headers) == (405, (("Allow", "GET"),))


def test_declared_examples_are_answered_when_they_are_valid() -> None:
    schema = {"type": "integer", "minimum": 10}
    mock = _mock(
        {
            "/good": {"get": {"responses": _json(schema, example=42)}},
            "/bad": {"get": {"responses": _json(schema, example=4)}},
            "/both": {"get": {"responses": _json(schema, examples={"a": {"value": 1}, "b": {"value": 77}})}},
        }
    )
    assert json.loads(_answer(mock, "GET", "/good").body) == 42
    assert json.loads(_answer(mock, "GET", "/bad").body) >= 10
    assert json.loads(_answer(mock, "GET", "/both").body) == 77


def test_lists_of_an_example_have_one_item_unless_more_are_required() -> None:
    several = {"total": 2, "items": [{"tags": ["a", "b"]}, {"tags": []}]}
    mock = _mock(
        {
            "/some": {"get": {"responses": _json({"type": "object"}, example=several)}},
            "/two": {"get": {"responses": _json({"type": "array", "minItems": 2}, example=[1, 2, 3])}},
        }
    )
    assert json.loads(_answer(mock, "GET", "/some").body) == {"total": 2, "items": [{"tags": ["a", "b"]}]}
    assert json.loads(_answer(mock, "GET", "/two").body) == [1, 2, 3]


def test_success_is_preferred_then_the_default() -> None:
    empty = {"description": ""}
    mock = _mock(
        {
            "/a": {"get": {"responses": {"default": empty, "404": empty, "201": empty}}},
            "/b": {"get": {"responses": {"404": empty, "default": empty}}},
            "/c": {"get": {"responses": {"404": empty}}},
            "/d": {"get": {"responses": {"2XX": empty, "default": empty}}},
        }
    )
    assert [_answer(mock, "GET", path).status for path in ("/a", "/b", "/c", "/d")] == [201, 200, 404, 200]


def test_an_example_that_is_not_there_takes_nothing_from_the_answer() -> None:
    examples = {"lost": {"$ref": "#/components/examples/lost"}}
    mock = _mock({"/a": {"get": {"responses": _json({"type": "integer"}, examples=examples)}}})
    assert _answer(mock, "GET", "/a").status == 200
    assert mock.unbuildable == {}
