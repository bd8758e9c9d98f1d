"""Alternatives that are known to exclude each other need no validator."""

from typing import Any

import pytest

from checker.core.schema import Dialect, Direction
from checker.generation.meaning.canonical import Canon
from checker.generation.meaning.discrimination import are_disjoint
from checker.generation.meaning.forms import Facet

from .making import bodies, opinions, schema_of


def kind(name: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "required": ["kind"], "properties": {"kind": {"const": name}}, **more}


OPTIONAL = {"type": "object", "properties": {"kind": {"const": "c"}}}
ANY_TYPE = {"required": ["kind"], "properties": {"kind": {"const": "c"}}}
CASES: list[tuple[list[Any], bool]] = [
    ([{"type": "string"}, {"type": "integer"}], True),
    ([{"type": "number"}, {"type": "integer"}], False),
    ([{"enum": [1, 2]}, {"const": 3}], True),
    ([{"enum": [1, 2]}, {"const": 2.0}], False),
    ([kind("a"), kind("b")], True),
    ([kind("a"), kind("b"), kind("a")], False),
    ([kind("a"), OPTIONAL], False),
    ([kind("a"), ANY_TYPE], True),
    ([{**kind("a"), "type": ["object", "null"]}, ANY_TYPE], False),
    ([kind("a"), {"$ref": "#/components/schemas/B"}, {"type": "null"}], True),
]


@pytest.mark.parametrize(("alternatives", "expected"), CASES)
def test_alternatives_exclude_each_other(alternatives: list[Any], expected: bool) -> None:
    schema = schema_of({"oneOf": alternatives}, components={"B": kind("b")})
    canon = Canon(schema.document, Dialect.OPENAPI31, Direction.REQUEST)
    (branches,) = canon.canonical((Facet(schema.raw, schema.pointer),)).branches
    assert are_disjoint(canon, branches) is expected


@pytest.mark.parametrize("alternatives", [case[0] for case in CASES])
def test_values_satisfy_exactly_one_alternative(alternatives: list[Any]) -> None:
    raw = {"oneOf": alternatives}
    components = {"B": kind("b")}
    is_valid = opinions(schema_of(raw, components=components))
    assert all(map(is_valid, bodies(raw, 40, components=components)))
