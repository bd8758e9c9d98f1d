"""The referee asks only rules that a query could break: it says what all rules say."""

import pytest
from graphql import build_schema, parse, specified_rules, validate

from checker.graphql.referee import rules_for
from tests.graphql_kind.library import SDL

SCHEMA = build_schema(SDL)
WRONG = [
    '{ book(id: "1") { id @nothing } }',
    '{ book(id: "1") { id @skip(if: true) @skip(if: false) } }',
    '{ node(id: "1") { id ...lost } }',
    '{ node(id: "1") { id ... on Genre { id } } }',
    '{ book(id: "1") { id ... on Author { name } } }',
    '{ book(id: "1") { id id: title } }',
    '{ book { id } }',
    '{ book(id: "1", id: "2") { id } }',
    '{ book(id: "1") }',
    '{ book(id: "1", x: 1) { id y } }',
    'query ($a: Int, $a: Int) { book(id: $b) { id } }',
    'query ($a: Book) { book(id: "1") { id } }',
    'query a { old } query a { old }',
    '{ old } query a { old }',
    'query { old } fragment f on Book { id }',
    'query { ...f } fragment f on Query { ...f }',
    'subscription { added { id } removed { id } }',
    'type A { b: Int }',
    '{ books(page: { limit: 1, limit: 2 }) { id } }',
    '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }',
    'mutation { addBook(book: { title: 1, genre: NONE }) { id } }',
]  # fmt: skip


@pytest.mark.parametrize(
    "query", [*WRONG, "{ old }", "{ books { id ... on Book @skip(if: false) { title } } }"]
)
def test_what_is_not_asked_has_nothing_to_say(query: str) -> None:
    document = parse(query)
    said = [error.message for error in validate(SCHEMA, document, rules_for(document, query))]
    assert said == [error.message for error in validate(SCHEMA, document)]


def test_a_plain_query_is_spared_rules_about_fragments_and_directives() -> None:
    spared = set(specified_rules) - set(rules_for(parse("{ old }"), "{ old }"))
    assert len(spared) >= 12
