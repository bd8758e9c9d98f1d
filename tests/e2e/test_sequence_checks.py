"""Checks that look at earlier requests, or send some of their own, against real servers."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.apps.chain import DOCUMENT, Parcels
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.apps.unchecked import DOCUMENT as UNCHECKED
from tests.apps.unchecked import TOKEN, Orders
from tests.cassettes import interactions_of
from tests.e2e.runner import UNHURRIED_S, Command

LIMITS = ("--seed", "1", "--workers", "1")


class Lingering(Parcels):
    """Says that a parcel is deleted, and keeps it."""

    def _member(self, method: str, tracking: str) -> Reply:
        if method == "DELETE" and tracking in self.stored:
            return Reply(204)
        return super()._member(method, tracking)


def test_what_lingers_after_its_deletion_is_the_fault_of_the_deletion(tmp_path: Path) -> None:
    command = Command(tmp_path)
    with serving(Lingering(is_planted=False), DOCUMENT) as app:
        ran = command.here("fuzz", app.document_url, "--checks", "use_after_free", *LIMITS)
    assert ran.defects == [("DELETE /parcels/{shipment}", "use_after_free")], ran.shown
    (finding,) = ran.findings
    assert finding.title == "Use after free"
    # What came before depends on what `fuzz` had met by then: a resource that it made, or one that it knew.
    assert "DELETE /parcels/{shipment}" in [step.label for step in finding.steps[:-1]]
    assert finding.investigation.reproduction.count("curl") == len(finding.steps)


SECURED: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Safe", "version": "1"},
    "security": [{"token": []}],
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "paths": {
        f"/{name}": {
            "get": {
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "integer"}}],
                "responses": {"200": {"description": "fine"}, "401": {"description": "no"}},
            }
        }
        for name in ("right", "open", "any")
    },
}


class Safe:
    """Asks for a token; one path does not look at it, one takes any."""

    def __init__(self, *, is_planted: bool) -> None:
        self.is_planted = is_planted
        self.strangers: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        token = request.headers.get("authorization", "")
        if token == "Bearer right":
            return json_reply({})
        self.strangers[path] += 1
        is_open = path == "/open" or (path == "/any" and token.startswith("Bearer "))
        return json_reply({}, 200 if self.is_planted and is_open else 401)


@pytest.mark.parametrize("is_planted", [True, False])
def test_a_missing_authentication_check_is_found_with_two_requests_for_each_operation(
    command: Command, *, is_planted: bool
) -> None:
    safe = Safe(is_planted=is_planted)
    with serving(safe, SECURED) as app:
        header = ("-H", "Authorization: Bearer right", "-n", "30")
        ran = command.run_as_usual(app.document_url, *header, "--checks", "ignored_auth", inline=True)
    expected = [("GET /any", "ignored_auth"), ("GET /open", "ignored_auth")]
    assert ran.defects == (expected if is_planted else []), ran.shown
    titles = {finding.label: finding.title for finding in ran.findings}
    if is_planted:
        assert titles["GET /open"] == "API accepts requests without authentication"
        assert titles["GET /any"] == "API accepts invalid authentication"
    assert safe.strangers["/right"] == 2


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_missing_authentication_check_is_found_where_few_cases_are_accepted(command: Command, seed: int) -> None:
    orders = Orders()
    with serving(orders, UNCHECKED) as app:
        given = ("-H", f"Authorization: Bearer {TOKEN}", "--checks", "ignored_auth")
        ran = command.run_as_usual(app.document_url, *given, seed=seed, inline=True)
    assert ran.defects == [("POST /orders", "ignored_auth")], ran.shown
    assert orders.strangers["/stock"] == 2


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command_name", "orders"),
    [("run", Orders(accepted=1, rule=500)), ("fuzz", Orders(accepted=500))],
    ids=["the refusal names the rule", "by chance"],
)
def test_a_missing_authentication_check_is_found_where_one_case_in_500_is_accepted(
    command: Command, command_name: str, orders: Orders
) -> None:
    given = (
        "-H",
        f"Authorization: Bearer {TOKEN}",
        "--checks",
        "ignored_auth",
        "--seed",
        "1",
        "--max-time",
        UNHURRIED_S,
    )
    with serving(orders, UNCHECKED) as app:
        ran = command.run_any(command_name, app.document_url, *given, "--max-failures", "1", "--workers", "1")
    assert ran.defects == [("POST /orders", "ignored_auth")], ran.shown


def test_strangers_who_are_refused_oddly_are_shown_by_their_own_request(command: Command) -> None:
    answers: Counter[int] = Counter()

    def unreadable(request: Request) -> Reply:
        token = request.headers.get("authorization", "")
        status = 401 if not token else 200 if token == "Bearer right" else 422
        if request.headers.get("user-agent") == "curl":
            answers[status] += 1
        return json_reply({}, status)

    with serving(unreadable, SECURED) as app:
        header = ("-H", "Authorization: Bearer right", "-n", "10", "--checks", "ignored_auth")
        ran = command.run(app.document_url, *header, inline=True)
    assert {finding.title for finding in ran.findings} == {"Unexpected response to invalid authentication"}
    assert set(answers) == {422}
    for finding in ran.findings:
        assert finding.investigation.reproduced is True
        sent = finding.interactions[-1].exchange
        assert sent is not None
        assert sent.status == 422


class KeptParcels(Parcels):
    """Asks for a token before everything, but for removals as is planted."""

    def __init__(self, planted: str) -> None:
        super().__init__(is_planted=False)
        self.planted = planted

    def __call__(self, request: Request) -> Reply:
        token = request.headers.get("authorization", "")
        is_open = self.planted == "open" or (self.planted == "any" and token.startswith("Bearer "))
        if token == "Bearer right" or (is_open and request.method == "DELETE"):
            return super().__call__(request)
        return json_reply({"message": "who?"}, 401)


REFUSED = {"401": {"description": "no"}}
KEPT: dict[str, Any] = {
    **DOCUMENT,
    "security": [{"token": []}],
    "components": SECURED["components"],
    "paths": {
        path: {
            name: (part if name == "parameters" else {**part, "responses": {**part["responses"], **REFUSED}})
            for name, part in parts.items()
        }
        for path, parts in DOCUMENT["paths"].items()
    },
}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("planted", "title"),
    [("open", "API accepts requests without authentication"), ("any", "API accepts invalid authentication"), ("", "")],
)
def test_strangers_who_may_remove_are_found_before_nothing_is_left_to_remove(
    command: Command, planted: str, title: str
) -> None:
    with serving(KeptParcels(planted), KEPT) as app:
        header = ("-H", "Authorization: Bearer right", "--checks", "ignored_auth")
        ran = command.run_as_usual(app.document_url, *header, seed=1, inline=True)
    label = "DELETE /parcels/{shipment}"
    assert ran.defects == ([(label, "ignored_auth")] if planted else []), ran.shown
    for finding in ran.findings:
        assert finding.title == title
        assert finding.steps[0].label == "POST /parcels"
        assert finding.investigation.reproduced
        removal = finding.investigation.reproduction.splitlines()[-1]
        assert "-X DELETE" in removal
        assert ("Authorization" in removal) is (planted == "any")


@pytest.mark.thorough
def test_what_a_check_sends_before_a_case_is_on_record_as_its_own(command: Command) -> None:
    report = ("--report", "vcr", "--report-dir", "reports")
    with serving(KeptParcels(""), KEPT) as app:
        header = ("-H", "Authorization: Bearer right", "--checks", "ignored_auth")
        command.run(app.document_url, *header, *report, "--phases", "stateful", inline=True)
    (cassette,) = (command.directory / "reports").iterdir()
    recorded = interactions_of(cassette)
    removals = [one for one in recorded if one["request"]["method"] == "DELETE"]
    refused = [one["purpose"] for one in removals if one["response"]["status"]["code"] == "401"]
    assert len(refused) >= 2
    assert set(refused) == {"probe"}
    done = {one["purpose"] for one in removals if one["response"]["status"]["code"] == "204"}
    assert done == {"test"}


@pytest.mark.parametrize(("check", "methods"), [("unsupported_method", False), ("status_code_conformance", True)])
def test_no_request_is_sent_that_no_check_needs(command: Command, check: str, *, methods: bool) -> None:
    with serving(Safe(is_planted=False), SECURED) as app:
        ran = command.run(app.document_url, "--checks", check, "--phases", "coverage", "--mode", "all", inline=True)
    assert ran.code in (0, 1), ran.shown
    sent = [request.method for request in app.seen]
    assert sent
    assert all((method == "GET") is methods for method in sent)


HALF: dict[str, Any] = {
    **SECURED,
    "paths": {
        "/half": {
            "get": {
                "parameters": [
                    {"name": name, "in": "query", "required": name == "q", "schema": {"type": "integer"}}
                    for name in ("p", "q", "r")
                ],
                "responses": {"200": {"description": "fine"}, "401": {"description": "no"}},
            }
        }
    },
}


def half_open(request: Request) -> Reply:
    """Lets strangers in who give `q`."""
    is_known = request.headers.get("authorization") == "Bearer right"
    return json_reply({}, 200 if is_known or b"q=" in request.target else 401)


def test_what_lets_strangers_in_is_made_as_small_as_any_failure(command: Command) -> None:
    with serving(half_open, HALF) as app:
        header = ("-H", "Authorization: Bearer right", "--checks", "ignored_auth", "-n", "200")
        ran = command.run(app.document_url, *header, inline=True)
    (finding,) = ran.findings
    assert finding.investigation.reproduction == f"curl -X GET '{app.url}/half?q=0'"
