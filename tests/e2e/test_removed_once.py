"""What was removed cannot be removed again: a sequence that did so is not sent again, and its failure is told all the same."""

import threading
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

FILM = {
    "type": "object",
    "required": ["id", "title"],
    "properties": {"id": {"type": "integer"}, "title": {"type": "string"}},
}
MEMBER = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]


def _answers(schema: dict[str, Any], status: str = "200") -> dict[str, Any]:
    shown = {"description": "", "content": {"application/json": {"schema": schema}}}
    return {"responses": {status: shown, "404": {"description": ""}}}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Films", "version": "1"},
    "paths": {
        "/films": {"get": _answers({"type": "array", "items": FILM})},
        "/films/{id}": {
            "parameters": MEMBER,
            "get": _answers(FILM),
            "delete": {"responses": {"204": {"description": ""}, "404": {"description": ""}}},
        },
    },
}
LABEL = "DELETE /films/{id}"


class Films:
    """Nobody makes films: those that are there are listed, read, and removed once."""

    def __init__(self, count: int, *, shows_removed: bool) -> None:
        self.films = {37 * n: {"id": 37 * n, "title": "Alien"} for n in range(1, count + 1)}
        self.removed: set[int] = set()
        self.shows_removed = shows_removed
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        with self._lock:
            return self._answer(request.method, request.target.decode("latin-1"))

    def _answer(self, method: str, target: str) -> Reply:
        name = target.partition("?")[0].removeprefix("/films").removeprefix("/")
        shown = {n: one for n, one in self.films.items() if n not in self.removed}
        if self.shows_removed:
            shown = self.films
        if not name:
            return json_reply(list(shown.values()))
        film = int(name) if name.isdecimal() else 0
        if method == "DELETE":
            if film not in self.films or film in self.removed:
                return json_reply({}, 404)
            self.removed.add(film)
            return Reply(204)
        return json_reply(shown[film]) if film in shown else json_reply({}, 404)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("count", [1, 3])
def test_what_is_shown_after_its_removal_is_told_though_nothing_is_removed_twice(command: Command, count: int) -> None:
    with serving(Films(count, shows_removed=True), DOCUMENT) as app:
        ran = command.run(app.document_url, "--phases", "stateful", inline=True)
    assert ran.defects == [(LABEL, "use_after_free")], ran.shown
    (finding,) = ran.findings
    assert finding.investigation.reproduced is True
    assert [step.label for step in finding.steps][-2:] == [LABEL, "GET /films/{id}"]


@pytest.mark.thorough
def test_workers_that_remove_the_things_of_each_other_blame_nobody(command: Command) -> None:
    with serving(Films(60, shows_removed=False), DOCUMENT) as app:
        ran = command.run(app.document_url, "--phases", "stateful", workers=2)
    removed = [one for one in app.seen if one.method == "DELETE"]
    assert len(removed) > 1
    assert ran.defects == [], ran.shown
