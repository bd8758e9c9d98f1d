"""The coverage phase asks for everything once: each field, each member of a union, each member of an enum."""

from typing import Any

import pytest

from checker.core.meta import Binding, GenerationMode
from checker.core.operation import Label
from checker.core.request import Location
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.settings import GenerationSettings
from checker.graphql.schema import GraphQLOperation
from checker.graphql.writing import ARGUMENTS, SELECTION
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import opened

POSITIVE = GenerationMode.POSITIVE
SCHEMA = opened(SDL)


def edges(label: str) -> list[dict[str, object]]:
    """Bodies of the valid cases that the phase lists."""
    operation = SCHEMA.find(label)
    assert isinstance(operation, GraphQLOperation)
    coverage = Coverage(POSITIVE, (), False)
    listed = OperationEdges(operation, GenerationSettings(mode=POSITIVE), coverage)
    bodies = [one.case(operation, "").body for one in listed.cases()]
    return [body for body in bodies if isinstance(body, dict)]


@pytest.mark.parametrize("label", ["Query.search", "Query.books", "Query.node"])
def test_each_field_below_is_selected_at_least_once(label: str) -> None:
    operation = SCHEMA.find(label)
    assert isinstance(operation, GraphQLOperation)
    selected = {name for body in edges(label) for name in body.get(SELECTION) or ()}  # type: ignore[attr-defined]
    assert selected >= operation.writer.places.keys()


def test_each_member_of_an_enum_is_sent_at_least_once() -> None:
    given = str([body.get(ARGUMENTS) for body in edges("Query.books")])
    assert all(f"'{name}'" in given for name in ("NOVEL", "ESSAY", "POEM"))


def arguments_of(label: str) -> list[Any]:
    """Arguments of the valid cases, where one thing is known and names are given anew."""
    operation = SCHEMA.find(label)
    assert isinstance(operation, GraphQLOperation)
    found = []
    settings = GenerationSettings(mode=POSITIVE)
    for number, one in enumerate(OperationEdges(operation, settings, Coverage(POSITIVE)).cases()):
        body = one.case(operation, "").body
        if one.renewal is not None:
            tuple(one.renewal.filled(body, _known, keeps_said=False, adds=True))
            body = one.renewal.renewed(body, f"token {number}")
        found.append(body.get(ARGUMENTS))
    return found


def _known(pointer: str) -> Binding:
    return Binding(Location.BODY, pointer, Label("Mutation.addBook"), "/id", 0, "known")


def test_most_cases_ask_for_things_that_are_there() -> None:
    ids = [given["id"] for given in arguments_of("Query.book")]
    assert ids.count("known") > len(ids) * 0.8
    # Those about the argument itself keep what they have.
    assert set(ids) > {"known"}


def test_what_cases_make_is_named_anew_where_a_field_makes_things() -> None:
    titles = [given["book"]["title"] for given in arguments_of("Mutation.addBook")]
    assert len(set(titles)) > len(titles) * 0.8
    texts = [given["text"] for given in arguments_of("Query.search")]
    assert len(set(texts)) < len(texts) * 0.8
