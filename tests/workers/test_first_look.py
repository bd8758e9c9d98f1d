"""What is sent before a run, to see whether its credentials are let in."""

from pathlib import Path
from typing import Any

from checker.core.operation import Label
from checker.workers.authentication.opening import is_harmless
from tests.workers.harness import workplace

ANSWER: dict[str, Any] = {"responses": {"200": {"description": ""}}}


def test_what_sounds_like_the_end_of_a_session_is_no_first_look(tmp_path: Path) -> None:
    paths: dict[str, Any] = {path: {"get": ANSWER} for path in ("/session/logout", "/session")}
    paths["/tokens"] = {"get": {**ANSWER, "operationId": "revokeAll"}}
    document = {"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": paths}
    with workplace(tmp_path, document=document) as place:
        harmless = {label for label in place.subject.selected if is_harmless(place.subject.selected[label])}
    assert harmless == {Label("GET /session")}
