"""Cases of every recipe from their failure to the next run: confirmed, small, kept, told once, sent again from everywhere."""

import itertools
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from checker.core.meta import Drawn, Literal, Recipe
from checker.corpus.records import Finding
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command, kill_a_worker

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Labels", "version": "1"},
    "paths": {
        "/labels": {
            "post": {
                "parameters": [
                    {"name": "colour", "in": "query", "schema": {"type": "string"}},
                    {"name": "dry", "in": "query", "schema": {"type": "boolean"}},
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["text"],
                                "properties": {
                                    "text": {"type": "string", "maxLength": 30},
                                    "size": {"type": "integer"},
                                    "font": {"type": "string"},
                                },
                                "additionalProperties": False,
                            }
                        }
                    },
                },
                "responses": {"200": {"description": "printed"}, "400": {"description": "no"}},
            }
        }
    },
}
LONG = 12
CHECKED = ("--checks", "not_a_server_error")
RECIPES: dict[str, type[Recipe]] = {"examples": Literal, "coverage": Literal, "fuzzing": Drawn}
"""What the smallest case is made from: one whose values were lowered is none of the list any more."""
EXAMPLE = {"text": "an example that is too long", "size": 3}


def labels(request: Request) -> Reply:
    """Fails on long texts."""
    try:
        body = json.loads(request.body)
    except ValueError:
        return Reply(400, "", b"")
    if len(body.get("text", "")) >= LONG:
        return Reply(500, "text/plain", b"the text does not fit")
    return json_reply({})


class Failing:
    """Kills a worker before the third answer that is a failure: by then the first is on disk and is being looked into."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def __call__(self, request: Request) -> Reply:
        reply = labels(request)
        if reply.status == 500 and next(self._numbers) == 3:
            kill_a_worker()
        return reply


def only(findings: list[Finding]) -> Finding:
    (found,) = findings
    return found


def document_for(phase: str) -> dict[str, Any]:
    document = deepcopy(DOCUMENT)
    if phase == "examples":
        content = document["paths"]["/labels"]["post"]["requestBody"]["content"]
        content["application/json"]["example"] = EXAMPLE
    return document


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("phase", RECIPES)
def test_a_failing_case_goes_all_the_way(phase: str, command: Command) -> None:
    with serving(labels, document_for(phase)) as app:
        arguments = (*CHECKED, "--phases", phase, "-n", "200", "--report-vcr-path", "tape.yaml")
        ran = command.run(app.document_url, *arguments, inline=True)
        finding = only(ran.findings)
        assert ran.code == 1, ran.shown
        (step,) = finding.steps
        assert isinstance(step.recipe, RECIPES[phase])
        assert (finding.phase, finding.investigation.stage, finding.investigation.reproduced) == (
            phase,
            "minimised",
            True,
        )
        sent = finding.interactions[-1].exchange
        assert sent.target == b"/labels"
        smallest = json.loads(sent.body or b"")
        # Only what is required is left, at the edge that is wrong.
        assert set(smallest) == {"text"}
        assert len(smallest["text"]) == LONG

        count = len(app.seen)
        again = command.run(app.document_url, *CHECKED, "--phases", "fuzzing", "-n", "1", seed=7, inline=True)
        assert app.seen[count].body == sent.body, "the saved example comes first"
        assert only(again.findings).fingerprint == finding.fingerprint

        count = len(app.seen)
        command.here("replay", "tape.yaml")
        assert sent.body in [request.body for request in app.seen[count:]]


@pytest.mark.parametrize("phase", RECIPES)
@pytest.mark.thorough
def test_a_death_on_the_way_changes_nothing(phase: str, tmp_path: Path) -> None:
    def found(folder: Path, *, kill: bool) -> Finding:
        folder.mkdir()
        command = Command(folder)
        with serving(Failing() if kill else labels, document_for(phase)) as app:
            ran = command.run(app.document_url, *CHECKED, "--phases", phase, "-n", "200")
        assert ran.code == 1, ran.shown
        assert sum("killed" in reason for reason in ran.view.gone.values()) == kill
        return only(ran.findings)

    usual, after = found(tmp_path / "usual", kill=False), found(tmp_path / "killed", kill=True)
    assert (after.case, after.steps) == (usual.case, usual.steps)
