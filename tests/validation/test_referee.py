from typing import Any

import pytest
from referencing._core import Resolver

from checker.core.contract import SchemaViolation
from checker.core.schema import Dialect, Direction
from checker.validation.reading import SchemaReading
from checker.validation.referee import referee

from .schemas import schema_of


def errors(raw: Any, value: Any, **names: Any) -> list[SchemaViolation]:
    return referee(schema_of(raw, **names), Direction.RESPONSE).errors(value)


def test_one_violation_for_each_schema_path() -> None:
    found = errors({"items": {"type": "string"}}, [1, 2, "a", 3])
    assert [violation.schema_path for violation in found] == [("items", "type")]
    assert found[0].instance_path == (0,)
    assert found[0].value == 1
    assert found[0].schema == {"type": "string"}


def test_place_is_that_of_the_schema_behind_references() -> None:
    user = {"properties": {"name": {"$ref": "#/names/a~1b%20c"}}}
    found = errors({"items": {"$ref": "#/names/user"}}, [{"name": 1}], user=user, **{"a/b c": {"type": "string"}})
    assert found[0].schema_pointer == "#/names/a~1b c"
    assert found[0].schema_path == ("items", "properties", "name", "type")


def test_branch_that_was_meant_is_the_one_reported() -> None:
    cat = {"required": ["kind"], "properties": {"kind": {"enum": ["cat"]}, "lives": {"type": "integer"}}}
    dog = {"required": ["kind"], "properties": {"kind": {"enum": ["dog"]}}}
    (found,) = errors({"oneOf": [cat, dog]}, {"kind": "cat", "lives": "nine"})
    assert found.schema_path == ("oneOf", "properties", "lives", "type")
    assert found.message == '"nine" is not of type "integer"'


def test_no_branch_is_reported_when_none_was_meant() -> None:
    (found,) = errors({"anyOf": [{"type": "string"}, {"type": "integer"}]}, None)
    assert found.schema_path == ("anyOf",)
    assert found.keyword == "anyOf"


def test_the_nearest_branch_and_its_reason_are_named_when_several_may_be_meant() -> None:
    cat = {"required": ["name", "lives"], "properties": {"lives": {"type": "integer"}}}
    dog = {"required": ["name", "bone", "kennel"]}
    (found,) = errors(
        {"anyOf": [dog, {"$ref": "#/names/cat"}, {"type": "string"}]}, {"name": "Tom", "lives": "nine"}, cat=cat
    )
    assert found.schema_path == ("anyOf",)
    assert found.message == (
        '{"name": "Tom", "lives": "nine"} fits no schema of "anyOf"; '
        'nearest is #2 (cat): .lives: "nine" is not of type "integer"'
    )


def test_schema_false_is_named_itself() -> None:
    (found,) = errors({"properties": {"a": False}}, {"a": 1})
    assert (found.keyword, found.schema_pointer) == ("false", "#/it/properties/a")


MESSAGES = [
    ({"type": ["string", "boolean"]}, None, 'null is not of type "string", "boolean"'),
    ({"enum": [True]}, "a\nb", '"a\\nb" is not one of [true]'),
    ({"required": ["id"]}, {}, '"id" is a required property'),
    ({"additionalProperties": False}, {"x": 1}, '"x" is not a declared property'),
    ({"maxLength": 1}, "y" * 500, None),
]


@pytest.mark.parametrize(("raw", "value", "message"), MESSAGES)
def test_message_is_one_readable_line(raw: Any, value: Any, message: str | None) -> None:
    (found,) = errors(raw, value)
    assert message is None or found.message == message
    assert "\n" not in found.message
    assert len(found.message) < 200


def test_decimal_steps_are_exact() -> None:
    assert errors({"multipleOf": 0.01}, 4.35) == []
    assert errors({"multipleOf": 0.1}, 1e300) == []
    assert len(errors({"multipleOf": 3}, 10**40)) == 1


@pytest.mark.parametrize("dialect", list(Dialect))
def test_every_dialect_is_read(dialect: Dialect) -> None:
    judge = referee(schema_of({"type": "string"}, dialect), Direction.RESPONSE)
    assert judge.errors("a") == []
    assert len(judge.errors(1)) == 1


@pytest.mark.parametrize(
    ("items", "is_unique"),
    [
        ([1, 1.0], False),
        ([1, True, 0, False], True),
        ([[1], [True]], True),
        ([[1], [1.0]], False),
        ([{"a": 1, "b": 2}, {"b": 2.0, "a": 1}], False),
        ([{"a": 1}, {"a": "1"}, ["a", 1], "a", None], True),
        ([None, None], False),
    ],
)
def test_unique_items_are_told_from_equal_ones(items: list[Any], is_unique: bool) -> None:
    assert (errors({"uniqueItems": True}, items) == []) is is_unique


@pytest.mark.thorough
def test_many_items_are_looked_at_once() -> None:
    # To compare each with each would be two hours.
    items = [{"a": number} for number in range(50_000)]
    assert errors({"uniqueItems": True}, items) == []
    assert len(errors({"uniqueItems": True}, [*items, {"a": 7}])) == 1


def test_keywords_of_a_schema_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    keywords = SchemaReading._keywords

    def noted(reading: SchemaReading, schema: dict[str, Any]) -> Any:
        looked.append(schema)
        return keywords(reading, schema)

    monkeypatch.setattr(SchemaReading, "_keywords", noted)
    judge = referee(schema_of({"items": {"type": "string"}}), Direction.REQUEST)
    for _ in range(3):
        assert len(judge.whole_errors([1, "a", 2])) == 2
    assert len(looked) == 2


def test_a_reference_is_looked_up_once_for_all_values_that_stand_there(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []
    usual = Resolver.lookup

    def lookup(resolver: Resolver[Any], ref: str) -> Any:
        looked_up.append(ref)
        return usual(resolver, ref)

    monkeypatch.setattr(Resolver, "lookup", lookup)
    schema = schema_of({"items": {"$ref": "#/names/user"}}, user={"type": "string"})
    judge = referee(schema, Direction.RESPONSE)
    assert [len(judge.errors(["a", number, "b"])) for number in range(5)] == [1] * 5
    assert len(looked_up) == 1


@pytest.mark.parametrize(
    ("value", "keywords", "extra"),
    [
        ({"price": "1", "title": "a"}, ["type"], ""),
        ({"price": "1", "title": "a", "colour": "red"}, ["type", "unevaluatedProperties"], "('colour' was"),
        ({"price": 1, "title": "a", "colour": "red"}, ["unevaluatedProperties"], "('colour' was"),
    ],
)
def test_a_wrong_property_makes_no_other_property_unexpected(value: Any, keywords: list[str], extra: str) -> None:
    base = {"properties": {"price": {"type": "number"}, "title": {"type": "string"}}}
    raw = {"allOf": [{"$ref": "#/names/base"}], "unevaluatedProperties": False}
    found = errors(raw, value, dialect=Dialect.OPENAPI31, base=base)
    assert [one.keyword for one in found] == keywords
    assert all(extra in one.message for one in found if one.keyword == "unevaluatedProperties")


def test_a_wrong_item_makes_no_other_item_unexpected() -> None:
    raw = {"allOf": [{"prefixItems": [{"type": "string"}, {"type": "string"}]}], "unevaluatedItems": False}
    for value, keywords in (([1, "a"], ["type"]), ([1, "a", "b"], ["type", "unevaluatedItems"])):
        assert [one.keyword for one in errors(raw, value, dialect=Dialect.OPENAPI31)] == keywords
