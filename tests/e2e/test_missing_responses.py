"""A handler that never responds, while the server responds to other requests."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from checker.corpus.records import UNREACHED
from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import Command, Ran

_FLAG = {"name": "wait", "in": "query", "schema": {"type": "boolean"}}
_OPERATION = {"parameters": [_FLAG], "responses": {"200": {"description": "done"}, "400": {"description": "refused"}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Forgetful", "version": "1"},
    "paths": {"/a": {"get": _OPERATION}, "/b": {"get": _OPERATION}},
}
CHECKS = "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true\n"
TIMEOUT = ("--request-timeout", "0.5", "--phases", "coverage,fuzzing", "-n", "5", "--mode", "positive")


@contextmanager
def forgetting(waits: Callable[[Request, threading.Event], Any], document: dict[str, Any] = DOCUMENT) -> Iterator[App]:
    """Run a server that calls `waits` with each request, and with an event that is set at the end."""
    over = threading.Event()

    def answer(request: Request) -> Reply:
        waits(request, over)
        return json_reply({})

    with serving(answer, document) as app:
        try:
            yield app
        finally:
            over.set()


@pytest.fixture
def quiet(command: Command) -> Command:
    (command.directory / "checker.toml").write_text(CHECKS)
    return command


def never(path: bytes) -> Callable[[Request, threading.Event], Any]:
    return lambda request, over: request.target.startswith(path) and over.wait()


def unreached(ran: Ran) -> list[str]:
    return [one.label for one in ran.view.errors.values() if one.title == UNREACHED]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("path", [b"/a", b"/b"])
def test_a_handler_that_never_responds_is_a_finding(quiet: Command, path: bytes) -> None:
    with forgetting(never(path)) as app:
        ran = quiet.run_as_usual(app.document_url, *TIMEOUT, inline=True)
    assert ran.defects == [(f"GET {path.decode()}", "not_a_server_error")], ran.shown
    assert "The server sends no response" in ran.stdout
    assert "curl --max-time 0.5 " in ran.stdout, ran.shown
    assert "intermittent" not in ran.stdout
    # A busy machine may be late with others.
    assert f"GET {path.decode()}" not in unreached(ran)


@pytest.mark.parametrize(("name", "found"), [("delay", 0), ("size", 1)])
def test_a_delay_that_the_request_asks_for_is_no_finding(quiet: Command, name: str, found: int) -> None:
    def waits(request: Request, over: threading.Event) -> Any:
        number = request.target.decode().rpartition("/")[2]
        return number.isdecimal() and int(number) > 10 and over.wait()

    parameter = {"name": name, "in": "path", "required": True, "schema": {"type": "integer", "minimum": 0}}
    operation = {"parameters": [parameter], "responses": _OPERATION["responses"]}
    document = {**DOCUMENT, "paths": {f"/{name}/{{{name}}}": {"get": operation}}}
    with forgetting(waits, document) as app:
        ran = quiet.run_as_usual(app.document_url, *TIMEOUT, inline=True)
    assert len([one for one in ran.findings if not one.investigation.withdrawn]) == found, ran.shown
    assert ("asks for a delay" in ran.stdout) is not bool(found), ran.shown


def test_a_delay_of_which_the_server_refuses_the_shorter_one_stays_a_finding(quiet: Command) -> None:
    def answer(request: Request) -> Reply:
        number = request.target.decode().rpartition("=")[2]
        if number.isdecimal() and int(number) >= 30:
            over.wait()
        return json_reply({}, 400)

    over = threading.Event()
    schema = {"type": "integer", "minimum": 30, "enum": [30, 10**400]}
    parameter = {"name": "timeout", "in": "query", "required": True, "schema": schema}
    operation = {"parameters": [parameter], "responses": _OPERATION["responses"]}
    document = {**DOCUMENT, "paths": {"/jobs": {"get": operation}, "/b": {"get": _OPERATION}}}
    with serving(answer, document) as app:
        try:
            ran = quiet.run_as_usual(app.document_url, *TIMEOUT, inline=True)
        finally:
            over.set()
    assert ran.defects == [("GET /jobs", "not_a_server_error")], ran.shown


@pytest.mark.thorough
def test_one_value_that_is_never_answered_is_a_finding_with_a_replay_and_a_baseline_entry(quiet: Command) -> None:
    def waits(request: Request, over: threading.Event) -> Any:
        return b"wait=true" in request.target and over.wait()

    with forgetting(waits) as app:
        ran = quiet.run_as_usual(app.document_url, *TIMEOUT, inline=True)
        found = {one.label: one for one in ran.findings}
        assert sorted(found) == ["GET /a", "GET /b"], ran.shown
        assert all("wait=true" in one.investigation.reproduction for one in found.values())
        again = quiet.here("replay", found["GET /a"].fingerprint, "--request-timeout", "0.5")
        assert (again.code, again.stdout.split()[0]) == (1, "FAILED"), again.shown
        added = quiet.here("baseline", "add", "all", "--reason", "known")
        assert added.code == 0, added.shown
    with forgetting(lambda request, over: None) as app:
        fixed = quiet.here("replay", found["GET /a"].fingerprint, "--url", app.url)
    assert (fixed.code, fixed.stdout.split()[0]) == (0, "FIXED"), fixed.shown


def test_a_response_within_three_times_the_timeout_is_a_network_error(quiet: Command) -> None:
    seen: list[Request] = []

    def waits(request: Request, over: threading.Event) -> Any:
        if request.target.startswith(b"/b"):
            seen.append(request)
            # The case and the simplest one time out; the command with more time is answered.
            return len(seen) < 3 and over.wait()
        return None

    with forgetting(waits) as app:
        ran = quiet.run_as_usual(app.document_url, *TIMEOUT, inline=True)
    assert not [one for one in ran.findings if not one.investigation.withdrawn], ran.shown
    assert "GET /b" in unreached(ran), ran.shown


@pytest.mark.thorough
def test_a_target_that_responds_to_nothing_has_no_findings(quiet: Command) -> None:
    with forgetting(lambda request, over: over.wait()) as app:
        ran = quiet.run_as_usual(app.document_url, *TIMEOUT, inline=True)
    assert not [one for one in ran.findings if not one.investigation.withdrawn], ran.shown
    assert set(unreached(ran)) == {"GET /a", "GET /b"}, ran.shown
