"""What is deleted takes nothing in: things that are created below it."""

from typing import Any

import pytest

from tests.checks.asked import Exchanges, operations_of
from tests.checks.test_resources import FREE, NOWHERE, OK, WITH_ID, created, member

PATHS: dict[str, Any] = {
    "/users": {"post": {"responses": OK}},
    "/users/{id}": dict.fromkeys(("get", "put", "delete"), WITH_ID),
    "/users/{id}/notes": {"post": WITH_ID},
    "/users/{id}/notes/{note}": {"get": {"responses": OK}},
    "/users/{id}/reports": {"post": WITH_ID},
}


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of(PATHS))


GONE, BELOW = "DELETE /users/{id}", "POST /users/{id}/notes"


def below(them: Exchanges, *steps: tuple[str, int], status: int = 404, **last: Any) -> list[str]:
    """Operations that are told, when steps follow on a creation, and the user is asked for at last."""
    before = [created(them), *(member(them, *step) for step in steps)]
    asked = member(them, "GET /users/{id}", status, **last)
    return [str(one.operation) for one in them.verdict(FREE, asked, before, lambda _: NOWHERE).failures]


def test_what_is_made_below_what_stays_deleted_is_a_failure_of_its_creation(exchanges: Exchanges) -> None:
    assert below(exchanges, (GONE, 204), (BELOW, 201)) == [BELOW]
    assert below(exchanges, (GONE, 204), ("GET /users/{id}", 404), (BELOW, 201), status=410) == [BELOW]


@pytest.mark.parametrize(
    "steps",
    [
        [(GONE, 204)],
        [(BELOW, 201)],
        [(BELOW, 201), (GONE, 204)],
        [(GONE, 202), (BELOW, 201)],
        [(GONE, 204), (BELOW, 404)],
        [(GONE, 204), (BELOW, 202)],
        [(GONE, 204), ("PUT /users/{id}", 201), (BELOW, 201)],
        [(GONE, 204), (BELOW, 201), (GONE, 204)],
        [(GONE, 204), ("POST /users/{id}/reports", 201)],
    ],
)
def test_what_may_have_been_there_when_something_was_made_below_it_proves_nothing(
    exchanges: Exchanges, steps: list[tuple[str, int]]
) -> None:
    assert below(exchanges, *steps) == []


def test_what_comes_back_by_what_is_made_below_it_is_there(exchanges: Exchanges) -> None:
    brought_back = below(exchanges, (GONE, 204), (BELOW, 201), status=200, answer=b"[]")
    assert BELOW not in brought_back
    assert below(exchanges, (GONE, 204), (BELOW, 201), value="8") == []


def test_an_action_on_what_was_deleted_may_have_restored_it(exchanges: Exchanges) -> None:
    shown = b'{"id": "7"}'
    assert below(exchanges, (GONE, 204), status=200, answer=shown) == [GONE]
    assert below(exchanges, (GONE, 204), ("POST /users/{id}/reports", 200), status=200, answer=shown) == []
