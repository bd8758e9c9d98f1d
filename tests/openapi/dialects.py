"""Schemas of OpenAPI 3.1 that say their dialect, with values that they admit and refuse."""

from typing import Any

from .described import document

D4 = "http://json-schema.org/draft-04/schema#"
D6 = "http://json-schema.org/draft-06/schema#"
D7 = "http://json-schema.org/draft-07/schema#"
D19 = "https://json-schema.org/draft/2019-09/schema"
D20 = "https://json-schema.org/draft/2020-12/schema"
OAS = "https://spec.openapis.org/oas/3.1/dialect/base"
INT = {"type": "integer"}


def named(schema: Any, **others: Any) -> dict[str, Any]:
    reference = {"$ref": "#/components/schemas/A"}
    return document(reference, "3.1.0", components={"schemas": {"A": schema, **others}})


Case = tuple[dict[str, Any], Any, list[Any]]
"""Description, a valid body, invalid ones."""
SAID: dict[str, Case] = {
    "d7 tuple": (
        named({"$schema": D7, "type": "array", "items": [INT], "additionalItems": False}),
        [1],
        [[1, 2], ["x"]],
    ),
    "d7 tuple inline": (
        document({"$schema": D7, "type": "array", "items": [INT], "additionalItems": False}, "3.1.0"),
        [1],
        [[1, 2], ["x"]],
    ),
    "d7 tuple id": (
        named({"$schema": D7, "$id": "http://e.x/a", "type": "array", "items": [INT], "additionalItems": False}),
        [1],
        [[1, 2], ["x"]],
    ),
    "d19 tuple": (
        named({"$schema": D19, "type": "array", "items": [INT], "additionalItems": {"type": "string"}}),
        [1, "a"],
        [[1, 2], ["x"]],
    ),
    "d19 tuple id": (
        named(
            {
                "$schema": D19,
                "$id": "http://e.x/a",
                "type": "array",
                "items": [INT],
                "additionalItems": {"type": "string"},
            }
        ),
        [1, "a"],
        [[1, 2], ["x"]],
    ),
    "d4 exclusive": (named({"$schema": D4, "type": "integer", "minimum": 1, "exclusiveMinimum": True}), 2, [1]),
    "d4 exclusive id": (
        named({"$schema": D4, "id": "http://e.x/a", "type": "integer", "minimum": 1, "exclusiveMinimum": True}),
        2,
        [1],
    ),
    "d7 deps": (
        named({"$schema": D7, "type": "object", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
        {"a": 1, "b": 1},
        [{"a": 1}, {"c": 1}],
    ),
    "d7 ref siblings": (
        named(
            {"$schema": D7, "type": "object", "properties": {"a": {"$ref": "#/components/schemas/B", "maximum": 1}}},
            B=INT,
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "d7 definitions id": (
        named(
            {
                "$schema": D7,
                "$id": "http://e.x/a",
                "definitions": {"x": INT},
                "type": "object",
                "properties": {"a": {"$ref": "#/definitions/x"}},
            }
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "d7 definitions anchors": (
        named(
            {
                "$schema": D7,
                "$id": "http://e.x/a",
                "definitions": {"x": {"$id": "#foo", "type": "integer"}},
                "type": "object",
                "properties": {"a": {"$ref": "#foo"}},
            }
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "d7 definitions anchors no id": (
        named(
            {
                "$schema": D7,
                "definitions": {"x": {"$id": "#foo", "type": "integer"}},
                "type": "object",
                "properties": {"a": {"$ref": "#foo"}},
            }
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "d7 definitions no id, from root": (
        named(
            {
                "$schema": D7,
                "definitions": {"x": INT},
                "type": "object",
                "properties": {"a": {"$ref": "#/components/schemas/A/definitions/x"}},
            }
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "d19 recursive id": (
        named(
            {
                "$schema": D19,
                "$id": "http://e.x/a",
                "$recursiveAnchor": True,
                "type": "object",
                "properties": {"a": {"$recursiveRef": "#"}},
            }
        ),
        {"a": {}},
        [{"a": "x"}],
    ),
    "dialect d7 root": (
        document({"type": "array", "items": [INT], "additionalItems": False}, "3.1.0", jsonSchemaDialect=D7),
        [1],
        [[1, 2], ["x"]],
    ),
    "dialect d7 root deps": (
        document(
            {
                "type": "object",
                "dependencies": {"a": ["b"]},
                "properties": {"q": {"$ref": "#/components/schemas/B", "maximum": 1}},
            },
            "3.1.0",
            jsonSchemaDialect=D7,
            components={"schemas": {"B": INT}},
        ),
        {"q": 5},
        [{"a": 1}],
    ),
    "dialect d19 root": (
        document({"type": "array", "items": [INT], "additionalItems": False}, "3.1.0", jsonSchemaDialect=D19),
        [1],
        [[1, 2], ["x"]],
    ),
    "dialect d4 root": (
        document({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, "3.1.0", jsonSchemaDialect=D4),
        2,
        [1],
    ),
    "dialect d7, $schema 2020": (
        document(
            {"$schema": D20, "type": "array", "prefixItems": [INT], "items": False}, "3.1.0", jsonSchemaDialect=D7
        ),
        [1],
        [[1, 2], ["x"]],
    ),
    "dialect d7, what only 2020 has words for": (
        document(
            {
                "type": "object",
                "properties": {
                    "p": {
                        "$schema": D20,
                        "type": "object",
                        "allOf": [{"properties": {"a": INT}}],
                        "unevaluatedProperties": False,
                        "dependentRequired": {"a": ["b"]},
                    },
                    "q": {"$schema": D20, "contains": INT, "minContains": 0, "maxContains": 1},
                },
                "dependencies": {"c": ["d"]},
            },
            "3.1.0",
            jsonSchemaDialect=D7,
        ),
        {"p": {}, "q": []},
        [{"p": {"z": 1}}, {"p": {"a": 1}}, {"q": [1, 2]}, {"c": 1}],
    ),
    "dialect d7, $schema oas": (
        document(
            {"$schema": OAS, "type": "array", "prefixItems": [INT], "items": False}, "3.1.0", jsonSchemaDialect=D7
        ),
        [1],
        [[1, 2], ["x"]],
    ),
    "d7 refs 2020 component": (
        named(
            {"$schema": D7, "type": "object", "properties": {"a": {"$ref": "#/components/schemas/B"}}},
            B={"type": "array", "prefixItems": [INT], "items": False},
        ),
        {"a": [1]},
        [{"a": ["x"]}, {"a": [1, 2]}],
    ),
    "2020 refs d7 component": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/B"}}},
            B={"$schema": D7, "type": "array", "items": [INT], "additionalItems": False},
        ),
        {"a": [1]},
        [{"a": ["x"]}, {"a": [1, 2]}],
    ),
    "2020 holds d7": (
        named(
            {
                "type": "object",
                "properties": {"a": {"$schema": D7, "type": "array", "items": [INT], "additionalItems": False}},
            }
        ),
        {"a": [1]},
        [{"a": ["x"]}, {"a": [1, 2]}],
    ),
    "d7 holds 2020": (
        named(
            {
                "$schema": D7,
                "type": "object",
                "properties": {"a": {"$schema": D20, "type": "array", "prefixItems": [INT], "items": False}},
            }
        ),
        {"a": [1]},
        [{"a": ["x"]}, {"a": [1, 2]}],
    ),
    "d7 holds oas": (
        named(
            {
                "$schema": D7,
                "type": "object",
                "properties": {"a": {"$schema": OAS, "type": "array", "prefixItems": [INT], "items": False}},
            }
        ),
        {"a": [1]},
        [{"a": ["x"]}, {"a": [1, 2]}],
    ),
    "$schema unknown": (named({"$schema": "http://e.x/own", "type": "array", "prefixItems": [INT]}), [1], [["x"]]),
    "$schema number": (named({"$schema": 5, "type": "array", "prefixItems": [INT]}), [1], [["x"]]),
    "d7 readOnly": (
        named(
            {
                "$schema": D7,
                "type": "object",
                "properties": {"a": {"type": "integer", "readOnly": True}},
                "required": ["a", "b"],
            }
        ),
        {"b": 1},
        [{"a": 1}],
    ),
    "d7 https": (
        named(
            {
                "$schema": "https://json-schema.org/draft-07/schema",
                "type": "array",
                "items": [INT],
                "additionalItems": False,
            }
        ),
        [1],
        [[1, 2], ["x"]],
    ),
    "d6 tuple": (
        named({"$schema": D6, "type": "array", "items": [INT], "additionalItems": False}),
        [1],
        [[1, 2], ["x"]],
    ),
}
ALONE: dict[str, Case] = {
    "d7 definitions no id, in itself": (
        named(
            {
                "$schema": D7,
                "definitions": {"x": INT},
                "type": "object",
                "properties": {"a": {"$ref": "#/definitions/x"}},
            }
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "d19 recursive no id": (
        named(
            {"$schema": D19, "$recursiveAnchor": True, "type": "object", "properties": {"a": {"$recursiveRef": "#"}}}
        ),
        {"a": {}},
        [{"a": "x"}],
    ),
}
