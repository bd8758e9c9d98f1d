"""Valid values at the edges: those of the recorded examples, each once, the same ones every time."""

from typing import Any

import pytest

from checker.core.errors import Unsatisfiable
from checker.core.schema import Dialect
from checker.generation.boundaries.positives import Edges, positives
from checker.generation.boundaries.values import Scenario, distinct

from ..making import opinions, schema_of
from .listing import BODY, PATH, QUERY, compiled, shown, valid

INTEGER = {"type": "integer"}
THREE = {
    "type": "object",
    "required": ["a"],
    "properties": {"a": INTEGER, "b": {"type": "string"}, "c": {"type": "boolean"}},
}
RECORDED: list[tuple[Any, list[tuple[Any, str]]]] = [
    (INTEGER, [(0, "Valid number")]),
    (
        {"type": "integer", "minimum": 1, "maximum": 10},
        [
            (1, "Minimum value"),
            (2, "Near-boundary number"),
            (10, "Maximum value"),
            (9, "Near-boundary number"),
        ],
    ),
    (
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 10},
        [
            (2, "Minimum value"),
            (3, "Near-boundary number"),
            (9, "Maximum value"),
            (8, "Near-boundary number"),
        ],
    ),
    (
        {"type": "integer", "multipleOf": 4, "minimum": 0},
        [(0, "Minimum value"), (4, "Near-boundary number")],
    ),
    (
        {"type": "number", "minimum": 0.5, "maximum": 2.5},
        [(0.5, "Minimum value"), (1.5, "Near-boundary number"), (2.5, "Maximum value")],
    ),
    ({"type": "boolean"}, [(True, "Valid boolean value"), (False, "Valid boolean value")]),
    ({"type": "string"}, [("0", "Valid string"), ("", "Valid string")]),
    (
        {"type": "string", "minLength": 2, "maxLength": 5},
        [
            ("00", "Minimum length string"),
            ("000", "Near-boundary length string"),
            ("00000", "Maximum length string"),
            ("0000", "Near-boundary length string"),
        ],
    ),
    ({"type": "string", "pattern": "^[a-z]{3}$"}, [("aaa", "Valid string")]),
    ({"type": "string", "format": "date"}, [("2000-01-01", "Valid string")]),
    ({"type": "string", "enum": ["A", "B"]}, [("A", "Enum value"), ("B", "Enum value")]),
    ({"const": "X"}, [("X", "Const value")]),
    (
        {"type": "string", "example": "exx", "default": "dff"},
        [("exx", "Example value"), ("dff", "Default value")],
    ),
    ({"type": ["string", "null"], "minLength": 2}, [("00", "Minimum length string")]),
    (
        THREE,
        [
            ({"a": 0, "c": True}, "Valid object"),
            ({"a": 0, "b": "0"}, "Object with all required properties and 'b'"),
            ({"a": 0, "b": "0", "c": True}, "Object with all properties"),
            ({"a": 0}, "Object with only required properties"),
            (
                {"a": 0, "c": False},
                "Object with valid 'c' value: Valid boolean value",
            ),
        ],
    ),
    (
        {"type": "array", "items": INTEGER},
        [([], "Valid array"), ([0], "Valid array")],
    ),
    (
        {
            "type": "array",
            "items": {"type": "integer", "minimum": 3},
            "minItems": 2,
            "maxItems": 3,
            "uniqueItems": True,
        },
        [([3, 4], "Valid array"), ([3, 4, 5], "Near-boundary items array")],
    ),
    (
        {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "string", "maxLength": 3}]},
        [
            (5, "Minimum value"),
            (6, "Near-boundary number"),
            ("000", "Maximum length string"),
            ("00", "Near-boundary length string"),
        ],
    ),
    (
        {"type": "object", "properties": {"u": {"type": "object", "properties": {"n": {"type": "string", "maxLength": 3}}}}},
        [
            ({}, "Valid object"),
            ({"u": {"n": "0"}}, "Object with all properties"),
            (
                {"u": {"n": "000"}},
                "Object with valid 'u' value: Object with valid 'n' value: Maximum length string",
            ),
        ],
    ),
]  # fmt: skip
"""Schema, and what the reference tool was recorded to send. We send more: numbers around zero, lengths in between."""


@pytest.mark.parametrize(("raw", "recorded"), RECORDED, ids=[str(raw)[:60] for raw, _ in RECORDED])
def test_what_was_recorded_is_there(raw: Any, recorded: list[tuple[Any, str]]) -> None:
    found = shown(valid(raw))
    assert [pair for pair in recorded if pair not in found] == []


@pytest.mark.parametrize(("raw", "recorded"), RECORDED, ids=[str(raw)[:60] for raw, _ in RECORDED])
def test_the_usual_value_comes_first(raw: Any, recorded: list[tuple[Any, str]]) -> None:
    assert shown(valid(raw))[0] == recorded[0]


SCHEMAS: list[Any] = [
    *(raw for raw, _ in RECORDED),
    {},
    True,
    {"not": {"type": "string"}},
    {"type": "object", "additionalProperties": INTEGER, "minProperties": 2, "maxProperties": 3},
    {"type": "object", "patternProperties": {"^x-": INTEGER}, "additionalProperties": False},
    {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 1},
    {"type": "array", "prefixItems": [INTEGER, {"type": "string"}], "items": False},
    {"type": "array", "contains": {"const": 5}, "minContains": 2, "maxContains": 2},
    {"oneOf": [{**THREE, "required": ["a", "b"]}, {"type": "object", "maxProperties": 1}]},
    {
        "type": "object",
        "properties": {"k": {"type": "string"}},
        "if": {"properties": {"k": {"const": "a"}}, "required": ["k"]},
        "then": {"required": ["z"]},
        "else": {"required": ["y"]},
    },
    {"allOf": [THREE, {"properties": {"b": {"minLength": 2}}}, {"maxProperties": 2}]},
    {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}, "dependentRequired": {"a": ["b"]}},
    {"type": "integer", "format": "int32"},
    {"type": "number", "format": "float", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "number", "format": "float", "exclusiveMaximum": 0},
    {"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 1},
]  # fmt: skip


@pytest.mark.parametrize("raw", SCHEMAS, ids=lambda raw: str(raw)[:60])
def test_two_validators_admit_every_value(raw: Any) -> None:
    is_valid = opinions(schema_of(raw))
    found = valid(raw)
    assert found
    assert [boundary for boundary in found if not is_valid(boundary.value)] == []
    assert all(boundary.is_valid for boundary in found)


@pytest.mark.parametrize("raw", SCHEMAS, ids=lambda raw: str(raw)[:60])
def test_each_value_is_there_once_and_the_list_is_always_the_same(raw: Any) -> None:
    found = valid(raw)
    keys = [distinct(boundary.value) for boundary in found]
    assert len(keys) == len(set(keys))
    assert found == valid(raw)


def test_the_ends_of_a_format_come_last() -> None:
    values = [boundary.value for boundary in valid({"type": "integer", "format": "int32"})]
    assert values[0] == 0
    assert values[-2:] == [-(2**31), 2**31 - 1]


def test_an_open_bound_of_a_number_is_missed_by_one_step() -> None:
    found = valid({"type": "number", "exclusiveMinimum": 0})
    assert (found[0].value, found[0].description) == (5e-324, "Minimum value")


def test_invalid_examples_are_skipped() -> None:
    found = valid({"type": "integer", "example": "abc", "minimum": 3})
    assert Scenario.EXAMPLE not in {boundary.scenario for boundary in found}


def test_a_path_never_gets_an_empty_text() -> None:
    found = [boundary.value for boundary in valid({"type": "string"}, PATH)]
    assert found == ["0", "00", "000"]


def test_a_query_gets_an_empty_text_and_no_empty_list() -> None:
    assert "" in [b.value for b in valid({"type": "string"}, QUERY)]
    assert [] not in [b.value for b in valid({"type": "array", "items": INTEGER}, QUERY)]


def test_a_subset_of_each_size_is_shown() -> None:
    names = [f"p{index}" for index in range(8)]
    raw = {"type": "object", "properties": {name: {"type": "boolean"} for name in names}}
    assert {len(boundary.value) for boundary in valid(raw)} == set(range(9))


def test_sixty_properties_give_a_few_values_each() -> None:
    names = [f"p{index}" for index in range(60)]
    raw = {"type": "object", "properties": {name: {"type": "boolean"} for name in names}}
    # All, each alone, each number of them, none, and each with its other value.
    assert len(valid(raw)) <= 4 * 60


def test_values_are_made_when_they_are_asked_for() -> None:
    deep: Any = {"type": "string", "maxLength": 9}
    for _ in range(5):
        deep = {"type": "object", "properties": {f"p{index}": deep for index in range(6)}}
    compiler, conjunction = compiled(deep)
    edges = Edges(compiler)
    first = next(positives(edges, conjunction, BODY))
    assert first.description == "Valid object"


def _web(count: int) -> dict[str, Any]:
    """Schemas each of which has a property for all of them."""
    names = [f"S{index}" for index in range(count)]
    named = {name: {"$ref": f"#/components/schemas/{name}"} for name in names}
    return {name: {"type": "object", "properties": {**named, "n": INTEGER}} for name in names}


@pytest.mark.parametrize("names", [{"pattern": "^[a-z]+$"}, {"enum": ["up", "down"]}, {"maxLength": 3}])
def test_undeclared_properties_are_called_as_their_names_have_to_be(names: Any) -> None:
    raw = {"type": "object", "propertyNames": names, "additionalProperties": INTEGER}
    found = [one.value for one in valid(raw) if one.value]
    assert {value for one in found for value in one.values()} >= {0, 1, -1}


def test_a_web_of_recursive_schemas_ends_and_says_that_it_was_cut() -> None:
    compiler, conjunction = compiled({"$ref": "#/components/schemas/S0"}, components=_web(12))
    edges = Edges(compiler)
    found = list(positives(edges, conjunction, BODY))
    assert edges.is_cut
    assert 0 < len(found) < 12 * 12 * 40


def test_one_item_of_a_long_array_is_varied_a_few_times_only() -> None:
    raw = {"type": "array", "uniqueItems": True, "minItems": 2_000, "items": {"enum": list(range(2_002))}}
    compiler, conjunction = compiled(raw)
    edges = Edges(compiler)
    found = list(positives(edges, conjunction, BODY))
    assert edges.is_cut
    assert 0 < sum(len(one.value) for one in found) <= 50_000


def test_a_recursive_schema_is_unfolded_a_little() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/N"}, "v": INTEGER}}
    found = valid({"$ref": "#/components/schemas/N"}, components={"N": node})
    depths = {str(boundary.value).count("next") for boundary in found}
    assert {0, 1, 2} <= depths <= {0, 1, 2, 3, 4}


def test_a_contradiction_is_no_value_but_a_reason() -> None:
    with pytest.raises(Unsatisfiable) as error:
        valid({"type": "integer", "minimum": 5, "maximum": 2})
    assert "minimum 5 and maximum 2" in str(error.value)


def test_an_optional_property_that_cannot_be_is_left_out() -> None:
    raw = {"type": "object", "properties": {"a": False, "b": INTEGER}}
    assert all("a" not in boundary.value for boundary in valid(raw))


def test_openapi_3_0_shows_null_where_it_is_allowed() -> None:
    raw = {"type": "string", "nullable": True}
    assert None in [boundary.value for boundary in valid(raw, dialect=Dialect.OPENAPI30)]
    assert None not in [boundary.value for boundary in valid(raw)]


@pytest.mark.parametrize(
    ("raw", "is_there"),
    [
        ({"type": "integer"}, True),
        ({"type": "integer", "minimum": 1}, True),
        ({"type": "integer", "maximum": 2**70}, False),
        ({"type": "integer", "format": "int64"}, False),
        ({"type": "number"}, False),
        ({"type": "integer", "multipleOf": 2}, True),
    ],
)
def test_integers_without_an_end_go_beyond_64_bits_once(raw: Any, is_there: bool) -> None:
    found = [one for one in valid(raw) if one.description == "Number beyond 64 bits"]
    assert [one.value for one in found] == ([2**63] if is_there else [])


def test_the_largest_integer_that_became_a_float_is_itself_again() -> None:
    rounded = float(2**63 - 1)
    found = {one.description: one.value for one in valid({"type": "integer", "maximum": rounded})}
    assert found["Maximum value"] == 2**63 - 1


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        ({"format": "uuid"}, {"FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF"}),
        ({"format": "date"}, {"0001-01-01", "9999-12-31", "2024-02-29"}),
        ({"format": "date-time"}, {"9999-12-31T23:59:59.999999Z", "2024-02-29T23:30:00+14:00"}),
        ({"format": "ipv6"}, {"::ffff:192.0.2.1"}),
        ({"format": "byte"}, {"AA==", "+/8=", "AAAA"}),
        ({}, {"\u00e9e\u0301\u4e2d\u05d0\U0001f600", "0" * 1000}),
        ({"minLength": 8}, {"\u00e9e\u0301\u4e2d\u05d0\U0001f600\u4e2d\u4e2d", "0" * 1000}),
        ({"maxLength": 3}, {"\u00e9e\u0301"}),
        ({"maxLength": 9}, {"\u00e9e\u0301\u4e2d\u05d0\U0001f600\u4e2d\u4e2d\u4e2d"}),
    ],
)
def test_texts_that_services_stumble_over_are_shown(raw: Any, values: set[str]) -> None:
    found = {one.value for one in valid({"type": "string", **raw})}
    assert values <= found
    assert all(len(one) <= raw.get("maxLength", 1000) for one in found)


def test_numbers_are_also_fractions_and_huge() -> None:
    assert {0.5, 1e308} <= {one.value for one in valid({"type": "number"})}
    assert 1e308 not in {one.value for one in valid({"type": "number", "format": "float"})}
    within = {one.value for one in valid({"type": "number", "minimum": 0, "maximum": 1})}
    assert within == {0, 0.5, 1}
    assert 2**31 in {one.value for one in valid({"type": "integer"})}
