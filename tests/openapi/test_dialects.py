"""Dialects that schemas of OpenAPI 3.1 say of themselves, and the identifiers by which they refer to each other."""

from typing import Any

import pytest

from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.schema import Direction
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi.loaders import from_dict, open_normalised
from checker.openapi.operation import OpenApiOperation
from checker.validation.compiled import compile_schema

from .described import assert_both, body, document, opinions

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
        document(
            {"$schema": D7, "type": "array", "items": [INT], "additionalItems": False}, "3.1.0"
        ),
        [1],
        [[1, 2], ["x"]],
    ),
    "d7 tuple id": (
        named(
            {
                "$schema": D7,
                "$id": "http://e.x/a",
                "type": "array",
                "items": [INT],
                "additionalItems": False,
            }
        ),
        [1],
        [[1, 2], ["x"]],
    ),
    "d19 tuple": (
        named(
            {"$schema": D19, "type": "array", "items": [INT], "additionalItems": {"type": "string"}}
        ),
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
    "d4 exclusive": (
        named({"$schema": D4, "type": "integer", "minimum": 1, "exclusiveMinimum": True}),
        2,
        [1],
    ),
    "d4 exclusive id": (
        named(
            {
                "$schema": D4,
                "id": "http://e.x/a",
                "type": "integer",
                "minimum": 1,
                "exclusiveMinimum": True,
            }
        ),
        2,
        [1],
    ),
    "d7 deps": (
        named(
            {
                "$schema": D7,
                "type": "object",
                "dependencies": {"a": ["b"], "c": {"required": ["d"]}},
            }
        ),
        {"a": 1, "b": 1},
        [{"a": 1}, {"c": 1}],
    ),
    "d7 ref siblings": (
        named(
            {
                "$schema": D7,
                "type": "object",
                "properties": {"a": {"$ref": "#/components/schemas/B", "maximum": 1}},
            },
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
    "3.1 $id #foo": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "#foo"}}},
            B={"$id": "#foo", "type": "integer"},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "3.1 anchor": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "#foo"}}},
            B={"$anchor": "foo", "type": "integer"},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn id": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "urn:example:b"}}},
            B={"$id": "urn:example:b", "type": "integer"},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn id#anchor": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "urn:example:b#foo"}}},
            B={"$id": "urn:example:b", "$defs": {"x": {"$anchor": "foo", "type": "integer"}}},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn id#pointer": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "urn:example:b#/$defs/x"}}},
            B={"$id": "urn:example:b", "$defs": {"x": {"$anchor": "foo", "type": "integer"}}},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn within": (
        named(
            {
                "$id": "urn:example:a",
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#foo"}},
                "$defs": {"x": INT, "y": {"$anchor": "foo", "type": "integer"}},
            }
        ),
        {"a": 5, "b": 1},
        [{"a": "x"}, {"b": "x"}],
    ),
    "urn abs out": (
        named(
            {
                "$id": "urn:example:a",
                "type": "object",
                "properties": {"a": {"$ref": "urn:example:c"}},
            },
            C={"$id": "urn:example:c", "type": "integer"},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn nested $id rel": (
        named(
            {
                "$id": "urn:example:a",
                "type": "object",
                "properties": {"a": {"$id": "other", "type": "integer"}, "b": {"$ref": "other"}},
            }
        ),
        {"b": 5},
        [{"b": "x"}],
    ),
    "file id": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "file:///s/b.json"}}},
            B={"$id": "file:///s/b.json", "type": "integer"},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "file rel": (
        named(
            {
                "$id": "file:///s/a.json",
                "type": "object",
                "properties": {"a": {"$ref": "b.json"}, "c": {"$ref": "b.json#foo"}},
            },
            B={"$id": "file:///s/b.json", "type": "integer", "$anchor": "foo"},
        ),
        {"a": 5},
        [{"a": "x"}, {"c": "x"}],
    ),
    "dialect d7 root": (
        document(
            {"type": "array", "items": [INT], "additionalItems": False},
            "3.1.0",
            jsonSchemaDialect=D7,
        ),
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
        document(
            {"type": "array", "items": [INT], "additionalItems": False},
            "3.1.0",
            jsonSchemaDialect=D19,
        ),
        [1],
        [[1, 2], ["x"]],
    ),
    "dialect d4 root": (
        document(
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            "3.1.0",
            jsonSchemaDialect=D4,
        ),
        2,
        [1],
    ),
    "dialect d7, $schema 2020": (
        document(
            {"$schema": D20, "type": "array", "prefixItems": [INT], "items": False},
            "3.1.0",
            jsonSchemaDialect=D7,
        ),
        [1],
        [[1, 2], ["x"]],
    ),
    "dialect d7, $schema oas": (
        document(
            {"$schema": OAS, "type": "array", "prefixItems": [INT], "items": False},
            "3.1.0",
            jsonSchemaDialect=D7,
        ),
        [1],
        [[1, 2], ["x"]],
    ),
    "d7 refs 2020 component": (
        named(
            {
                "$schema": D7,
                "type": "object",
                "properties": {"a": {"$ref": "#/components/schemas/B"}},
            },
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
                "properties": {
                    "a": {"$schema": D7, "type": "array", "items": [INT], "additionalItems": False}
                },
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
                "properties": {
                    "a": {"$schema": D20, "type": "array", "prefixItems": [INT], "items": False}
                },
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
                "properties": {
                    "a": {"$schema": OAS, "type": "array", "prefixItems": [INT], "items": False}
                },
            }
        ),
        {"a": [1]},
        [{"a": ["x"]}, {"a": [1, 2]}],
    ),
    "$schema unknown": (
        named({"$schema": "http://e.x/own", "type": "array", "prefixItems": [INT]}),
        [1],
        [["x"]],
    ),
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
            {
                "$schema": D19,
                "$recursiveAnchor": True,
                "type": "object",
                "properties": {"a": {"$recursiveRef": "#"}},
            }
        ),
        {"a": {}},
        [{"a": "x"}],
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_both_opinions_read_a_schema_by_its_own_dialect(name: str) -> None:
    raw, valid, invalid = SAID[name]
    schema = from_dict(raw)
    for one in invalid:
        assert_both(schema, valid, one)


@pytest.mark.parametrize("name", ALONE)
def test_schema_that_was_written_to_stand_alone_is_meant_by_its_references(name: str) -> None:
    raw, valid, invalid = ALONE[name]
    for schema in (from_dict(raw), open_normalised(from_dict(raw).normalised())):
        is_valid = compile_schema(body(schema), Direction.REQUEST).is_valid
        assert [is_valid(one) for one in (valid, *invalid)] == [True, *(False for _ in invalid)]
        # Nobody else has to read it so: by the letter these references mean the description.
        assert opinions(body(schema), valid) == (True, True)


@pytest.mark.parametrize("name", [*SAID, *ALONE])
def test_what_is_made_fits_the_dialect(name: str) -> None:
    raw, _, _ = (SAID | ALONE)[name]
    schema = from_dict(raw)
    operation = schema.find("POST /a")
    assert isinstance(operation, OpenApiOperation)
    program = compile_operation(operation, GenerationSettings(mode=GenerationMode.POSITIVE))
    source = RandomSource()
    for seed in range(40):
        source.reset(seed)
        case = program.draw(source, case_id="c", phase=PhaseInfo("fuzzing"))
        assert case.media_type is None or opinions(body(schema), case.body) == (True, True)


def test_what_a_dialect_knows_is_not_called_ignored() -> None:
    raw = {"$schema": D7, "items": [INT], "additionalItems": {"exclusiveMinimum": 3}}
    assert from_dict(named(raw)).warnings == ()


def test_reference_inside_items_of_an_older_dialect_counts() -> None:
    raw = {"$schema": D7, "type": "array", "items": [{"$ref": "#/components/schemas/None"}]}
    operation = from_dict(named(raw)).find("POST /a")
    assert isinstance(operation, OpenApiOperation)
    assert "points at nothing" in operation.unusable_bodies[0].reason


def test_dialect_of_a_schema_says_nothing_before_3_1() -> None:
    schema = from_dict(document({"$schema": 5, "type": "integer"}))
    assert_both(schema, 1, "x")
    tuples = {
        "$schema": D7,
        "type": "array",
        "items": {"type": "integer"},
        "contains": {"const": 5},
    }
    assert_both(from_dict(document(tuples)), [1], ["x"])
