"""Invalid values at the edges: those of the recorded examples, each wrong for one reason."""

from typing import Any

import pytest

from checker.generation.boundaries.negatives import negatives
from checker.generation.boundaries.values import Scenario, distinct
from checker.generation.negation.breaches import STEPS
from checker.generation.sources.context import Budget

from ..making import opinions, schema_of
from .listing import BODY, QUERY, compiled, invalid, shown
from .test_positives import INTEGER, SCHEMAS

OTHER_TYPES: list[tuple[Any, str]] = [
    ({}, "Incorrect type"),
    ([None, None], "Incorrect type"),
    ("AAA", "Incorrect type"),
    (None, "Incorrect type"),
    (False, "Incorrect type"),
]
RECORDED: list[tuple[Any, list[tuple[Any, str]]]] = [
    (INTEGER, [*OTHER_TYPES, (0.5, "Incorrect type")]),
    (
        {"type": "integer", "minimum": 1, "maximum": 10},
        [(0, "Value smaller than minimum"), (11, "Value greater than maximum"), *OTHER_TYPES],
    ),
    (
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 10},
        [(1, "Value smaller than minimum"), (10, "Value greater than maximum")],
    ),
    (
        {"type": "number", "minimum": 0.5, "maximum": 2.5},
        [(-0.5, "Value smaller than minimum"), (3.5, "Value greater than maximum"), *OTHER_TYPES],
    ),
    (
        {"type": "string", "minLength": 2, "maxLength": 5},
        [("0", "String smaller than minLength"), ("000000", "String larger than maxLength")],
    ),
    ({"type": "string", "enum": ["A", "B"]}, [("AAA", "Invalid enum value"), (0, "Incorrect type")]),
    ({"const": "X"}, [("AAA", "Invalid enum value"), *OTHER_TYPES[:2], *OTHER_TYPES[3:], (0, "Incorrect type")]),
    ({"type": "integer", "enum": [1, 2]}, [(0, "Invalid enum value"), *OTHER_TYPES]),
    ({"enum": [True], "type": "boolean"}, [(False, "Invalid enum value"), ("AAA", "Incorrect type")]),
    (
        {"type": "object", "required": ["a"], "properties": {"a": INTEGER}, "additionalProperties": False},
        [
            ({}, "Missing required property: a"),
            ({"a": {}}, "a: Incorrect type"),
            ({"a": "AAA"}, "a: Incorrect type"),
            ([None, None], "Incorrect type"),
        ],
    ),
    (
        {
            "type": "object",
            "required": ["u"],
            "properties": {
                "u": {
                    "type": "object",
                    "required": ["n"],
                    "properties": {"n": {"type": "string", "maxLength": 3}},
                }
            },
        },
        [
            ({"u": {"n": "0000"}}, "u -> n: String larger than maxLength"),
            ({"u": {"n": {}}}, "u -> n: Incorrect type"),
            ({"u": {}}, "u -> Missing required property: n"),
            ({"u": "AAA"}, "u: Incorrect type"),
            ({}, "Missing required property: u"),
        ],
    ),
    (
        {
            "type": "array",
            "items": {"type": "integer", "minimum": 3},
            "minItems": 2,
            "maxItems": 3,
            "uniqueItems": True,
        },
        [
            ([3], "Array with fewer items than allowed by minItems"),
            ([3, 4, 5, 6], "Array with more items than allowed by maxItems"),
            ([{}, 4], "Array with invalid items: Incorrect type"),
            ([2, 4], "Array with invalid items: Value smaller than minimum"),
        ],
    ),
    (
        {"type": "array", "prefixItems": [INTEGER, {"type": "string"}]},
        [
            (["AAA"], "Array with invalid item at index 0: Incorrect type"),
            ([0, None], "Array with invalid item at index 1: Incorrect type"),
        ],
    ),
    (
        {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "string", "maxLength": 3}]},
        [
            ("0000", "String larger than maxLength"),
            (4, "Value smaller than minimum"),
            ({}, "Incorrect type"),
        ],
    ),
]  # fmt: skip
"""Schema, and what the reference tool was recorded to send."""


@pytest.mark.parametrize(("raw", "recorded"), RECORDED, ids=[str(raw)[:60] for raw, _ in RECORDED])
def test_what_was_recorded_is_there(raw: Any, recorded: list[tuple[Any, str]]) -> None:
    found = shown(invalid(raw))
    assert [pair for pair in recorded if pair not in found] == []


@pytest.mark.parametrize(
    ("raw", "text", "scenario"),
    [
        ({"type": "integer", "multipleOf": 4}, "Non-multiple of 4", Scenario.NO_MULTIPLE),
        (
            {"type": "string", "pattern": "^[a-z]{3}$"},
            "Value not matching the '^[a-z]{3}$' pattern",
            Scenario.WRONG_PATTERN,
        ),
        ({"type": "string", "format": "uuid"}, "Value not matching the 'uuid' format", Scenario.WRONG_FORMAT),
        ({"type": "array", "uniqueItems": True}, "Non-unique items", Scenario.REPEATED_ITEMS),
        (
            {"type": "object", "additionalProperties": False},
            "Object with unexpected properties",
            Scenario.UNEXPECTED_PROPERTIES,
        ),
        (
            {"type": "object", "minProperties": 2},
            "Object with fewer properties than allowed by minProperties",
            Scenario.TOO_FEW_PROPERTIES,
        ),
        (
            {"type": "object", "maxProperties": 2},
            "Object with more properties than allowed by maxProperties",
            Scenario.TOO_MANY_PROPERTIES,
        ),
        (
            {"type": "object", "additionalProperties": INTEGER},
            "Object with invalid additional property: Incorrect type",
            Scenario.WRONG_TYPE,
        ),
        (
            {"type": "object", "patternProperties": {"^x": INTEGER}},
            "Object with invalid pattern key value: Incorrect type",
            Scenario.WRONG_TYPE,
        ),
        (
            {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
            "Object with property name violating propertyNames: Value not matching the '^[a-z]+$' pattern",
            Scenario.WRONG_PATTERN,
        ),
        ({"not": {"type": "string"}}, "Value that the schema forbids", Scenario.FORBIDDEN),
    ],
)
def test_each_keyword_has_its_words(raw: Any, text: str, scenario: Scenario) -> None:
    assert (text, scenario) in [(b.description, b.scenario) for b in invalid(raw)]


@pytest.mark.parametrize("raw", SCHEMAS, ids=lambda raw: str(raw)[:60])
def test_two_validators_refuse_every_value(raw: Any) -> None:
    is_valid = opinions(schema_of(raw))
    found = invalid(raw)
    assert [boundary for boundary in found if is_valid(boundary.value)] == []
    assert not any(boundary.is_valid for boundary in found)


@pytest.mark.parametrize("raw", SCHEMAS, ids=lambda raw: str(raw)[:60])
def test_each_value_is_there_once_and_the_list_is_always_the_same(raw: Any) -> None:
    found = invalid(raw)
    keys = [distinct(boundary.value) for boundary in found]
    assert len(keys) == len(set(keys))
    assert found == invalid(raw)


def test_the_pointer_leads_to_the_keyword() -> None:
    raw = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}}
    (small,) = [b for b in invalid(raw) if b.scenario is Scenario.TOO_SMALL]
    assert (small.pointer, small.keyword) == ("#/s/properties/a/minimum", "minimum")


def test_a_proof_decides_what_is_listed() -> None:
    refused = invalid(INTEGER, QUERY, lambda value: value == "AAA")
    assert [boundary.value for boundary in refused] == ["AAA"]


def test_near_misses_of_a_date_are_all_different_mistakes() -> None:
    values = [b.value for b in invalid({"type": "string", "format": "date"})]
    assert {"2023-13-01", "2023-04-31", "2023-02-29", "2023-1-01"} <= set(
        filter(lambda value: isinstance(value, str), values)
    )


def test_both_ends_of_an_integer_format_are_exceeded() -> None:
    values = [b.value for b in invalid({"type": "integer", "format": "int32"})]
    assert {-(2**31) - 1, 2**31} <= {value for value in values if isinstance(value, int)}


def test_a_name_is_never_of_another_type() -> None:
    names = {"type": "string", "enum": ["a", "b"]}
    found = invalid({"type": "object", "propertyNames": names})
    wrong = [b.value for b in found if "propertyNames" in b.description]
    assert wrong == [{"AAA": False}, {"": False}]


def test_where_types_exclude_each_other_every_value_is_wrong() -> None:
    raw = {"allOf": [{"type": "string"}, {"type": "integer"}]}
    found = [value for value, _ in shown(invalid(raw))]
    assert {type(value) for value in found} >= {dict, str, bool, type(None)}
    inner = [value for value, _ in shown(invalid({"type": "object", "properties": {"a": raw}}))]
    assert any(isinstance(value, dict) and "a" in value for value in inner)


def _patterns(count: int) -> dict[str, Any]:
    """Objects of which each alternative requires another property; one holds a text, or any of them with one property more."""
    any_of_them = {"$ref": "#/components/schemas/Pattern"}
    plain = {f"p{n}": {"type": "string"} for n in range(count)}
    more = {"allOf": [{"properties": {"path": {"type": "string"}}}, any_of_them], "required": ["path"]}  # fmt: skip
    values = {**plain, "json": {"oneOf": [{"type": "string"}, {"type": "object", **more}]}}
    alternatives = [
        {"type": "object", "properties": {name: value}, "required": [name]} for name, value in values.items()
    ]
    return {"Pattern": {"type": "object", "oneOf": alternatives}}


@pytest.mark.thorough
def test_what_can_hardly_be_broken_alone_costs_little() -> None:
    """Whoever leaves `path` out has a pattern that another alternative admits: to see that took all of the work that there was."""
    raw = {"type": "object", "properties": {"body": {"$ref": "#/components/schemas/Pattern"}}}
    compiler, conjunction = compiled(raw, components=_patterns(12))
    found = list(negatives(compiler, conjunction, BODY))
    assert Budget().steps - compiler.budget.steps < 2 * STEPS
    # What stands after it is listed all the same.
    last = "/properties/p11/"
    assert {one.keyword for one in found if last in one.pointer} >= {"type"}
