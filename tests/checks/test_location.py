"""The `Location` of a created resource, followed where no other check follows it."""

from pathlib import Path

import pytest

from checker.checks.judge import lasts
from checker.core.meta import Binding
from checker.core.operation import Label, Location
from checker.core.response import Response
from checker.core.send import drive
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.apps.stock import DOCUMENT, Stock
from tests.checks.asked import POSITIVE, Exchanges, Sent, operations_of
from tests.e2e.runner import Command

NAME = "location_conformance"
OK = {"responses": {"200": {"description": ""}}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
PATHS = {
    "/cars": {"post": OK},
    "/cars/{id}": {"parameters": [ID], "get": OK, "delete": OK},
    "/returns/{id}": {"parameters": [ID], "get": OK},
    "/jobs": {"post": OK},
}


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
    confirming(sent)
    found = them.verdict(NAME, sent, answers=lambda _: Response(status, [], b""))
    assert [(one.method, one.target) for one in them.asked] == [("GET", target) for target in asked]
    assert bool(found.failures) is is_told


def confirming(sent: Sent) -> None:
    assert sent.request is not None
    sent.request.confirms = NAME


def test_a_location_that_a_described_read_covers_is_not_followed() -> None:
    them = Exchanges(operations_of(PATHS))
    sent = them.sent("POST /cars", 201, [("Location", "/v1/cars/7")], answer=b'{"id": "7"}', mode=POSITIVE)
    assert them.verdict(NAME, sent, answers=lambda _: Response(404, [], b"")).failures == ()
    assert them.asked == []


@pytest.mark.parametrize("second", [404, 200])
def test_only_an_investigation_waits_for_a_location(second: int) -> None:
    them, statuses = Exchanges(operations_of(PATHS)), iter([404, second])
    sent = them.sent("POST /jobs", 201, [("Location", "/v1/returns/8")], answer=b"{}", mode=POSITIVE)
    (failure,) = them.verdict(NAME, sent, answers=lambda _: Response(404, [], b"")).failures
    assert [one.delay_s for one in them.asked] == [0.0]
    assert failure.shown_by is not None
    assert failure.shown_by[0].delay_s > 0
    judged = drive(lasts(failure), lambda _: Response(second, [], b""))
    assert judged is (second == 404)
    confirming(sent)
    again = them.verdict(NAME, sent, answers=lambda _: Response(next(statuses), [], b"")).failures
    assert bool(again) is (second == 404)


def test_fuzz_reads_the_location_at_the_end_of_a_sequence_at_once() -> None:
    them = Exchanges(operations_of(PATHS))
    bound = (Binding(Location.BODY, "owner", Label("POST /owners"), "/id", 0, "1"),)
    place = [("Location", "/v1/cars/7")]
    for phase, is_told in (("exploration", True), ("stateful", False)):
        sent = them.sent("POST /cars", 201, place, answer=b'{"id": "7"}', mode=POSITIVE, phase=phase, bindings=bound)
        assert bool(them.verdict(NAME, sent, answers=lambda _: Response(404, [], b"")).failures) is is_told


@pytest.mark.parametrize(
    ("location", "is_certain"), [("/v1/returns/8", True), ("/v1/cars/8", False), ("/v1/other/8", False)]
)
def test_what_no_request_can_remove_is_missing_for_certain(location: str, *, is_certain: bool) -> None:
    them = Exchanges(operations_of(PATHS))
    sent = them.sent("POST /jobs", 201, [("Location", location)], answer=b"{}", mode=POSITIVE)
    (failure,) = them.verdict(NAME, sent, answers=lambda _: Response(404, [], b"")).failures
    assert failure.is_repeated is is_certain


@pytest.mark.parametrize("location", ["/returns/8", "/cars/8"])
def test_what_an_operation_does_once_is_reported_if_it_is_certain(tmp_path: Path, location: str) -> None:
    made: list[Request] = []

    def answer(request: Request) -> Reply:
        if request.method == "POST" and not made:
            made.append(request)
            return Reply(201, "application/json", b"{}", (("Location", location),))
        return json_reply({}, 409 if request.method == "POST" else 404)

    described = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": PATHS}
    with serving(answer, described) as app:
        chosen = ("--checks", NAME, "--include-path", "/jobs", "-n", "10")
        done = Command(tmp_path).run_as_usual(app.document_url, *chosen, inline=True)
    assert done.defects == ([("POST /jobs", NAME)] if "returns" in location else []), done.shown


def test_a_location_that_is_found_at_the_second_try_is_no_failure() -> None:
    them, statuses = Exchanges(operations_of(PATHS)), iter([404, 200])
    sent = them.sent("POST /jobs", 202, [("Location", "/v1/jobs/7")], mode=POSITIVE)
    confirming(sent)
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
