from typing import Any

import pytest

from checker.core.contract import HeaderValidator

from .documents import operation

INTEGER = {"type": "integer"}


def validator(headers: Any, *, version: str = "3.0.3", **more: Any) -> HeaderValidator | None:
    found = operation({"responses": {"200": {"headers": headers}}}, version=version, **more)
    return found.contract.plan(200, None).headers


def one(**header: Any) -> HeaderValidator:
    found = validator({"X-A": header})
    assert found is not None
    return found


def test_headers_that_promise_nothing_cost_nothing() -> None:
    assert validator({}) is None
    assert validator({"X-A": {"schema": {}}, "X-B": {}}) is None
    assert validator({"Content-Type": {"required": True, "schema": INTEGER}}) is None


def test_required_header_must_be_there() -> None:
    found = one(required=True, schema=INTEGER)
    assert not found.is_valid({})
    assert found.opinions({}).missing == ("X-A",)
    assert one(schema=INTEGER).is_valid({})


TEXTS: list[tuple[dict[str, Any], list[str], bool]] = [
    ({"schema": INTEGER}, ["1"], True),
    ({"schema": INTEGER}, [" 1 "], True),
    ({"schema": INTEGER}, ["x"], False),
    ({"schema": INTEGER}, ["1.0"], True),
    ({"schema": INTEGER}, ["1_0"], False),
    ({"schema": INTEGER}, ["+1"], False),
    ({"schema": {"type": "array", "items": INTEGER}}, ["1, 1_0"], False),
    ({"schema": {"type": "integer", "maximum": 5}}, ["6"], False),
    ({"schema": {"type": "boolean"}}, ["true"], True),
    ({"schema": {"type": "boolean"}}, ["True"], False),
    ({"schema": {"type": "boolean"}}, ["maybe"], False),
    ({"schema": {"type": "string", "maxLength": 1}}, ["1"], True),
    ({"schema": {"type": "string", "maxLength": 1}}, ["12"], False),
    ({"schema": {"type": "string", "format": "date"}}, ["2020-13-01"], False),
    ({"schema": {"enum": ["a, b"]}}, ["a", "b"], True),
    ({"schema": {"type": "string", "nullable": True, "enum": ["a", None]}}, ["null"], True),
    ({"schema": {"type": "array", "items": INTEGER}}, ["1, 2", "3"], True),
    ({"schema": {"type": "array", "items": INTEGER}}, ["1, x"], False),
    ({"schema": INTEGER}, ["3", "x"], False),
    ({"schema": INTEGER}, ["x", "3"], False),
    ({"schema": INTEGER}, ["3", "4"], True),
    ({"schema": INTEGER}, ["3", ""], False),
    ({"schema": {"type": "string", "maxLength": 1}}, ["a", "b"], True),
    ({"schema": {"type": "string", "maxLength": 1}}, ["a", "bc"], False),
    ({"schema": {"type": ["integer", "array"], "items": INTEGER}}, ["1, 2", "3"], True),
    ({"schema": {"type": ["integer", "array"], "items": INTEGER}}, ["1, 2", "x"], False),
    ({"schema": {"type": "array", "items": INTEGER}}, ["1", "x"], False),
    ({"schema": {"type": "array", "items": INTEGER}}, ["1, 2", ""], True),
    ({"schema": {"type": "array", "items": INTEGER, "minItems": 2}}, ["1", "2"], True),
    ({"schema": {"type": "array", "items": INTEGER, "maxItems": 1}}, ["1", "2"], False),
    ({"schema": {"properties": {"a": INTEGER}, "type": "object"}}, ["b,1", "a,x"], False),
    ({"schema": {"properties": {"a": INTEGER}, "type": "object"}}, ["b,1", "a,2"], True),
    ({"content": {"application/json": {"schema": {"type": "array"}}}}, ["[1]", "[2]"], True),
    ({"content": {"application/json": {"schema": {"type": "array"}}}}, ["[1]", "2"], False),
    ({"schema": {"properties": {"a": INTEGER}, "type": "object"}}, ["a,1"], True),
    ({"schema": {"properties": {"a": INTEGER}, "type": "object"}}, ["a,x"], False),
    ({"schema": {"properties": {"a": INTEGER}, "type": "object"}, "explode": True}, ["a=1"], True),
    ({"schema": {"properties": {"a": INTEGER}, "type": "object"}, "explode": True}, ["a=x"], False),
    ({"content": {"application/json": {"schema": {"type": "array"}}}}, ["[1]"], True),
    ({"content": {"application/json": {"schema": {"type": "array"}}}}, ["{}"], False),
    ({"content": {"application/json": {"schema": {"type": "array"}}}}, ["["], False),
]


@pytest.mark.parametrize(("header", "fields", "expected"), TEXTS)
def test_text_is_read_by_its_schema(header: dict[str, Any], fields: list[str], expected: bool) -> None:
    found = one(**header)
    assert found.is_valid({"x-a": fields}) is expected
    opinions = found.opinions({"x-a": fields})
    assert (opinions.violations == ()) is expected
    assert opinions.disagreements == ()


def test_violation_names_the_header_and_its_schema() -> None:
    ((name, violation),) = one(schema=INTEGER).opinions({"x-a": ["x"]}).violations
    assert (name, violation.keyword, violation.value) == ("X-A", "type", "x")
    assert violation.schema_pointer.endswith("/headers/X-A/schema")


SWAGGER: list[tuple[dict[str, Any], str, bool]] = [
    ({"type": "integer"}, "1", True),
    ({"type": "integer"}, "x", False),
    ({"type": "array", "items": INTEGER, "collectionFormat": "pipes"}, "1|2", True),
    ({"type": "array", "items": INTEGER, "collectionFormat": "ssv"}, "1 2", True),
    ({"type": "array", "items": INTEGER}, "1|2", False),
]


def test_violation_of_a_repeated_header_is_that_of_the_field_that_fails() -> None:
    ((_, violation),) = one(schema=INTEGER).opinions({"x-a": ["3", "x"]}).violations
    assert violation.value == "x"


def test_fields_in_a_style_of_their_own_are_read_one_by_one() -> None:
    header = {"type": "array", "items": INTEGER, "collectionFormat": "pipes"}
    found = validator({"X-A": header}, version="2.0")
    assert found is not None
    assert found.is_valid({"x-a": ["1|2", "3"]})
    assert not found.is_valid({"x-a": ["1|2", "x"]})


@pytest.mark.parametrize(("header", "text", "expected"), SWAGGER)
def test_swagger_headers(header: dict[str, Any], text: str, expected: bool) -> None:
    found = validator({"X-A": header}, version="2.0")
    assert found is not None
    assert found.is_valid({"x-a": [text]}) is expected


def test_header_may_stand_elsewhere() -> None:
    components = {"headers": {"Count": {"required": True, "schema": INTEGER}}}
    found = validator({"X-A": {"$ref": "#/components/headers/Count"}}, components=components)
    assert found is not None
    assert not found.is_valid({"x-a": ["x"]})
