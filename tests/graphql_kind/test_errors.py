"""Whose fault an error is, in the words of each server."""

from typing import Any

import pytest

from checker.core.contract import Blame
from checker.graphql.errors import complaint_of
from tests.apps.graphql.recorded import RECORDED


@pytest.mark.parametrize(("server", "blame", "answer"), RECORDED)
def test_each_server_is_understood(server: str, blame: Blame, answer: dict[str, Any]) -> None:
    complaint = complaint_of(answer)
    assert complaint is not None
    assert (server, blame) == (server, complaint.blame)


def test_every_server_has_its_word() -> None:
    named = {server for server, _, _ in RECORDED}
    assert named == {"Apollo", "graphql-java", "Hasura", "graphene", "Strawberry", "Ariadne", "gqlgen", "Absinthe", "Rails"}  # fmt: skip


@pytest.mark.parametrize("answer", [{"data": {}}, {"data": None, "errors": []}, [], None, "text"])
def test_no_errors_are_no_complaint(answer: Any) -> None:
    assert complaint_of(answer) is None


@pytest.mark.parametrize(
    "errors", ["text", [None], [5], {"message": "x"}, [{"message": 5, "path": "x"}]]
)
def test_odd_errors_are_read_all_the_same(errors: Any) -> None:
    complaint = complaint_of({"errors": errors})
    assert complaint is not None
    assert complaint.message


def test_null_for_a_variable_is_the_fault_of_the_client() -> None:
    error = {"message": "Variable '$id' of non-null type 'ID!' must not be null."}
    complaint = complaint_of({"errors": [error], "data": None})
    assert complaint is not None
    assert complaint.blame is Blame.REFUSED
