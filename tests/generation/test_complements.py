"""What a `not` means, without drawing and throwing away."""

from typing import Any

import pytest

from checker.core.errors import Unsatisfiable

from .making import bodies, opinions, program_of, schema_of

NEGATED: dict[str, Any] = {
    "type": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": ["number", "null"]},
    "const": {"const": 3},
    "enum": {"enum": [True, False, None, "a"]},
    "minimum": {"minimum": 3},
    "exclusive maximum": {"exclusiveMaximum": 3},
    "multipleOf": {"multipleOf": 3},
    "minLength": {"minLength": 3},
    "maxLength": {"maxLength": 3},
    "pattern": {"pattern": "^[a-z]"},
    "format": {"format": "date"},
    "minItems": {"minItems": 2},
    "maxItems": {"maxItems": 2},
    "uniqueItems": {"uniqueItems": True},
    "items": {"items": {"type": "integer"}},
    "prefixItems": {"prefixItems": [{"type": "integer"}, True, {"type": "null"}]},
    "contains": {"contains": {"type": "integer"}},
    "maxContains": {"contains": True, "maxContains": 1},
    "required": {"required": ["a", "b"]},
    "properties": {"properties": {"a": {"type": "integer"}, "b": True}},
    "patternProperties": {"patternProperties": {"^x": {"type": "integer"}}},
    "additionalProperties": {"properties": {"a": {}}, "additionalProperties": False},
    "propertyNames": {"propertyNames": {"maxLength": 3}},
    "minProperties": {"minProperties": 1},
    "maxProperties": {"maxProperties": 1},
    "allOf": {"allOf": [{"type": "string"}, {"minLength": 3}]},
    "anyOf": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 3}]},
    "oneOf": {"oneOf": [{"type": "integer"}, {"minimum": 3}]},
    "not": {"not": {"type": "string"}},
    "if": {"if": {"type": "string"}, "then": {"minLength": 3}, "else": {"type": "integer"}},
    "dependentRequired": {"dependentRequired": {"a": ["b"]}},
    "dependentSchemas": {"dependentSchemas": {"a": {"required": ["b"]}}},
    "reference": {"$ref": "#/components/schemas/Word"},
    "several": {"type": "object", "required": ["a"], "properties": {"a": {"minimum": 1}}},
}
WORD = {"Word": {"type": "string", "minLength": 3}}


@pytest.mark.parametrize("name", NEGATED)
def test_values_are_outside(name: str) -> None:
    raw = {"not": NEGATED[name]}
    is_valid = opinions(schema_of(raw, components=WORD))
    found = bodies(raw, 60, components=WORD)
    assert [value for value in found if not is_valid(value)] == []
    assert dict(program_of(body=raw, components=WORD).opaque) == {}


@pytest.mark.parametrize("name", NEGATED)
def test_twice_not_is_inside(name: str) -> None:
    raw = {"not": {"not": NEGATED[name]}}
    is_valid = opinions(schema_of(raw, components=WORD))
    assert [v for v in bodies(raw, 40, components=WORD) if not is_valid(v)] == []


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"not": {}}, "everything satisfies the schema under `not`"),
        ({"type": "integer", "not": {"type": "number"}}, "exclude each other"),
        ({"type": "boolean", "not": {"enum": [True, False]}}, "forbids every boolean"),
        ({"type": "integer", "minimum": 1, "maximum": 2, "not": {"enum": [1, 2]}}, "every integer"),
        ({"type": "object", "required": ["a"], "not": {"required": ["a"]}}, "admits nothing"),
        ({"type": "integer", "minimum": 5, "not": {"minimum": 3}}, "exclude every"),
    ],
)
def test_what_not_leaves_nothing_of_is_explained(raw: Any, reason: str) -> None:
    with pytest.raises(Unsatisfiable, match=reason):
        program_of(body=raw)


CONDITIONS: dict[str, Any] = {
    "if": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "x": {"type": "integer"}},
        "if": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
        "then": {"required": ["x"]},
        "else": {"properties": {"x": False}},
    },
    "many conditions": {
        "type": "object",
        "allOf": [
            {
                "if": {"properties": {name: {"const": 1}}, "required": [name]},
                "then": {"required": [f"{name}x"]},
            }
            for name in "abcdefghijklmnop"
        ],
    },
    "contains": {"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3},
    "contains none": {"type": "array", "contains": {"type": "integer"}, "minContains": 0, "maxContains": 0},
    "contains behind": {"prefixItems": [{"type": "string"}], "contains": {"type": "integer"}},
    "overlapping patterns": {
        "type": "object",
        "patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 10}},
        "additionalProperties": False,
    },
    "unevaluated schema": {
        "type": "object",
        "allOf": [{"properties": {"a": {"type": "integer"}}}],
        "unevaluatedProperties": {"type": "boolean"},
    },
    "unevaluated beside if": {
        "type": "object",
        "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
        "then": {"properties": {"b": {"type": "string"}}, "required": ["b"]},
        "unevaluatedProperties": False,
    },
    "unevaluated items": {"prefixItems": [{"type": "string"}], "unevaluatedItems": {"type": "integer"}},
    "two patterns": {"type": "string", "allOf": [{"pattern": "^\\./.*"}, {"pattern": ".*\\.md$"}]},
    "large bound": {"type": "integer", "maximum": 2**64 - 1, "minimum": 2**64 - 5},
    "large float bound": {"type": "number", "maximum": 2**64 - 1, "minimum": 2**63},
    "NUL": {"const": "a\0b"},
}  # fmt: skip


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.thorough
def test_values_meet_conditions(name: str) -> None:
    raw = CONDITIONS[name]
    is_valid = opinions(schema_of(raw))
    found = bodies(raw, 40)
    assert [value for value in found if not is_valid(value)] == []
    assert dict(program_of(body=raw).opaque) == {}


def test_schemas_that_say_little_have_many_values() -> None:
    open_ones: list[Any] = [{"propertyNames": False}, {"items": {"type": "null"}}, {"properties": {"a": {}}}]
    for raw in open_ones:
        assert len({repr(value) for value in bodies(raw, 20)}) >= 10
