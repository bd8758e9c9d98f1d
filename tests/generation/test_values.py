import json
import math
import struct
from fractions import Fraction
from typing import Any

import pytest

from checker.core.schema import Dialect
from checker.generation.program import GenerationSettings

from .making import bodies, cases, opinions, program_of, schema_of

TREE = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
    },
}
LIST = {
    "type": "object",
    "required": ["next"],
    "properties": {"next": {"anyOf": [{"$ref": "#/components/schemas/List"}, {"type": "null"}]}},
}
SCHEMAS: dict[str, Any] = {
    "nothing said": {},
    "true": True,
    "null": {"type": "null"},
    "boolean": {"type": "boolean"},
    "types": {"type": ["string", "integer", "null"]},
    "enum": {"enum": ["a", 1, None, {"b": [1]}]},
    "enum of a type": {"type": "string", "enum": ["a", 1, "bb"], "maxLength": 1},
    "const": {"const": {"a": 1}},
    "integer": {"type": "integer"},
    "integer bounds": {"type": "integer", "minimum": -3, "maximum": 900},
    "integer open bounds": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 2},
    "integer fraction bounds": {"type": "integer", "minimum": 0.5, "maximum": 3.5},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64", "minimum": 1},
    "integer multiples": {"type": "integer", "multipleOf": 7, "minimum": 15},
    "integer multiples of a fraction": {"type": "integer", "multipleOf": 2.5},
    "number": {"type": "number"},
    "float": {"type": "number", "format": "float"},
    "double bounds": {"type": "number", "format": "double", "minimum": 0, "maximum": 1},
    "number open bounds": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.1},
    "number multiples": {"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 100},
    "number two multiples": {"allOf": [{"type": "number", "multipleOf": 4}, {"multipleOf": 6}]},
    "string": {"type": "string"},
    "string sizes": {"type": "string", "minLength": 3, "maxLength": 5},
    "long string": {"type": "string", "minLength": 3000},
    "long allowed": {"type": "string", "maxLength": 5000},
    "pattern": {"type": "string", "pattern": "^[A-Z]{2}-\\d{3,5}$"},
    "pattern with length": {"type": "string", "pattern": "^[a-z]+$", "minLength": 7, "maxLength": 9},
    "pattern of groups with length": {
        "type": "string", "pattern": "^([a-z]{2}|\\d{3})(-[a-z]+)*$", "minLength": 8, "maxLength": 12,
    },
    "array": {"type": "array"},
    "array of": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4},
    "empty array": {"type": "array", "maxItems": 0},
    "unique": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "uniqueItems": True},
    "unique of few": {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True, "minItems": 3},
    "prefix": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
    "prefix and more": {
        "type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "boolean"}, "minItems": 2,
    },
    "object": {"type": "object"},
    "properties": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["a"],
    },
    "required without schema": {"type": "object", "required": ["a", "b"]},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "closed": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
    "sized object": {"type": "object", "minProperties": 2, "maxProperties": 3},
    "sized closed object": {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in "abcdef"},
        "additionalProperties": False,
        "minProperties": 3,
        "maxProperties": 4,
        "required": ["c"],
    },
    "no object without a type": {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "allOf": {
        "allOf": [
            {"type": "object", "properties": {"a": {"minimum": 3}}, "required": ["a"]},
            {"properties": {"a": {"type": "integer", "maximum": 5}, "b": {"type": "string"}}},
        ]
    },
    "allOf closed": {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
            {"properties": {"b": {"type": "integer"}}},
        ]
    },
    "anyOf": {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "string", "maxLength": 2}]},
    "anyOf with siblings": {
        "type": "object",
        "properties": {"k": {"type": "string"}},
        "anyOf": [{"required": ["k"]}, {"properties": {"z": {"type": "integer"}}, "required": ["z"]}],
    },
    "oneOf overlapping": {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "number", "maximum": 10}]},
    "oneOf objects": {
        "oneOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
        ]
    },
    "two alternatives": {
        "anyOf": [{"minimum": 3}, {"maximum": 0}],
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
    "not": {"type": "integer", "not": {"multipleOf": 2}},
    "not enum": {"type": "string", "not": {"enum": ["", "a"]}},
    "if": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "size": {"type": "integer"}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["size"]},
    },
    "patternProperties": {
        "type": "object",
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": False,
    },
    "propertyNames": {"type": "object", "propertyNames": {"pattern": "^[a-z]{2,4}$"}},
    "contains": {"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 5}},
    "dependentRequired": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "dependentRequired": {"a": ["b"]},
    },
    "malformed keywords": {"type": "integer", "minimum": "3", "maxLength": -1, "required": True},
    "example": {"type": "string", "example": "the example", "maxLength": 20},
    "tree": {"$ref": "#/components/schemas/Tree"},
    "list": {"$ref": "#/components/schemas/List"},
    "sibling of a reference": {"$ref": "#/components/schemas/Tree", "required": ["children"]},
}  # fmt: skip
COMPONENTS = {"Tree": TREE, "List": LIST}


@pytest.mark.parametrize("name", SCHEMAS)
def test_values_are_valid_for_both_validators(name: str) -> None:
    raw = SCHEMAS[name]
    is_valid = opinions(schema_of(raw, components=COMPONENTS))
    found = bodies(raw, 150, components=COMPONENTS)
    assert [value for value in found if not is_valid(value)] == []
    json.dumps(found, allow_nan=False)


FORMATS = (
    "date", "date-time", "time", "duration", "uuid", "email", "idn-email", "uri", "uri-reference", "iri",
    "hostname", "ipv4", "ipv6", "byte", "json-pointer", "relative-json-pointer", "regex", "password", "binary",
    "unheard-of",
)  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_valid_for_both_validators(name: str) -> None:
    raw = {"type": "string", "format": name}
    is_valid = opinions(schema_of(raw))
    assert [value for value in bodies(raw, 300) if not is_valid(value)] == []


@pytest.mark.parametrize("name", ["email", "uri", "hostname", "byte", "uri-reference"])
@pytest.mark.parametrize("sizes", [{"maxLength": 12}, {"minLength": 40}, {"minLength": 16, "maxLength": 20}])
def test_formats_keep_to_lengths(name: str, sizes: dict[str, int]) -> None:
    raw = {"type": "string", "format": name, **sizes}
    is_valid = opinions(schema_of(raw))
    found = bodies(raw, 100)
    assert [value for value in found if not is_valid(value)] == []
    assert len(set(found)) > 10


def test_siblings_of_a_reference_do_not_count_in_openapi_30() -> None:
    raw = {"$ref": "#/components/schemas/Tree", "required": ["children"]}
    found = bodies(raw, 100, components=COMPONENTS, dialect=Dialect.OPENAPI30)
    assert any("children" not in value for value in found)


def test_nullable_is_null_now_and_then() -> None:
    found = bodies({"type": "string", "nullable": True}, 200, dialect=Dialect.OPENAPI30)
    assert 5 < found.count(None) < 100


def test_nullable_enum_without_null_is_never_null() -> None:
    raw = {"type": "string", "nullable": True, "enum": ["a", "b"]}
    assert {"a", "b"} == set(bodies(raw, 60, dialect=Dialect.OPENAPI30))


def test_read_only_properties_are_not_sent_even_if_required() -> None:
    raw = {
        "type": "object",
        "properties": {"id": {"type": "integer", "readOnly": True}, "a": {"type": "integer"}},
        "required": ["id", "a"],
    }
    closed = GenerationSettings(allow_extra_parameters=False)
    assert {("a",)} == {tuple(value) for value in bodies(raw, settings=closed)}


def test_boolean_exclusive_bounds_of_older_dialects() -> None:
    raw = {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "maximum": 3, "exclusiveMaximum": True}
    assert {2} == set(bodies(raw, 30, dialect=Dialect.OPENAPI30))


def test_discriminator_names_the_branch() -> None:
    components = {
        "Cat": {
            "type": "object",
            "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}},
            "required": ["kind", "lives"],
        },
        "Dog": {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]},
    }
    raw = {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}},
    }
    found = bodies(raw, 60, components=components, dialect=Dialect.OPENAPI30)
    assert {"cat", "Dog"} == {value["kind"] for value in found}
    assert all(("lives" in value) == (value["kind"] == "cat") for value in found)


def test_recursion_ends() -> None:
    deepest = max(_depth(value) for value in bodies({"$ref": "#/components/schemas/Tree"}, 300, components=COMPONENTS))
    assert 3 <= deepest <= 20


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def test_optional_properties_are_there_half_of_the_time() -> None:
    raw = {"type": "object", "properties": {name: {"type": "integer"} for name in "abcd"}}
    share = sum(map(len, bodies(raw, 500))) / 2000
    assert 0.4 < share < 0.6


NOT_SAID = {"unevaluatedItems": False}


def test_opaque_nodes_are_counted_by_pointer() -> None:
    raw = {"type": "object", "properties": {"a": {"type": "integer", "not": NOT_SAID}}}
    assert dict(program_of(body=raw).opaque) == {"#/s/properties/a/not": "not"}


def test_negative_zero_and_huge_numbers_turn_up() -> None:
    found = bodies({"type": "number"}, 2000)
    assert any(value == 0 and math.copysign(1, value) < 0 for value in found)
    assert any(abs(value) > 1e15 for value in found)
    assert all(math.isfinite(value) for value in found)


def test_optional_body_is_left_out_now_and_then() -> None:
    program = program_of(body={"type": "integer"}, body_required=False)

    missing = sum(case.media_type is None for case in cases(program, 300))
    assert 5 < missing < 100


def test_form_bodies_are_objects() -> None:
    raw = {"properties": {"a": {"type": "integer"}}}
    found = bodies(raw, 50, media_type="application/x-www-form-urlencoded")
    assert all(isinstance(value, dict) for value in found)


def test_binary_parts_are_bytes_outside_json() -> None:
    raw = {"type": "string", "format": "binary"}
    assert all(isinstance(value, bytes) for value in bodies(raw, 20, media_type="application/octet-stream"))
    assert all(isinstance(value, str) for value in bodies(raw, 20))


HANDLED = (
    "if", "patternProperties", "propertyNames", "contains", "dependentRequired", "prefix", "oneOf overlapping",
)  # fmt: skip


@pytest.mark.parametrize("name", HANDLED)
def test_keywords_that_are_looked_into_leave_no_opaque_node(name: str) -> None:
    assert dict(program_of(body=SCHEMAS[name]).opaque) == {}


def test_both_branches_of_a_condition_turn_up() -> None:
    found = bodies(SCHEMAS["if"], 100)
    assert {"a", "b"} == {value["kind"] for value in found}
    assert any("size" not in value for value in found)


def test_names_that_match_a_pattern_turn_up() -> None:
    assert any(value for value in bodies(SCHEMAS["patternProperties"], 50))


def test_dependents_come_along() -> None:
    found = bodies(SCHEMAS["dependentRequired"], 100)
    assert {(), ("a", "b"), ("b",)} == {tuple(sorted(value.keys() & {"a", "b"})) for value in found}


def test_unevaluated_properties_stay_away() -> None:
    raw = {
        "allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}],
        "properties": {"b": {"type": "integer"}},
        "unevaluatedProperties": False,
    }
    is_valid = opinions(schema_of(raw))
    found = bodies(raw, 60)
    assert all(map(is_valid, found))
    assert {"a", "b"} == {name for value in found for name in value}


_FAR = [9007199254740991, 9007199254740993, 1e16, 1e17, 1e20, 1e25, 1e300, 2**63, 2**64]
BEYOND: list[dict[str, Any]] = [
    {"type": kind, **({"multipleOf": step} if step else {}), bound: sign * value}
    for kind in ("number", "integer")
    for step in (None, 0.1, 0.3, 2.5, 1, 7, 1e10)
    for value in _FAR
    for bound, sign in (
        ("exclusiveMinimum", 1),
        ("minimum", 1),
        ("exclusiveMaximum", 1),
        ("exclusiveMaximum", -1),
        ("maximum", -1),
        ("exclusiveMinimum", -1),
    )
]
BETWEEN: list[dict[str, Any]] = [
    {"multipleOf": 0.1, "exclusiveMinimum": 1e16, "exclusiveMaximum": 1e16 + 6},
    {"multipleOf": 0.1, "exclusiveMinimum": -1e16 - 6, "exclusiveMaximum": -1e16},
    {"multipleOf": 0.3, "exclusiveMinimum": 0, "exclusiveMaximum": 9007199254740992},
    {"multipleOf": 2.5, "minimum": 9007199254740992, "maximum": 9007199254741992},
    {"multipleOf": 1e-9, "exclusiveMinimum": 1e15, "maximum": 1e15 + 1},
    {"exclusiveMinimum": 1e16, "maximum": 2**64},
]


@pytest.mark.parametrize("part", range(6))
def test_bounds_beyond_exact_floats_hold_however_numbers_are_read(part: int) -> None:
    for raw in [*BEYOND[part::6], *({"type": "number", **one} for one in BETWEEN)]:
        is_valid = opinions(schema_of(raw))
        for value in bodies(raw, 12):
            assert is_valid(value), (raw, value)
            exact = {Fraction(str(value)), Fraction(float(value)) if isinstance(value, float) else value}
            assert all(_is_inside(one, raw) for one in exact), (raw, value)


@pytest.mark.parametrize("bounds", [{}, {"minimum": -1, "maximum": 0.1}, {"exclusiveMinimum": 0}], ids=str)
def test_floats_of_single_precision_reach_a_server_as_they_are(bounds: dict[str, Any]) -> None:
    raw = {"type": "number", "format": "float", **bounds}
    for value in bodies(raw, 60):
        (read,) = struct.unpack("<f", struct.pack("<f", value))
        assert read == value


def _is_inside(value: Any, raw: dict[str, Any]) -> bool:
    """Whether the bounds admit a number, read as they are written."""
    low, high, above, below = (
        Fraction(str(raw[keyword])) if keyword in raw else None
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    )
    return (
        (low is None or value >= low)
        and (high is None or value <= high)
        and (above is None or value > above)
        and (below is None or value < below)
    )
