"""What is there for gateways of a federation: tested by name, with representations that name things by their keys."""

import json
from typing import Any

import pytest

import checker
from checker.config.filters import FilterSpec, OperationFilters, Selection
from checker.core.contract import Outcome
from checker.core.meta import GenerationMode
from checker.core.schema import WarningKind
from checker.graphql.schema import GraphQLOperation
from checker.workers.selected import SelectedOperations
from tests.graphql_kind.making import cases, opened

SDL = """
scalar _Any
enum Region { EU US }
type Organization { id: ID! }
type User @key(fields: "id") @key(fields: "email region") { id: ID!  email: String!  region: Region  name: String }
type Badge @key(fields: "number organization { id }") { number: Int!  organization: Organization! }
type Plain { slug: String!  text: String }
union _Entity = User | Badge | Plain
type _Service { sdl: String }
type Query { me: User  _entities(representations: [_Any!]!): [_Entity]!  _service: _Service! }
"""
ENTITIES = "Query._entities"


def selected(*specs: FilterSpec) -> SelectedOperations:
    return SelectedOperations(opened(SDL), Selection(OperationFilters(specs)))


def told(operations: SelectedOperations) -> list[str]:
    return [one.label for one in operations.dropped if one.kind is WarningKind.FEDERATION]


def test_gateways_alone_are_served_unless_a_filter_names_the_field() -> None:
    everything = selected()
    assert list(everything) == ["Query.me"]
    assert told(everything) == [ENTITIES, "Query._service"]
    by_method = selected(FilterSpec("include", "method", "POST"))
    assert list(by_method) == ["Query.me"]
    named = selected(FilterSpec("include", "name", ENTITIES))
    assert list(named) == [ENTITIES]
    assert told(named) == []
    both = selected(FilterSpec("include", "name", r"Query\._", is_regex=True))
    assert list(both) == [ENTITIES, "Query._service"]


def test_python_users_name_it_likewise() -> None:
    schema = checker.graphql.from_file(SDL)
    assert list(schema["Query"]) == ["me"]
    assert list(schema.include(name=ENTITIES)["Query"]) == ["_entities"]
    assert list(schema.include(method="POST")["Query"]) == ["me"]


def entities() -> GraphQLOperation:
    found = opened(SDL).find(ENTITIES)
    assert isinstance(found, GraphQLOperation)
    return found


KEYS = {"User": [{"id"}, {"email", "region"}], "Badge": [{"number", "organization"}], "Plain": [{"slug"}]}


def test_representations_name_things_by_one_of_their_keys() -> None:
    operation = entities()
    drawn: list[dict[str, Any]] = []
    for case, sent in cases(operation, GenerationMode.POSITIVE, 80):
        assert operation.judge_request(sent).outcome is not Outcome.INVALID
        drawn += case.body["arguments"]["representations"]
    for one in drawn:
        assert one.keys() - {"__typename"} in KEYS[one["__typename"]]
    assert {(one["__typename"], len(one)) for one in drawn} == {("User", 2), ("User", 3), ("Badge", 3), ("Plain", 2)}
    assert all(isinstance(one.get("organization", {"id": ""})["id"], str) for one in drawn)
    assert all(one.get("region", "EU") in ("EU", "US") for one in drawn)


def test_representations_keep_their_names_in_a_query() -> None:
    body = {"arguments": {"representations": [{"__typename": "User", "id": "1"}]}, "literals": True}
    query = json.loads(entities().writer(body))["query"]
    assert '[{__typename: "User", id: "1"}]' in query


@pytest.mark.parametrize("sdl", [SDL.replace("_Any", "Odd"), SDL.replace(" = User | Badge | Plain", " = Plain")])
def test_wrong_representations_break_one_rule(sdl: str) -> None:
    operation = opened(sdl).find(ENTITIES)
    assert isinstance(operation, GraphQLOperation)
    wrong = list(cases(operation, GenerationMode.NEGATIVE, 30))
    assert wrong
    for case, sent in wrong:
        assert operation.judge_request(sent).outcome is Outcome.INVALID, case.body
