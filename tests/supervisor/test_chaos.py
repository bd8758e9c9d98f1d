"""Whatever is killed: no orphan, and no finding that could be read is missing from the report."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from checker.corpus.fold import fold
from checker.corpus.inflight import InflightReader
from checker.corpus.journal import Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import ValueSeen
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
FINDING = "GET /users:8"

LONG = "100000"
"""Seconds: these runs are killed or interrupted."""
Supervise = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def supervise(tmp_path: Path) -> Iterator[Supervise]:
    """Starts a supervisor: (workers, orders...)."""
    started = []

    def start(workers: int, *orders: str) -> subprocess.Popen[str]:
        arguments = [str(tmp_path), str(workers), LONG, *orders]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.supervisor.supervise", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def is_running(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The fork server's children that live."""
    workers = []
    for child in family(process):
        # One of them may be gone in between.
        with suppress(psutil.NoSuchProcess):
            if child.ppid() != process.pid:
                workers.append(child)
    return workers


def read_findings(corpus: Path) -> set[str]:
    journals = Journals(RunLayout(corpus))
    return set(fold(journals.read_new()).findings)


def cases_on_record(corpus: Path) -> int:
    journals = Journals(RunLayout(corpus))
    return sum(isinstance(record, ValueSeen) for _, record in journals.read_new())


def in_flight(corpus: Path) -> list[InflightReader]:
    return [InflightReader(path) for path in corpus.glob("inflight/*.slots")]


def kill_one(supervisor: subprocess.Popen[str], chance: random.Random) -> None:
    """The next worker there is."""
    wait_until(lambda: bool(workers_of(supervisor)))
    with suppress(IndexError, psutil.NoSuchProcess):
        chance.choice(workers_of(supervisor)).kill()


def interrupted(process: subprocess.Popen[str]) -> tuple[str, str, list[str]]:
    process.send_signal(signal.SIGINT)
    return report(process)


def report(process: subprocess.Popen[str]) -> tuple[str, str, list[str]]:
    out, err = process.communicate()
    assert err == ""
    code, outcome, *findings = out.strip().split("|")
    return code, outcome, findings


@pytest.mark.thorough
def test_a_killed_supervisor_leaves_no_orphan_and_its_findings_are_reported(
    supervise: Supervise, tmp_path: Path
) -> None:
    first = supervise(3, f"find={FINDING}", "slow=0.002")
    wait_until(lambda: bool(read_findings(tmp_path)) and len(workers_of(first)) == 3)
    children = family(first)
    first.kill()
    wait_until(lambda: not any(map(is_running, children)))
    first.wait()
    seen = read_findings(tmp_path)
    second = supervise(2, "slow=0.002")
    wait_until(lambda: len(workers_of(second)) == 2)
    code, outcome, findings = interrupted(second)
    assert (code, outcome) == ("130", "interrupted")
    assert sorted(findings) == sorted(seen)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("what", ["a hook", "a native call"])
def test_not_even_a_hung_worker_is_orphaned(supervise: Supervise, tmp_path: Path, what: str) -> None:
    order = "hang" if what == "a hook" else "hold"
    supervisor = supervise(1, f"{order}=GET /users:0")
    wait_until(lambda: len(workers_of(supervisor)) == 1)
    wait_until(lambda: any(reader.acting_lane is not None for reader in in_flight(tmp_path)))
    children = family(supervisor)
    supervisor.kill()
    wait_until(lambda: not any(map(is_running, children)))


@pytest.mark.thorough
def test_a_killed_fork_server_costs_nothing_but_time(supervise: Supervise, tmp_path: Path) -> None:
    supervisor = supervise(2, f"find={FINDING}", "slow=0.002")
    wait_until(lambda: len(workers_of(supervisor)) == 2)
    workers = workers_of(supervisor)
    psutil.Process(workers[0].ppid()).kill()
    wait_until(lambda: not any(map(is_running, workers)))
    wait_until(lambda: len(workers_of(supervisor)) == 2)
    wait_until(lambda: bool(read_findings(tmp_path)))
    code, outcome, findings = interrupted(supervisor)
    assert (code, outcome, findings) == ("130", "interrupted", ["GET /users-found"])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.thorough_beyond(1)
def test_workers_killed_at_any_time_cost_no_finding(supervise: Supervise, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    supervisor = supervise(2, f"find={FINDING}", "slow=0.002")
    # A run that cannot even begin is given up sooner, and so is one whose workers come no further.
    wait_until(lambda: bool(read_findings(tmp_path)))
    for _ in range(6):
        seen = cases_on_record(tmp_path)
        wait_until(lambda seen=seen: cases_on_record(tmp_path) > seen + 10)  # type: ignore[misc]
        time.sleep(chance.uniform(0.0, 0.3))
        kill_one(supervisor, chance)
    code, outcome, findings = interrupted(supervisor)
    assert (code, outcome) == ("130", "interrupted")
    assert findings == ["GET /users-found"]


def test_a_terminal_interrupt_of_the_whole_group_is_quiet(supervise: Supervise) -> None:
    supervisor = supervise(2, "slow=0.002")
    wait_until(lambda: len(workers_of(supervisor)) == 2)
    children = family(supervisor)
    # As a terminal does: everybody gets it, also a worker that only just began.
    psutil.Process(supervisor.pid).send_signal(signal.SIGINT)
    for child in children:
        child.send_signal(signal.SIGINT)
    code, outcome, _ = report(supervisor)
    assert (code, outcome) == ("130", "interrupted")
    wait_until(lambda: not any(map(is_running, children)))
