"""The memory budget of a run: the worker that grew most is replaced, and a run that cannot keep its limit ends with a sentence."""

import os
import subprocess
import sys

import psutil
import pytest

from checker.corpus.records import WorkerGone
from checker.supervisor.memory import LEAST_GROWTH_BYTES, MOST_VAIN_LOOKS, MemoryBudget, memory_of_tree
from tests.supervisor.running import Run, all_cases

MIB = 1 << 20


def budget() -> MemoryBudget:
    """Return a budget of 200 MiB with two workers of 60 MiB."""
    found = MemoryBudget(200 * MIB)
    assert found.look(150 * MIB, {1: 60 * MIB, 2: 60 * MIB}) is None
    return found


def test_the_worker_that_grew_most_is_replaced_and_the_next_one_only_when_it_has_left() -> None:
    memory = budget()
    assert memory.look(199 * MIB, {1: 109 * MIB, 2: 60 * MIB}) is None, "within the limit"
    assert memory.look(230 * MIB, {1: 80 * MIB, 2: 120 * MIB}) == 2
    assert memory.look(240 * MIB, {1: 90 * MIB, 2: 120 * MIB}) is None, "it has not left yet"
    assert memory.look(220 * MIB, {1: 100 * MIB, 3: 60 * MIB}) == 1
    assert memory.look(180 * MIB, {3: 60 * MIB}) is None
    assert not memory.fault


def test_a_run_whose_workers_have_not_grown_ends_after_some_looks() -> None:
    memory = budget()
    sizes = {1: 60 * MIB + LEAST_GROWTH_BYTES - 1, 2: 60 * MIB}
    for _ in range(MOST_VAIN_LOOKS):
        assert not memory.fault
        assert memory.look(250 * MIB, sizes) is None
    assert "takes 250 MiB of memory, more than the 200 MiB of `max-memory`" in memory.fault


def test_a_short_peak_ends_no_run() -> None:
    memory = budget()
    for _ in range(2 * MOST_VAIN_LOOKS):
        memory.look(250 * MIB, {1: 60 * MIB})
        memory.look(150 * MIB, {1: 60 * MIB})
    assert not memory.fault


def test_a_worker_that_opens_a_large_description_ends_no_run() -> None:
    """A replacement of the only worker takes more memory for seconds than the run afterwards."""
    memory = budget()
    assert memory.look(230 * MIB, {1: 80 * MIB, 2: 120 * MIB}) == 2
    for _ in range(10 * MOST_VAIN_LOOKS):
        assert memory.look(300 * MIB, {1: 60 * MIB}, is_opening=True) is None
    assert not memory.fault
    for _ in range(MOST_VAIN_LOOKS):
        assert memory.look(250 * MIB, {1: 60 * MIB, 3: 60 * MIB}) is None
    assert memory.fault


def test_all_processes_below_this_one_count() -> None:
    held = "kept = b'x' * (50 << 20); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        sizes = memory_of_tree()
        child.communicate(b"\n")
    assert sizes[child.pid] > 50 * MIB
    assert 0 < sizes[os.getpid()] <= 1.1 * psutil.Process().memory_info().rss


@pytest.fixture
def _frequent_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.supervisor.supervisor._LOOK_S", 0.02)


@pytest.mark.usefixtures("_frequent_looks")
def test_a_worker_that_grew_is_replaced_after_its_case(run: Run) -> None:
    first: set[int] = set()

    def memory() -> dict[int, int]:
        workers = [worker.pid for server in psutil.Process().children() for worker in server.children()]
        sizes = {pid: (100 if pid in first else 10) * MIB for pid in workers}
        first.update(() if first else workers)
        return sizes

    outcome = run(("slow", "0.1"), max_memory_bytes=99 * MIB, memory=memory)
    assert outcome.exit_code == 0
    assert run.told.cases == all_cases()
    assert [gone.reason for gone in run.told.of(WorkerGone)] == ["memory", "drained"]


@pytest.mark.usefixtures("_frequent_looks")
def test_a_run_that_cannot_keep_its_limit_ends_with_a_sentence(run: Run) -> None:
    outcome = run(("slow", "0.02"), max_memory_bytes=1, memory=lambda: {1: MIB}, max_examples=50)
    assert outcome.exit_code == 2
    assert "give it more memory, or fewer workers" in str(outcome.error)
    assert outcome.view.finished is not None
