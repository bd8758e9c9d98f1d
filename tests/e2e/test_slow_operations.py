"""Operations whose answers are long in coming have all their cases, and hold up nobody."""

import threading
from collections import Counter
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import Command, Ran, run_arguments
from tests.waiting import wait_until

FAST = 24
CASES = 5
_NUMBER = {"name": "n", "in": "query", "required": True, "schema": {"type": "integer"}}
_OPERATION = {"parameters": [_NUMBER], "responses": {"200": {"description": ""}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Sleepers", "version": "1"},
    "paths": {
        "/slow/1": {"post": _OPERATION},
        "/slow/2": {"post": _OPERATION},
        **{f"/fast/{number}": {"get": _OPERATION} for number in range(FAST)},
    },
}
PATIENT = ("--phases", "fuzzing", "-n", str(CASES), "--request-timeout", "1000")


class Sleepers:
    """Answers what is slow when everything else is through, or never; tells how often each was asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.is_through = threading.Event()
        self.may_answer = threading.Event()
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        with self._lock:
            self.asked[path] += 1
            fast = sum(count for name, count in self.asked.items() if name.startswith("/fast"))
            if fast == FAST * CASES:
                self.is_through.set()
        if path.startswith("/slow"):
            self.may_answer.wait()
        return json_reply({})


def run_until_through(command: Command, sleepers: Sleepers) -> Ran:
    """Run, and let the slow operations respond once all other cases are through."""
    with serving(sleepers, DOCUMENT) as app, started(command, app) as process:
        # With one lane and one worker, none of them would be asked before the slow ones answer.
        wait_until(lambda: sleepers.is_through.is_set() or process.poll() is not None)
        sleepers.may_answer.set()
        return command.finished(process)


def test_what_is_slow_waits_beside_the_others_and_has_all_its_cases(command: Command) -> None:
    sleepers = Sleepers()
    ran = run_until_through(command, sleepers)
    assert ran.code == 0, ran.shown
    wanted = dict.fromkeys(DOCUMENT["paths"], CASES)
    assert sleepers.asked == wanted, ran.shown
    assert ran.view.counts.cases == CASES * len(wanted)


class Failing(Sleepers):
    """Fails at once for what is slow with another number than 0; what is fast is answered from then on."""

    def __init__(self) -> None:
        super().__init__()
        self.has_failed = threading.Event()

    def __call__(self, request: Request) -> Reply:
        target = urlsplit(request.target.decode())
        if target.path.startswith("/fast"):
            self.has_failed.wait()
        elif (failure := self.failure(request.method, target.path, parse_qs(target.query))) is not None:
            return failure
        return super().__call__(request)

    def failure(self, method: str, path: str, query: dict[str, list[str]]) -> Reply | None:
        if query.get("n") == ["0"]:
            return None
        self.has_failed.set()
        return json_reply({}, 500)


class Making(Failing):
    """Makes things at once until the first of them fails to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.made = 0

    def failure(self, method: str, path: str, query: dict[str, list[str]]) -> Reply | None:
        if method == "POST" and self.has_failed.is_set():
            return None
        if method == "POST":
            self.made += 1
            return json_reply({"id": self.made}, 201)
        if path.rpartition("/")[2] not in map(str, range(1, self.made + 1)):
            return json_reply({}, 404)
        self.has_failed.set()
        return json_reply({}, 500)


ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
MAKING = {
    **DOCUMENT,
    "paths": {
        "/slow": {"post": {"responses": {"201": {"description": ""}}}},
        "/slow/{id}": {"get": {"parameters": [ID], "responses": {"200": {"description": ""}}}},
    },
}


def test_a_failure_that_waits_for_slow_responses_holds_up_nobody(command: Command) -> None:
    """The case that shows a defect is the first one, so that those before it have all their time."""
    sleepers = Failing()
    ran = run_until_through(command, sleepers)
    assert ("POST /slow/1", "not_a_server_error") in ran.defects, ran.shown


def test_a_creation_that_a_failure_does_not_need_is_waited_for_some_seconds(command: Command) -> None:
    sleepers = Making()
    with serving(sleepers, MAKING) as app:
        ran = command.here(*run_arguments(app.document_url, *PATIENT, workers=1))
        sleepers.may_answer.set()
    assert ("GET /slow/{id}", "not_a_server_error") in ran.defects, ran.shown


@pytest.mark.thorough
def test_what_never_answers_is_an_error_that_says_so(command: Command) -> None:
    sleepers = Sleepers()
    with serving(sleepers, DOCUMENT) as app:
        arguments = ("-n", "20", "--phases", "fuzzing", "--request-timeout", "0.4")
        ran = command.here(*run_arguments(app.document_url, *arguments, workers=1))
        sleepers.may_answer.set()
    assert ran.code == 1, ran.shown
    asked = {path: count for path, count in sleepers.asked.items() if path.startswith("/fast")}
    assert asked == {f"/fast/{number}": 20 for number in range(FAST)}
    errors = [error for error in ran.view.errors.values() if error.title == "Given up"]
    assert sorted(error.label for error in errors) == ["POST /slow/1", "POST /slow/2"]
    assert all("within 0.4 s" in error.message for error in errors)
    assert ran.defects == [(f"POST /slow/{number}", "not_a_server_error") for number in (1, 2)], ran.shown
    # A command that waited longer would be answered.
    assert all(one.investigation.reproduction.startswith("curl --max-time 0.4 ") for one in ran.findings), ran.shown
    assert {error.title for error in ran.view.errors.values()} == {"Given up"}
    # Three times in a row, a few of them together, and two to confirm.
    assert all(5 <= sleepers.asked[f"/slow/{number}"] <= 9 for number in (1, 2))


def started(command: Command, app: App) -> Any:
    return command.started(*run_arguments(app.document_url, *PATIENT, workers=1))
