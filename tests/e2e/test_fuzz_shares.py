"""`fuzz` among many operations: little for what only refuses, enough for all, and an end where nothing can be made."""

import itertools
import json
from collections import Counter
from statistics import median
from typing import Any

import pytest

from checker.supervisor.fuzz_plan import SATURATED_CASES
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

LOOKED_AT = 16
_STRING = {"type": "string"}
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
_NAME = {"name": "name", "in": "query", "required": True, "schema": _STRING}
_RESPONSES = {"200": {"description": ""}, "201": {"description": ""}, "404": {"description": ""}}


def operation(*parameters: dict[str, Any]) -> dict[str, Any]:
    return {"parameters": list(parameters), "responses": _RESPONSES}


def described(paths: dict[str, Any]) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "Things", "version": "1"}, "paths": paths}


PARTS = tuple(f"part{number}" for number in range(7))
DEAD = tuple(f"/closed{number // 6}/{number}" for number in range(30))
DOCUMENT = described(
    {
        "/things": {"post": operation()},
        "/things/{id}": {"get": operation(_ID), "delete": operation(_ID)},
        **{f"/things/{{id}}/{part}": {"get": operation(_ID)} for part in PARTS},
        **{path: {"get": operation(_NAME)} for path in DEAD},
    }
)


class Things:
    """Knows only what it made; a post without parameters is the one source of identifiers. All else is closed."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._numbers = itertools.count(7919, 7919)
        self._known: set[str] = set()

    @property
    def dead(self) -> list[int]:
        """Requests of each operation that only refuses."""
        return [self.asked[path] for path in DEAD]

    @property
    def live(self) -> list[int]:
        """Requests of each that needs what is made here."""
        return [self.asked[f"GET/{part}"] for part in PARTS]

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode("latin-1").partition("?")[0]
        _, _, *rest = path.split("/")
        missing = json_reply({"message": "not found"}, 404)
        if not path.startswith("/things"):
            self.asked[path] += 1
            return missing
        kind = "/".join([request.method, *rest[1:]])
        self.asked[kind] += 1
        if kind == "POST":
            number = next(self._numbers)
            self._known.add(str(number))
            return json_reply({"id": number}, 201)
        if not rest or rest[0] not in self._known:
            return missing
        if kind == "DELETE":
            self._known.remove(rest[0])
        return json_reply({"id": int(rest[0])})


def test_what_only_refuses_takes_little_from_the_rest(command: Command) -> None:
    things = Things()

    def is_shared_well() -> bool:
        dead, live = things.dead, things.live
        return min(dead) >= LOOKED_AT and median(live) > 4 * median(dead)

    with serving(things, DOCUMENT) as app:
        # Shares are of time. How soon they show in numbers depends on who else wants the processor; if they were equal,
        # they never would.
        ran = command.until(
            is_shared_well, *("fuzz", app.document_url, "--mode", "positive", "--seed", "1", "--workers", "1")
        )
    assert ran.code == 130, ran.shown
    # It has a single case, and all others need what it makes.
    assert things.asked["POST"] >= median(things.live) / 16
    succeeded = sum(any(200 <= one < 300 for one in counts) for counts in ran.view.statuses.values())
    assert succeeded == 3 + len(PARTS)


@pytest.mark.thorough
def test_an_api_of_which_nothing_can_be_made_ends_with_a_sentence(command: Command) -> None:
    nothing = {"name": "n", "in": "query", "required": True}
    nothing["schema"] = {"type": "integer", "minimum": 5, "maximum": 2}
    broken = {"parameters": [{"$ref": "#/none"}], "responses": _RESPONSES}
    paths = {"/a": {"get": operation(nothing)}, "/b": {"get": operation(nothing), "put": broken}}
    with serving(lambda _: json_reply({}), described(paths)) as app:
        ran = command.here("fuzz", app.document_url, "--mode", "positive", "--workers", "1")
    assert ran.code == 2, ran.shown
    assert "nothing was tested: no case can be generated for any of 3 operations" in ran.stderr
    assert "GET /a" in ran.stdout


def test_an_api_whose_operations_are_all_broken_ends_with_a_sentence(command: Command) -> None:
    paths = {"/a": {"get": {"parameters": [{"$ref": "#/none"}], "responses": _RESPONSES}}}
    (command.directory / "api.json").write_text(json.dumps(described(paths)))
    ran = command.here("fuzz", "api.json", "--mode", "positive", "--url", "http://127.0.0.1:9", "--workers", "1")
    assert ran.code == 2, ran.shown
    assert "nothing was tested: no case can be generated for the one selected operation" in ran.stderr


@pytest.mark.thorough
def test_a_run_ends_when_no_operation_shows_anything_new(command: Command) -> None:
    asked: Counter[bytes] = Counter()

    def answer(request: Request) -> Reply:
        asked[request.target.partition(b"?")[0]] += 1
        return json_reply({}, 404) if request.target.startswith(b"/closed") else json_reply({"id": 1})

    paths = {"/open": {"get": operation(_NAME)}, "/closed": {"get": operation(_NAME)}}
    with serving(answer, described(paths)) as app:
        ran = command.here("fuzz", app.document_url, "--stop-when-saturated", "--mode", "positive", "--workers", "1")
    assert ran.code == 0, ran.shown
    assert "Stop reason: No operation shows new behaviour any more" in ran.stdout
    assert min(asked[b"/open"], asked[b"/closed"]) >= SATURATED_CASES
