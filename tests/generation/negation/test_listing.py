from typing import Any

import pytest

from checker.core.schema import Dialect
from checker.generation.negation.breaches import BREAKERS, Breach

from .keywords import NEW, SCHEMAS, leaf_keywords, listed, values

_LIKE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum", "false": "properties"}
_SUMMED_UP = {"anyOf", "oneOf", "not", "if", "contains", "unevaluatedItems"}


@pytest.mark.parametrize(("keyword", "raw", "dialect"), SCHEMAS, ids=str)
def test_each_keyword_is_broken_alone(keyword: str, raw: Any, dialect: Dialect) -> None:
    compiler, found = listed(raw, dialect)
    mine = [breach for breach in found if breach.keyword == keyword]
    assert mine
    seen = [(value, leaf_keywords(raw, dialect, value)) for breach in mine for value, _ in values(compiler, breach, 12)]
    wrong = [(value, errors) for value, errors in seen if errors]
    # Alternatives may save a value now and then; nothing else may.
    assert len(wrong) > len(seen) / 2
    assert all(len(errors) == 1 for _, errors in wrong)
    named = {keyword, _LIKE.get(keyword, keyword)} | _SUMMED_UP
    assert all(named & set(path) for _, errors in wrong for path in errors)


def test_there_is_a_schema_for_each_keyword() -> None:
    broken = {keyword for keyword, _, _ in SCHEMAS}
    assert set(BREAKERS) - broken <= {"if", "dependentSchemas"}


def test_places_nearest_to_the_root_come_first() -> None:
    inner = {"type": "object", "properties": {"c": {"type": "string"}}}
    _, found = listed({"type": "object", "properties": {"b": inner, "a": {"minimum": 1}}})
    depths = [len(breach.path) for breach in found]
    assert depths == sorted(depths)
    assert {breach.path for breach in found} == {(), ("a",), ("b",), ("b", "c")}


def test_pointers_lead_through_references_to_the_keyword() -> None:
    raw = {"properties": {"home": {"$ref": "#/$defs/place"}}, "$defs": {"place": {"allOf": [{"required": ["zip"]}]}}}
    _, found = listed(raw)
    assert ("#/$defs/place/allOf/0/required", ("home",)) in {(breach.pointer, breach.path) for breach in found}


def test_schemas_that_contain_themselves_are_listed_to_an_end() -> None:
    raw = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "size": {"minimum": 0}}}
    _, found = listed(raw)
    assert {breach.path for breach in found} >= {(), ("left",), ("right",), ("size",)}
    assert len(found) < 100


def test_nothing_is_compiled_before_it_is_asked_for() -> None:
    raw = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(60)}}
    compiler, found = listed(raw)
    assert len(found) > 60
    assert compiler._known == {}


def test_conditions_are_kept_true_while_what_they_ask_for_is_broken() -> None:
    raw = {
        "type": "object",
        "if": {"properties": {"kind": {"const": "x"}}, "required": ["kind"]},
        "then": {"required": ["size"]},
    }
    compiler, found = listed(raw)
    assert not [breach for breach in found if "/if" in breach.pointer]
    then = _only(found, "#/then/required")
    assert all(value["kind"] == "x" for value, _ in values(compiler, then, 8))


def test_part_that_is_wrong_is_told() -> None:
    raw = {"type": "object", "properties": {"a": {"type": "array", "items": {"maximum": 3}}}}
    compiler, found = listed(raw)
    breach = _only(found, "#/properties/a/items/maximum")
    for value, wrong in values(compiler, breach, 8):
        assert wrong > 3
        assert wrong in value["a"]


def test_one_step_beyond_a_bound_is_among_the_values() -> None:
    compiler, found = listed({"type": "integer", "maximum": 3})
    breach = _only(found, "#/maximum")
    assert 4 in [value for value, _ in values(compiler, breach, 12)]


def test_listed_values_have_no_wrong_type_alone() -> None:
    _, found = listed({"type": "string", "enum": ["a"]})
    assert {breach.keyword for breach in found if breach.is_alone} == {"enum"}


def test_what_is_said_twice_is_broken_twice() -> None:
    raw = {"allOf": [{"type": "object"}], "type": "object"}
    compiler, found = listed(raw)
    types = [breach for breach in found if breach.keyword == "type"]
    assert types
    assert not any(breach.is_alone for breach in types)
    assert all(not isinstance(v, dict) for b in types for v, _ in values(compiler, b, 3))


def _only(found: list[Breach], pointer: str) -> Breach:
    (breach,) = [breach for breach in found if breach.pointer == pointer and breach.keyword != "then"]
    return breach


def test_dialects_without_a_keyword_do_not_break_it() -> None:
    _, found = listed({"const": 5, "type": "integer"}, Dialect.OPENAPI30)
    assert {breach.keyword for breach in found} == {"type"}
    _, found = listed({"const": 5, "type": "integer"}, NEW)
    assert "const" in {breach.keyword for breach in found}
