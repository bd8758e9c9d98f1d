"""Texts that mean something to others: signs of their languages, further lines."""

import re
from typing import Any

import pytest

from checker.core.operation import Location
from checker.generation.boundaries.cases import BoundaryCase
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.boundaries.values import Scenario
from checker.generation.settings import GenerationSettings
from checker.phases.listed_phases import edge_cases
from checker.phases.listing import ListingContext
from checker.transport.prepare import plain_maker
from tests.openapi.documents import operation

from .listing import BODY, QUERY, invalid, valid

SIGNS = "'\"([{*+?%_\\<&;$"
TEXT = {"type": "string"}


def signs_in(raw: Any) -> list[Any]:
    return [one.value for one in valid(raw) if one.scenario is Scenario.SIGNS]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (TEXT, [SIGNS]),
        ({**TEXT, "minLength": 20}, [SIGNS.ljust(20, "0")]),
        ({**TEXT, "maxLength": len(SIGNS)}, [SIGNS]),
        ({**TEXT, "maxLength": len(SIGNS) - 1}, []),
        ({**TEXT, "minLength": 1_001}, []),
        ({**TEXT, "pattern": "^[a-z]+$"}, []),
        ({**TEXT, "format": "date"}, []),
        ({**TEXT, "enum": ["a"]}, []),
    ],
)
def test_texts_of_any_characters_show_signs_once(raw: Any, shown: list[str]) -> None:
    assert signs_in(raw) == shown


def searches(*parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Queries with signs in them."""
    given = [{"in": "query", "name": "q", "schema": TEXT}, *parameters]
    found = OperationEdges(operation({"parameters": given}), GenerationSettings(), Coverage())
    return [dict(case.parts.containers[Location.QUERY]) for case in found.cases() if case.scenario is Scenario.SIGNS]


def test_a_search_meets_signs_in_its_usual_way_and_in_its_last_one() -> None:
    modes = {"in": "query", "name": "mode", "schema": {"enum": ["plain", "regex"]}}
    assert searches(modes) == [{"q": SIGNS, "mode": "plain"}, {"q": SIGNS, "mode": "regex"}]
    assert searches() == [{"q": SIGNS}]


@pytest.mark.parametrize(
    ("pattern", "shown"),
    [("^[a-z]{3}$", ["aaa\n<b>"]), ("^[A-Z][0-9]{1,3}$", ["A0\n<b>"]), ("[a-z]{3}", []), ("^[^x]*$", [])],
)
def test_a_line_that_matches_is_no_match_of_the_whole(pattern: str, shown: list[str]) -> None:
    schema = {"type": "object", "properties": {"a": {**TEXT, "pattern": pattern}}}
    found = [one.value["a"] for one in invalid(schema, BODY) if one.keyword == "pattern"]
    assert [one for one in found if "\n" in one] == shown
    assert len(found) > len(shown) or not shown
    query = [one.value for one in invalid({**TEXT, "pattern": pattern}, QUERY)]
    assert not any("\n" in str(one) for one in query)


def test_a_file_has_an_odd_name_once() -> None:
    file = {"type": "string", "format": "binary"}
    schema = {"type": "object", "properties": {"file": file, "n": {"type": "integer"}}}
    content = {"multipart/form-data": {"schema": schema}}
    upload = operation({"requestBody": {"content": content}}, path="/a", method="post")
    named = []
    for listed in edge_cases(upload, ListingContext(GenerationSettings())):
        assert isinstance(listed, BoundaryCase)
        body = plain_maker().make(listed.case(upload, "")).body or b""
        named += [(listed.scenario, name) for name in re.findall(b'filename="(.*)"', body)]
    odd = (Scenario.SIGNS, "\u00e9\u4e2d 'a%22;b".encode())
    assert [one for one in named if not one[1].startswith(b"file")] == [odd]
    assert named.count(odd) == 1
