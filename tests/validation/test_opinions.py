"""Both validators read a schema alike."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checker.core.schema import Dialect, Direction, UnresolvableReference
from checker.validation.compiled import compile_schema
from tests.measuring.corpora import suite

from .schemas import schema_of, verdicts

BOTH_ACCEPT = (True, True)
BOTH_REJECT = (False, False)
V20, V30, V31 = Dialect.OPENAPI20, Dialect.OPENAPI30, Dialect.OPENAPI31

ACCEPTED: list[tuple[Dialect, Any, Any]] = [
    (V30, {"type": "string", "nullable": True}, None),
    (V30, {"type": "string", "nullable": True, "enum": ["a"]}, None),
    (V30, {"nullable": True, "allOf": [{"type": "string"}]}, None),
    (V30, {"nullable": True, "$ref": "#/names/text"}, None),
    (V20, {"type": "string", "x-nullable": True}, None),
    (V31, {"type": ["string", "null"]}, None),
    (V30, {"type": "integer"}, 1.0),
    (V30, {"type": "number", "multipleOf": 0.01}, 19.99),
    (V30, {"type": "integer", "format": "int64"}, 2**63 - 1),
    (V30, {"type": "integer", "format": "int64"}, -(2**63)),
    (V30, {"type": "string", "format": "int64"}, "99999999999999999999"),
    (V30, {"type": "number", "format": "float"}, 1e300),
    (V30, {"$ref": "#/names/text", "maxLength": 1}, "long"),
    (V30, {"type": "file"}, 1),
    (V30, {"type": "string", "required": True}, "x"),
    (V30, {"pattern": "(?<!"}, "x"),
    (V30, {"patternProperties": {"(": {}}, "additionalProperties": False}, {"a": 1}),
    (V30, {"const": 1}, 2),
    (V30, {"oneOf": [{}, {}], "discriminator": {"propertyName": "a"}}, {}),
    (V30, {"minimum": 1, "exclusiveMinimum": False}, 1),
    (V30, {"items": {"$ref": "#/it"}}, [[[]]]),
    (V31, {"prefixItems": [{"type": "string"}], "items": False}, ["a"]),
    (V31, {"$ref": "#/names/open", "unevaluatedProperties": False}, {"a": 1}),
    (V30, {"anyOf": []}, 1),
    (V30, {"anyOf": [None]}, 1),
    (V30, {"allOf": [{"$ref": "#/it"}]}, 1),
]
REJECTED: list[tuple[Dialect, Any, Any]] = [
    (V30, {"type": "string"}, None),
    (V30, {"type": "integer"}, True),
    (V30, {"type": "integer", "format": "int32"}, 2**31),
    (V30, {"type": "integer", "format": "int64"}, 2**63),
    (V30, {"type": "number", "multipleOf": 0.01}, 0.005),
    (V30, {"minimum": 1, "exclusiveMinimum": True}, 1),
    (V30, {"exclusiveMaximum": 1}, 1),
    (V30, {"type": "string", "pattern": "^[a-z]+$"}, "a\n"),
    (V30, {"type": "string", "format": "uuid"}, "x"),
    (V30, {"type": "string", "format": "byte"}, "$"),
    (V30, {"type": "string", "format": "date-time"}, "2020-01-01"),
    (V30, {"enum": [1]}, True),
    (V30, {"properties": {"a": {"$ref": "#/it"}}, "additionalProperties": False}, {"a": {"b": 1}}),
    (V31, {"const": 1}, 2),
    (V31, {"$ref": "#/names/text", "maxLength": 1}, "long"),
    (V31, {"$ref": "#/names/open", "unevaluatedProperties": False}, {"b": 1}),
    (V31, {"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}),
    (V31, {"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    (V30, False, 1),
]
NAMES: dict[str, Any] = {"text": {"type": "string"}, "open": {"properties": {"a": {}}}}


@pytest.mark.parametrize(("dialect", "raw", "value"), ACCEPTED)
def test_both_accept(dialect: Dialect, raw: Any, value: Any) -> None:
    assert verdicts(schema_of(raw, dialect, **NAMES), value) == BOTH_ACCEPT


@pytest.mark.parametrize(("dialect", "raw", "value"), REJECTED)
def test_both_reject(dialect: Dialect, raw: Any, value: Any) -> None:
    assert verdicts(schema_of(raw, dialect, **NAMES), value) == BOTH_REJECT


USER = {
    "required": ["id", "password"],
    "properties": {"id": {"readOnly": True, "type": "integer"}, "password": {"$ref": "#/names/secret"}},
}
SECRET = {"type": "string", "writeOnly": True}
PARTS = {"allOf": [{"$ref": "#/names/user"}, {"required": ["id", "password"]}]}


@pytest.mark.parametrize("raw", [USER, PARTS], ids=["plain", "allOf"])
def test_what_does_not_travel_is_not_required(raw: Any) -> None:
    schema = schema_of(raw, user=USER, secret=SECRET)
    assert verdicts(schema, {"id": 1}, Direction.RESPONSE) == BOTH_ACCEPT
    assert verdicts(schema, {"password": "x"}, Direction.RESPONSE) == BOTH_REJECT
    assert verdicts(schema, {"password": "x"}, Direction.REQUEST) == BOTH_ACCEPT
    assert verdicts(schema, {"id": 1}, Direction.REQUEST) == BOTH_REJECT
    # A server may ignore what is for reading only, whatever it is.
    assert verdicts(schema, {"id": "?", "password": "x"}, Direction.REQUEST) == BOTH_ACCEPT
    assert verdicts(schema, {"id": 1, "password": "x"}, Direction.RESPONSE) == BOTH_REJECT


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_what_one_branch_hides_another_reads(keyword: str) -> None:
    reads = {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b"]}
    hides = {"properties": {"a": {"readOnly": True}}, "required": ["c"]}
    for branches in ([hides, reads], [reads, hides]):
        schema = schema_of({keyword: branches})
        assert verdicts(schema, {"a": "?", "b": 1}, Direction.REQUEST) == BOTH_REJECT
        assert verdicts(schema, {"a": 1, "b": 1}, Direction.REQUEST) == BOTH_ACCEPT


@pytest.mark.parametrize("raw", [{"format": "uuid"}, {"format": "int32"}, {"format": "date"}, {"format": "byte"}])
@pytest.mark.parametrize("value", ["?", 2**40])
def test_formats_can_be_switched_off(raw: Any, value: Any) -> None:
    assert verdicts(schema_of(raw), value, validate_formats=False) == BOTH_ACCEPT


def test_unresolvable_reference_is_raised_every_time() -> None:
    schema = schema_of({"items": {"$ref": "#/names/a"}}, a={"items": {"$ref": "#/names/b"}})
    for _ in range(2):
        with pytest.raises(UnresolvableReference):
            compile_schema(schema, Direction.RESPONSE)


def test_reference_that_leads_back_to_itself_is_refused() -> None:
    with pytest.raises(UnresolvableReference, match="leads back to itself"):
        compile_schema(schema_of({"$ref": "#/names/a"}, a={"$ref": "#/names/a"}), Direction.RESPONSE)


def test_equal_schemas_share_a_validator() -> None:
    schema = schema_of({"type": "string"})
    assert compile_schema(schema, Direction.REQUEST) is compile_schema(schema, Direction.RESPONSE)


def test_long_chains_of_references_compile() -> None:
    names: dict[str, Any] = {f"s{i}": {"items": {"$ref": f"#/names/s{i + 1}"}} for i in range(3000)}
    schema = schema_of({"$ref": "#/names/s0"}, **names, s3000={"type": "string"})
    assert compile_schema(schema, Direction.RESPONSE).is_valid([[[]]])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text("ab1-", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "array", "object", "boolean"]),
        "nullable": st.booleans(),
        "enum": st.lists(JSON, max_size=2),
        "minimum": st.integers(-3, 3),
        "exclusiveMinimum": st.booleans() | st.integers(-3, 3),
        "multipleOf": st.sampled_from([1, 2, 0.5, 0.1]),
        "minLength": st.integers(0, 3),
        "pattern": st.sampled_from(["^a", "b$", "[0-9]", "(", "^a*$"]),
        "format": st.sampled_from(["int32", "date", "byte", "odd"]),
        "required": st.lists(st.sampled_from("abc"), max_size=2),
        "uniqueItems": st.booleans(),
        "maxItems": st.integers(0, 2),
        "additionalProperties": st.booleans(),
        "writeOnly": st.booleans(),
    },
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda base, more: base | more,
        LEAVES,
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
                "items": inner,
                "not": inner,
                "additionalProperties": inner,
                **{name: st.lists(inner, max_size=2) for name in ("allOf", "anyOf", "oneOf")},
                "$ref": st.sampled_from(["#/names/text", "#/names/open"]),
            },
        ),
    ),
    max_leaves=5,
)


BESIDE_A_REFERENCE = {"$ref": "#/names/open", "properties": {"a": {"type": "string", "writeOnly": True}}}


@settings(max_examples=300, deadline=None)
@example(BESIDE_A_REFERENCE, {"a": None})
@given(SCHEMAS, JSON)
@pytest.mark.thorough
def test_opinions_agree(raw: Any, value: Any) -> None:
    first, second = verdicts(schema_of(raw, **NAMES), value)
    assert first == second


@pytest.mark.corpora
def test_both_agree_with_every_label_of_the_json_schema_suite(corpora: Path) -> None:
    drafts, wrong = set(), []
    for sample in suite(corpora):
        drafts.add(sample.schema.dialect)
        for value, is_valid in sample.instances:
            said = verdicts(sample.schema, value, validate_formats=sample.asserts_formats)
            if said != (is_valid, is_valid):
                wrong.append((sample.name, value, said))
    assert wrong == []
    assert len(drafts) == 5
