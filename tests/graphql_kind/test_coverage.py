"""The coverage phase asks for everything once: each field, each member of a union, each member of an enum."""

import pytest

from checker.core.meta import GenerationMode
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.normalization.store import FormStore
from checker.generation.settings import GenerationSettings
from checker.graphql.operation import GraphQLOperation
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
    listed = OperationEdges(
        operation, GenerationSettings(mode=POSITIVE), coverage, store=FormStore()
    )
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
