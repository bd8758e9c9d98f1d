"""What workers on other machines cost: messages and bytes for each request, and the CPU of the supervisor at up to 1,000 workers.

    python -m benchmarks.fleet [SIMULATED SECONDS]

First the demo is tested by two agents. Then workers are synthetic, and the supervisor is real: each worker opens a description of 200
operations, gets leases of `fuzz` and has news twice a second of a simulated clock, each of `REQUESTS` requests. Required: the supervisor needs at most 1 CPU-second for a simulated second of 1,000 workers, and its cost of
one news is at most 1.3 times that at 10 workers.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from checker.config.config import Config
from checker.config.settings import RunSettings
from checker.core.operation import Label
from checker.corpus.codec import FrameEncoder, pack
from checker.corpus.records import Record, SchemaOpened, TaskProgress, ValueSeen
from checker.demo import Server
from checker.fleet.distant import NEWS_S, DistantLauncher
from checker.fleet.luggage import CORPUS, News, Order, Piece, read
from checker.supervisor.handle import Departure
from checker.supervisor.state import WorkerSnapshot
from checker.supervisor.supervisor import RunEnvironment, execute
from checker.workers.messages import (
    Assign,
    Drain,
    LeaseReport,
    Leaving,
    LeavingKind,
    Opened,
    OperationCard,
    OperationReport,
    Task,
    TasksEnded,
    Up,
)
from checker.workers.queues import decode, encode
from tests.fleet.threads import ThreadCluster

REQUESTS = 50
SECONDS = 20.0
LIMIT_S, LIMIT_RATIO = 1.0, 1.3
CARDS = tuple(
    OperationCard(Label(f"{method} /things{number}"), method, (f"things{number}",))
    for number in range(100)
    for method in ("GET", "POST")
)
_SNAPSHOT = WorkerSnapshot(0.0, None, 0.0, (), {})


class CountingCluster(ThreadCluster):
    """Counts what travels."""

    calls = down = up = 0

    def call(self, agent: Any, method: str, *given: Any) -> Any:
        """Count a call and the bytes of its arguments."""
        self.calls += 1
        self.down += sum(len(one) for one in given if isinstance(one, bytes))
        return super().call(agent, method, *given)

    def result(self, call: Any) -> Any:
        """Count the bytes of a result."""
        result = super().result(call)
        self.up += len(result) if isinstance(result, bytes) else 0
        return result


class SyntheticCluster:
    """Workers that open a description of 200 operations, keep each lease for its time and have news of one size twice a second."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.own_s = 0.0
        """CPU-seconds of the workers' side."""
        self.news = self.leases = 0
        self._agents = self._calls = 0
        self._owners: dict[int, tuple[int, str]] = {}
        self._opened: set[int] = set()
        self._leased: dict[int, dict[str, tuple[Task, float]]] = {}
        self._leaving: set[int] = set()
        self._frames = FrameEncoder()

    def agent(self) -> int:
        """Return the number of a worker."""
        self._agents += 1
        self._leased[self._agents] = {}
        return self._agents

    def put(self, data: bytes) -> bytes:
        """Return the bytes."""
        return data

    def call(self, agent: int, method: str, *given: Any) -> int:
        """Return the number of a call, and take orders."""
        began = time.process_time()
        self._calls += 1
        self._owners[self._calls] = agent, method
        for message in map(decode, read(given[0], Order).messages if method == "give" else ()):
            if isinstance(message, Assign):
                self.leases += len(message.tasks)
                self._leased[agent] |= {task.id: (task, self.now_s) for task in message.tasks}
            elif isinstance(message, Drain):
                self._leaving.add(agent)
        self.own_s += time.process_time() - began
        return self._calls

    def ready(self, calls: Sequence[int], timeout_s: float) -> list[int]:
        """Return all calls: the time between two news has passed."""
        self.now_s += NEWS_S
        return list(calls)

    def result(self, call: int) -> Any:
        """Return news of a worker."""
        began = time.process_time()
        agent, method = self._owners.pop(call)
        found = pack(self._news(agent)) if method == "take" else ""
        self.own_s += time.process_time() - began
        return found

    def _news(self, agent: int) -> News:
        self.news += 1
        journal = f"{CORPUS}/journals/{agent + 1:08d}-1.journal"
        records: list[Record] = []
        messages: list[Up] = []
        if agent not in self._opened:
            self._opened.add(agent)
            records.append(SchemaOpened("things", "3.0", "http://x", "d", len(CARDS), len(CARDS)))
            messages.append(Opened(f"/there/{journal}", "d", "http://x", CARDS))
        for task, begun_s in list(self._leased[agent].values()):
            records.append(ValueSeen(task.labels[0], f"{self.news}", self.news, task.id))
            is_over = agent in self._leaving or self.now_s - begun_s >= task.slice_s
            reached = round((self.now_s - begun_s) / NEWS_S) * REQUESTS
            counts = tuple((label, 200, REQUESTS // len(task.labels)) for label in task.labels)
            records.append(
                TaskProgress(
                    task.id, task.phase, task.labels, reached, is_over, reached, reached, 0, counts, (0.1,) * 5
                )
            )
            if is_over:
                del self._leased[agent][task.id]
                reports = tuple(OperationReport(label, REQUESTS, False, True) for label in task.labels)
                messages.append(TasksEnded(((task.id, reached, False),), (LeaseReport(reached, operations=reports),)))
        frame = self._frames.frame([pack(one) for one in records]) if records else b""
        peers = [pack(one) for one in records if isinstance(one, ValueSeen)]
        is_leaving = agent in self._leaving
        return News(
            (*map(encode, messages), *([encode(Leaving(LeavingKind.DRAINED))] if is_leaving else ())),
            (Piece(journal, frame, is_appended=True),) if frame else (),
            self._frames.frame(peers) if peers else b"",
            _SNAPSHOT,
            Departure("exit code 0") if is_leaving else None,
        )

    def kill(self, agent: int) -> None:
        """Do nothing."""

    def processors(self) -> int:
        """Return a number."""
        return 1_000

    def has_other_hosts(self) -> bool:
        """Return that the machines are others."""
        return True

    def close(self) -> None:
        """Do nothing."""


def simulated(folder: Path, workers: int, seconds: float) -> tuple[float, float]:
    """Return the CPU-seconds of the supervisor for a simulated second, and for one news; those of the workers are subtracted."""
    settings = RunSettings("x", "fuzz", 1).with_changes(corpus={"folder": str(folder)}, processes={"workers": workers})
    settings = replace(settings, max_time_s=seconds)
    cluster = SyntheticCluster()
    launcher = DistantLauncher(cluster, settings, clock=lambda: cluster.now_s)
    began = time.process_time()
    execute(settings, lambda *_: None, RunEnvironment(launcher, clock=lambda: cluster.now_s))
    spent_s = time.process_time() - began - cluster.own_s
    print(
        f"{workers:,} workers, {cluster.now_s:.0f} s: {cluster.leases:,} leases, {cluster.news:,} news, {spent_s:.1f} CPU-s"
    )
    return spent_s / cluster.now_s, spent_s / cluster.news


def demo(folder: Path) -> str:
    """Return the messages and bytes for each request of the demo."""
    with Server() as server:
        operations = Config.from_dict({"generation": {"max-examples": 20}}).operation_layers()
        settings = RunSettings(server.document_url, "run", 1, operations=operations)
        settings = settings.with_changes(corpus={"folder": str(folder / "corpus")}, processes={"workers": 2})
        cluster = CountingCluster(folder / "machines")
        outcome = execute(settings, lambda *_: None, RunEnvironment(DistantLauncher(cluster, settings)))
    requests = outcome.view.counts.cases
    return (
        f"demo, {requests:,} cases: {cluster.calls / requests:.3f} calls, {cluster.down / requests:,.0f} bytes down and "
        f"{cluster.up / requests:,.0f} bytes up for each"
    )


def main() -> int:
    """Print the figures; exit code 1 when a limit is broken."""
    seconds = float(sys.argv[1]) if sys.argv[1:] else SECONDS
    with tempfile.TemporaryDirectory() as scratch:
        print(demo(Path(scratch, "demo")))
        _, few_s = simulated(Path(scratch, "few"), 10, seconds)
        second_s, many_s = simulated(Path(scratch, "many"), 1_000, seconds)
    ratio, most_mib = many_s / few_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"1,000 workers: {second_s:.2f} CPU-s for each second (limit {LIMIT_S:g}), {most_mib} MiB")
    print(
        f"one news: {few_s * 1e6:.0f} us at 10 workers, {many_s * 1e6:.0f} us at 1,000: {ratio:.2f} (limit {LIMIT_RATIO:g})"
    )
    return int(second_s > LIMIT_S or ratio > LIMIT_RATIO)


if __name__ == "__main__":
    sys.exit(main())
