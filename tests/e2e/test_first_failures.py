"""Where lists of cases end at a failure, who sends the rest, and what ends a whole run; phases as their keys say."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import Command, Ran

LIMIT = {
    "name": "limit",
    "in": "query",
    "schema": {"type": "integer", "minimum": 1, "maximum": 9},
    "examples": {str(number): {"value": number} for number in (3, 4, 5)},
}
ANSWERS = {"responses": {"200": {"description": "done"}, "400": {"description": "refused"}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Two lists", "version": "1"},
    "paths": {
        "/broken": {"get": {"parameters": [LIMIT], **ANSWERS}},
        "/sound": {"get": {"parameters": [LIMIT], **ANSWERS}},
    },
}
BROKEN, SOUND = "GET /broken", "GET /sound"
EXAMPLES = 4
"""Cases of the examples phase: the smallest request, which is the first case of a run, and the three examples."""
LISTED = "examples,coverage"
GOES_ON = "--continue-on-failure"
BLOCK = '[[operations]]\ninclude-path = "/broken"\n'
SWITCHED_OFF = "[phases.{}]\nenabled = false\n"


def _answer(request: Request) -> Reply:
    return json_reply({}, status=500 if request.target.startswith(b"/broken") else 200)


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with serving(_answer, DOCUMENT) as app:
        yield app


def _ran(folder: Path, app: App, *chosen: str, text: str = "") -> Ran:
    (folder / "checker.toml").write_text(text)
    only = ("--checks", "not_a_server_error", "--no-shrink")
    ran = Command(folder).run_as_usual(app.document_url, *only, *chosen, inline=True)
    assert ran.code == 1, ran.shown
    return ran


def _cases(ran: Ran, label: str) -> dict[str, int]:
    """Phase -> cases of an operation."""
    found = Counter[str]()
    for task in ran.view.tasks.values():
        if task.labels == (label,):
            found[task.phase] += task.cases
    return {phase: count for phase, count in found.items() if count}


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("text", "chosen", "goes_on"),
    [
        ("", (), False),
        ("", (GOES_ON,), True),
        ("continue-on-failure = true\n", (), True),
        (BLOCK + "continue-on-failure = true\n", (), True),
        (BLOCK + "continue-on-failure = false\n", (GOES_ON,), True),
    ],
    ids=["default", "option", "key", "block", "option beats block"],
)
def test_lists_end_at_the_first_failure_unless_told_otherwise(
    text: str, chosen: tuple[str, ...], goes_on: bool, app: App, tmp_path: Path
) -> None:
    ran = _ran(tmp_path, app, "--phases", LISTED, *chosen, text=text)
    sound, broken = _cases(ran, SOUND), _cases(ran, BROKEN)
    assert sound["examples"] == EXAMPLES
    assert sound["coverage"] > EXAMPLES
    expected = {"examples": EXAMPLES, "coverage": sound["coverage"]}
    # Undeclared methods are tried for each path, and these two paths differ in nothing else.
    # The examples phase showed the failure, so that it is not new in the coverage phase.
    assert broken == (expected if goes_on else expected | {"examples": 1})


def test_a_list_ends_at_a_new_grave_failure(app: App, tmp_path: Path) -> None:
    assert _cases(_ran(tmp_path, app, "--phases", "coverage"), BROKEN) == {"coverage": 1}


def test_a_list_does_not_end_at_a_failure_of_medium_severity(tmp_path: Path) -> None:
    def answer(request: Request) -> Reply:
        return json_reply({}, status=202 if request.target.startswith(b"/broken") else 200)

    with serving(answer, DOCUMENT) as app:
        chosen = ("--checks", "status_code_conformance", "--no-shrink", "--phases", LISTED)
        ran = Command(tmp_path).run_as_usual(app.document_url, *chosen, inline=True)
    assert {found.severity for found in ran.findings} == {"medium"}, ran.shown
    assert _cases(ran, BROKEN) == _cases(ran, SOUND)


def test_a_list_does_not_end_at_a_known_failure(app: App, tmp_path: Path) -> None:
    known = ("--phases", "coverage", "--baseline", str(tmp_path / "known.json"))
    only = ("--checks", "not_a_server_error", "--no-shrink")
    Command(tmp_path).run_as_usual(app.document_url, *only, *known, "--baseline-update", inline=True)
    ran = Command(tmp_path).run_as_usual(app.document_url, *only, *known, inline=True)
    assert ran.code == 0, ran.shown
    assert _cases(ran, BROKEN)["coverage"] > 1


def test_drawn_cases_begin_with_what_lists_left_out(app: App, tmp_path: Path) -> None:
    ended, whole = tmp_path / "ended", tmp_path / "whole"
    for folder in (ended, whole):
        folder.mkdir()
    app.seen.clear()
    ran = _ran(ended, app, "--phases", "coverage,fuzzing", "-n", "60")
    sent = _targets(app)
    app.seen.clear()
    _ran(whole, app, "--phases", "coverage", GOES_ON)
    assert _cases(ran, BROKEN)["coverage"] == 1
    assert _cases(ran, BROKEN)["fuzzing"] <= 60
    assert _targets(app) <= sent


def _targets(app: App) -> set[tuple[str, bytes]]:
    return {(one.method, one.target) for one in app.seen if one.target.startswith(b"/broken")}


ALL = {"examples": EXAMPLES, "coverage": 25, "fuzzing": 4}


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (SWITCHED_OFF.format("examples"), {"examples": 0}),
        (SWITCHED_OFF.format("coverage"), {"coverage": 0}),
        (SWITCHED_OFF.format("fuzzing"), {"fuzzing": 0}),
        ("[phases.fuzzing.generation]\nmax-examples = 2\n", {"fuzzing": 2}),
        ("[phases.coverage]\nunexpected-methods = []\n", {"coverage": 18}),
        ("[phases.coverage.generation]\nmode = 'positive'\n", {"coverage": 9}),
        (
            BLOCK.replace("broken", "sound") + SWITCHED_OFF.format("examples").replace("[phases", "[operations.phases"),
            {"examples": 0},
        ),
    ],
)
def test_keys_of_phases_say_which_cases_there_are(text: str, changed: dict[str, int], app: App, tmp_path: Path) -> None:
    ran = _ran(tmp_path, app, text="[generation]\nmax-examples = 4\n" + text)
    expected = {phase: count for phase, count in (ALL | changed).items() if count}
    assert _cases(ran, SOUND) == expected


def test_failures_and_errors_of_a_run_may_have_a_limit(app: App, tmp_path: Path) -> None:
    ran = _ran(tmp_path, app, "-n", "4", "--max-failures", "1", GOES_ON)
    assert len(ran.findings) == 1
    assert ran.view.finished is not None
    assert ran.view.finished.outcome == "failure limit"
    # Whoever is at work hears of it a moment later; nothing of the next phase is begun.
    assert _cases(ran, BROKEN).keys() == {"examples"}
