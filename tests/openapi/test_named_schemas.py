"""Names and dialects that schemas of OpenAPI 3.1 and later have of their own."""

from pathlib import Path
from typing import Any

import pytest

from checker.openapi.loaders import from_dict, from_path
from checker.openapi.operation import OpenApiOperation

from .described import USER, assert_both, document, written
from .documents import warnings_of

NAMED = {
    "by id": ({"$ref": "user.schema"}, {"U": {"$id": "user.schema", **USER}}),
    "by anchor": ({"$ref": "#user"}, {"U": {"$anchor": "user", **USER}}),
    "by id and anchor": ({"$ref": "all#user"}, {"U": {"$id": "all", "$defs": {"u": {"$anchor": "user", **USER}}}}),
    "pointer inside a named schema": (
        {"$ref": "#/components/schemas/U"},
        {"U": {"$id": "http://example.com/u", "allOf": [{"$ref": "#/$defs/u"}], "$defs": {"u": USER}}},
    ),
    "relative to the name around": (
        {"$ref": "#/components/schemas/U"},
        {
            "U": {"$id": "http://example.com/deep/u", "allOf": [{"$ref": "v"}]},
            "V": {"$id": "http://example.com/deep/v", **USER},
        },
    ),
    "older dialect inside": (
        {"$ref": "#/components/schemas/U"},
        {
            "U": {
                "$id": "http://example.com/old",
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"id": {"$ref": "#/definitions/i", "minimum": 7}},
                "definitions": {"i": {"type": "integer"}},
            }
        },
    ),
    "dynamic": (
        {"$ref": "#/components/schemas/Users"},
        {
            "List": {
                "$id": "list",
                "type": "object",
                "properties": {"id": {"$dynamicRef": "#item"}},
                "$defs": {"any": {"$dynamicAnchor": "item"}},
            },
            "Users": {"$id": "users", "$ref": "list", "$defs": {"one": {"$dynamicAnchor": "item", "type": "integer"}}},
        },
    ),
}


@pytest.mark.parametrize("case", NAMED)
def test_names_in_schemas_count_since_3_1(case: str) -> None:
    raw, schemas = NAMED[case]
    schema = from_dict(document(raw, "3.1.0", components={"schemas": schemas}))
    assert_both(schema, {"id": 1}, {"id": "x"})


def test_names_in_examples_are_data() -> None:
    example = {"properties": {"x": {"$id": "user.schema"}}}
    main = document({"$ref": "user.schema", "example": example}, "3.1.0")
    operation = from_dict(main).find("POST /a")
    assert isinstance(operation, OpenApiOperation)
    assert operation.unusable_bodies


@pytest.mark.parametrize("name", ["http://[", 5, "", "#", None, "http://example.com/%zz"])
def test_name_that_is_none_names_nothing(name: Any) -> None:
    schemas = {"U": {"$id": name, "$anchor": name, "allOf": [USER]}}
    schema = from_dict(document({"$ref": "#/components/schemas/U"}, "3.1.0", components={"schemas": schemas}))
    assert_both(schema, {"id": 1}, {"id": "x"})


def test_names_in_schemas_beside_the_document(tmp_path: Path) -> None:
    named = {"$id": "http://example.com/s", "allOf": [{"$ref": "#u"}], "$defs": {"a": {"$anchor": "u", **USER}}}
    path = written(tmp_path, {"o.json": document({"$ref": "s.json"}, "3.1.0"), "s.json": named})
    assert_both(from_path(path), {"id": 1}, {"id": "x"})


def test_dialect_of_the_whole_document_is_honoured() -> None:
    pair = {"items": [{"type": "integer"}]}
    dialect = {"jsonSchemaDialect": "http://json-schema.org/draft-07/schema#"}
    assert_both(from_dict(document(pair, "3.1.0", **dialect)), [1], ["x"])


STRAYED: dict[str, dict[str, Any]] = {
    "a name": {"U": {"$id": "U", "properties": {"id": {"$ref": "#/components/schemas/I"}}}, "I": {"type": "integer"}},
    "a URL": {
        "U": {"$id": "https://example.com/u.json", "allOf": [{"$ref": "#/components/schemas/V"}]},
        "V": {"$id": "https://example.com/v.json", "properties": {"id": {"$ref": "#/components/schemas/I"}}},
        "I": {"$id": "https://example.com/i.json", "type": "integer"},
    },
    "a name in an alternative": {
        "U": {"$id": "U", "oneOf": [{"$ref": "#/components/schemas/V"}], "discriminator": {"propertyName": "kind"}},
        "V": {"properties": {"kind": {"const": "V"}, "id": {"type": "integer"}}},
    },
    "a name beside a read-only part": {
        "U": {"$id": "U", "properties": {"id": {"type": "integer"}, "no": {"$ref": "#/components/schemas/N"}}},
        "N": {"readOnly": True, "type": "integer"},
    },
}


@pytest.mark.parametrize("case", STRAYED)
def test_pointers_into_the_description_lead_there_from_below_an_id(case: str) -> None:
    schema = from_dict(document({"$ref": "#/components/schemas/U"}, "3.1.0", components={"schemas": STRAYED[case]}))
    assert_both(schema, {"id": 1}, {"id": "x"})
    found = [warning.message for warning in warnings_of(schema)]
    assert found
    assert all("leads nowhere from the `$id` above it" in message for message in found)


def test_a_pointer_into_the_schema_with_the_id_comes_first() -> None:
    inner = {"components": {"schemas": {"I": {"type": "integer"}}}}
    schemas = {
        "U": {"$id": "U", "properties": {"id": {"$ref": "#/components/schemas/I"}}, **inner},
        "I": {"type": "string"},
    }
    schema = from_dict(document({"$ref": "#/components/schemas/U"}, "3.1.0", components={"schemas": schemas}))
    assert_both(schema, {"id": 1}, {"id": "x"})
    assert warnings_of(schema) == ()
