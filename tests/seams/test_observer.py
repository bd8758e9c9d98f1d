"""An observer from outside the package is told of the interactions of a run, as often as it wants."""

from pathlib import Path

from tests.apps.http import Reply, Request
from tests.apps.serving import serving
from tests.e2e.runner import Command

from .plugged import install

CASES = 10
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Tea", "version": "1"},
    "paths": {
        "/tea": {
            "get": {
                "parameters": [{"name": "cups", "in": "query", "schema": {"type": "integer"}}],
                "responses": {"200": {"description": "tea"}},
            }
        }
    },
}


def answer(request: Request) -> Reply:
    return Reply(200, "application/json", b"{}")


def refuse_to_brew(request: Request) -> Reply:
    return Reply(500 if request.target.startswith(b"/tea") else 200, "application/json", b"{}")


def test_an_observer_that_raises_costs_no_failure(tmp_path: Path) -> None:
    command = Command(tmp_path)
    install(command, "broken_observer")
    with serving(refuse_to_brew, DOCUMENT) as app:
        done = command.run(app.document_url, "--phases", "fuzzing", "--mode", "positive", "-n", str(CASES))
    assert [one.check for one in done.view.findings.values()] == ["not_a_server_error"], done.shown
    assert "the pot is broken" in done.shown


def test_an_observer_from_outside_is_told_as_often_as_it_wants(tmp_path: Path) -> None:
    command = Command(tmp_path)
    install(command, "teapot_observer")
    with serving(answer, DOCUMENT) as app:
        done = command.run(app.document_url, "--phases", "fuzzing", "--mode", "positive", "-n", str(CASES))
        sent = sum(request.target.startswith(b"/tea") for request in app.seen)
    assert done.code == 0, done.shown
    told = {kind: len(notes) for kind, notes in done.view.notes.items()}
    assert sent == CASES
    assert (told["every"], told["third"], told["few"]) == (CASES, -(-CASES // 3), 4), done.shown
    # The observer after one that is saturated is passed over by no interaction.
    assert told["last"] == CASES, done.shown
    assert "odd" not in told
