"""Valid values that nobody is used to, each of which some services fall over."""

from typing import Any

import pytest

from checker.core.operation import Location
from checker.core.scenarios import Scenario
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.drawing.places import TextPlace
from checker.generation.settings import GenerationSettings
from checker.transport.prepare import plain_maker
from tests.openapi.documents import operation

from .listing import BODY, QUERY, valid

INTEGER = {"type": "integer"}


def unusual(raw: Any, place: TextPlace = BODY) -> list[Any]:
    return [one.value for one in valid(raw, place) if one.scenario is Scenario.UNUSUAL]


def depth_of(value: Any) -> int:
    return 1 + max(map(depth_of, value.values()), default=0) if isinstance(value, dict) else 0


def test_what_may_be_anything_is_nested_deep_once() -> None:
    schema = {"type": "object", "properties": {"meta": {"type": "object"}, "n": {"type": "string"}}}
    (found,) = unusual(schema)
    assert depth_of(found["meta"]) > 128
    assert not unusual({"type": "object", "additionalProperties": False})


@pytest.mark.parametrize(
    ("raw", "place", "lengths"),
    [
        ({"type": "array", "items": INTEGER}, BODY, [2_101]),
        ({"type": "array", "items": INTEGER}, QUERY, []),
        ({"type": "array", "items": INTEGER, "maxItems": 3}, BODY, []),
        ({"type": "array", "items": INTEGER, "uniqueItems": True}, BODY, []),
        ({"type": "array", "items": {"type": "object"}}, BODY, []),
    ],
)
def test_plain_items_without_a_limit_are_many_in_bodies(raw: Any, place: TextPlace, lengths: list[int]) -> None:
    assert [len(one) for one in unusual(raw, place) if len(one) > 1] == lengths


def test_integers_of_a_body_are_written_with_a_fraction_of_zero_once() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {**INTEGER, "minimum": 3}, "is": {"type": "boolean"}, "l": {"enum": [7]}},
    }
    found = unusual(schema)
    assert [repr(one) for one in found] == ["{'n': 3.0, 'is': True, 'l': 7.0}"]
    assert not unusual(INTEGER)
    assert not unusual({"type": "string"})


def test_a_list_of_the_query_is_sent_as_its_name_alone() -> None:
    ids = {
        "in": "query", "name": "ids", "schema": {"type": "array", "items": {"type": "string", "format": "uuid"}},
    }  # fmt: skip
    other = {"in": "query", "name": "n", "schema": INTEGER}
    api = operation({"parameters": [ids, other]})
    cases = OperationEdges(api, GenerationSettings(), Coverage()).cases()
    odd = [one for one in cases if one.scenario is Scenario.EMPTY_LIST]
    assert [(one.parameter, one.location) for one in odd] == [("ids", Location.QUERY)]
    assert b"ids=&" in plain_maker().make(odd[0].case(api, "")).target + b"&"
