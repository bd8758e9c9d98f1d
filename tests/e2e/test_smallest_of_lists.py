"""Cases that a phase lists are shown with as little as fails: the first of a list holds all that is declared."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

NAMES = ("first", "second", "third")
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Searches", "version": "1"},
    "paths": {
        f"/{path}": {
            "post": {
                "parameters": [
                    {"name": name, "in": "query", "schema": {"type": "integer", "minimum": 1}, "example": 7}
                    for name in NAMES
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["text"],
                                "properties": {"text": {"type": "string"}, "size": {"type": "integer"}},
                            },
                            "example": {"text": "word", "size": 20},
                        }
                    },
                },
                "responses": {"200": {"description": "found"}},
            }
        }
        for path in ("always", "one")
    },
}


def answered(request: Request) -> Reply:
    """One operation fails whatever it is asked; another where a parameter is there."""
    path, _, query = request.target.decode("latin-1").partition("?")
    fails = path == "/always" or "second=" in query
    return json_reply({}, 500 if fails else 200)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("phase", ["examples", "coverage"])
def test_what_a_failure_does_not_need_is_left_out(tmp_path: Path, phase: str) -> None:
    with serving(answered, DOCUMENT) as app:
        arguments = ("--phases", phase, "--mode", "positive", "--checks", "not_a_server_error")
        ran = Command(tmp_path).run(app.document_url, *arguments, "--seed", "1", inline=True)
    shown = {}
    for finding in ran.findings:
        (step,) = finding.interactions
        target = step.exchange.target.decode()
        shown[finding.label] = target, set(json.loads(step.exchange.body or b""))
    assert shown == {"POST /always": ("/always", {"text"}), "POST /one": ("/one?second=1", {"text"})}, ran.shown
