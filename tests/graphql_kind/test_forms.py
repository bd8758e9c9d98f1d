"""Requests in other forms: in a list, by GET, with hundreds of aliases, of great depth. Each is right, and small."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest

from checker.checks.to_run import needs_of
from checker.core.contract import Outcome
from checker.core.request import WireRequest
from checker.core.scenarios import Scenario
from checker.generation.boundaries.cases import BoundaryCase
from checker.generation.settings import GenerationSettings, ListingSettings
from checker.graphql.schema import GraphQLOperation
from checker.phases.listed_phases import edge_cases
from checker.phases.listing import ListingContext
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import MAKER, opened

FORMS = (Scenario.BATCH, Scenario.QUERY_BY_GET, Scenario.MANY_ALIASES, Scenario.DEEP_NESTING)
CHAIN = "type Person { id: ID! boss: Person! friends: [Person!]! team: Team } type Team { lead: Person } "


def forms(label: str, sdl: str = SDL, *, costly: bool = True, first: bool = True) -> dict[str, WireRequest]:
    """Requests of the coverage phase in other forms, by their scenarios."""
    operation = opened(sdl).find(label)
    assert isinstance(operation, GraphQLOperation)
    settings = GenerationSettings(mode=None, listing=ListingSettings(costly_queries=costly))
    context = ListingContext(settings, is_first_of_path=first)
    found = {}
    for listed in edge_cases(operation, context):
        assert isinstance(listed, BoundaryCase)
        if listed.scenario in FORMS:
            found[str(listed.scenario)] = MAKER.make(listed.case(operation, ""))
    return found


def verdict(label: str, request: dict[str, Any], sdl: str = SDL) -> Outcome:
    operation: Any = opened(sdl).find(label)
    sent = WireRequest("POST", b"/graphql", [], json.dumps(request).encode())
    outcome: Outcome = operation.judge_request(sent).outcome
    return outcome


def depth(text: str) -> int:
    """Braces in one another."""
    deepest = now = 0
    for sign in text:
        now += {"{": 1, "}": -1}.get(sign, 0)
        deepest = max(deepest, now)
    return deepest


def test_a_list_holds_the_usual_request_twice() -> None:
    sent = forms("Query.book")[Scenario.BATCH]
    first, second = json.loads(sent.body or b"")
    assert first == second
    assert verdict("Query.book", first) is Outcome.VALID


def test_queries_are_sent_by_get_and_mutations_never() -> None:
    sent = forms("Query.book")[Scenario.QUERY_BY_GET]
    asked = {name: one for name, (one,) in parse_qs(sent.target.partition(b"?")[2].decode()).items()}
    assert (sent.method, sent.body) == ("GET", None)
    assert (
        verdict("Query.book", {"query": asked["query"], "variables": json.loads(asked["variables"])}) is Outcome.VALID
    )
    assert forms("Mutation.deleteBook").keys() == {Scenario.BATCH}


@pytest.mark.parametrize("label", ["Query.book", "Query.count", "Query.search"])
def test_aliases_are_many_and_bounded(label: str) -> None:
    sent = json.loads(forms(label)[Scenario.MANY_ALIASES].body or b"")
    assert sent["query"].count(f": {label.partition('.')[2]}") == 500
    assert len(sent["query"]) < 64_000
    assert verdict(label, sent) is not Outcome.INVALID


@pytest.mark.parametrize(
    ("label", "sdl", "along"),
    [
        ("Query.me", CHAIN + "type Query { me: Person }", "boss { boss {"),
        ("Query.team", CHAIN + "type Query { team: Team }", "lead { team { lead {"),
        ("Query.all", CHAIN + "type Query { all: [Person] }", "ofType { ofType {"),
        ("Query.count", SDL, "ofType { ofType {"),
    ],
)
def test_depth_goes_along_single_objects_or_along_types(label: str, sdl: str, along: str) -> None:
    sent = json.loads(forms(label, sdl)[Scenario.DEEP_NESTING].body or b"")
    assert along in sent["query"]
    assert depth(sent["query"]) > 100
    assert "friends" not in sent["query"]
    assert verdict(label, sent, sdl) is Outcome.VALID


def test_what_costs_is_asked_for() -> None:
    assert forms("Query.book", costly=False).keys() == {Scenario.BATCH, Scenario.QUERY_BY_GET}
    assert forms("Query.book", first=False) == {}


@pytest.mark.parametrize("scenario", FORMS)
def test_a_refusal_of_another_form_is_no_failure(scenario: str) -> None:
    operation: Any = opened(SDL).find("Query.book")
    judged: Callable[..., Any] = lambda *names: scenario in needs_of(names, operation).shapes  # noqa: E731
    assert judged("not_a_server_error")
    assert not judged("positive_data_acceptance", "negative_data_rejection", "response_schema_conformance")
