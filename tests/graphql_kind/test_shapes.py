"""What data must look like follows from what was selected, whatever the arguments are."""

import pytest

from checker.core.contract import SchemaViolation
from checker.graphql.responses import Shapes
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import opened

SHAPES = Shapes(opened(SDL).document.schema)


def rules(query: str, data: object) -> list[str]:
    """What is wrong with data, by the kinds of promises."""
    shape = SHAPES.of(query)
    assert shape is not None
    wrong: list[SchemaViolation] = []
    shape.check(data, wrong)
    return [one.keyword for one in wrong]


@pytest.mark.parametrize(
    "query",
    [
        "query ($id: ID!) { book(id: $id) { title } }",
        '{ book(id: ")") { title } }',
        '{ book(id: "\\") {") { title } }',
        '{ book(id: """a " ) b""") { title } }',
        "{ book(id: 1) { title } }",
    ],
)
def test_arguments_change_no_shape(query: str) -> None:
    assert rules(query, {"book": {"title": "Dune"}}) == []
    assert rules(query, {"book": {"title": None}}) == ["non-null"]
    assert rules(query, {"book": {}}) == ["selected"]


def test_queries_that_differ_in_values_alone_share_a_shape() -> None:
    first, second = (SHAPES.of(f'{{ book(id: "{name}") {{ id }} }}') for name in "ab")
    assert first is second
    assert first is not SHAPES.of('{ other: book(id: "a") { id } }')


@pytest.mark.parametrize(
    "query", ["{ book(id: 1) { id @skip(if: true) } }", "{ book(id: 1) {", "{ nothing }", '{ book(id: "']
)
def test_what_cannot_be_read_has_no_shape(query: str) -> None:
    assert SHAPES.of(query) is None


@pytest.mark.parametrize(
    ("query", "names", "place"),
    [
        ("{ book(id: 1) { title } }", ["book", "title"], "Book.title"),
        ("{ b: book(id: 1) { t: title } }", ["b", "t"], "Book.title"),
        ("{ book(id: 1) { title } }", ["book"], "Query.book"),
        ("{ book(id: 1) { title } }", ["book", "title", "text"], ""),
        ("{ book(id: 1) { title } }", ["other"], ""),
        ("{ book(id: 1) { title } }", [], ""),
    ],
)
def test_a_place_of_an_answer_is_a_field_of_the_schema(query: str, names: list[str], place: str) -> None:
    shape = SHAPES.of(query)
    assert shape is not None
    assert shape.field_at(names) == place
