"""Refusals of valid data that are no fault of the description: of what is there, and of rules that it cannot say."""

from typing import Any

import pytest

from checker.core.meta import Binding
from checker.core.operation import Label, Location
from tests.checks.asked import POSITIVE, Exchanges, operations_of

CHECK = "positive_data_acceptance"
OK = {"200": {"description": "fine"}}
TEXT = {"type": "string"}
ID = {"name": "id", "in": "path", "required": True, "schema": TEXT}
QUERY = [
    {"name": name, "in": "query", "schema": TEXT}
    for name in ("page_token", "_token", "_limit", "created_from", "created_to", "name")
]
BODY = {"content": {"application/json": {"schema": {"type": "object"}}}}
PATHS: dict[str, Any] = {
    "/things": {"get": {"parameters": QUERY, "responses": OK}, "post": {"requestBody": BODY, "responses": OK}},
    "/things/{id}": {"put": {"parameters": [ID], "requestBody": BODY, "responses": OK}},
}


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of(PATHS))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b'{"email": ["user with this email already exists."]}', "already exists"),
        (b'{"doctor": ["Invalid pk \\"0\\" - object does not exist."]}', "does not exist"),
        (b'["Invalid hyperlink - Incorrect URL match."]', "Invalid hyperlink"),
        (b'{"detail": "Invalid IRI \\"https://0.com\\"."}', "Invalid IRI"),
        (b'{"detail": "No route matches \\"/cities/0\\"."}', "No route"),
        (b'{"non_field_errors": ["Cannot checkout with empty basket"]}', "empty basket"),
        (
            b'{"project": ["Select a valid choice. That choice is not one of the available choices."]}',
            "That choice is not",
        ),
        (b'{"errors": {"name": ["has already been taken"]}}', "already been taken"),
        (b'{"non_field_errors": ["The fields a, b must make a unique set."]}', "unique set"),
        (b'{"title": "Bad Request", "status": 400, "detail": "No such account"}', "No such"),
        (b'{"code": "unexpected_error", "message": "duplicate id"}', "duplicate id"),
        (b"User was not found", "not found"),
        (b'{"message": "Could not find defaultRole=0"}', "Could not find"),
        (b'{"message": "Unknown role 5"}', "Unknown role"),
        (b'{"title": "author_id unknown", "status": 400}', "author_id unknown"),
        (b'{"title": "isbn unknown"}', "isbn unknown"),
        (b'{"message": "There is no plan with this name"}', "no plan"),
        (b'{"message": "post is not published"}', "published"),
        (b'{"message": "The poll is closed."}', "closed"),
        (b'{"code": "InvalidParameterValue", "description": "job failed"}', "job failed"),
        (b'{"detail": "Cannot run in queue 0 because deployment 1 is not associated with a pool."}', "associated"),
        (b'{"message": "no such option"}', "no such"),
        (b'{"message": "amount is not the total of the order"}', "total"),
        (b'{"message": "Item does not belong to this cart"}', "belong"),
        (b'{"message": "Insufficient funds"}', "Insufficient"),
        (b'{"message": "Version 3 is not the latest version"}', "latest"),
        (b'{"message": "The document was modified by another user"}', "modified"),
        (b'{"message": "This slot was just taken"}', "just taken"),
        (b'{"message": "No seats left"}', "seats left"),
        (b'{"message": "You have reached the limit of 5 projects"}', "reached"),
        (b'{"message": "Payment is being processed"}', "processed"),
        (b'{"message": "Folder is not empty"}', "not empty"),
        (b'{"message": "There are no items in the cart"}', "no items"),
        (b'{"message": "Email address not verified"}', "verified"),
        (b'{"message": "No active subscription"}', "No active"),
        (b'{"message": "Only drafts can be edited"}', "drafts"),
        (b'{"message": "Bid must be higher than the current bid"}', "current"),
        (b'{"message": "You must first accept the terms"}', "must first"),
        (b'{"message": "Collection expecting embedding with dimension of 3, got 2"}', "dimension of 3"),
        (b'{"error": "Embedding dimension 2 does not match collection dimensionality 3"}', "dimensionality"),
        (b'{"error": "Vector dimension error: expected dim: 4, got 3"}', "expected dim"),
        (
            b"<html><title>Maps Exception</title><li>Contact us here</li><h2>Exception</h2>\n<p>collection <b>x</b> not found</p>"
            b"<p>Powered by Maps 1.0</p></html>",
            "not found",
        ),
    ],
)
def test_what_is_there_or_not_is_said_by_other_statuses_as_well(
    exchanges: Exchanges, answer: bytes, reason: str
) -> None:
    sent = exchanges.sent("POST /things", 400, answer=answer, mode=POSITIVE, body={"name": "n"})
    verdict = exchanges.verdict(CHECK, sent)
    assert verdict.failures == ()
    (told,) = verdict.unjudged
    assert reason in told


@pytest.mark.parametrize("status", [400, 406, 422])
def test_statuses_of_refused_data_may_be_about_a_state(exchanges: Exchanges, status: int) -> None:
    sent = exchanges.sent("POST /things", status, answer=b"Cannot checkout with empty basket", mode=POSITIVE, body={})
    assert exchanges.verdict(CHECK, sent).failures == ()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b'{"name": ["user with this name already exists."], "email": ["Enter a valid email."]}',
        b'{"message": "Property name not found"}',
        b'{"tags": ["All items must be unique"]}',
        b'{"detail": "Bad Request"}',
        b'{"detail": "name must not be empty"}',
        b'{"detail": "Unknown value for color"}',
        b'{"detail": "An unknown error occurred"}',
        b'{"detail": "Type unknown"}',
        b'{"detail": "name is over 100 characters"}',
        b"the string is not closed",
        b"The name cannot start with a digit",
        b"The category field is empty",
        b"<html><li>Item not found? Write to us</li><h1>Exception</h1><p>name must not be empty</p></html>",
    ],
)
def test_any_other_reason_is_a_refusal_of_data(exchanges: Exchanges, answer: bytes) -> None:
    sent = exchanges.sent("POST /things", 400, answer=answer, mode=POSITIVE, body={"name": "n"})
    assert exchanges.verdict(CHECK, sent).failures


@pytest.mark.parametrize(
    ("query", "is_told"),
    [
        ({"page_token": "a"}, False),
        ({"_token": "a"}, False),
        ({"name": "a"}, True),
        ({"created_from": "2024-02-01", "created_to": "2024-01-31"}, False),
        ({"created_from": "2024-02-01", "created_to": "2024-02-01"}, False),
        ({"created_from": "2024-01-31", "created_to": "2024-02-01"}, True),
        ({"created_from": "2024-01-01T10:00:00Z", "created_to": "2024-01-01T10:00:00+02:00"}, False),
        ({"created_from": "2024-01-01T10:00:00Z", "created_to": "2024-01-01T10:00:00-02:00"}, True),
        ({"created_from": "b", "created_to": "a"}, True),
    ],
)
def test_marks_of_pages_and_ranges_have_rules_that_nobody_wrote(
    exchanges: Exchanges, query: dict[str, str], is_told: bool
) -> None:
    sent = exchanges.sent("GET /things", 400, mode=POSITIVE, query=query)
    assert bool(exchanges.verdict(CHECK, sent).failures) is is_told


def test_a_mark_that_an_answer_gave_is_to_be_taken(exchanges: Exchanges) -> None:
    given = Binding(Location.QUERY, "page_token", Label("GET /things"), "/next", 0, "a")
    sent = exchanges.sent("GET /things", 400, mode=POSITIVE, query={"page_token": "a"}, bindings=(given,))
    assert exchanges.verdict(CHECK, sent).failures


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        ({"stay": {"startDate": "2024-02-01", "endDate": "2024-01-01"}}, False),
        ({"stay": {"startDate": "2024-02-01", "endDate": "2024-03-01"}}, True),
        ({"lines": [{"min_price": 3, "max_price": 2.5}]}, False),
        ({"min_price": 3, "max_weight": 2.5}, True),
        ({"opens_from": "10:00", "opens_to": "09:00:00"}, False),
        ({"from": "x", "to": "x"}, False),
        ({"from": "x", "to": "y"}, True),
        ({"source_account": 4, "target_account": 4}, False),
        ({"counts": [2**63]}, False),
        ({"counts": [2**63 - 1, -(2**63)]}, True),
    ],
)
def test_members_of_bodies_have_such_rules_as_well(exchanges: Exchanges, body: dict[str, Any], is_told: bool) -> None:
    sent = exchanges.sent("POST /things", 422, mode=POSITIVE, body=body)
    assert bool(exchanges.verdict(CHECK, sent).failures) is is_told


@pytest.mark.parametrize(("named", "is_told"), [("a", True), ("b", False)])
def test_a_body_may_have_to_be_about_what_the_path_names(exchanges: Exchanges, named: str, is_told: bool) -> None:
    sent = exchanges.sent("PUT /things/{id}", 400, mode=POSITIVE, path_parameters={"id": "a"}, body={"id": named})
    assert bool(exchanges.verdict(CHECK, sent).failures) is is_told
