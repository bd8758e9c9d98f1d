"""A required header has to be missed."""

import pytest

from checker.checks.authentication import cause_of_open_operations
from checker.core.scenarios import Scenario
from tests.checks.asked import POSITIVE, Exchanges, operations_of

CHECK = "missing_required_header"
KEY = {"name": "X-Key", "in": "header", "required": True, "schema": {"type": "string"}}
MATCH = {"name": "If-Match", "in": "header", "required": True, "schema": {"type": "string"}}
LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
OK = {"200": {"description": "fine"}}
TOKEN = {"token": {"type": "http", "scheme": "bearer"}}
PATHS = {
    "/a": {"get": {"parameters": [KEY, LIMIT], "responses": OK}},
    "/a/{id}": {"get": {"parameters": [KEY, ID], "responses": OK}},
    "/conditional": {"patch": {"parameters": [KEY, MATCH], "responses": OK}},
    "/own": {"get": {"security": [{"token": []}], "responses": OK}},
    "/any": {"get": {"security": [{"token": []}, {}], "responses": OK}},
}


def exchanges(*headers: tuple[str, str]) -> Exchanges:
    return Exchanges(operations_of(PATHS, {"securitySchemes": TOKEN}), headers)


def without(name: str) -> dict[str, str | None]:
    return {"scenario": Scenario.MISSING_PARAMETER, "parameter": name, "parameter_location": "header"}


@pytest.mark.parametrize(
    ("status", "found"),
    [(200, ["x-key"]), (404, ["x-key"]), (500, ["x-key"]), (400, []), (401, []), (415, []), (422, [])],
)
def test_a_missing_header_has_to_be_refused(status: int, found: list[str]) -> None:
    them = exchanges()
    assert them.failures(CHECK, them.sent("GET /a", status, data=without("X-Key"))) == found


@pytest.mark.parametrize(("name", "found"), [("If-Match", []), ("X-Key", ["x-key"])])
def test_428_asks_for_a_condition_and_for_no_other_header(name: str, found: list[str]) -> None:
    them = exchanges()
    assert them.failures(CHECK, them.sent("PATCH /conditional", 428, data=without(name))) == found


def test_the_message_says_what_was_expected() -> None:
    them = exchanges()
    (failure,) = them.verdict(CHECK, them.sent("GET /a", 200, data=without("X-Key"))).failures
    assert (failure.title, failure.code) == ("Missing header not rejected", "ST203")
    wanted = "Got 200 when missing required 'X-Key' header, expected 400, 401, 403, 406, 415, 422"
    assert failure.message == wanted


def test_it_is_judged_in_every_phase_if_nothing_else_is_wrong() -> None:
    them = exchanges()
    assert them.failures(CHECK, them.sent("GET /a", 200, phase="fuzzing")) == ["x-key"]
    both = them.sent("GET /a", 200, phase="fuzzing", query={"limit": "x"})
    assert them.failures(CHECK, both) == []
    there = them.sent("GET /a", 200, phase="fuzzing", headers={"X-Key": "k"}, query={"limit": "x"})
    assert them.failures(CHECK, there) == []


def test_who_is_not_there_is_looked_for_first() -> None:
    them = exchanges()
    made_up = them.sent("GET /a/{id}", 404, data=without("X-Key"), path_parameters={"id": "1"})
    assert them.failures(CHECK, made_up) == []
    pinned = them.sent("GET /a/{id}", 404, data=without("X-Key"), path_parameters={"id": "1"}, pinned=("id",))
    assert them.failures(CHECK, pinned) == ["x-key"]


@pytest.mark.parametrize(
    ("label", "status", "found"),
    [
        ("GET /own", 200, ["authorization"]),
        ("GET /own", 403, ["authorization"]),
        ("GET /own", 401, []),
        ("GET /any", 200, []),
    ],
)
def test_credentials_have_an_answer_of_their_own(label: str, status: int, found: list[str]) -> None:
    them = exchanges()
    assert them.failures(CHECK, them.sent(label, status, data=without("Authorization"))) == found


def test_what_somebody_added_on_the_way_is_not_missing() -> None:
    them = exchanges(("X-Key", "given"), ("Authorization", "Bearer given"))
    assert them.failures(CHECK, them.sent("GET /a", 200, data=without("X-Key"))) == []
    assert them.failures(CHECK, them.sent("GET /own", 200, data=without("Authorization"))) == []


@pytest.mark.parametrize(
    ("label", "name", "status", "is_one"),
    [
        ("GET /own", "Authorization", 200, True),
        ("GET /own", "Authorization", 400, False),
        ("GET /a", "X-Key", 200, False),
    ],
)
def test_missing_credentials_that_are_served_have_the_cause_of_ignored_credentials(
    label: str, name: str, status: int, is_one: bool
) -> None:
    them = exchanges()
    (failure,) = them.verdict(CHECK, them.sent(label, status, data=without(name))).failures
    open_request = them.sent("GET /own", 200, mode=POSITIVE, phase="fuzzing")
    assert open_request.request is not None
    open_request.request.is_probed = True
    (ignored,) = them.verdict("ignored_auth", open_request).failures
    assert ignored.cause("GET /own") == cause_of_open_operations()
    assert (failure.cause(label) == ignored.cause("GET /own")) is is_one
