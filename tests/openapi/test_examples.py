"""Examples beside schemas: of parameters and media types, inline and by reference, in each version."""

from .documents import operation


def test_a_parameter_has_its_example_and_its_named_ones() -> None:
    parameter = {
        "name": "q",
        "in": "query",
        "schema": {"type": "string", "example": "in the schema"},
        "example": "one",
        "examples": {"b": {"value": "two"}, "c": {"$ref": "#/components/examples/C"}},
    }
    found = operation(
        {"parameters": [parameter]}, components={"examples": {"C": {"value": "three"}}}
    )
    assert found.parameters[0].examples == ("one", "two", "three")


def test_a_parameter_declared_by_content_has_those_of_its_media_type() -> None:
    content = {"application/json": {"schema": {}, "example": {"a": 1}}}
    found = operation({"parameters": [{"name": "q", "in": "query", "content": content}]})
    assert found.parameters[0].examples == ({"a": 1},)


def test_a_body_has_those_of_its_media_type() -> None:
    content = {
        "application/json": {"schema": {}, "examples": {"x": {"value": 1}, "y": {"value": None}}},
        "text/plain": {"schema": {}, "example": "text"},
    }
    found = operation({"requestBody": {"content": content}})
    assert [body.examples for body in found.bodies] == [(1, None), ("text",)]


def test_what_is_elsewhere_is_left_out() -> None:
    examples = {
        "far": {"externalValue": "http://127.0.0.1/example"},
        "lost": {"$ref": "#/components/examples/Nowhere"},
        "odd": 5,
    }
    found = operation({"requestBody": {"content": {"text/plain": {"examples": examples}}}})
    assert found.bodies[0].examples == ()


def test_openapi_3_2_says_data_value() -> None:
    content = {"application/json": {"examples": {"x": {"dataValue": [1]}}}}
    assert operation({"requestBody": {"content": content}}, version="3.2.0").bodies[0].examples == (
        [1],
    )


def test_swagger_has_them_under_other_names() -> None:
    parameters = [
        {"name": "q", "in": "query", "type": "string", "x-example": "one"},
        {"name": "r", "in": "query", "type": "string", "x-examples": ["two", "three"]},
        {"name": "b", "in": "body", "schema": {}, "x-examples": {"n": {"value": 4}, "m": 5}},
    ]
    found = operation({"parameters": parameters, "consumes": ["application/json"]}, version="2.0")
    assert [parameter.examples for parameter in found.parameters] == [("one",), ("two", "three")]
    assert found.bodies[0].examples == (4, 5)
