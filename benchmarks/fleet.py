"""What workers on other machines cost: messages and bytes for each request, and the CPU of the supervisor at up to 1,000 workers.

    python -m benchmarks.fleet

First the demo is tested by two agents. Then journals are synthetic: each worker has news twice a second of a simulated clock, each
of `REQUESTS` requests. Required: the supervisor needs at most 1 CPU-second for a simulated second of 1,000 workers, and its cost of
one news is at most 1.3 times that at 10 workers.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from checker.config.config import Config
from checker.config.settings import RunSettings
from checker.core.operation import Label
from checker.corpus.codec import FrameEncoder
from checker.corpus.layout import RunLayout
from checker.corpus.packing import pack
from checker.corpus.records import TaskProgress, ValueSeen
from checker.demo import Server
from checker.fleet.distant import DistantLauncher
from checker.fleet.wire import CORPUS, News, Piece
from checker.supervisor.execution import execute
from checker.supervisor.handle import WorkerPool
from checker.supervisor.lifecycle import RunLifecycle
from checker.supervisor.lock import Ownership
from checker.supervisor.state import WorkerSnapshot
from checker.supervisor.supervisor import RunEnvironment
from checker.workers.messages import LeaseReport, Opened, TasksEnded
from checker.workers.queues import encode
from tests.fleet.threads import ThreadCluster

REQUESTS = 50
SECONDS = 5
LIMIT_S, LIMIT_RATIO = 1.0, 1.3
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
    """Each worker has news twice a second, all of the same size."""

    def __init__(self) -> None:
        self.news = 0
        self._waiting: list[int] = []
        self._owners: dict[int, tuple[int, str]] = {}
        self._agents = self._calls = 0
        self._frames = FrameEncoder()

    def agent(self) -> int:
        """Return the number of a worker."""
        self._agents += 1
        return self._agents

    def put(self, data: bytes) -> bytes:
        """Return the bytes."""
        return data

    def call(self, agent: int, method: str, *given: Any) -> int:
        """Return the number of a call."""
        self._calls += 1
        self._owners[self._calls] = agent, method
        return self._calls

    def ready(self, calls: Sequence[int], timeout_s: float) -> list[int]:
        """Return all calls: the time between two news has passed."""
        return list(calls)

    def result(self, call: int) -> Any:
        """Return news of a worker."""
        agent, method = self._owners.pop(call)
        if method != "take":
            return ""
        self.news += 1
        task, label = f"{self.news:016x}", Label(f"GET /things{agent % 50}")
        seen = ValueSeen(label, f"{self.news}", self.news, task)
        ledger = (0.1, 0.1, 0.1, 0.1, 0.1)
        progress = TaskProgress(
            task, "exploration", (label,), REQUESTS, True, REQUESTS, REQUESTS, 0, ((label, 200, REQUESTS),), ledger
        )
        frame = self._frames.frame([pack(seen), pack(progress)])
        messages = (encode(TasksEnded(((task, REQUESTS, True),), (LeaseReport(),))),)
        pieces = (Piece(f"{CORPUS}/journals/{agent + 1:08d}-1.journal", frame, is_appended=True),)
        return pack(News(messages, pieces, self._frames.frame([pack(seen)]), _SNAPSHOT))

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


def simulated(folder: Path, workers: int) -> tuple[float, float]:
    """Return the CPU-seconds of the supervisor for a simulated second, and for one news; those of making the news are subtracted."""
    now = [0.0]
    settings = RunSettings("x", "fuzz", 1).with_changes(corpus={"folder": str(folder)})
    cluster = SyntheticCluster()
    launcher = DistantLauncher(cluster, settings, clock=lambda: now[0])
    with Ownership(RunLayout(folder)) as ownership:
        lifecycle = RunLifecycle(RunLayout(folder), settings, lambda *_: None, clock=lambda: now[0])
        pool = WorkerPool(launcher, ownership)
        lifecycle.start()
        for _ in range(workers):
            pool.start(lifecycle.next_incarnation(), settings, 0.0)
        lifecycle.begin(Opened(1, "", "d", "http://x", ()))
        spent, made = 0.0, 0.0
        for turn in range(2 * SECONDS + 2):
            began = time.process_time()
            pool.listen(0.0)
            lifecycle.read(known_only=turn > 2)
            # The first turns open the workers and their journals.
            spent += time.process_time() - began if turn > 1 else 0.0
            now[0] += 0.5
        news = cluster.news
        cluster._owners = dict.fromkeys(range(news), (1, "take"))
        began = time.process_time()
        for number in range(news):
            cluster.result(number)
        made = (time.process_time() - began) * SECONDS / (SECONDS + 1)
        lifecycle.close()
    spent -= made
    return spent / SECONDS, spent / (2 * SECONDS * workers)


def demo(folder: Path) -> str:
    """Return the messages and bytes for each request of the demo."""
    with Server() as server:
        operations = Config.from_dict({"generation": {"max-examples": 20}}).operation_layers()
        settings = RunSettings(server.document_url, "run", 1, operations=operations)
        settings = settings.with_changes(corpus={"folder": str(folder / "corpus")}, processes={"workers": 2})
        cluster = CountingCluster(folder / "machines")
        outcome = execute(settings, lambda *_: None, RunEnvironment(DistantLauncher(cluster, settings)))
    requests = outcome.view.cases
    return (
        f"demo, {requests:,} cases: {cluster.calls / requests:.3f} calls, {cluster.down / requests:,.0f} bytes down and "
        f"{cluster.up / requests:,.0f} bytes up for each"
    )


def main() -> int:
    """Print the figures; exit code 1 when a limit is broken."""
    with tempfile.TemporaryDirectory() as scratch:
        print(demo(Path(scratch, "demo")))
        _, few_s = simulated(Path(scratch, "few"), 10)
        second_s, many_s = simulated(Path(scratch, "many"), 1_000)
    ratio, most_mib = many_s / few_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"1,000 workers: {second_s:.2f} CPU-s for each second (limit {LIMIT_S:g}), {most_mib} MiB")
    print(
        f"one news: {few_s * 1e6:.0f} us at 10 workers, {many_s * 1e6:.0f} us at 1,000: {ratio:.2f} (limit {LIMIT_RATIO:g})"
    )
    return int(second_s > LIMIT_S or ratio > LIMIT_RATIO)


if __name__ == "__main__":
    sys.exit(main())
