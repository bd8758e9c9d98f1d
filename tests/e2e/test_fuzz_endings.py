"""How `fuzz` ends: with a time limit it goes on after failures."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import SLOW_CLOCK, UNHURRIED_S, Command, Ran
from tests.e2e.slow_clock import OVER
from tests.waiting import wait_until

SOUND, BROKEN = "/sound", ("/first", "/second")
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Two defects", "version": "1"},
    "paths": {
        path: {
            "get": {
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
                "responses": {"200": {"description": "done"}},
            }
        }
        for path in (SOUND, *BROKEN)
    },
}
ASKED = ("--mode", "positive", "--checks", "not_a_server_error", "--seed", "1", "--workers", "1")


def _answer(request: Request) -> Reply:
    path = request.target.decode().partition("?")[0]
    return json_reply({}, status=500 if path in BROKEN else 200)


@pytest.fixture
def app() -> Iterator[App]:
    with serving(_answer, DOCUMENT) as app:
        yield app


def _outcome(ran: Ran) -> str:
    assert ran.view.finished is not None, ran.shown
    return ran.view.finished.outcome


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("", ("--max-time", "400")), ("continue-on-failure = false\n[fuzz]\nmax-time = 400\n", ())],
    ids=["option", "key"],
)
@pytest.mark.thorough
def test_with_a_time_limit_fuzz_uses_its_time_and_reports_all_failures(
    text: str, chosen: tuple[str, ...], command: Command, app: App
) -> None:
    (command.directory / "checker.toml").write_text(text)
    slow = replace(command, program=SLOW_CLOCK)

    def goes_on() -> bool:
        """Whether many requests follow the one that shows the second defect."""
        targets = [request.target.partition(b"?")[0].decode() for request in list(app.seen)]
        failed = [targets.index(path) for path in BROKEN if path in targets]
        return len(failed) == len(BROKEN) and len(targets) > max(failed) + 500

    with slow.started("fuzz", app.document_url, *ASKED, *chosen) as process:
        wait_until(lambda: process.poll() is not None or goes_on())
        (command.directory / OVER).touch()
        ran = slow.finished(process)
    assert (ran.code, _outcome(ran)) == (1, "time limit"), ran.shown
    assert ran.defects == [(f"GET {path}", "not_a_server_error") for path in BROKEN]
    assert "2 bugs" in ran.stdout


@pytest.mark.thorough
def test_a_limit_of_failures_ends_fuzz_before_its_time(command: Command, app: App) -> None:
    limits = ("--max-time", UNHURRIED_S, "--max-failures", "1")
    ran = command.here("fuzz", app.document_url, *ASKED, *limits)
    assert (ran.code, _outcome(ran)) == (1, "failure limit"), ran.shown
    # Its failure may cost what one that ends a run may cost.
    assert all(one.investigation.stage == "minimised" for one in ran.findings)


def test_without_a_time_limit_the_first_failure_ends_fuzz(command: Command, app: App) -> None:
    ran = command.here("fuzz", app.document_url, *ASKED)
    assert (ran.code, _outcome(ran)) == (1, "first failure"), ran.shown
    assert "`--max-time SECONDS` or `--continue-on-failure` the run continues" in ran.stdout
