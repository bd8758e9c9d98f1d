"""The `Location` of a created resource, followed where no other check follows it."""

from pathlib import Path

import pytest

from checker.core.response import Response
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.apps.stock import DOCUMENT, Stock
from tests.checks.asked import POSITIVE, Exchanges, operations_of
from tests.e2e.runner import Command

NAME = "location_conformance"
OK = {"responses": {"200": {"description": ""}}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
PATHS = {"/cars": {"post": OK}, "/cars/{id}": {"parameters": [ID], "get": OK, "delete": OK}, "/jobs": {"post": OK}}


@pytest.mark.parametrize("planted", ["location", "nothing"])
def test_a_location_that_leads_nowhere_is_found(tmp_path: Path, planted: str) -> None:
    with serving(Stock(planted), DOCUMENT) as app:
        chosen = ("--checks", NAME, "--include-path", "/items", "-n", "10")
        done = Command(tmp_path).run_as_usual(app.document_url, *chosen, inline=True)
        followed = {one.target.partition(b"?")[0] for one in app.seen} - {b"/items"}
    assert done.defects == ([("POST /items", NAME)] if planted == "location" else []), done.shown
    # A described member with its name in the body is read by sequences.
    assert bool(followed) is (planted == "location")


@pytest.mark.parametrize(
    ("location", "status", "asked", "is_told"),
    [
        ("/v1/car/7", 404, [b"/v1/car/7"] * 2, True),
        ("car/7?full=1", 410, [b"/v1/car/7?full=1"] * 2, True),
        ("http://127.0.0.1/v1/cars/8", 404, [b"/v1/cars/8"] * 2, True),
        ("http://localhost/v1/car/7", 404, [b"/v1/car/7"] * 2, True),
        ("/v1/car/7", 405, [b"/v1/car/7"], False),
        ("/v1/car/7", 403, [b"/v1/car/7"], False),
        # It is described, and its name stands in the body.
        ("/v1/cars/7", 404, [], False),
        # Another server, another port, no URL.
        ("http://cdn.example.com/7", 404, [], False),
        ("http://127.0.0.1:8080/v1/car/7", 404, [], False),
        ("http://[x", 404, [], False),
    ],
)
def test_a_location_is_followed_on_the_same_host(
    location: str, status: int, asked: list[bytes], *, is_told: bool
) -> None:
    them = Exchanges(operations_of(PATHS))
    sent = them.sent("POST /cars", 201, [("Location", location)], answer=b'{"id": "7"}', mode=POSITIVE)
    found = them.verdict(NAME, sent, answers=lambda _: Response(status, [], b""))
    assert [(one.method, one.target) for one in them.asked] == [("GET", target) for target in asked]
    assert bool(found.failures) is is_told


def test_a_location_that_is_found_at_the_second_try_is_no_failure() -> None:
    them, statuses = Exchanges(operations_of(PATHS)), iter([404, 200])
    sent = them.sent("POST /jobs", 202, [("Location", "/v1/jobs/7")], mode=POSITIVE)
    assert them.verdict(NAME, sent, answers=lambda _: Response(next(statuses), [], b"")).failures == ()


def test_a_creation_without_a_location_is_judged_beside_checks_that_send(tmp_path: Path) -> None:
    scheme = {"type": "http", "scheme": "bearer"}
    creation = {"security": [{"T": []}], "responses": {"201": {"description": ""}, "401": {"description": ""}}}
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Cars", "version": "1"},
        "components": {"securitySchemes": {"T": scheme}},
        "paths": {"/cars": {"post": creation}},
    }

    def answer(request: Request) -> Reply:
        has_token = request.headers.get("authorization") == "Bearer t"
        return json_reply({"id": 7}, 201) if has_token else json_reply({}, 401)

    with serving(answer, document) as app:
        given = ("-H", "Authorization: Bearer t", "--checks", f"{NAME},ignored_auth", "-n", "5")
        done = Command(tmp_path).run_as_usual(app.document_url, *given, inline=True)
    assert (done.code, done.defects) == (0, []), done.shown
