"""What it costs that compiled programs have a budget: 190 operations with large bodies, beside a cache that never evicts.

    python -m benchmarks.program_cache [DOCUMENT.json]

A worker goes through the fuzzing phase, operation by operation, and through the stateful phase, whose sequences lead from
one operation to any other. Required: >= 0.9 x the requests per CPU-second of the cache that never evicts, at most 1.2
compilations of each operation, and programs take 0.5 to 1.5 x the memory that they are counted with.
"""

import gc
import json
import sys
import tempfile
import time
import tracemalloc
from contextlib import closing
from multiprocessing import Pipe
from pathlib import Path

from benchmarks.described_target import described_target
from benchmarks.hot_path import ClusterRotation, worker_settings
from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.corpus.journal import JournalReader
from checker.corpus.records import TaskProgress
from checker.generation.program import OperationProgram
from checker.phases.case_factory import BUDGET_BYTES, Key, ProgramCache
from checker.workers.context import WorkerContext
from checker.workers.loop import Worker
from checker.workers.messages import Task
from checker.workers.queues import Sender
from checker.workers.starting.opening import open_worker_context
from tests.apps.large_bodies import large_document

RESOURCES = 38
FIELDS = 36
CASES = 10
ROUNDS = 2
LEAST_SHARE = 0.9
MOST_COMPILATIONS = 1.2
COUNTED = (0.5, 1.5)
_ENDLESS = 1 << 40
_DRAWN = 30
_OPERATIONS = 100


class CountingCache(ProgramCache):
    """Counts what is compiled."""

    compilations: int = 0

    def keep(self, key: Key, program: OperationProgram) -> bool:
        """Keep a program, and count it."""
        self.compilations += 1
        return super().keep(key, program)


def main() -> int:
    """Print the figures; exit code 1 when a limit is broken."""
    with tempfile.TemporaryDirectory() as scratch:
        document = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch, "large.json")
        if len(sys.argv) == 1:
            document.write_text(json.dumps(large_document(RESOURCES, fields=FIELDS)))
        with described_target(document) as url:
            rates: dict[int, float] = {}
            compilations = 0.0
            for budget_bytes in (BUDGET_BYTES, _ENDLESS) * ROUNDS:
                rate, each = _rate(document, url, budget_bytes)
                rates[budget_bytes] = max(rates.get(budget_bytes, 0.0), rate)
                compilations = max(compilations, each)
        share = rates[BUDGET_BYTES] / rates[_ENDLESS]
        counted = _memory(document)
    print(f"{share:.2f} x the rate of a cache that never evicts (limit {LEAST_SHARE:g})")
    is_slow = share < LEAST_SHARE or compilations > MOST_COMPILATIONS
    return int(is_slow or not COUNTED[0] <= counted <= COUNTED[1])


def _rate(document: Path, url: str, budget_bytes: int) -> tuple[float, float]:
    """Return the requests per CPU-second of a worker whose programs have this budget, and the compilations of each operation."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        closing(open_worker_context(1, worker_settings(str(document), url, "run", 8, scratch))) as place,
    ):
        cache = place.factory._programs = CountingCache(budget_bytes)
        unread, up = Pipe(duplex=False)
        orders = ClusterRotation([_tasks(place)], lambda: None)
        began = time.process_time()
        Worker(place, orders, Sender(up)).run()
        spent_s = time.process_time() - began
        unread.close()
        records = JournalReader(Path(place.opened.journal)).read_new()
    requests = sum(one.requests for one in records if isinstance(one, TaskProgress))
    operations = len(place.opened.operations)
    budget = "no budget" if budget_bytes == _ENDLESS else f"{budget_bytes >> 20} MiB"
    print(
        f"{budget}: {requests / spent_s:,.0f} requests per CPU-second, {requests:,} requests, "
        f"{cache.compilations:,} compilations of {operations} operations, {cache.held_bytes >> 20} MiB held"
    )
    return requests / spent_s, cache.compilations / operations


def _tasks(place: WorkerContext) -> tuple[Task, ...]:
    labels = [Label(card.label) for card in place.opened.operations]
    pairs = [(phase, label) for phase in ("fuzzing", "stateful") for label in labels]
    return tuple(
        Task(f"{number:016x}", phase, (label,), number, 0, CASES, 3600.0) for number, (phase, label) in enumerate(pairs)
    )


def _memory(document: Path) -> float:
    """Return the memory that programs take as a multiple of what they are counted with."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        closing(
            open_worker_context(1, worker_settings(str(document), "http://127.0.0.1:9", "run", 8, scratch))
        ) as place,
    ):
        factory, phase = place.factory, PhaseInfo("fuzzing")
        cache = factory._programs = CountingCache(_ENDLESS)
        tracemalloc.start()
        for card in place.opened.operations[:_OPERATIONS]:
            for index in range(_DRAWN):
                try:
                    factory.make(Label(card.label), 7, index, phase)
                except CheckerError:
                    break
        gc.collect()
        whole, held_bytes = tracemalloc.get_traced_memory()[0], cache.held_bytes
        factory._programs = ProgramCache()
        del cache
        gc.collect()
        taken_bytes = whole - tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    share = taken_bytes / held_bytes
    print(
        f"programs of {_OPERATIONS} operations: {taken_bytes / 2**20:.1f} MiB, counted as {held_bytes / 2**20:.1f}: "
        f"{share:.2f} x (limits {COUNTED[0]:g} and {COUNTED[1]:g})"
    )
    return share


if __name__ == "__main__":
    sys.exit(main())
