"""Examples beside schemas: of parameters and media types, inline and by reference, in each version."""

import json
from pathlib import Path

import checker
from checker.core.operation import Body, Parameter

from .documents import operation


def values(part: Parameter | Body) -> list[object]:
    return [example.value for example in part.examples]


def test_a_parameter_has_its_example_and_its_named_ones() -> None:
    parameter = {
        "name": "q",
        "in": "query",
        "schema": {"type": "string", "example": "in the schema"},
        "example": "one",
        "examples": {"b": {"value": "two"}, "c": {"$ref": "#/components/examples/C"}},
    }
    found = operation({"parameters": [parameter]}, components={"examples": {"C": {"value": "three"}}})
    assert values(found.parameters[0]) == ["one", "two", "three"]
    assert [one.name for one in found.parameters[0].examples] == ["", "b", "c"]


def test_a_parameter_declared_by_content_has_those_of_its_media_type() -> None:
    content = {"application/json": {"schema": {}, "example": {"a": 1}}}
    found = operation({"parameters": [{"name": "q", "in": "query", "content": content}]})
    assert values(found.parameters[0]) == [{"a": 1}]


def test_a_body_has_those_of_its_media_type() -> None:
    content = {
        "application/json": {"schema": {}, "examples": {"x": {"value": 1}, "y": {"value": None}}},
        "text/plain": {"schema": {}, "example": "text"},
    }
    found = operation({"requestBody": {"content": content}})
    assert list(map(values, found.bodies)) == [[1, None], ["text"]]


def test_what_is_found_nowhere_is_left_out() -> None:
    examples = {
        "far": {"externalValue": "http://127.0.0.1/example"},
        "lost": {"$ref": "#/components/examples/Nowhere"},
        "odd": 5,
    }
    found = operation({"requestBody": {"content": {"text/plain": {"examples": examples}}}})
    assert found.bodies[0].examples == ()


def test_openapi_3_2_says_data_value() -> None:
    content = {"application/json": {"examples": {"x": {"dataValue": [1]}}}}
    found = operation({"requestBody": {"content": content}}, version="3.2.0")
    assert values(found.bodies[0]) == [[1]]


def test_swagger_has_them_under_other_names() -> None:
    parameters = [
        {"name": "q", "in": "query", "type": "string", "x-example": "one"},
        {"name": "r", "in": "query", "type": "string", "x-examples": ["two", "three"]},
        {"name": "b", "in": "body", "schema": {}, "x-examples": {"n": {"value": 4}, "m": 5}},
    ]
    found = operation({"parameters": parameters, "consumes": ["application/json"]}, version="2.0")
    assert list(map(values, found.parameters)) == [["one"], ["two", "three"]]
    assert values(found.bodies[0]) == [4, 5]


def test_an_external_value_is_the_document_that_it_leads_to(tmp_path: Path) -> None:
    content = {"application/json": {"examples": {"far": {"externalValue": "far.json#ignored"}}}}
    paths = {"/a": {"post": {"requestBody": {"content": content}}}}
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths}
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    (tmp_path / "far.json").write_text('{"name": "Ann"}')
    opened = checker.openapi.from_path(tmp_path / "openapi.json")
    (body,) = opened["/a"]["POST"].bodies
    (example,) = body.examples
    assert (example.value, example.name) == ({"name": "Ann"}, "far")
    assert example.pointer.endswith("/examples/far/externalValue")
    # It travels with the document: nobody reads the file again.
    assert b'"Ann"' in opened.opened.normalised()
