"""Positive queries are valid, negative ones wrong: graphql-core says so of the final bytes."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from checker.core.contract import Outcome
from checker.core.meta import GenerationMode
from checker.graphql.schema import GraphQLOperation
from checker.kinds.sources import DIRECT, FileSource
from checker.kinds.table import open_description
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import MAKER, cases, opened, operations

POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE


def verdicts(operation: GraphQLOperation, mode: GenerationMode, count: int) -> set[Outcome]:
    return {operation.judge_request(sent).outcome for _, sent in cases(operation, mode, count)}


def of(label: str) -> GraphQLOperation:
    found = opened(SDL).find(label)
    assert isinstance(found, GraphQLOperation)
    return found


@pytest.mark.parametrize("operation", list(operations(opened(SDL))), ids=lambda one: str(one.label))
def test_positive_queries_are_valid(operation: GraphQLOperation) -> None:
    found = verdicts(operation, POSITIVE, 100)
    assert found
    assert Outcome.INVALID not in found


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("operation", list(operations(opened(SDL))), ids=lambda one: str(one.label))
def test_negative_queries_are_wrong(operation: GraphQLOperation) -> None:
    assert verdicts(operation, NEGATIVE, 100) == {Outcome.INVALID}


@pytest.mark.corpora
def test_queries_of_all_real_schemas_are_what_they_are_meant_to_be(corpora: Path) -> None:
    seen = 0
    for path in sorted((corpora / "graphql").iterdir()):
        schema = open_description(FileSource(path), DIRECT)
        for entry in list(schema.checked_entries())[::40]:
            operation: Any = schema.find(entry.label)
            assert Outcome.INVALID not in verdicts(operation, POSITIVE, 20), entry.label
            assert Outcome.VALID not in verdicts(operation, NEGATIVE, 10), entry.label
            seen += 1
    assert seen > 80


@cache
def reasons(label: str) -> tuple[str, ...]:
    """What graphql-core says of negative queries; its versions differ."""
    operation = of(label)
    judged = (operation.judge_request(sent) for _, sent in cases(operation, NEGATIVE, 600))
    return tuple(part.reason for verdict in judged for part in verdict.parts)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("label", "rule"),
    [
        ("Query.book", r"book\b.*\bid\b.*'ID!' is required"),
        ("Query.book", "Unknown argument '.*' on field 'Query.book'"),
        ("Query.book", "Cannot query field '.*' on type 'Book'"),
        ("Query.books", "limit.*Int cannot represent non 32-bit signed integer value: -?2147483"),
        ("Query.books", "does not exist in 'Genre' enum"),
        ("Query.books", "limit.*Int cannot represent non-integer"),
        ("Query.search", r"\$way.*[Ee]xactly one"),
        ("Query.search", r"\$text.*String cannot represent a non string"),
        ("Mutation.addBook", "Field 'title' of required type|required field 'title'"),
        ("Mutation.addBook", r"\$book.*type '.*!' not to be None"),
        ("Mutation.addBook", "is not defined by type 'NewBook'|'NewBook' not to include unknown field"),
    ],
)  # fmt: skip
def test_every_rule_is_broken(label: str, rule: str) -> None:
    assert any(re.search(rule, reason) for reason in reasons(label))


def test_a_negative_breaks_one_rule_alone() -> None:
    operation = of("Query.book")
    for case, sent in cases(operation, NEGATIVE, 200):
        assert len(operation.judge_request(sent).invalid) == 1
        assert case.meta is not None
        assert len(case.meta.broken) == 1


def query_of(label: str, body: Any) -> str:
    operation = of(label)
    text: str = json.loads(operation.writer(body))["query"]
    return text


def test_what_is_known_by_a_name_is_always_selected() -> None:
    assert query_of("Query.book", {"arguments": {"id": "1"}, "selection": ["title"]}) == (
        "query ($id: ID!) { book(id: $id) { id title } }"
    )


def test_values_may_stand_in_the_query() -> None:
    body = {"arguments": {"genres": ["NOVEL"], "page": {"limit": None}}, "literals": True}
    assert query_of("Query.books", body) == ("query { books(genres: [NOVEL], page: {limit: null}) { id } }")


def test_members_of_unions_stand_in_fragments_and_what_conflicts_has_an_alias() -> None:
    body = {"arguments": {"text": "a"}, "selection": ["[Book].name", "[Reader].name", "[Author].name"]}
    operation = of("Query.search")
    text = query_of("Query.search", body)
    assert "... on Book { name }" in text
    assert "... on Reader { Reader_name: name }" in text
    case = operation.bodies[0]
    assert case.is_wrong is not None
    assert not case.is_wrong(body)
    sent = operation.writer(body)
    request = MAKER.make(next(cases(operation, POSITIVE, 1))[0])
    request.body = sent
    assert operation.judge_request(request).outcome is Outcome.VALID


def test_made_up_arguments_are_there_each_time() -> None:
    operation = of("Query.book")
    body = {"arguments": {"id": "1"}, "selection": ["related.title"]}
    first, second = operation.writer(body), operation.writer(body)
    assert first == second


def test_arguments_below_the_root_field_are_drawn_or_made_up() -> None:
    assert 'related(by: {id: "0"})' in query_of(
        "Query.book", {"arguments": {"id": "1"}, "selection": ["related.title"]}
    )
    body = {"arguments": {"id": "1"}, "nested": {"author.books": {"first": 7}}}
    assert json.loads(of("Query.book").writer(body))["variables"]["books_first"] == 7


DENSE = "\n".join(
    f"type T{number} {{ {' '.join(f'f{other}: T{(number * 7 + other) % 300}' for other in range(20))} id: ID! }}"
    for number in range(300)
)


@pytest.mark.thorough
def test_dense_schemas_cost_little() -> None:
    schema = opened(DENSE + "\ntype Query { start: T0 }")
    operation: Any = schema.find("Query.start")
    assert operation is not None
    assert 256 <= len(operation.writer.places) < 600
    for _, sent in cases(operation, POSITIVE, 50):
        assert sent.body is not None
        assert len(sent.body) < 20_000
        assert operation.judge_request(sent).outcome is Outcome.VALID


def test_types_within_themselves_end() -> None:
    schema = opened("type Query { me: Person }  type Person { me: Person  friends: [Person] }")
    operation: Any = schema.find("Query.me")
    assert operation is not None
    assert verdicts(operation, POSITIVE, 20) == {Outcome.VALID}
    assert verdicts(operation, NEGATIVE, 20) == {Outcome.INVALID}
