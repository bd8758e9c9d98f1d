"""What hangs does not keep a run: hooks, native code that holds the GIL, servers that drip."""

import itertools
import json
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.apps.serving import json_reply, serving
from tests.chaos import evidence
from tests.chaos.killing import orphans
from tests.e2e.runner import Command, Ran
from tests.e2e.slow_clock import OVER

IMPATIENT = (sys.executable, str(Path(__file__).with_name("impatient.py")))
HANGS = {
    "a loop": "while True: pass",
    # The time is over when the case has been at it for long enough to be blamed.
    "a native call": (f"subprocess.Popen(['sh', '-c', 'sleep 4; : > {OVER}']); ctypes.PyDLL(None).pause()"),
    "a regular expression": "re.match('(a+)+$', 'a' * 64 + 'b')",
}
HOOK = """
import ctypes, re, subprocess
import checker

@checker.hook
def before_call(ctx, case, kwargs):
    if case.query["n"] == 7:
        {}
"""


def _document(highest: int) -> dict[str, object]:
    schema = {"enum": list(range(highest + 1))}
    number = {"name": "n", "in": "query", "required": True, "schema": schema}
    operation = {"parameters": [number], "responses": {"200": {"description": "ok"}}}
    paths = {f"/{name}": {"get": operation} for name in ("first", "second")}
    return {"openapi": "3.0.3", "info": {"title": "Hangs", "version": "1"}, "paths": paths}


def _arguments(location: str, *more: str) -> list[str]:
    data = ["--mode", "positive"]
    limits = ["--continue-on-failure", "--max-time", "40", "--seed", "1", "--workers", "1"]
    return ["fuzz", location, *data, *limits, *more]


def _quarantines(command: Command) -> list[dict[str, Any]]:
    corpora = command.directory.glob(".checker/*")
    return [case for corpus in corpora for case in evidence.quarantines(corpus)]


def _install(command: Command, hang: str) -> None:
    (command.directory / "hooks.py").write_text(HOOK.format(HANGS[hang]))
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')


@pytest.mark.parametrize("hang", ["a loop", "a regular expression"])
@pytest.mark.thorough
def test_a_hook_that_hangs_costs_its_case(command: Command, hang: str) -> None:
    _install(command, hang)
    with serving(lambda _: json_reply({}), _document(3000)) as api:
        ran = replace(command, program=IMPATIENT).until(lambda: _quarantines(command), *_arguments(api.document_url))
    assert ran.code == 130, ran.shown
    assert "Traceback" not in ran.shown
    cases = _quarantines(command)
    assert {case["stage"] for case in cases} == {"hook"}
    assert any(case["reason"] == "hung in hook for more than 1 s" for case in cases)
    assert all(case["request"].startswith(f"curl -X GET '{api.url}/") or case["strikes"] == 1 for case in cases)
    assert orphans(command.directory) == []


@pytest.mark.thorough
def test_time_is_over_also_for_a_hook_that_holds_the_interpreter(command: Command) -> None:
    _install(command, "a native call")
    with serving(lambda _: json_reply({}), _document(7)) as api:
        ran = command(*_arguments(api.document_url))
    assert ran.code == 1, ran.shown
    assert "ended its worker once in stage hook: killed: it did not exit in time" in ran.stdout
    assert orphans(command.directory) == []


@contextmanager
def _dripping(met: Callable[[int], object]) -> Iterator[str]:
    """A server that answers with one byte now and then, for ever; its URL. `met` is told the number of each request."""
    over = threading.Event()
    numbers = itertools.count(1)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 16)
            met(next(numbers))
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            drop = head + b"Content-Length: 1000000\r\n\r\n"
            try:
                while not over.wait(0.2):
                    self.request.sendall(drop)
                    drop = b" "
            except OSError:
                pass

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            over.set()
            server.shutdown()
            thread.join()


@pytest.mark.thorough
def test_a_server_that_drips_does_not_keep_a_run(command: Command) -> None:
    ran = _dripped(command, "60", until=1)
    assert ran.code == 2, ran.shown
    assert "no case was finished within the time limit" in ran.stderr


def test_a_server_that_drips_is_given_up(command: Command) -> None:
    ran = _dripped(command, "0.5", until=5)
    assert ran.code == 1, ran.shown
    assert "timed out" in ran.stdout


def _dripped(command: Command, timeout_s: str, *, until: int) -> Ran:
    """A run whose time is over at such a request."""
    (command.directory / "api.json").write_text(json.dumps(_document(100)))

    def met(number: int) -> None:
        if number == until:
            (command.directory / OVER).touch()

    with _dripping(met) as url:
        ran = command(*_arguments("api.json", "--url", url, "--request-timeout", timeout_s))
    assert "Traceback" not in ran.shown
    return ran
