"""Scalars: what users say of them, what their URLs say, and what is tried where nobody says anything."""

from collections.abc import Iterator
from typing import Any

import pytest
from graphql import GraphQLScalarType
from hypothesis import strategies as st

import checker
from checker.core.contract import Outcome
from checker.core.errors import IncorrectUsage
from checker.core.meta import GenerationMode
from checker.core.registry import FORMATS
from checker.core.schema import WarningKind
from checker.graphql import nodes, scalars
from checker.graphql.nodes import plain
from checker.graphql.scalars import is_malformed
from tests.graphql_kind.making import cases, opened, operations

POSITIVE = GenerationMode.POSITIVE


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    FORMATS.clear()


def values(text: str, count: int = 60) -> list[Any]:
    """Arguments `value` of the only query."""
    operation = next(operations(opened(text)))
    return [case.body["arguments"]["value"] for case, _ in cases(operation, POSITIVE, count)]


def test_texts_of_a_strategy_are_drawn_from_it() -> None:
    codes = st.integers(0, 9999).map("ABC-{:04d}".format)
    checker.graphql.scalar("Code", codes.map(checker.graphql.nodes.String))
    drawn = values("scalar Code type Query { a(value: Code!): Int }", 100)
    assert all(isinstance(one, str) and one.startswith("ABC-") for one in drawn)
    assert len(set(drawn)) > 40


def test_numbers_and_objects_of_a_strategy_are_taken() -> None:
    nodes = checker.graphql.nodes
    points = st.builds(
        lambda x, y: nodes.Object({"x": nodes.Int(x), "y": nodes.List([nodes.Float(y)])}),
        st.integers(0, 99),
        st.floats(0, 1),
    )
    checker.graphql.scalar("Point", points)
    drawn = values("scalar Point type Query { a(value: Point!): Int }")
    assert all(set(one) == {"x", "y"} and 0 <= one["x"] < 100 for one in drawn)
    assert all(isinstance(one["y"][0], float) for one in drawn)
    assert len({str(one) for one in drawn}) > 10


def test_plain_values_will_do() -> None:
    checker.graphql.scalar("Even", st.integers(0, 500).map(lambda one: 2 * one))
    assert all(one % 2 == 0 for one in values("scalar Even type Query { a(value: Even!): Int }"))


def test_nodes_are_what_they_say() -> None:
    nodes = checker.graphql.nodes
    made = nodes.List([nodes.Boolean(True), nodes.Enum("A"), nodes.Null(), nodes.String("x")])
    assert plain(made) == [True, "A", None, "x"]


@pytest.mark.parametrize(("name", "strategy"), [("a b", st.text()), (5, st.text()), ("A", "text")])
def test_what_is_no_scalar_is_refused(name: Any, strategy: Any) -> None:
    with pytest.raises(IncorrectUsage):
        checker.graphql.scalar(name, strategy)


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("https://tools.ietf.org/html/rfc4122", "UUID"),
        ("https://scalars.graphql.org/andimarek/date-time.html", "DateTime"),
        ("https://www.rfc-editor.org/rfc/rfc3986#section-3", "URI"),
    ],
)
def test_urls_of_specifications_are_understood(url: str, known: str) -> None:
    kind = GraphQLScalarType("Own", specified_by_url=url)
    assert scalars.schema_of(kind) == scalars.CUSTOM[known].schema
    assert not scalars.is_unknown(kind)
    assert scalars.is_unknown(GraphQLScalarType("Own", specified_by_url="https://example.com/own"))


def test_what_nobody_knows_is_tried_in_several_ways_and_told_where_it_has_to_be_given() -> None:
    schema = opened(
        "scalar Odd input In { x: Odd! } type Query { a(value: Odd!): Int b(value: Odd): Int c(in: In!): Int d(all: [Odd!]!): Int }"
    )
    first, second, third, fourth = operations(schema)
    kinds = {type(case.body["arguments"]["value"]) for case, _ in cases(first, POSITIVE, 80)}
    assert {str, int, dict} <= kinds
    (warning,) = first.warnings()
    assert warning.kind is WarningKind.UNKNOWN_SCALAR
    assert "`Odd`" in warning.message
    assert list(second.warnings()) == list(fourth.warnings()) == []
    assert "`in.x`" in next(iter(third.warnings())).message


KNOWN = [name for name in scalars.CUSTOM if name not in ("JSON", "Any")]


@pytest.mark.parametrize("name", KNOWN)
def test_known_scalars_are_malformed_where_no_server_could_read_them(name: str) -> None:
    operation = next(operations(opened(f"scalar {name} type Query {{ a(value: {name}!): Int }}")))
    for _, sent in cases(operation, POSITIVE, 40):
        assert operation.judge_request(sent).outcome is Outcome.AMBIGUOUS
    wrong = [
        part.reason
        for _, sent in cases(operation, GenerationMode.NEGATIVE, 60)
        for part in operation.judge_request(sent).invalid
    ]
    assert len(wrong) == 60
    assert any(f"{name} cannot represent" in reason for reason in wrong)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Date", 1700000000), ("DateTime", "2020-01-01"), ("DateTime", ""), ("UUID", "{00000000-0000-4000-8000-000000000000}"),
        ("IP", 5), ("Long", "12"), ("BigInt", True), ("Decimal", 1.5), ("URL", "a b"), ("JSONObject", []),
    ],
)  # fmt: skip
def test_what_some_server_reads_is_not_malformed(name: str, value: object) -> None:
    assert not is_malformed(GraphQLScalarType(name), value)


def test_what_a_user_describes_is_never_malformed() -> None:
    checker.graphql.scalar("Date", st.just(nodes.String("a day")))
    assert not is_malformed(GraphQLScalarType("Date"), "a day")
    operation = next(operations(opened("scalar Date type Query { a(value: Date!): Int }")))
    assert all(operation.judge_request(sent).outcome is Outcome.AMBIGUOUS for _, sent in cases(operation, POSITIVE, 20))
