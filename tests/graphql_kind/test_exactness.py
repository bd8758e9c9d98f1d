"""Each wrong query breaks the one rule that it names, each valid one none: a sample of what `benchmarks.graphql_queries` measures."""

import pytest

from checker.graphql.schema import GraphQLOperation
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import opened
from tests.measuring.queries import QueryMeasuring, Tally

CASES = 12
SCHEMAS = {
    "library": SDL,
    "nothing but names": "type Query { a: Int }",
    "lists of objects with required fields": (
        "input Line { text: String!  size: Int!  kind: Kind }  enum Kind { A B }"
        "type Query { a(lines: [Line!]!, kinds: [Kind], table: [[Line]]): Int }"
    ),
    "inputs within themselves": "input Where { and: [Where!]  not: Where  id: ID! } type Query { a(where: Where!): Int }",
    "several required arguments": "type Thing { b(x: Int!, y: Int!): Thing } type Query { a(x: ID!, y: String!): Thing }",
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_queries_are_what_they_are_meant_to_be(name: str) -> None:
    tally, schema = Tally(), opened(SCHEMAS[name])
    measuring = QueryMeasuring(schema, tally)
    for entry in schema.entries():
        measuring.measure(GraphQLOperation(entry, schema), CASES)
    assert tally.faults == []
    assert tally.valid == tally.wrong == CASES * tally.fields
    assert not tally.nothing_to_break
