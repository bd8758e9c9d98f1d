"""A part of an operation that is of the wrong type costs that part, or that operation, and is told."""

import json
from pathlib import Path

import pytest

from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command
from tests.hostile.malformed import MALFORMED, malformed


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("version", MALFORMED)
def test_malformed_parts_cost_what_they_touch(version: str, tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(json.dumps(malformed(version)))
    with serving(lambda request: json_reply({}), {}) as app:
        ran = Command(tmp_path).run("api.json", "--url", app.url, "-n", "2", inline=True)
    assert ran.code == 1, ran.shown
    assert "Traceback" not in ran.shown
    errors = list(ran.view.errors.values())
    assert {error.title for error in errors} == {"Schema Error"}
    notes = [note for kind in ran.view.notes.values() for note in kind.values()]
    asked = {request.target.decode().partition("?")[0] for request in app.seen}
    wrong = {}
    for number, (name, fault) in enumerate(MALFORMED[version].items()):
        path = f"/{number}"
        failed = [error.message for error in errors if error.label.endswith(f" {path}")]
        told = [note.text for note in notes if note.label.endswith(f" {path}")]
        if (
            any(fault.fails in one for one in failed) != bool(fault.fails)
            or (fault.says and not any(fault.says in one for one in told))
            or (path in asked) == bool(fault.fails)
        ):
            wrong[name] = (failed, told, path in asked)
    assert wrong == {}
    assert "/ok" in asked


def test_there_are_enough_of_them() -> None:
    assert sum(map(len, MALFORMED.values())) >= 40
