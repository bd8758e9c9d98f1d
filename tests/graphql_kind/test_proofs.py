"""What is called wrong without asking graphql-core, graphql-core calls wrong, too; and it is asked of hardly any wrong query."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import GraphQLError, GraphQLSchema, OperationDefinitionNode, parse, validate
from graphql.execution.values import get_variable_values

from checker.core.meta import GenerationMode
from checker.graphql.referee import QueryReader
from checker.graphql.schema import GraphQLDescription
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import cases, opened, operations

CASES = 24
SCHEMA: GraphQLDescription = opened(SDL)
READER = QueryReader(SCHEMA.document.schema)
SPLICED = ["!", "[", "]", "}", ")", '""', "null", "-0", "1e999", "$x", "...", "on", "id", "@", "#", "__typename", "é", ":"]  # fmt: skip


def drawn(mode: GenerationMode) -> Iterator[tuple[str, dict[str, Any]]]:
    for operation in operations(SCHEMA):
        for _, request in cases(operation, mode, CASES):
            if request.body is not None:
                body = json.loads(request.body)
                yield body["query"], body["variables"]


def fault(query: str, variables: dict[str, Any]) -> str | None:
    """What is found to be wrong; None for a query that is not read."""
    found = READER.read(query)
    return None if found is None else found.fault or found.fault_of(variables)


def complaint(schema: GraphQLSchema, query: str, variables: dict[str, Any]) -> str:
    """What graphql-core says."""
    try:
        document = parse(query)
    except (GraphQLError, IndexError) as error:
        return str(error)
    errors = validate(schema, document, max_errors=1)
    if errors:
        return errors[0].message
    operation = document.definitions[0]
    assert isinstance(operation, OperationDefinitionNode)
    found = get_variable_values(schema, operation.variable_definitions or (), variables)
    return found[0].message if isinstance(found, list) else ""


def test_every_wrong_query_that_is_drawn_is_proved() -> None:
    wrong = list(drawn(GenerationMode.NEGATIVE))
    assert len(wrong) >= 5 * CASES
    unproved = [query for query, variables in wrong if not fault(query, variables)]
    assert unproved == []
    unsound = [one for one in wrong[::3] if not complaint(SCHEMA.document.schema, *one)]
    assert unsound == []


def test_no_valid_query_is_called_wrong() -> None:
    assert {fault(*one) for one in drawn(GenerationMode.POSITIVE)} == {""}


@pytest.mark.parametrize("mode", GenerationMode)
def test_what_is_called_wrong_in_damaged_queries_is_wrong(mode: GenerationMode) -> None:
    chance = random.Random(f"damage {mode}")
    called = 0
    for query, variables in list(drawn(mode))[::4]:
        for _ in range(8):
            damaged = damage(query, chance)
            if fault(damaged, variables):
                called += 1
                assert complaint(SCHEMA.document.schema, damaged, variables), damaged
    assert called >= 15


def damage(query: str, chance: random.Random) -> str:
    """The text with one of its words lost, doubled, exchanged or put beside another."""
    words = query.split(" ")
    place, other = chance.randrange(len(words)), chance.randrange(len(words))
    match chance.randrange(4):
        case 0:
            del words[place]
        case 1:
            words[place], words[other] = words[other], words[place]
        case 2:
            words[place] = chance.choice(SPLICED)
        case _:
            words.insert(place, chance.choice([*SPLICED, words[other]]))
    return " ".join(words)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("{ old x }", "`Query` has no field `x`"),
        ("{ book { id } }", "`book` needs its argument `id`"),
        ('{ book(id: "1") }', "of `book` no fields are selected, which a `Book` needs"),
        ('{ book(id: "1") { title { id } } }', "`title` is a `String`, which has no fields"),
        ('{ book(id: "1", x: 1) { id } }', "`book` has no argument `x`"),
        ("{ books(limit: [1]) { id } }", "argument `limit` is [1], which is no `Int`"),
        ("{ books(page: {after: {limit: 1.5}}) { id } }", "argument `page` at `after.limit` is 1.5, which is no `Int`"),
        ("{ books(page: {x: 1}) { id } }", "argument `page` has a member `x`, which `Page` has not"),
        ('{ search(text: "a", way: {}) { __typename } }', "argument `way` has to give exactly one member of `Way`, and not null"),
        ("mutation { addBook(book: {genre: NOVEL}) { id } }", "argument `book` lacks `title`, which `NewBook` requires"),
        ('{ node(id: "1") { id ... on Book { nam } } }', "`Book` has no field `nam`"),
        ("query ($n: Int!) { books(limit: $n) { id } }", "variable `$n` of type `Int!` is required, and not given"),
        ("query ($p: Page) { books(page: $p) { id } }", 'variable `$p` at `offset` is "4", which is no `Int`'),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place(query: str, says: str) -> None:
    given = {"p": {"offset": "4"}}
    assert fault(query, given) == says
    assert complaint(SCHEMA.document.schema, query, given)


@pytest.mark.parametrize(
    "query",
    [
        '{ search(text: """a""") { x } }',
        "{ ...f } fragment f on Query { x }",
        "{ old @skip(if: true) x }",
        "query ($n: Int = 1.5) { books(limit: $n) { x } }",
        "subscription { x }",
        "{ old } # x",
        "{ books(page: {limit: $n}) { x } }",
        "{" * 100,
    ],
)
def test_of_what_is_not_understood_nothing_is_said(query: str) -> None:
    assert fault(query, {}) is None


def test_what_no_number_is_makes_no_trouble() -> None:
    query = "query ($n: Int) { books(limit: $n) { id } }"
    assert fault(query, {"n": float("inf")}) == "variable `$n` is Infinity, which is no `Int`"
    assert fault(query, {"n": float("nan")}) == "variable `$n` is NaN, which is no `Int`"
