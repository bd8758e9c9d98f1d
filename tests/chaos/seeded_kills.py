"""One `kill -9` of each run, at a point that a seed chooses, and what the report of that run holds."""

import json
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from click.testing import CliRunner

from checker.cli import checker as command_line
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.chaos import target
from tests.chaos.killing import orphans
from tests.e2e.runner import Command, run_arguments, worker_pids
from tests.waiting import wait_until

OPERATIONS = 8
_EXAMPLES = "40"
_TITLE = "Server error"
_MOST_REQUESTS = 200
_MOST_JITTER_S = 0.3
VICTIMS = ("supervisor", "worker")


@dataclass(frozen=True)
class Plan:
    """Which process of a run is killed, and when."""

    victim: str
    """One of `VICTIMS`."""
    after: int
    """Number of the request that the kill follows; 0: before the first one."""
    is_answered: bool = True
    """Whether that request is answered; if not, its worker waits for the response when the kill comes."""
    jitter_s: float = 0.0
    """Pause before a kill that precedes all requests: how far the run gets."""


@dataclass
class Killed:
    """What a killed run left behind."""

    plan: Plan
    requests: int = 0
    """Number that the server had counted when the kill came."""
    is_reported: bool = False
    findings: set[tuple[str, str]] = field(default_factory=set)
    """(operation, title) of the failures of the report."""
    reported_requests: int = 0
    planted: set[str] = field(default_factory=set)
    """Operations whose planted 500 the report must hold."""
    processes: int = 0
    """Number that outlived the run."""
    shown: str = ""
    """Output of the command that wrote the report."""

    @property
    def faults(self) -> list[str]:
        """What is wrong with the report, or left behind."""
        if not self.is_reported:
            return ["no report"]
        lost = [label for label in self.planted if (label, _TITLE) not in self.findings]
        found = [f"the report lacks the 500 of {label}" for label in sorted(lost)]
        if self.reported_requests < self.requests:
            found.append(f"{self.reported_requests} of {self.requests} requests are reported")
        if self.processes:
            found.append(f"{self.processes} processes are left")
        return found


def plans(count: int, seed: int) -> Iterator[Plan]:
    """Yield as many plans: one in four kills before the first request, the others after request 1 to 200."""
    for number in range(count):
        chance = random.Random(f"{seed}-{number}")
        victim, is_answered = chance.choice(VICTIMS), chance.random() < 0.5
        if number % 4:
            yield Plan(victim, chance.randint(1, _MOST_REQUESTS), is_answered)
        else:
            yield Plan(victim, 0, jitter_s=chance.uniform(0.0, _MOST_JITTER_S))


class _Target:
    """Answers 500 to every third number of every second operation, and says when the kill is due."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self.count = 0
        self.planted: list[tuple[str, int]] = []
        """(operation, nanoseconds since the epoch) of the 500 responses."""
        self.is_due = threading.Event()
        self.is_killed = threading.Event()

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.count += 1
            is_due = self.count == self._plan.after
        if is_due:
            self.is_due.set()
            if not self._plan.is_answered:
                # Its 500 is not counted as planted: a journal may be written while the worker waits for it.
                self.is_killed.wait()
                return json_reply({}, 500)
        return self._reply(request)

    def _reply(self, request: Request) -> Reply:
        path = request.target.decode()
        try:
            number = int(json.loads(request.body)["n"])
        except (ValueError, TypeError, LookupError):
            return json_reply({}, 400)
        if number % 3 or int(path.removeprefix("/things")) % 2:
            return json_reply({})
        self.planted.append((f"{request.method} {path}", time.time_ns()))
        return json_reply({}, 500)


def killed_run(command: Command, plan: Plan) -> Killed:
    """Return what one run, killed as planned, left in the empty folder of the command."""
    api, found = _Target(plan), Killed(plan)
    with serving(api.answer, target.document(OPERATIONS)) as app:
        workers = 1 if plan.victim == "supervisor" else 2
        output = ("--report", "json", "--report-json-path", "report.json")
        arguments = run_arguments(app.document_url, "--max-examples", _EXAMPLES, *output, workers=workers)
        with command.started(*arguments) as process:
            _wait_for(plan, api, command.directory, process)
            found.requests = api.count
            _kill(plan.victim, process)
            api.is_killed.set()
            if plan.victim == "worker":
                found.shown = command.finished(process).shown
        found.processes = len(orphans(command.directory))
    if plan.victim == "worker":
        found.planted = {label for label, _ in api.planted}
    else:
        flushed_ns = _flushed_ns(command.directory)
        found.planted = {label for label, at_ns in api.planted if at_ns < flushed_ns}
        found.shown = _reported(command.directory)
    with suppress(FileNotFoundError):
        _read(found, json.loads((command.directory / "report.json").read_text()))
    return found


def _wait_for(plan: Plan, api: _Target, directory: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until the kill is due."""
    if plan.after:
        wait_until(lambda: api.is_due.is_set() or process.poll() is not None)
        return
    if plan.victim == "worker":
        wait_until(lambda: _workers(process) or process.poll() is not None)
    else:
        wait_until(lambda: _flushed_ns(directory, first=True) or process.poll() is not None)
    ends_at = time.monotonic() + plan.jitter_s
    wait_until(lambda: api.count or time.monotonic() >= ends_at)


def _kill(victim: str, process: "subprocess.Popen[str]") -> None:
    if victim == "supervisor":
        process.kill()
        process.wait()
        return
    for worker in _workers(process)[:1]:
        with suppress(psutil.NoSuchProcess):
            worker.send_signal(signal.SIGKILL)


def _workers(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Workers of a run, those that have opened nothing yet included: children of its fork server."""
    with suppress(psutil.NoSuchProcess):
        found = psutil.Process(process.pid).children(recursive=True)
        open_first = set(worker_pids(process))
        workers = [one for one in found if one.ppid() != process.pid]
        return sorted(workers, key=lambda one: one.pid not in open_first)
    return []


def _flushed_ns(directory: Path, *, first: bool = False) -> int:
    """Return when a worker last wrote to its journal, in nanoseconds since the epoch; 0 if none did.

    The first journal is the one of the supervisor; with `first` it counts as well.
    """
    journals = sorted(directory.glob(".checker/*/journals/*"))
    written = (one.stat() for one in journals[0 if first else 1 :])
    return max((one.st_mtime_ns for one in written if one.st_size), default=0)


def _reported(directory: Path) -> str:
    """Have `checker report` write the report of a killed run; return its output."""
    (journals,) = directory.glob(".checker/*/journals")
    output = str(directory / "report.json")
    arguments = ["report", str(journals.parent), "--format", "json", "--output", output]
    return CliRunner().invoke(command_line, arguments).output


def _read(found: Killed, report: dict[str, Any]) -> None:
    found.is_reported = True
    found.findings = {(one["operation"], one["title"]) for one in report["failures"]}
    found.reported_requests = report["test_cases"]["requests"]
