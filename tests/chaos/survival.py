"""A night in which everything dies now and then: the service is started again, workers and supervisors are killed."""

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from checker.health import TARGET
from checker.supervisor.memory import memory_of_tree
from tests.apps.http import Reply, Request
from tests.apps.serving import Answer, App, serving
from tests.chaos import evidence
from tests.chaos.killing import orphans
from tests.chaos.told import to_be_told
from tests.e2e.runner import Command, Ran, worker_pids

_PAUSE_S = 0.05
_SAMPLE_S = 1.0
_OUTPUT = "output.txt"
INTERRUPTED = 130


@dataclass(frozen=True)
class Periods:
    """How often what dies, by the clock of a night: seconds, or requests that the service has had."""

    service: float
    worker: float
    supervisor: float


@dataclass(frozen=True)
class Limits:
    """The budgets of a night."""

    memory_bytes: int
    disk_bytes: int


@dataclass(frozen=True)
class Sample:
    """The sizes of a night at one time."""

    at_s: float
    """Seconds since the start."""
    memory: int
    """Bytes of all processes."""
    corpus: int
    """Bytes of the files of the corpus."""
    written: int
    """Bytes that all processes so far have written."""
    requests: int
    """Requests that the service has had."""


@dataclass
class Survived:
    """What a night came through, and what it left."""

    deaths: Counter[str] = field(default_factory=Counter)
    """`service`, `worker` or `supervisor` -> times that it was killed."""
    samples: list["Sample"] = field(default_factory=list)
    written: dict[tuple[int, float], int] = field(default_factory=dict)
    """(process, time of its start) -> bytes that it has written into files and pipes, at the last look."""
    requests: int = 0
    orphans: int = 0
    seen: set[str] = field(default_factory=set)
    """Fingerprints that were on record when a supervisor was killed."""
    lost: Counter[evidence.Said] = field(default_factory=Counter)
    """On record, and not in the report."""
    twice: Counter[evidence.Said] = field(default_factory=Counter)
    """More often in the report than on record."""
    ran: Ran | None = None

    @property
    def faults(self) -> list[str]:
        """What must not be."""
        found = [f"lost: {one}" for one in self.lost]
        found += [f"told twice: {one}" for one in self.twice]
        if self.orphans:
            found.append(f"{self.orphans} processes were left behind")
        if self.ran is None or self.ran.code != INTERRUPTED or "Traceback" in self.ran.shown:
            end = "" if self.ran is None else f": exit code {self.ran.code}\n{self.ran.shown[-2_000:]}"
            found.append(f"the last run ended otherwise than by its interrupt{end}")
        return found


class Restarting:
    """A service on one port that can be started again; it counts its requests."""

    def __init__(self, answer: Answer, document: dict[str, Any]) -> None:
        self._answer, self._document = answer, document
        self._stack = ExitStack()
        self.app: App = self._stack.enter_context(serving(self._counted, document))
        self.requests = 0

    def _counted(self, request: Request) -> Reply:
        self.requests += 1
        # Millions of requests do not fit into memory.
        self.app.seen.clear()
        return self._answer(request)

    def restart(self, down_s: float) -> None:
        """Close all connections; serve again after so many seconds."""
        port = int(self.app.url.rpartition(":")[2])
        self._stack.close()
        time.sleep(down_s)
        self.app = self._stack.enter_context(serving(self._counted, self._document, port=port))

    def close(self) -> None:
        """Serve nothing any more."""
        self._stack.close()


def survive(
    command: Command,
    service: Restarting,
    clock: Callable[[], float],
    until: float,
    periods: Periods,
    limits: Limits,
    *,
    down_s: float = 0.0,
) -> Survived:
    """Return what is left of a night that goes on until the clock shows `until`, whoever is killed."""
    chance, found = random.Random(1), Survived()
    due = {name: clock() + getattr(periods, name) for name in ("service", "worker", "supervisor")}
    began_at, location = time.monotonic(), service.app.document_url
    process, stack = _start(command, location, limits)
    try:
        while clock() < until and process.poll() is None:
            for name in [name for name, at in due.items() if clock() >= at]:
                due[name] = clock() + getattr(periods, name)
                found.deaths[name] += 1
                if name == "service":
                    service.restart(down_s)
                elif name == "worker":
                    _kill_one(process, chance)
                else:
                    process.kill()
                    process.wait()
                    stack.close()
                    found.orphans += len(orphans(command.directory))
                    found.seen |= _on_record(command.directory).keys()
                    process, stack = _start(command, location, limits)
            _sample(found, process, command.directory, time.monotonic() - began_at, service.requests)
            time.sleep(_PAUSE_S)
        process.send_signal(signal.SIGINT)
        process.wait()
    finally:
        stack.close()
    found.requests = service.requests
    found.ran = Ran(process.returncode, (command.directory / _OUTPUT).read_text(), "", command.directory)
    found.orphans += len(orphans(command.directory))
    _compare(found, command.directory)
    return found


def _start(command: Command, location: str, limits: Limits) -> tuple["subprocess.Popen[str]", ExitStack]:
    """Return a run that begins the night or goes on with it, and what ends it with SIGKILL.

    Its output goes into a file: nobody reads a pipe for hours.
    """
    stack = ExitStack()
    output = stack.enter_context((command.directory / _OUTPUT).open("w"))
    limited = ("--max-memory", str(limits.memory_bytes), "--max-disk", str(limits.disk_bytes))
    # The service may be down while its description is fetched.
    waiting = ("--wait-for-schema", "30", "--max-time", "1000000")
    usual = ("--continue-on-failure", *waiting, "--seed", "1", "--workers", "2", "--report", "har")
    writing = Command(command.directory, program=command.program, streams=output.fileno())
    process = stack.enter_context(writing.started("fuzz", location, *usual, *limited))
    return process, stack


def _kill_one(process: "subprocess.Popen[str]", chance: random.Random) -> None:
    with suppress(psutil.NoSuchProcess):
        workers = worker_pids(process)
        if workers:
            psutil.Process(chance.choice(workers)).kill()


def _sample(found: Survived, process: "subprocess.Popen[str]", directory: Path, at_s: float, requests: int) -> None:
    if found.samples and at_s - found.samples[-1].at_s < _SAMPLE_S:
        return
    with suppress(psutil.NoSuchProcess):
        memory = sum(memory_of_tree(process.pid).values())
        for one in (root := psutil.Process(process.pid), *root.children(recursive=True)):
            # What a process writes in the last second before it is killed is not counted.
            with suppress(psutil.NoSuchProcess):
                found.written[one.pid, one.create_time()] = one.io_counters().write_chars
        written = sum(found.written.values())
        found.samples.append(Sample(at_s, memory, sum(_sizes(directory)), written, requests))


def _sizes(directory: Path) -> Iterator[int]:
    for path in directory.glob(".checker/**/*"):
        # It may be removed meanwhile.
        with suppress(FileNotFoundError):
            yield path.stat().st_size


def _on_record(directory: Path) -> dict[str, evidence.Said]:
    found: dict[str, evidence.Said] = {}
    for corpus in directory.glob(".checker/*"):
        found |= evidence.findings(corpus)
    return found


def _compare(found: Survived, directory: Path) -> None:
    """Compare the report with what is on record now, and that with what was on record before."""
    said = _on_record(directory)
    wanted = Counter(said[name] for corpus in directory.glob(".checker/*") for name in to_be_told(corpus))
    shown = found.ran.stdout if found.ran is not None else ""
    told = evidence.reported(shown)
    # Several outages of the target are told as one list. The first one is a cause as well.
    listed = [one for one in wanted - told if one[0] == TARGET and shown.count(f"- {one[2]}\n") == 1]
    found.lost = Counter({one: count for one, count in (wanted - told).items() if one not in listed})
    found.twice = Counter({one: told[one] - count for one, count in wanted.items() if told[one] > count})
    found.lost.update(("", name, "") for name in found.seen - said.keys())
