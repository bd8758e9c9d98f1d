"""A list that still shows what was deleted."""

import json
from typing import Any

import pytest

from checker.core.response import Response
from tests.checks.asked import Exchanges, Sent, operations_of
from tests.checks.test_resources import FREE, NOWHERE, OK, WITH_ID, member

PATHS: dict[str, Any] = {
    "/users": {"post": {"responses": OK}, "get": {"responses": OK}},
    "/users/{id}": dict.fromkeys(("get", "delete", "put"), WITH_ID),
    "/groups/1/users": {"get": {"responses": OK}},
    "/orders": {"get": {"responses": OK}},
}
GONE = ("DELETE /users/{id}", 204)


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of(PATHS))


def told(them: Exchanges, label: str, items: Any, *steps: tuple[str, int], found: Response = NOWHERE) -> list[str]:
    """Operations that are told, when a list is read after steps on user 77."""
    made = them.sent("POST /users", 201, [("Content-Type", "application/json")], answer=b'{"id": 77}')
    before: list[Sent] = [made, *(member(them, *step, value="77") for step in steps)]
    shown = them.sent(label, 200, [("Content-Type", "application/json")], answer=json.dumps(items).encode())
    return [str(one.operation) for one in them.verdict(FREE, shown, before, lambda _: found).failures]


@pytest.mark.parametrize("label", ["GET /users", "GET /groups/1/users"])
def test_a_list_of_the_collection_does_not_show_what_is_gone(exchanges: Exchanges, label: str) -> None:
    assert told(exchanges, label, [{"id": 5}, {"id": 77}], GONE) == [GONE[0]]


@pytest.mark.parametrize(
    ("label", "items", "steps"),
    [
        ("GET /users", [{"id": 5}], [GONE]),
        ("GET /users", [{"id": 77}], []),
        ("GET /users", [{"id": 77, "deleted": True}], [GONE]),
        ("GET /users", [{"id": 77}], [("DELETE /users/{id}", 404)]),
        ("GET /users", [{"id": 77}], [GONE, ("PUT /users/{id}", 201)]),
        ("GET /orders", [{"id": 77}], [GONE]),
    ],
)
def test_another_list_or_a_resource_that_is_there_is_no_failure(
    exchanges: Exchanges, label: str, items: Any, steps: list[tuple[str, int]]
) -> None:
    assert told(exchanges, label, items, *steps) == []


def test_a_resource_that_can_still_be_read_is_judged_there(exchanges: Exchanges) -> None:
    assert told(exchanges, "GET /users", [{"id": 77}], GONE, found=Response(200, [], b"{}")) == []
