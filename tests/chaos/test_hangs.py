"""What hangs does not keep a run: hooks, native code that holds the GIL, servers that drip."""

import json
import socketserver
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.apps.serving import json_reply, serving
from tests.chaos import evidence
from tests.chaos.killing import orphans
from tests.e2e.runner import Command, Ran

IMPATIENT = (sys.executable, str(Path(__file__).with_name("impatient.py")))
HANGS = {
    "a loop": "while True: pass",
    "a native call": "ctypes.PyDLL(None).pause()",
    "a regular expression": "re.match('(a+)+$', 'a' * 64 + 'b')",
}
HOOK = """
import ctypes, re
import checker

@checker.hook
def before_call(ctx, case, kwargs):
    if case.query["n"] == 7:
        {}
"""
_LEAVING_S = 7.0
"""What a run may take when its time is over and a worker does not leave, the start of processes included."""


def _document(highest: int) -> dict[str, object]:
    schema = {"enum": list(range(highest + 1))}
    number = {"name": "n", "in": "query", "required": True, "schema": schema}
    operation = {"parameters": [number], "responses": {"200": {"description": "ok"}}}
    paths = {f"/{name}": {"get": operation} for name in ("first", "second")}
    return {"openapi": "3.0.3", "info": {"title": "Hangs", "version": "1"}, "paths": paths}


def _fuzz(command: Command, location: str, seconds: float, *more: str) -> tuple[Ran, float]:
    """A run and the seconds that it took."""
    began = time.monotonic()
    ran = command(*_arguments(location, seconds, *more))
    return ran, time.monotonic() - began


def _arguments(location: str, seconds: float, *more: str) -> list[str]:
    limits = ["--continue-on-failure", "--max-time", str(seconds), "--seed", "1", "--workers", "1"]
    return ["fuzz", location, *limits, *more]


def _quarantines(command: Command) -> list[dict[str, Any]]:
    corpora = command.directory.glob(".checker/*")
    return [case for corpus in corpora for case in evidence.quarantines(corpus)]


def _install(command: Command, hang: str) -> None:
    (command.directory / "hooks.py").write_text(HOOK.format(HANGS[hang]))
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')


@pytest.mark.parametrize("hang", ["a loop", "a regular expression"])
def test_a_hook_that_hangs_costs_its_case(command: Command, hang: str) -> None:
    _install(command, hang)
    with serving(lambda _: json_reply({}), _document(3000)) as api:
        ran = replace(command, program=IMPATIENT).until(
            lambda: _quarantines(command), *_arguments(api.document_url, 40)
        )
    assert ran.code == 130, ran.shown
    assert "Traceback" not in ran.shown
    cases = _quarantines(command)
    assert {case["stage"] for case in cases} == {"hook"}
    assert any(case["reason"] == "hung in hook for more than 2 s" for case in cases)
    assert all(
        case["request"].startswith(f"curl -X GET '{api.url}/") or case["strikes"] == 1
        for case in cases
    )
    assert orphans(command.directory) == []


def test_time_is_over_also_for_a_hook_that_holds_the_interpreter(command: Command) -> None:
    _install(command, "a native call")
    with serving(lambda _: json_reply({}), _document(7)) as api:
        ran, took_s = _fuzz(command, api.document_url, 5)
    assert took_s < 5 + _LEAVING_S
    assert ran.code == 1, ran.shown
    assert "ended its worker once in stage hook: killed: it did not leave in time" in ran.stdout
    assert orphans(command.directory) == []


@contextmanager
def _dripping() -> Iterator[str]:
    """A server that answers with one byte now and then, for ever; its URL."""
    over = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 16)
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


@pytest.mark.parametrize(("timeout_s", "seconds"), [("0.5", 5), ("60", 2)])
def test_a_server_that_drips_does_not_keep_a_run(
    command: Command, timeout_s: str, seconds: float
) -> None:
    (command.directory / "api.json").write_text(json.dumps(_document(100)))
    with _dripping() as url:
        ran, took_s = _fuzz(
            command, "api.json", seconds, "--url", url, "--request-timeout", timeout_s
        )
    assert took_s < seconds + _LEAVING_S
    assert "Traceback" not in ran.shown
    if timeout_s == "0.5":
        assert ran.code == 1, ran.shown
        assert "timed out" in ran.stdout
    else:
        assert ran.code == 2, ran.shown
        assert "no case was finished before the time was over" in ran.stderr
