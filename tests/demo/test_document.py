"""The document is OpenAPI 3.0 and says everything that the tool must be able to read."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from checker.demo import document

from .client import Client, Judge
from .valid import LABELS

KEYWORDS = {
    *("nullable", "enum", "minimum", "maximum", "exclusiveMinimum", "multipleOf", "minLength"),
    *("maxLength", "pattern", "items", "minItems", "maxItems", "uniqueItems", "properties"),
    *("required", "additionalProperties", "minProperties", "maxProperties"),
    *("allOf", "anyOf", "oneOf", "$ref"),
}
FORMATS = {
    *("date", "date-time", "uuid", "email", "uri", "ipv4", "ipv6", "byte", "binary"),
    *("int32", "int64", "float", "double"),
}


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from nodes(each)


def operations() -> Iterator[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                shared = item.get("parameters", [])
                yield path, shared + operation.get("parameters", []), operation


def test_it_is_served_as_it_is_shipped(fixed: Client, buggy: Client) -> None:
    for client in (fixed, buggy):
        answer = client.raw("GET", "/openapi.json")
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert document() == answer.json()


def test_its_outline_is_openapi_3_0() -> None:
    whole = document()
    assert whole["openapi"] == "3.0.3"
    assert {"title", "version"} <= whole["info"].keys()
    assert len(LABELS) == 13
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(ids)) == len(ids)
    tags = {tag["name"] for tag in whole["tags"]}
    assert all(set(operation["tags"]) <= tags for _, _, operation in operations())


def test_path_parameters_are_declared_and_required() -> None:
    for path, parameters, _ in operations():
        declared = {each["name"] for each in parameters if each["in"] == "path"}
        assert set(re.findall(r"\{(\w+)\}", path)) == declared
        assert all(each["required"] for each in parameters if each["in"] == "path")


def test_all_references_and_links_lead_somewhere() -> None:
    whole = document()
    ids = {operation["operationId"] for _, _, operation in operations()}
    for node in nodes(whole):
        if "$ref" in node:
            target = whole
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
        for link in node.get("links", {}).values():
            assert link["operationId"] in ids


def test_every_error_that_can_occur_is_documented() -> None:
    for path, _, operation in operations():
        wanted = {"400", "500"}
        wanted |= {"404"} if "{" in path else set()
        wanted |= {"413", "415", "422"} if "requestBody" in operation else set()
        assert wanted <= operation["responses"].keys()


def test_every_keyword_and_format_of_the_tool_occurs() -> None:
    found = list(nodes(document()))
    assert {name for node in found for name in node} >= KEYWORDS
    assert {node["format"] for node in found if isinstance(node.get("format"), str)} >= FORMATS
    places = {parameter["in"] for _, parameters, _ in operations() for parameter in parameters}
    assert places == {"path", "query", "header", "cookie"}


def test_comments_are_recursive() -> None:
    comment = document()["components"]["schemas"]["Comment"]
    assert comment["properties"]["replies"]["items"] == {"$ref": "#/components/schemas/Comment"}


@pytest.mark.parametrize("name", document()["components"]["schemas"])
def test_schemas_are_well_formed(judge: Judge, name: str) -> None:
    validator = judge.validator({"$ref": f"#/components/schemas/{name}"})
    jsonschema.Draft4Validator.check_schema(validator.schema)
