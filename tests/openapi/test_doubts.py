"""Schemas that are not understood: a warning each, and no verdict on a request that depends on them."""

import json
from typing import Any

import pytest

from checker.core.contract import Outcome

from .documents import opened, operation, warnings_of
from .judging import AMBIGUOUS, INVALID, VALID, bodied, judge


def described(version: str, schema: Any) -> dict[str, Any]:
    if version != "2.0":
        return bodied(application__json=schema)
    parameter = {"name": "b", "in": "body", "required": True, "schema": schema}
    return {"parameters": [parameter], "consumes": ["application/json"]}


CASES: list[tuple[str, Any, Any, Outcome]] = [
    ("3.0.3", {"type": "int"}, "x", AMBIGUOUS),
    ("3.0.3", {"type": "integer", "minimum": "1"}, 0, AMBIGUOUS),
    ("3.0.3", {"type": "integer", "minimum": "1"}, "x", INVALID),
    ("3.0.3", {"type": "object", "properties": {"a": {"type": "int"}}}, {"a": ""}, AMBIGUOUS),
    ("3.0.3", {"type": "object", "properties": {"a": {"type": "int"}}}, {}, VALID),
    ("3.0.3", {"required": ["b"], "properties": {"a": {"type": "int"}}}, {"a": 1}, INVALID),
    ("3.0.3", {"properties": {"a": {"required": True}}}, {}, AMBIGUOUS),
    ("3.0.3", {"properties": {"a": {"required": True}}}, {"a": 1}, VALID),
    ("3.0.3", {"properties": {"$ref": "#/x", "a": {}}}, {"a": 1}, AMBIGUOUS),
    ("3.0.3", {"properties": {"a": {"enum": {"$ref": "#/x"}}}}, {"a": 1}, AMBIGUOUS),
    ("3.0.3", {"properties": {"a": {"enum": [{"$ref": "#/x"}, "b"]}}}, {"a": "b"}, AMBIGUOUS),
    ("3.1.0", {"properties": {"a": {"enum": [{"$ref": "#/x"}, "b"]}}}, {"a": 1}, AMBIGUOUS),
    ("3.0.3", {"type": "string", "maxLength": -1}, "a", AMBIGUOUS),
    ("3.0.3", {"type": "string", "maxLength": -1}, 1, INVALID),
    ("3.0.3", {"type": "string", "minLength": 2.5}, "aa", AMBIGUOUS),
    ("3.0.3", {"type": "array", "items": {}, "uniqueItems": "no"}, [1, 1], AMBIGUOUS),
    ("3.0.3", {"properties": {"a": "#/components/schemas/A"}}, {"a": 1}, AMBIGUOUS),
    ("3.0.3", {"properties": {"a": "#/components/schemas/A"}}, {}, VALID),
    ("3.0.3", {"const": 1}, 2, AMBIGUOUS),
    ("3.0.3", {"type": "array", "items": {}, "prefixItems": [{"type": "string"}]}, [1], AMBIGUOUS),
    ("3.0.3", {"type": "string", "minLenght": 3}, "a", AMBIGUOUS),
    ("3.0.3", {"type": "string", "maxlength": 3}, "aaaa", AMBIGUOUS),
    ("3.0.3", {"type": "string", "minLenght": 3}, 1, INVALID),
    ("3.0.3", {"type": "string", "x-length": 3, "title": "T", "remark": "r"}, "a", VALID),
    ("3.0.3", {"type": "string", "nullable": True}, None, VALID),
    ("3.1.0", {"type": "string", "nullable": True}, None, AMBIGUOUS),
    ("3.1.0", {"type": "string", "nullable": True}, "a", VALID),
    ("3.1.0", {"type": "string", "nullable": True}, 1, INVALID),
    ("3.1.0", {"const": 1}, 2, INVALID),
    ("3.1.0", {"type": "array", "items": [{"type": "string"}]}, [1], AMBIGUOUS),
    ("2.0", {"type": "string", "nullable": True}, None, AMBIGUOUS),
    ("2.0", {"type": "integer", "if": {"minimum": 1}, "then": {"maximum": 2}}, 5, AMBIGUOUS),
    ("3.0.3", {"not": {"type": "int"}}, "x", AMBIGUOUS),
    ("3.0.3", {"oneOf": [{"type": "string"}, {"maxLength": "3"}]}, "x", AMBIGUOUS),
    ("3.0.3", {"anyOf": [{"type": "integer", "minimum": "3"}, {"type": "boolean"}]}, "x", INVALID),
    ("3.0.3", {"type": "string", "pattern": "/^[a-z]+$/"}, "A", AMBIGUOUS),
    ("3.0.3", {"type": "string", "pattern": "/^[a-z]+$/i"}, "a", AMBIGUOUS),
    ("3.0.3", {"type": "string", "pattern": "^[a-z]+$\n"}, "a", AMBIGUOUS),
    ("3.0.3", {"type": "string", "pattern": "(a^|$b)"}, "a", AMBIGUOUS),
    ("3.0.3", {"type": "string", "pattern": "^[[:alpha:]]+$"}, "1", AMBIGUOUS),
    ("3.0.3", {"type": "string", "pattern": "^[a-z&&[^aeiou]]+$"}, "a", AMBIGUOUS),
    ("3.0.3", {"type": "string", "pattern": "^(?<=a"}, "b", AMBIGUOUS),
    ("3.0.3", {"type": "string", "pattern": "^(?<=a"}, 1, INVALID),
    ("3.0.3", {"type": "string", "pattern": "^[\\s\\S]*$"}, "b", VALID),
    ("3.0.3", {"type": "string", "pattern": "/^[a-z]+$/|^b$"}, "c", INVALID),
    ("3.0.3", {"type": "string", "pattern": "^/[a-z]+/$"}, "a", INVALID),
    ("3.0.3", {"type": "string", "pattern": "(^a$)|(^b$)"}, "c", INVALID),
    ("3.0.3", {"type": "string", "pattern": "a|$"}, "a", VALID),
    ("3.0.3", {"type": "string", "pattern": "^[&$^:]+$"}, "a", INVALID),
    # The compiled validator does not understand the brace, and the other one searches no long text with nested loops.
    ("3.0.3", {"type": "string", "pattern": "^(?:{(?:a-?b?){9}})$"}, "a" * 30, AMBIGUOUS),
    ("3.0.3", {"type": "string", "pattern": "^(?:{(?:a-?b?){9}})$"}, "a", INVALID),
    ("3.0.3", {"patternProperties": {"^(?:{(?:a-?b?){9}})$": {"type": "string"}}}, {"a" * 30: 1}, AMBIGUOUS),
    ("3.0.3", {"patternProperties": {"^(?:{(?:a-?b?){9}})$": {"type": "string"}}}, {"b": 1}, VALID),
]


@pytest.mark.parametrize(("version", "schema", "value", "expected"), CASES)
def test_no_verdict_depends_on_what_is_not_understood(version: str, schema: Any, value: Any, expected: Outcome) -> None:
    headers = (("Content-Type", "application/json"),)
    found = judge(described(version, schema), "/a", headers, json.dumps(value).encode(), version=version, method="post")
    assert found.outcome is expected


WARNINGS = [
    ("3.0.3", {"const": 1}, "`const` at #/", "it is no keyword of OpenAPI 3.0"),
    ("2.0", {"nullable": True}, "`nullable` at #/", "it is no keyword of Swagger 2.0"),
    ("3.1.0", {"nullable": True}, "`nullable` at #/", "it is no keyword of OpenAPI 3.1 and later"),
    ("3.0.3", {"minLenght": 1}, "`minLenght` at #/", "it is no keyword; did you mean `minLength`?"),
    ("3.0.3", {"properties": {"$ref": "#/x"}}, "`properties` at #/", "it cannot be a reference"),
]
IGNORED = [("maxLength", -1), ("minLength", 2.5), ("uniqueItems", "no"), ("minimum", "1"), ("enum", [{"$ref": "#/x"}])]


@pytest.mark.parametrize(("name", "value"), IGNORED)
def test_a_keyword_whose_value_means_nothing_has_a_warning(name: str, value: Any) -> None:
    (found,) = warnings_of(opened("3.0.3", {"/a": {"post": described("3.0.3", {name: value})}}))
    assert found.kind == "malformed_keyword"
    assert found.message.startswith(f"`{name}` at #/")
    assert found.message.endswith(f"cannot be {json.dumps(value)}; it is ignored")


@pytest.mark.parametrize(("version", "schema", "place", "reason"), WARNINGS)
def test_a_keyword_without_a_meaning_has_a_warning(version: str, schema: Any, place: str, reason: str) -> None:
    paths = {"/a": {"post": described(version, schema)}}
    found = [one for one in warnings_of(opened(version, paths)) if one.kind == "malformed_keyword"]
    assert found[0].message.startswith(place)
    assert found[0].message.endswith(f"is ignored: {reason}")


@pytest.mark.parametrize(
    "name", ["description", "remark", "x-nullable", "readOnly", "example", "$comment", "id", "name", "style", "value"]
)
def test_other_names_in_schemas_are_no_misspelt_keywords(name: str) -> None:
    assert warnings_of(opened("3.0.3", {"/a": {"post": described("3.0.3", {"type": "string", name: True})}})) == ()


@pytest.mark.parametrize("version", ["2.0", "3.0.3", "3.1.0"])
def test_types_beside_a_type_are_no_misspelt_type(version: str) -> None:
    schema = {"type": "string", "types": ["string"]}
    assert warnings_of(opened(version, {"/a": {"post": described(version, schema)}})) == ()


OTHER_VERSIONS: list[tuple[str, Any, str, str]] = [
    ("3.0.3", {"name": "q", "in": "query", "type": "integer"}, "/a?q=x", "Swagger 2.0"),
    (
        "3.1.0",
        {"name": "q", "in": "query", "type": "array", "items": {}, "collectionFormat": "multi"},
        "/a?q=1",
        "Swagger 2.0",
    ),
    ("2.0", {"name": "q", "in": "query", "schema": {"type": "integer"}}, "/a?q=x", "OpenAPI 3"),
    ("2.0", {"name": "q", "in": "query", "content": {"application/json": {}}}, "/a?q=x", "OpenAPI 3"),
]


@pytest.mark.parametrize(("version", "parameter", "target", "other"), OTHER_VERSIONS)
def test_a_parameter_of_another_version_is_read_as_such(version: str, parameter: Any, target: str, other: str) -> None:
    tested = operation({"parameters": [parameter]}, version=version)
    (read,) = tested.parameters
    assert isinstance(read.schema.raw, dict)
    assert read.schema.raw.get("type") == parameter.get("schema", parameter).get("type")
    (warning,) = tested.warnings()
    assert f"is declared as in {other}; it is read as {other}, and no verdict depends on it" in warning.message
    assert judge({"parameters": [parameter]}, target, version=version).outcome is AMBIGUOUS
    assert judge({"parameters": [parameter]}, "/a", version=version).outcome is VALID


BODIES: list[tuple[str, Any, list[str], str]] = [
    (
        "3.0.3",
        {"parameters": [{"name": "b", "in": "body", "schema": {"type": "object"}}]},
        ["application/json"],
        "Swagger 2.0",
    ),
    (
        "3.1.0",
        {"parameters": [{"name": "f", "in": "formData", "type": "string", "required": True}]},
        ["application/x-www-form-urlencoded"],
        "Swagger 2.0",
    ),
    ("2.0", bodied(text__plain={"type": "string"}), ["text/plain"], "OpenAPI 3"),
]


@pytest.mark.parametrize(("version", "definition", "media_types", "other"), BODIES)
def test_a_body_of_another_version_is_read_as_such(
    version: str, definition: Any, media_types: list[str], other: str
) -> None:
    tested = operation(definition, version=version, method="post")
    assert [one.media_type for one in tested.bodies] == media_types
    (warning,) = tested.warnings()
    assert f"is declared as in {other}; it is read as {other}, and no verdict depends on it" in warning.message
    assert judge(definition, "/a", version=version, method="post").outcome is AMBIGUOUS


def test_a_body_of_the_own_version_comes_first() -> None:
    both = {"parameters": [{"name": "b", "in": "body", "required": True, "schema": {}}], **bodied(text__plain={})}
    assert [one.media_type for one in operation(both, method="post").bodies] == ["text/plain"]
    own = operation({**both, "consumes": ["application/json"]}, version="2.0", method="post")
    assert [one.media_type for one in own.bodies] == ["application/json"]
