"""A server that closes the connection instead of answering a request."""

import json
from itertools import count
from typing import Any

import pytest

from checker.corpus.records import UNREACHED
from tests.apps.http import Reply, Request
from tests.apps.serving import Dropping, json_reply, serving
from tests.e2e.runner import Command, Ran

ITEM = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
BODY = {"required": True, "content": {"application/json": {"schema": {"type": "array", "maxItems": 3, "items": ITEM}}}}
RESPONSES = {"200": {"description": "done"}, "400": {"description": "refused"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Dropping", "version": "1"},
    "paths": {"/things": {"post": {"requestBody": BODY, "responses": RESPONSES}, "get": {"responses": RESPONSES}}},
}
CHECKS = "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true\n"
FORMATS = ("ndjson", "json", "junit", "sarif", "html", "markdown", "allure", "pytest", "sh", "vcr")
COVERAGE = ("--phases", "coverage")
CUT = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"


def panicking(sent: bytes = b"") -> Any:
    """Return an application that drops the connection when an element of the list is null."""

    def answer(request: Request) -> Reply:
        try:
            value = json.loads(request.body or b"[]")
        except ValueError:
            return json_reply({}, 400)
        if isinstance(value, list) and None in value:
            raise Dropping(sent)
        return json_reply({})

    return answer


@pytest.fixture
def quiet(command: Command) -> Command:
    (command.directory / "checker.toml").write_text(CHECKS)
    return command


def reported(ran: Ran, name: str) -> str:
    """Return the text of the report of one format."""
    (path,) = (ran.directory / "checker-report").glob(f"{name}-*")
    files = [path] if path.is_file() else sorted(one for one in path.iterdir() if one.is_file())
    return "\n".join(one.read_text("utf-8") for one in files)


def network_errors(ran: Ran) -> list[str]:
    return [one.label for one in ran.view.errors.values() if one.title == UNREACHED]


def test_a_dropped_connection_is_a_finding_in_every_format(quiet: Command) -> None:
    with serving(panicking(), DOCUMENT) as app:
        ran = quiet.run_as_usual(app.document_url, *COVERAGE, "--report", ",".join(FORMATS), inline=True)
    assert ran.code == 1, ran.shown
    assert ran.defects == [("POST /things", "not_a_server_error")]
    assert not network_errors(ran)
    assert "- Server error\n\n    The server closed the connection without a response" in ran.stdout
    assert "-d '[null]'" in ran.stdout, ran.shown
    assert "intermittent" not in ran.stdout
    for name in FORMATS:
        assert "[null]" in reported(ran, name), name
        assert "Server error" in reported(ran, name) or name == "vcr", name


def test_a_dropped_connection_is_replayed_and_kept_in_a_baseline(quiet: Command) -> None:
    with serving(panicking(), DOCUMENT) as app:
        ran = quiet.run_as_usual(app.document_url, *COVERAGE, inline=True)
        (found,) = ran.findings
        again = quiet.here("replay", found.fingerprint)
        assert (again.code, again.stdout.split()[0]) == (1, "FAILED"), again.shown
        added = quiet.here("baseline", "add", "all", "--reason", "known")
        assert added.code == 0, added.shown
        baseline = ("--baseline", "checker-baseline.toml")
        known = quiet.run_as_usual(app.document_url, *COVERAGE, *baseline, inline=True)
        assert known.code == 0, known.shown
    with serving(lambda request: json_reply({}), DOCUMENT) as mended:
        fixed = quiet.here("replay", found.fingerprint, "--url", mended.url)
    assert (fixed.code, fixed.stdout.split()[0]) == (0, "FIXED"), fixed.shown


def test_a_dropped_connection_is_shrunk_over_reused_connections(quiet: Command) -> None:
    def answer(request: Request) -> Reply:
        value = json.loads(request.body or b"[]")
        if any(item.get("n", 0) > 100 for item in value):
            raise Dropping
        return json_reply({})

    with serving(answer, DOCUMENT) as app:
        ran = quiet.run(app.document_url, "--mode", "positive", inline=True)
    assert ran.defects == [("POST /things", "not_a_server_error")], ran.shown
    assert """-d '[{"n": 101}]'""" in ran.stdout.replace('"n":101', '"n": 101'), ran.shown


def test_a_response_that_is_cut_off_is_a_finding(quiet: Command) -> None:
    with serving(panicking(CUT), DOCUMENT) as app:
        ran = quiet.run_as_usual(app.document_url, *COVERAGE, inline=True)
    assert ran.defects == [("POST /things", "not_a_server_error")], ran.shown
    assert "The server closed the connection in the middle of the response" in ran.stdout


def test_a_drop_that_does_not_repeat_is_a_network_error(quiet: Command) -> None:
    number = count()

    def answer(request: Request) -> Reply:
        # The second of them is the same request on a new connection.
        if next(number) in (5, 6):
            raise Dropping
        return json_reply({})

    with serving(answer, DOCUMENT) as app:
        ran = quiet.run(app.document_url, "-n", "30", inline=True)
    assert ran.code == 1, ran.shown
    assert not [one for one in ran.findings if not one.investigation.withdrawn]
    assert len(network_errors(ran)) == 1, ran.shown
    assert "Server error" not in ran.stdout


def test_a_target_that_accepts_connections_and_answers_nothing_has_no_findings(quiet: Command) -> None:
    number = count()

    def answer(request: Request) -> Reply:
        # As a port forwarder does whose server has died.
        if next(number) > 20:
            raise Dropping
        return json_reply({})

    with serving(answer, DOCUMENT) as app:
        ran = quiet.run(app.document_url, "-n", "30", inline=True)
    assert ran.code == 1, ran.shown
    assert not [one for one in ran.findings if not one.investigation.withdrawn], ran.shown
    assert network_errors(ran)


def test_a_dropped_connection_without_its_check_is_a_network_error(command: Command) -> None:
    other = CHECKS.replace("not_a_server_error", "status_code_conformance")
    (command.directory / "checker.toml").write_text(other)
    with serving(panicking(), DOCUMENT) as app:
        ran = command.run_as_usual(app.document_url, *COVERAGE, inline=True)
    assert "POST /things" in network_errors(ran), ran.shown


def test_the_file_of_regression_tests_shows_a_dropped_connection(quiet: Command) -> None:
    with serving(panicking(), DOCUMENT) as app:
        ran = quiet.run_as_usual(app.document_url, *COVERAGE, "--report", "pytest", inline=True)
        names: dict[str, Any] = {}
        exec(compile(reported(ran, "pytest"), "report", "exec"), names)
        (test,) = [one for name, one in names.items() if name.startswith("test_")]
        test()
    with serving(lambda request: json_reply({}), DOCUMENT) as mended:
        names["BASE_URL"] = mended.url
        with pytest.raises(AssertionError, match="does not show any more"):
            test()
