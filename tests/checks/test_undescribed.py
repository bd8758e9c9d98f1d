"""Refusals of valid requests for reasons that schemas cannot state."""

import json
from typing import Any

import pytest

from checker.core.meta import Binding
from checker.core.operation import Label, Location
from tests.checks.asked import POSITIVE, Exchanges, operations_of

CHECK = "positive_data_acceptance"
TEXT = {"type": "string"}
FORM = "application/x-www-form-urlencoded"
ANSWERS = {status: {"description": status} for status in ("200", "422")}
PROPERTIES = {
    "start": TEXT,
    "end": TEXT,
    "endDate": TEXT,
    "title": TEXT,
    "image": {"type": "string", "description": "Do not use it together with `title`. A picture."},
}
BODY = {"schema": {"type": "object", "properties": PROPERTIES}}
QUERY = [
    {"name": "format", "in": "query", "schema": TEXT},
    {"name": "page", "in": "query", "schema": TEXT, "description": "Cannot be combined with cursor_id"},
    {"name": "cursor_id", "in": "query", "schema": TEXT},
    {"name": "before", "in": "query", "schema": {"type": "string", "minLength": 1}},
]
ID = {"name": "id", "in": "path", "required": True, "schema": TEXT}
KIND = {**ID, "schema": {"enum": ["a", "b"]}}
CONTENT = {"requestBody": {"content": {"application/json": BODY, FORM: BODY}}}
PATHS: dict[str, Any] = {
    "/things": {
        "get": {
            "description": "Give either before or format. Nothing else.",
            "parameters": QUERY,
            "responses": ANSWERS,
        },
        "post": {**CONTENT, "responses": ANSWERS},
    },
    "/things/{id}": {"patch": {"parameters": [ID], **CONTENT, "responses": ANSWERS}},
    "/kinds/{id}": {"get": {"parameters": [KIND], "responses": ANSWERS}},
    "/games": {
        "post": {
            "requestBody": {
                "content": {
                    "application/json": {"schema": {"type": "object", "properties": {"kickoff": TEXT, "whistle": TEXT}}}
                }
            },
            "responses": ANSWERS,
        }
    },
    "/texts/{id}": {"get": {"parameters": [ID], "responses": {"200": {"description": "fine"}}}},
}


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of(PATHS))


def is_reported(them: Exchanges, label: str, status: int = 422, text: str = "Nope", **parts: Any) -> bool:
    sent = them.sent(label, status, answer=text.encode(), mode=POSITIVE, **parts)
    verdict = them.verdict(CHECK, sent)
    assert bool(verdict.failures) is not bool(verdict.unjudged)
    return bool(verdict.failures)


@pytest.mark.parametrize(
    ("query", "is_told"),
    [
        ({"page": "1", "cursor_id": "2"}, False),
        ({"before": "1", "format": "2"}, False),
        ({"page": "1", "format": "2"}, True),
        ({"cursor_id": "2"}, True),
        ({"format": ""}, False),
    ],
)
def test_parameters_that_prose_calls_exclusive_and_empty_texts_may_be_refused(
    exchanges: Exchanges, query: dict[str, str], is_told: bool
) -> None:
    assert is_reported(exchanges, "GET /things", query=query) is is_told


@pytest.mark.parametrize(
    ("query", "text", "is_told"),
    [
        ({"format": "", "page": "60"}, "page must be <= 50", True),
        ({"format": "", "page": "60"}, '{"loc": ["query", "page"], "msg": "too large"}', True),
        ({"format": "", "page": "60"}, "format must be csv", False),
        ({"format": "", "page": "60"}, '{"field": "format"}', False),
        ({"format": "", "page": "60"}, "Not a valid value", False),
    ],
)
def test_an_empty_text_excuses_no_refusal_of_another_parameter(
    exchanges: Exchanges, query: dict[str, str], text: str, *, is_told: bool
) -> None:
    assert is_reported(exchanges, "GET /things", 400, text, query=query) is is_told


@pytest.mark.parametrize(
    ("body", "text", "is_told"),
    [
        ({"image": "a", "title": "b"}, "Nope", False),
        ({"image": "a", "start": "b"}, "Nope", True),
        ({"end": "1"}, "end must be after start", False),
        ({"endDate": "1"}, "The end date may not be before the start", False),
        ({"end": "1"}, "end must be at most 5", True),
        ({"title": "1"}, "the title must match ^x$", True),
        ({"title": ""}, "Nope", True),
        ({"end": "1"}, "start and end must not be equal.", False),
        ({"end": "1"}, "Start and end do not match", False),
        ({"end": "1"}, "title must be between start and end", False),
        ({"end": "1"}, "end (2026-01-01) precedes start (2026-02-02)", False),
        ({"end": "1"}, "title of start must be less than 50 characters", True),
        ({"end": "1"}, "start and end must be between 1 and 100", True),
        ({"end": "1"}, "the start of title must match ^x$", True),
        ({"end": "1"}, "start must be greater than 5 for end", True),
    ],
)
def test_properties_that_prose_calls_exclusive_or_a_response_compares_may_be_refused(
    exchanges: Exchanges, body: dict[str, str], text: str, is_told: bool
) -> None:
    parts: dict[str, Any] = {"media_type": "application/json", "body": body}
    assert is_reported(exchanges, "POST /things", text=text, **parts) is is_told


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("start time must be before end time", False),
        ("The end cannot be earlier than the start", False),
        ("the kickoff must have more than 5 characters", True),
        ("the kickoff is not a word", True),
    ],
)
def test_a_refusal_that_compares_may_mean_the_only_two_properties(
    exchanges: Exchanges, text: str, *, is_told: bool
) -> None:
    parts: dict[str, Any] = {"media_type": "application/json", "body": {"kickoff": "a", "whistle": "b"}}
    assert is_reported(exchanges, "POST /games", text=text, **parts) is is_told


def test_an_empty_text_of_a_form_may_be_refused(exchanges: Exchanges) -> None:
    assert not is_reported(exchanges, "POST /things", media_type=FORM, body={"title": ""})


@pytest.mark.parametrize(
    ("label", "text", "bound", "is_told"),
    [
        ("PATCH /things/{id}", "malformed", (), False),
        ("PATCH /things/{id}", "id must be a hash", (), False),
        ("PATCH /things/{id}", "title is too long", (), True),
        ("PATCH /things/{id}", "malformed", ("id",), True),
        ("PATCH /things/{id}", "Collection ID is not a valid UUIDv4", ("id",), False),
        ("PATCH /things/{id}", "title is not a valid UUID", ("id",), True),
        ("GET /kinds/{id}", "malformed", (), True),
        ("GET /texts/{id}", "malformed", (), True),
    ],
)
def test_a_described_refusal_of_an_invented_identifier_means_404(
    exchanges: Exchanges, label: str, text: str, bound: tuple[str, ...], is_told: bool
) -> None:
    given = tuple(Binding(Location.PATH, name, Label("POST /things"), "/id", 0, "a") for name in bound)
    body = {"media_type": "application/json", "body": {"title": "a"}} if label.startswith("PATCH") else {}
    parts: dict[str, Any] = {"path_parameters": {"id": "a"}, "bindings": given, **body}
    assert is_reported(exchanges, label, text=text, **parts) is is_told


@pytest.mark.parametrize(
    ("answer", "is_told"),
    [
        ({"detail": [{"loc": ["body", "title"], "msg": "String should have at most 10 characters"}]}, True),
        ({"detail": [{"loc": ["path", "id"], "msg": "Input should be a valid integer"}]}, False),
        ({"errors": [{"field": "title", "message": "is too long"}]}, True),
        ({"errors": [{"source": {"pointer": "/data/attributes/end-date"}, "detail": "is too long"}]}, True),
        ({"errors": {"title": ["is too long"]}}, True),
        ({"errors": {"title": "is too long"}}, True),
        ({"detail": "is too long", "status": "title"}, False),
        ({"title": "Bad Request", "path": "/v1/things/a", "message": ["is too long"]}, False),
        ({"error": {"type": "path", "path": "id", "msg": "is no hash"}}, False),
    ],
)
def test_a_refusal_that_points_to_another_place_is_not_about_the_identifier(
    exchanges: Exchanges, answer: Any, *, is_told: bool
) -> None:
    parts: dict[str, Any] = {"media_type": "application/json", "body": {"title": "a"}, "path_parameters": {"id": "a"}}
    assert is_reported(exchanges, "PATCH /things/{id}", text=json.dumps(answer), **parts) is is_told


@pytest.mark.parametrize(
    ("status", "text", "is_told"),
    [
        (422, "OPENAI_API_KEY is not set", False),
        (422, "Invalid API key for the weather service", False),
        (422, "No SMTP server is not configured", False),
        (426, "Upgrade Required", False),
        (423, "Concurrency limit is full", False),
        (422, "key is too long", True),
    ],
)
def test_a_service_without_its_own_settings_refuses_no_data(
    exchanges: Exchanges, status: int, text: str, is_told: bool
) -> None:
    body: dict[str, Any] = {"media_type": "application/json", "body": {"title": "a"}}
    assert is_reported(exchanges, "POST /things", status, text, **body) is is_told


def test_a_status_of_an_unsupported_method_refuses_no_data(exchanges: Exchanges) -> None:
    sent = exchanges.sent("GET /things", 501, mode=POSITIVE)
    assert exchanges.failures(CHECK, sent) == []


@pytest.mark.parametrize(("statuses", "is_told"), [([], True), (["501"], False), (["4XX"], True)])
def test_an_undocumented_status_may_be_expected(exchanges: Exchanges, statuses: list[str], is_told: bool) -> None:
    sent = exchanges.sent("GET /things", 501, mode=POSITIVE)
    found = exchanges.failures("status_code_conformance", sent, **{"expected-statuses": statuses})
    assert bool(found) is is_told


def test_an_empty_text_that_is_accepted_is_not_judged(exchanges: Exchanges) -> None:
    sent = exchanges.sent("GET /things", 200, query={"before": ""})
    verdict = exchanges.verdict("negative_data_rejection", sent)
    assert verdict.failures == ()
    assert "empty" in verdict.unjudged[0]
