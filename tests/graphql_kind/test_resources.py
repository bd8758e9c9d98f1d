"""What root fields do to which things, and what their answers say of them."""

import json
from typing import Any

import pytest

import checker
from checker.checks.resources import concerns
from checker.core.operation import Label
from checker.core.request import Location
from checker.core.resources import ResourceModel, named_values
from checker.core.response import Response
from checker.graphql.schema import GraphQLOperation
from tests.apps.graphql.depot import SDL
from tests.graphql_kind.making import opened

SCHEMA = opened(SDL)


def of(label: str) -> GraphQLOperation:
    found = SCHEMA.find(label)
    assert isinstance(found, GraphQLOperation)
    return found


@pytest.mark.parametrize(
    ("label", "method", "path"),
    [
        ("Query.parcel", "GET", "/Parcel/{id}"),
        ("Query.parcels", "GET", "/Parcel"),
        ("Query.depot", "GET", "/Depot/{depotId}"),
        ("Query.shelves", "GET", "/Shelf"),
        ("Query.tag", "GET", "/Tag/{slug}"),
        ("Mutation.createParcel", "POST", "/Parcel"),
        ("Mutation.createShelf", "POST", "/Shelf"),
        ("Mutation.deleteParcel", "DELETE", "/Parcel/{id}"),
        ("Mutation.deleteDepot", "DELETE", "/Depot/{id}"),
        ("Mutation.updateTag", "PATCH", "/Tag/{slug}"),
    ],
)
def test_names_and_types_say_what_is_done(label: str, method: str, path: str) -> None:
    operation = of(label)
    assert (operation.resource_method, operation.resource_path) == (method, path)


def test_what_leaves_the_thing_where_it_is_does_not_delete_it() -> None:
    schema = opened(
        "type Shelf { id: ID! } type Book { id: ID! } type Query { shelf(id: ID!): Shelf }"
        "type Mutation { removeBookFromShelf(bookId: ID!, shelfId: ID!): Shelf  clearShelf(id: ID!): Shelf }"
    )
    for label in ("Mutation.removeBookFromShelf", "Mutation.clearShelf"):
        found = schema.find(label)
        assert isinstance(found, GraphQLOperation)
        assert found.resource_path == "/Shelf"


def test_answers_lead_on_through_connections_payloads_and_handles() -> None:
    model = SCHEMA.resources()
    values = {
        (one.source, one.target): [(value.name, value.value) for value in one.values] for one in model.transitions
    }
    created = values[Label("Mutation.createShelf"), Label("Query.shelf")]
    assert created == [("/arguments/id", "$response.body#/shelf/id")]
    listed = values[Label("Query.shelves"), Label("Query.shelf")]
    assert listed == [("/arguments/id", "$response.body#/edges/*/node/id")]
    changed = values[Label("Mutation.createTag"), Label("Mutation.updateTag")]
    assert changed == [("/arguments/change/slug", "$response.body#/slug")]
    assert (Label("Mutation.deleteTag"), Label("Query.tag")) not in values


def test_lists_of_identifiers_and_ids_of_other_types_are_named() -> None:
    schema = opened(
        "scalar BookID type Book { id: ID! } type Review { id: ID! } interface Node { id: ID! } type Pen implements Node { id: ID! }"
        "type Query { books(ids: [ID!]): [Book!]! byOwn(book: BookID!): Book node(id: ID!): Node }"
        "type Mutation { createBook: Book addReview(targetBookId: ID!, text: String): Review createPen: Pen }"
    )
    values = {(one.source, one.target): one.values for one in schema.resources().transitions}
    (taken,) = values[Label("Mutation.createBook"), Label("Query.books")]
    assert taken.value == ["$response.body#/id"]
    assert (Label("Mutation.createBook"), Label("Query.byOwn")) in values
    assert (Label("Mutation.createBook"), Label("Mutation.addReview")) in values
    assert (Label("Mutation.createPen"), Label("Query.node")) in values
    use = schema.resources().uses[Label("Mutation.addReview")]
    assert (use.resource, use.owners) == (("review",), (("targetBookId", ("book",)),))


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ("email: String!, personPatch: PersonPatch!", "/Person"),
        ("id: Int!, personPatch: PersonPatch!", "/Person/{id}"),
        ("personPatch: PersonPatch!", "/Person/{id}"),
        ("clientMutationId: String, patch: PersonPatch!", "/Person/{id}"),
        ("where: Where!, data: PersonPatch!", "/Person"),
        ("flag: Boolean, data: PersonPatch!", "/Person/{id}"),
    ],
)
def test_new_values_of_a_thing_choose_none(arguments: str, path: str) -> None:
    schema = opened(
        "type Person { id: Int! email: String } input PersonPatch { id: Int email: String } input Where { email: String }"
        f"input Change {{ {arguments} }}"
        "type Query { person(id: Int!): Person } type Mutation { updatePerson(input: Change!): Person }"
    )
    found = schema.find("Mutation.updatePerson")
    assert isinstance(found, GraphQLOperation)
    assert found.resource_path == path


def test_identifiers_may_be_called_after_an_interface_or_the_type() -> None:
    schema = opened(
        "interface Node { nodeId: ID! } type Pen implements Node { nodeId: ID! number: Int }"
        "type Ink implements Node { nodeId: ID! } type Book { bookId: ID! }"
        "type Query { node(nodeId: ID!): Node pen(nodeId: ID!): Pen book(bookId: ID!): Book }"
        "type Mutation { createPen(number: Int): Pen createInk: Ink createBook: Book deletePen(nodeId: ID!): Pen }"
    )
    values = {
        (one.source.partition(".")[2], one.target.partition(".")[2]): one.values[0].value
        for one in schema.resources().transitions
    }
    of_node = "$response.body#/nodeId"
    assert values["createPen", "node"] == values["createInk", "node"] == of_node
    assert values["createPen", "pen"] == values["createPen", "deletePen"] == of_node
    assert ("createInk", "pen") not in values
    assert values["createBook", "book"] == "$response.body#/bookId"
    found = schema.find("Mutation.deletePen")
    assert isinstance(found, GraphQLOperation)
    assert found.resource_path == "/Pen/{nodeId}"


def test_the_model_survives_its_way_to_the_workers() -> None:
    model = SCHEMA.resources()
    again = ResourceModel.of_plain(json.loads(json.dumps(model.plain())))
    assert again.uses == model.uses
    assert json.dumps(again.plain()) == json.dumps(model.plain())


def test_what_things_are_known_by_is_always_asked_for() -> None:
    for label, expected in {
        "Mutation.createShelf": "{ userErrors { message } shelf { id } }",
        "Query.shelves": "{ edges { node { id } } }",
        "Mutation.deleteDepot": "{ success deletedId }",
        "Mutation.createTag": "{ slug }",
    }.items():
        text = json.loads(of(label).writer({"arguments": {}}))["query"]
        assert expected in text.replace("{ deletedId success }", "{ success deletedId }"), text


def test_cases_name_what_they_are_about() -> None:
    read = of("Query.tag").Case(body={"arguments": {"slug": "a"}})
    gone = of("Mutation.deleteTag").Case(body={"arguments": {"slug": "a"}})
    other = of("Mutation.deleteTag").Case(body={"arguments": {"slug": "b"}})
    nothing = of("Query.tag").Case(body={"arguments": {}})
    assert named_values(read) == {"slug": "a"}
    assert concerns(read, gone)
    assert not concerns(read, other)
    assert not concerns(nothing, gone)
    assert of("Mutation.updateTag").resource_places == {"slug": (Location.BODY, "/arguments/change/slug")}


def response(answer: Any, status: int = 200) -> Response:
    return Response(status, [], json.dumps(answer).encode())


def error(message: str, **extensions: Any) -> dict[str, Any]:
    return {"errors": [{"message": message, "path": ["x"], "extensions": extensions}], "data": None}


SHELF = {"shelf": {"id": "1"}, "userErrors": []}


@pytest.mark.parametrize(
    ("label", "answer", "status"),
    [
        ("Query.parcel", {"data": {"parcel": {"id": "1"}}}, 200),
        ("Query.parcel", {"data": {"parcel": None}}, 404),
        ("Query.parcel", error("Parcel not found"), 404),
        ("Query.parcel", error("x", code="UNAUTHENTICATED"), 401),
        ("Query.parcel", error("x", code="FORBIDDEN"), 403),
        ("Query.parcel", error("x", code="BAD_USER_INPUT"), 400),
        ("Query.parcel", error("division by zero"), 500),
        ("Query.parcels", {"data": {"parcels": []}}, 200),
        ("Mutation.deleteParcel", {"data": {"deleteParcel": True}}, 200),
        ("Mutation.deleteParcel", {"data": {"deleteParcel": False}}, 404),
        ("Mutation.deleteDepot", {"data": {"deleteDepot": {"success": False}}}, 404),
        ("Mutation.createShelf", {"data": {"createShelf": SHELF}}, 200),
        ("Mutation.createShelf", {"data": {"createShelf": {"shelf": None, "userErrors": [{"message": "no"}]}}}, 422),
        ("Mutation.createTag", {"data": {"createTag": None}}, 422),
    ],
)
def test_answers_say_what_statuses_say(label: str, answer: Any, status: int) -> None:
    assert of(label).status_of(response(answer)) == status


def test_a_status_of_its_own_counts() -> None:
    assert of("Query.parcel").status_of(response({}, 502)) == 502


def test_sequences_of_users_follow_the_types() -> None:
    machine = checker.graphql.from_file(SDL).as_state_machine()
    names = [name for name in vars(machine) if name.startswith("follow")]
    assert any(name.endswith("mutation_deletetag") for name in names)
