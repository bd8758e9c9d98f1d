"""Queries as people read them."""

import json

import pytest

from checker.core.blocks import formatted, query_of, reproduction_paragraphs


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("query { a }", ["query {", "  a", "}"]),
        (
            "query ($id: ID!) { book(id: $id) { id name: title } }",
            ["query ($id: ID!) {", "  book(id: $id) {", "    id", "    name: title", "  }", "}"],
        ),
        (
            'mutation { a(in: {text: "} \\" {", n: [1]}) @x { ... on B { c d } } }',
            [
                "mutation {",
                '  a(in: {text: "} \\" {", n: [1]}) @x {',
                "    ... on B {",
                "      c",
                "      d",
                "    }",
                "  }",
                "}",
            ],
        ),
        ("{ a } }", ["{", "  a", "}", "}"]),
        ("{ a(", ["{", "a("]),
    ],
)
def test_each_field_has_a_line(query: str, lines: list[str]) -> None:
    assert formatted(query) == lines


def command(body: object) -> str:
    return f"curl -X POST -H 'Content-Type: application/json' -d '{json.dumps(body)}' http://a/graphql"


def test_variables_stand_apart() -> None:
    shown = query_of(command({"query": "query ($a: Int!) { b(a: $a) }", "variables": {"a": 1}}))
    assert shown == 'query ($a: Int!) {\n  b(a: $a)\n}\n{"a": 1}'


@pytest.mark.parametrize("body", [{"query": "shoes"}, {"query": 5}, ["query"], {"q": "{ a }"}])
def test_other_bodies_are_no_queries(body: object) -> None:
    assert query_of(command(body)) == ""


def test_long_queries_are_cut() -> None:
    fields = " ".join(f"a{number}" for number in range(90))
    assert query_of(command({"query": f"{{ {fields} }}"})).endswith("\n... (52 lines more)")


def test_a_block_shows_the_query_before_the_command() -> None:
    body = {"query": "{ a }", "variables": {}}
    parts = reproduction_paragraphs([command(body)], reproduced=True)
    assert parts[0] == "Query:"
    assert parts[1] == "    {\n      a\n    }"
    assert parts[2] == "Reproduce with:"
