"""What a service refuses in one run is known to the next one, and asked for again before it is believed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import App, serving
from tests.e2e.runner import Command, Ran
from tests.refusals.frameworks import DOCUMENT, FRAMEWORKS

FRAMEWORK = FRAMEWORKS[0]


@dataclass
class Members:
    """The service, and what it answered."""

    app: App = field(default_factory=lambda: App(""))
    statuses: list[int] = field(default_factory=list)

    def answer(self, request: Request) -> Reply:
        if request.method != "POST" or not request.target.startswith(b"/members"):
            return Reply(405, headers=(("Allow", "POST"),))
        try:
            status, content = FRAMEWORK.refusal(json.loads(request.body))
        except (ValueError, AttributeError, TypeError):
            status, content = 400, b"no JSON object"
        self.statuses.append(status)
        return Reply(status, "application/json", content)

    def taken(self) -> tuple[int, float]:
        """How many requests were taken since somebody asked, and the share of them."""
        statuses, self.statuses = self.statuses, []
        return statuses.count(201), statuses.count(201) / len(statuses)


@contextmanager
def service() -> Iterator[Members]:
    members = Members()
    with serving(members.answer, DOCUMENT) as members.app:
        yield members


def run(command: Command, members: Members, *arguments: str) -> Ran:
    url = members.app.document_url
    return command.run(url, "-n", "40", "--no-shrink", *arguments, inline=True)


def cached(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.rglob("discoveries.json")
    found: list[dict[str, Any]] = json.loads(path.read_text())["entries"]
    return found


@pytest.mark.thorough
def test_the_next_run_knows_what_the_one_before_heard(command: Command) -> None:
    with service() as app:
        first = run(command, app)
        entries = cached(command.directory)
        assert {(one["path"][0], one["keyword"]) for one in entries} >= {
            (rule.field, rule.keyword) for rule in FRAMEWORK.rules
        }
        _, before = app.taken()
        run(command, app)
        _, after = app.taken()
        assert after >= max(0.8, 2 * before)
        # A file that nobody can read, and one that lies.
        (path,) = command.directory.rglob("discoveries.json")
        path.write_text("{")
        broken = run(command, app)
        assert broken.code == first.code, broken.shown
        assert app.taken()[1] <= 2 * before
        lie = {**entries[0], "keyword": "enum", "path": ["name"], "value": ["nothing"]}
        path.write_text(json.dumps({"format_version": 1, "entries": [lie]}))
        run(command, app)
        assert lie not in cached(command.directory)


def test_what_one_phase_heard_the_next_one_respects(command: Command) -> None:
    phases = ("--phases", "coverage,fuzzing", "--mode", "all")
    with service() as app:
        run(command, app, *phases)
        learning, _ = app.taken()
        (command.directory / "checker.toml").write_text(
            "[cache]\nenabled = false\n[phases.fuzzing.error-feedback]\nenabled = false\n"
        )
        run(command, app, *phases)
        plain, _ = app.taken()
    assert learning >= 2 * plain


@pytest.mark.parametrize("directory", ["", 'directory = "found"'])
def test_the_cache_is_where_it_is_wanted(command: Command, directory: str) -> None:
    text = directory or "enabled = false"
    (command.directory / "checker.toml").write_text(f"[cache]\n{text}\n")
    with service() as app:
        run(command, app)
    found = list(command.directory.rglob("discoveries.json"))
    assert found == ([command.directory / "found/discoveries.json"] if directory else [])
