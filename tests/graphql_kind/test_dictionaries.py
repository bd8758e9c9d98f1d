"""`<Type>.<field>.<argument>` names an argument, wherever values of users stand."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import checker
from checker.config.config import Config
from tests.graphql_kind.library import SDL

NAMES = ["Dune", "Solaris"]


def arguments(label: str, configured: dict[str, Any]) -> list[dict[str, Any]]:
    """Arguments of 30 valid cases of an operation."""
    kept = {"dictionaries": {"titles": {"values": NAMES}}, "parameters": configured}
    schema = checker.graphql.from_file(SDL, config=Config.from_dict(kept, environment={}))
    kind, _, field = label.partition(".")
    found = []

    @settings(
        max_examples=30,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=schema[kind][field].as_strategy())
    def keep(case: Any) -> None:
        found.append(case.body.get("arguments", {}))

    keep()
    return found


def test_a_value_is_forced() -> None:
    assert all(one["id"] == "7" for one in arguments("Query.book", {"Query.book.id": "7"}))


def test_a_dictionary_is_drawn_from_inside_of_an_input_object() -> None:
    drawn = arguments("Mutation.addBook", {"Mutation.addBook.book.title": {"dictionary": "titles"}})
    assert {one["book"]["title"] for one in drawn} == set(NAMES)


@pytest.mark.parametrize("key", ["Query.*.text", "*.search.text", "*.*.text"])
def test_a_star_stands_for_any_name(key: str) -> None:
    assert all(one["text"] == "x" for one in arguments("Query.search", {key: "x"}))


@pytest.mark.parametrize("key", ["Query.books.id", "Mutation.book.id", "Query.boo.id"])
def test_other_fields_keep_their_values(key: str) -> None:
    drawn = arguments("Query.book", {key: "7"})
    assert {one["id"] for one in drawn} - {"7"}
