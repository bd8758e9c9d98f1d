"""A time limit, whatever the target does: told by the order of events, with a clock that leaps when it is told to."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.cassettes import interactions_of
from tests.e2e.runner import SLOW_CLOCK, Command, Ran
from tests.e2e.slow_clock import OVER
from tests.hostile.servers import Behaviour, dripping, page, serving, silent
from tests.waiting import wait_until

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Late", "version": "1"},
    "paths": {
        "/things": {
            "get": {
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
                "responses": {"200": {"description": ""}},
            }
        }
    },
}
KINDS = pytest.mark.parametrize(
    "kind", [("run", "-n", "100000", "--phases", "fuzzing"), ("fuzz", "--mode", "positive")], ids=["run", "fuzz"]
)
LIMITS = ("--max-time", "400", "--request-timeout", "100000", "--workers", "1", "--seed", "1")
"""One worker: of several, one might still be making its first case when another one's request is there."""
REPORTS = ("--report-vcr-path", "reports/cassette.yaml")


class Watched:
    """A behaviour whose connections are counted, and how many of them the other side has left."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._lock = threading.Lock()
        self.begun = self.left = 0

    def __call__(self, peer: Any, path: str) -> None:
        with self._lock:
            self.begun += 1
        try:
            self._behaviour(peer, path)
        finally:
            with self._lock:
                self.left += 1


def _ran(command: Command, kind: tuple[str, ...], behaviour: Any, is_met: Callable[[], Any]) -> Ran:
    """A run whose time is over when something has come about."""
    described = page(json.dumps(DOCUMENT).encode(), "Content-Type: application/json")
    behaviours = {"/openapi.json": described, "/": behaviour}
    slow = replace(command, program=SLOW_CLOCK)
    with serving(behaviours) as url:
        arguments = (*kind, f"{url}/openapi.json", *LIMITS, *REPORTS)
        with slow.started(*arguments) as process:
            wait_until(lambda: process.poll() is not None or is_met())
            (command.directory / OVER).touch()
            return slow.finished(process)


def _entries(command: Command) -> list[Any]:
    """Of a cassette that is whole, and alone."""
    (path,) = (command.directory / "reports").iterdir()
    assert path.name == "cassette.yaml"
    found = interactions_of(path)
    assert [one["id"] for one in found] == [str(number + 1) for number in range(len(found))]
    return found


@KINDS
@pytest.mark.parametrize("way", ["hanging", "dripping"])
@pytest.mark.thorough_beyond(1)
def test_requests_that_never_end_do_not_keep_a_run(command: Command, kind: tuple[str, ...], way: str) -> None:
    drip = dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"[", 0.1)
    target = Watched(silent if way == "hanging" else drip)
    ran = _ran(command, kind, target, lambda: target.begun >= 1)
    assert ran.code == 2, ran.shown
    assert "no case was finished within the time limit" in ran.stderr
    assert "Traceback" not in ran.shown
    # A worker that leaves by itself tells what it waited for; one that is killed before does not.
    assert [one["response"] for one in _entries(command)] in ([], [None])
    # Nobody answered: it was the tool that left, with its last process.
    wait_until(lambda: target.left == target.begun)


@KINDS
@pytest.mark.thorough_beyond(1)
def test_what_failed_is_told_although_time_ends_the_look_into_it(command: Command, kind: tuple[str, ...]) -> None:
    failed = threading.Event()

    def once(peer: Any, path: str) -> None:
        if failed.is_set():
            silent(peer, path)
        failed.set()
        page(b"no", status="500 Internal Server Error")(peer, path)

    target = Watched(once)

    ran = _ran(command, kind, target, lambda: target.begun >= 2 and command.found)
    assert ran.code == 1, ran.shown
    assert "- Server error" in ran.stdout
    assert "time limit reached)" in ran.stdout
    assert len(_entries(command)) >= 1


@KINDS
@pytest.mark.thorough_beyond(1)
def test_of_a_description_that_does_not_come_a_sentence_is_told(command: Command, kind: tuple[str, ...]) -> None:
    target = Watched(silent)
    slow = replace(command, program=SLOW_CLOCK)
    with serving({"/": target}) as url, slow.started(*kind, f"{url}/openapi.json", *LIMITS, *REPORTS) as process:
        wait_until(lambda: process.poll() is not None or target.begun)
        (command.directory / OVER).touch()
        ran = slow.finished(process)
    assert ran.code == 2, ran.shown
    assert f"  Fetching {url}/openapi.json\n" in ran.stdout
    told = "the API description was not read within the 400 s of `--max-time`; give"
    assert told in ran.stdout
    assert list((command.directory / "reports").iterdir()) == []
