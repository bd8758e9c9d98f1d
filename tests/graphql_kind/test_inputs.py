"""Input types as JSON Schemas: read once for all operations, and whole where a type holds itself."""

from checker.graphql.schema import GraphQLOperation
from tests.graphql_kind.making import opened

SDL = """
input Where { not: Where  and: [Where]!  name: String }
type Query { a(where: Where, name: String): Int  b(where: Where!): Int }
"""


def operation(name: str) -> GraphQLOperation:
    found = SCHEMA.find(f"Query.{name}")
    assert isinstance(found, GraphQLOperation)
    return found


SCHEMA = opened(SDL)


def test_operations_share_one_document() -> None:
    first, second = (operation(name).bodies[0].schema for name in "ab")
    assert first.document is second.document
    assert first.pointer != second.pointer


def test_a_type_within_itself_may_be_null_at_every_depth() -> None:
    definitions = SCHEMA.inputs(allows_null=True)[0].definitions
    assert operation("a").bodies
    for depth in range(4):
        assert definitions[f"Where.{depth}"]["type"] == "object"
        assert definitions[f"Where.{depth}.null"]["type"] == ["object", "null"]
        assert definitions[f"Where.{depth}.null"]["required"] == ["and"]


def test_scalars_of_arguments_stand_apart_so_that_each_has_its_edges() -> None:
    arguments = operation("a").bodies[0].schema.raw["properties"]["arguments"]  # type: ignore[index]
    assert arguments["properties"]["name"] == {"type": ["string", "null"]}


def test_a_page_has_no_more_than_one_number_of_items_below_zero() -> None:
    found = opened("type Query { a(first: Int, ratio: Float, size: Int!, offset: Int!): Int }").find("Query.a")
    assert isinstance(found, GraphQLOperation)
    arguments = found.bodies[0].schema.raw["properties"]["arguments"]  # type: ignore[index]
    least = {name: one.get("minimum") for name, one in arguments["properties"].items()}
    assert least["first"] == least["offset"] == -1
    assert least["ratio"] is None
    assert least["size"] != -1
