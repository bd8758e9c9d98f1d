"""The referee proves that wrong queries are wrong, and asks graphql-core only for rules that a query could break."""

import json
from collections import Counter

import pytest
from graphql import build_schema, parse, specified_rules, validate

from checker.core.contract import Outcome, PartVerdict
from checker.core.meta import GenerationMode
from checker.core.request import WireRequest
from checker.graphql.referee import QueryReferee, rules_for
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import cases, opened, operations

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


@pytest.mark.parametrize("query", [*WRONG, "{ old }", "{ books { id ... on Book @skip(if: false) { title } } }"])
def test_what_is_not_asked_has_nothing_to_say(query: str) -> None:
    document = parse(query)
    said = [error.message for error in validate(SCHEMA, document, rules_for(document, query))]
    assert said == [error.message for error in validate(SCHEMA, document)]


def test_a_plain_query_is_spared_rules_about_fragments_and_directives() -> None:
    spared = set(specified_rules) - set(rules_for(parse("{ old }"), "{ old }"))
    assert len(spared) >= 12


def verdict(query: str, variables: object = None) -> PartVerdict:
    content = json.dumps({"query": query, "variables": variables}).encode()
    (part,) = QueryReferee(SCHEMA).judge(WireRequest("POST", b"/", [], content)).parts
    return part


@pytest.mark.parametrize("mode", GenerationMode)
def test_drawn_queries_are_what_they_are_meant_to_be(mode: GenerationMode) -> None:
    said: Counter[bool] = Counter()
    for operation in operations(opened(SDL)):
        for _, request in cases(operation, mode, 8):
            said[operation.judge_request(request).outcome is Outcome.INVALID] += request.body is not None
    assert said[mode.is_negative] >= 40
    assert not said[not mode.is_negative]


@pytest.mark.parametrize(
    ("query", "variables", "says"),
    [
        ("{ old x }", None, "x"),
        ("{ book { id } }", None, "id"),
        ("{ books(page: {after: {limit: 1.5}}) { id } }", None, "1.5"),
        ("query ($n: Int!) { books(limit: $n) { id } }", {}, "$n"),
        ("query ($p: Page) { books(page: $p) { id } }", {"p": {"offset": "4"}}, "offset"),
        ("query ($n: Int) { books(limit: $n) { id } }", {"n": float("inf")}, "inf"),
        ("query ($n: Int) { books(limit: $n) { id } }", {"n": float("nan")}, "nan"),
        ("query ($n: Int) { books(limit: $n) { id } }", [], "the variables are no object"),
        ("{" * 100, None, "Syntax Error"),
    ],
)
def test_the_reason_names_the_fault(query: str, variables: object, says: str) -> None:
    part = verdict(query, variables)
    assert part.outcome is Outcome.INVALID
    assert says in part.reason


PAGED = build_schema("""
    input Page { first: Int after: String }
    input Span { after: String }
    type Item { id: ID }
    type Items { edges: [Item] }
    type Query {
        items(first: Int, after: String, last: Int, before: String): Items
        paged(page: Page): Items
        listed(limit: Int, cursor: ID): Items
        newer(after: String): Items
        within(span: Span): Items
    }
""")


@pytest.mark.parametrize(
    ("field", "variables", "doubt"),
    [
        ("items", {}, ""),
        ("items(first: 1, after: null)", {}, ""),
        ("items(first: 100)", {}, ""),
        ("items(first: 101)", {}, "first"),
        ("items(first: 0)", {}, "first"),
        ("items(last: -1)", {}, "last"),
        ('items(first: 1, after: "x")', {}, "after"),
        ('items(before: "x")', {}, "before"),
        ("items(first: 1, after: $a)", {"a": "x"}, "after"),
        ("items(first: 1, after: $a)", {"a": None}, ""),
        ("items(first: 1, after: $a)", {}, ""),
        ('paged(page: {after: "x"})', {}, "after"),
        ("paged(page: {first: -1})", {}, "first"),
        ("paged(page: {first: 5})", {}, ""),
        ("listed(limit: 5)", {}, ""),
        ("listed(limit: 1000)", {}, "limit"),
        ("listed(cursor: 5)", {}, "cursor"),
        ('newer(after: "x")', {}, ""),
        ('within(span: {after: "x"})', {}, ""),
    ],
)
def test_which_pages_there_are_only_the_server_knows(field: str, variables: dict[str, object], doubt: str) -> None:
    declared = "($a: String)" if "$a" in field else ""
    query = f"query {declared} {{ {field} {{ edges {{ id }} }} }}"
    content = json.dumps({"query": query, "variables": variables}).encode()
    (part,) = QueryReferee(PAGED).judge(WireRequest("POST", b"/", [], content)).parts
    told = f"only the server knows which values {doubt} has" if doubt else ""
    assert (part.outcome, part.reason) == (Outcome.AMBIGUOUS if doubt else Outcome.VALID, told)
