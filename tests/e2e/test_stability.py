"""What may not show again is marked where it is told, and is not counted as stable."""

from itertools import count
from typing import Any

from checker.demo.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Flaky", "version": "1"},
    "paths": {
        "/always": {"get": {"responses": {"200": {"description": ""}}}},
        "/once/{id}": {"get": {"parameters": [ID], "responses": {"200": {"description": ""}}}},
    },
}
CHECKS = "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true\n"


def test_a_failure_that_did_not_happen_again_is_marked(command: Command) -> None:
    number = count()

    def answer(request: Request) -> Reply:
        is_wrong = b"/always" in request.target or next(number) == 3
        return json_reply({}, 500 if is_wrong else 200)

    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "10", inline=True)
    assert ran.code == 1, ran.shown
    headings = [line for line in ran.stdout.splitlines() if "Test Case ID" in line]
    assert [line.endswith(" (intermittent (1 of 8))") for line in headings] == [False, True]
    assert "Server error: 2 (1 intermittent)" in ran.stdout
    assert "  1 stable, 1 intermittent\n" in ran.stdout
    assert " 2 failures (1 stable) in " in ran.stdout


def test_stable_failures_are_only_counted(command: Command) -> None:
    (command.directory / "checker.toml").write_text(CHECKS)
    with serving(lambda request: json_reply({}, 500), DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "10", inline=True)
    assert ran.code == 1, ran.shown
    assert " 2 failures, no operation ever answered 2xx in " in ran.stdout
    assert "stable" not in ran.stdout
