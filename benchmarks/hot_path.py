"""CPU per request of the whole loop against a bare libcurl multi loop that sends the same bytes, in one run.

    python -m benchmarks.hot_path [FOLDER OF THE C TARGET]

Both are warm, and their rounds alternate: what else the machine does meets both alike. `run` makes, sends, judges with
all checks but those that this target can only fail, records traffic, journal and signals, and keeps its in-flight slots;
`fuzz` also reuses values and extends sequences. Required of `run`: at 8 lanes loop <= 4 x bare (aim 3), at 1 lane
<= 2.5 x.
"""

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing import Pipe
from pathlib import Path
from statistics import median

import pycurl

from benchmarks.target import folder_argument, target
from checker.config.config import Config
from checker.config.settings import CaseSources, CorpusSettings, ProcessSettings, RunSettings, TargetSettings
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.corpus.journal import JournalReader
from checker.corpus.records import TaskProgress
from checker.workers.context import WorkerContext
from checker.workers.loop import Worker
from checker.workers.messages import Assign, Down, Drain, Task
from checker.workers.queues import Receiver, Sender
from checker.workers.starting.opening import open_worker_context

PHASES = {"run": "fuzzing", "fuzz": "exploration"}
WARM_UP = 3_000
REQUESTS = 4_000
ROUNDS = 15
# The target takes everything and forgets nothing: with them every second case would fail, and be proved.
TAKES_ALL = ("negative_data_rejection", "use_after_free", "ensure_resource_availability")
LIMITS = {8: 4.0, 1: 2.5}
"""Times bare, by lanes, for `run`."""
PARTS = ("make", "wait", "judge", "record")


def main() -> int:
    """Print the table; exit code 1 when a limit is broken."""
    broken = 0
    with target(folder_argument()) as server:
        _apart(server.pid)
        print(f"target: {server.name}; {WARM_UP} requests to warm up, then {ROUNDS} rounds of {REQUESTS}")
        for lanes, limit in LIMITS.items():
            for kind in PHASES:
                figures = measured(server.document, server.url, kind, lanes)
                broken += kind == "run" and figures.ratio > limit
                print(figures.line(kind, lanes, limit if kind == "run" else None))
    return 1 if broken else 0


def _apart(pid: int) -> None:
    """Keep the target on a processor of its own: beside us it would wake us for 20 us, or for 60, as it happens."""
    if not hasattr(os, "sched_setaffinity"):
        return
    first, *others = sorted(os.sched_getaffinity(0))
    if others:
        os.sched_setaffinity(pid, {first})
        os.sched_setaffinity(0, others)


@dataclass
class Figures:
    """CPU us a request, by rounds."""

    bare: list[float] = field(default_factory=list)
    loop: list[float] = field(default_factory=list)
    parts: list[list[float]] = field(default_factory=list)
    """Wall us a request, by parts of the ledger."""

    @property
    def ratio(self) -> float:
        """Loop by bare; of neighbours, because the machine changes its pace."""
        return median(self._ratios())

    def line(self, kind: str, lanes: int, limit: float | None) -> str:
        """Two lines of the table."""
        ratios = self._ratios()
        verdict = ""
        if limit is not None:
            verdict = f"limit {limit}: {'ok' if self.ratio <= limit else 'TOO SLOW'}"
        steps = zip(PARTS, zip(*self.parts, strict=True), strict=False)
        return (
            f"{lanes} lanes, {kind:4}: bare {median(self.bare):5.1f} us  loop {median(self.loop):5.1f} us"
            f"  ratio {self.ratio:.2f} (rounds {min(ratios):.2f}-{max(ratios):.2f})  {verdict}\n"
            "    wall us: " + "  ".join(f"{name} {median(each):.1f}" for name, each in steps)
        )

    def _ratios(self) -> list[float]:
        return [loop / bare for loop, bare in zip(self.loop, self.bare, strict=True)]


class ClusterRotation(Receiver):
    """Orders of a worker: the tasks of one round after those of the other. In between `between` runs."""

    def __init__(self, rounds: list[tuple[Task, ...]], between: Callable[[], None]) -> None:
        reading, self._writing = Pipe(duplex=False)
        super().__init__(reading)
        self._rounds = rounds
        self._between = between
        self._orders: list[Down] = []
        self._began = 0.0
        self.cpu_s: list[float] = []

    def wait(self, timeout_s: float | None = None) -> bool:
        """A round is over: note what it took, and give the next."""
        now = time.process_time()
        if self._began:
            self.cpu_s.append(now - self._began)
            self._between()
        self._orders.append(Assign(self._rounds.pop(0)) if self._rounds else Drain())
        self._began = time.process_time()
        return True

    def get_nowait(self) -> Down | None:
        """What `wait` has put there."""
        return self._orders.pop() if self._orders else None


def worker_settings(document: str, url: str, kind: str, lanes: int, scratch: str) -> RunSettings:
    """Return the settings of one worker that sends to a target which takes all: nothing is shrunk, and no failure ends a task."""
    return RunSettings(
        document,
        kind,
        1,
        target=TargetSettings(url),
        processes=ProcessSettings(lanes=lanes),
        corpus=CorpusSettings(str(Path(scratch, "corpus"))),
        sources=CaseSources(database="none"),
        operations=Config.from_dict(
            {
                "continue-on-failure": True,
                "generation": {"no-shrink": True},
                "checks": {name: {"enabled": False} for name in TAKES_ALL},
            }
        ).operation_layers(),
    )


def measured(document: str, url: str, kind: str, lanes: int) -> Figures:
    """Figures of one worker that works through all rounds, everything on."""
    figures = Figures()
    with tempfile.TemporaryDirectory() as scratch:
        settings = worker_settings(document, url, kind, lanes, scratch)
        with closing(open_worker_context(1, settings)) as place:
            labels = tuple(card.label for card in place.opened.operations)
            rounds = [
                _tasks(kind, labels, number, count) for number, count in enumerate((WARM_UP, *[REQUESTS] * ROUNDS), 1)
            ]
            # As the loop sends them: the cases of a task, its operations in turn.
            sample = [
                _request(place, task.labels[index % len(task.labels)], index)
                for task in rounds[-1]
                for index in range(task.stop)
            ]
            bare = Bare(url, sample, lanes)
            orders = ClusterRotation(rounds.copy(), lambda: figures.bare.append(bare.round()))
            unread, up = Pipe(duplex=False)
            Worker(place, orders, Sender(up)).run()
            journal = Path(place.opened.journal)
            bare.close()
            unread.close()
        _count(figures, rounds, orders.cpu_s, journal)
    # The first round is the warm-up.
    del figures.bare[0], figures.loop[0], figures.parts[0]
    return figures


def _tasks(kind: str, labels: tuple[str, ...], number: int, count: int) -> tuple[Task, ...]:
    """A round as the supervisor leases it: in `run` a task for each operation, in `fuzz` one for all."""
    named = tuple(map(Label, labels))
    groups = [(label,) for label in named] if kind == "run" else [named]
    return tuple(
        Task(f"{number << 32 | place:016x}", PHASES[kind], group, number, 0, count // len(groups), 3600.0)
        for place, group in enumerate(groups)
    )


def _count(figures: Figures, rounds: list[tuple[Task, ...]], cpu_s: list[float], journal: Path) -> None:
    """Requests are counted from the journal: a case may be part of a sequence."""
    records = [one for one in JournalReader(journal).read_new() if isinstance(one, TaskProgress)]
    for tasks, seconds in zip(rounds, cpu_s, strict=True):
        ids = {task.id for task in tasks}
        mine = [record for record in records if record.task in ids]
        requests = sum(record.requests for record in mine)
        figures.loop.append(1e6 * seconds / requests)
        figures.parts.append(
            [1e6 * sum(record.ledger[part] for record in mine) / requests for part in range(len(PARTS))]
        )


def _request(place: WorkerContext, label: str, index: int) -> WireRequest:
    made = place.factory.make(Label(label), 7, index, PhaseInfo("exploration"))
    return place.tools.maker.make(made.case)


class Bare:
    """A CurlMulti with reused handles that sends prebuilt bytes and looks at nothing."""

    def __init__(self, url: str, requests: list[WireRequest], lanes: int) -> None:
        self._multi = pycurl.CurlMulti()
        self._handles = [_handle(url) for _ in range(lanes)]
        self._prepared = [
            (r.method, r.target, [b"%b: %b" % h for h in r.headers] + [b"Expect:"], r.body) for r in requests
        ]

    def round(self) -> float:
        """CPU us per request."""
        multi, prepared = self._multi, self._prepared
        flying = sent = done = 0
        began = time.process_time()
        free = list(self._handles)
        while done < REQUESTS:
            while free and sent < REQUESTS:
                curl = free.pop()
                _load(curl, prepared[sent % len(prepared)])
                multi.add_handle(curl)
                sent += 1
                flying += 1
            multi.perform()
            _, succeeded, failed = multi.info_read()
            for curl in [*succeeded, *(one[0] for one in failed)]:
                multi.remove_handle(curl)
                free.append(curl)
                flying -= 1
                done += 1
            if not succeeded and not failed and flying:
                multi.select(1.0)
        return 1e6 * (time.process_time() - began) / REQUESTS

    def close(self) -> None:
        """Close the connections."""
        for curl in self._handles:
            curl.close()
        self._multi.close()


def _handle(url: str) -> pycurl.Curl:
    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, url + "/")
    curl.setopt(pycurl.NOSIGNAL, 1)
    curl.setopt(pycurl.HEADERFUNCTION, _ignore)
    curl.setopt(pycurl.WRITEFUNCTION, _ignore)
    return curl


def _ignore(data: bytes) -> None:
    pass


def _load(curl: pycurl.Curl, prepared: tuple[str, bytes, list[bytes], bytes | None]) -> None:
    method, target_, headers, body = prepared
    if body is None:
        curl.setopt(pycurl.HTTPGET, 1)
    else:
        curl.setopt(pycurl.POSTFIELDS, body)
    curl.setopt(pycurl.CUSTOMREQUEST, method)
    curl.setopt(pycurl.REQUEST_TARGET, target_)
    curl.setopt(pycurl.HTTPHEADER, headers)


if __name__ == "__main__":
    raise SystemExit(main())
