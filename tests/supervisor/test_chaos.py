"""Whatever is killed: no orphan after 2 s, and no finding that could be read is missing from the report."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from checker.corpus.fold import fold
from checker.corpus.layout import RunLayout
from checker.corpus.reader import Journals

ROOT = Path(__file__).parents[2]
FINDING = "GET /users:8"


Supervise = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def supervise(tmp_path: Path) -> Iterator[Supervise]:
    """Starts a supervisor: (workers, seconds, orders...)."""
    started = []

    def start(workers: int, seconds: float, *orders: str) -> subprocess.Popen[str]:
        arguments = [str(tmp_path), str(workers), str(seconds), *orders]
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


def wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


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
    """The fork server's children."""
    return [child for child in family(process) if child.ppid() != process.pid]


def read_findings(corpus: Path) -> set[str]:
    with closing(Journals(RunLayout(corpus))) as journals:
        return set(fold(journals.read_new()).findings)


def interrupted(process: subprocess.Popen[str]) -> tuple[str, str, list[str]]:
    process.send_signal(signal.SIGINT)
    return report(process)


def report(process: subprocess.Popen[str]) -> tuple[str, str, list[str]]:
    out, err = process.communicate(timeout=30)
    assert err == ""
    code, outcome, *findings = out.strip().split("|")
    return code, outcome, findings


def test_a_killed_supervisor_leaves_no_orphan_and_its_findings_are_reported(
    supervise: Supervise, tmp_path: Path
) -> None:
    first = supervise(3, 60, f"find={FINDING}", "slow=0.002")
    assert wait_until(lambda: bool(read_findings(tmp_path)) and len(workers_of(first)) == 3, 10)
    children = family(first)
    first.kill()
    assert wait_until(lambda: not any(map(is_running, children)), 2)
    first.wait()
    seen = read_findings(tmp_path)
    second = supervise(2, 60, "slow=0.002")
    assert wait_until(lambda: len(workers_of(second)) == 2, 10)
    code, outcome, findings = interrupted(second)
    assert (code, outcome) == ("130", "interrupted")
    assert sorted(findings) == sorted(seen)


@pytest.mark.parametrize("what", ["a hook", "a native call"])
def test_not_even_a_hung_worker_is_orphaned(supervise: Supervise, what: str) -> None:
    order = "hang" if what == "a hook" else "hold"
    supervisor = supervise(1, 60, f"{order}=GET /users:0")
    assert wait_until(lambda: len(workers_of(supervisor)) == 1, 10)
    children = family(supervisor)
    time.sleep(0.2)
    supervisor.kill()
    assert wait_until(lambda: not any(map(is_running, children)), 2)


def test_a_killed_fork_server_costs_nothing_but_time(supervise: Supervise, tmp_path: Path) -> None:
    supervisor = supervise(2, 60, f"find={FINDING}", "slow=0.002")
    assert wait_until(lambda: len(workers_of(supervisor)) == 2, 10)
    workers = workers_of(supervisor)
    psutil.Process(workers[0].ppid()).kill()
    assert wait_until(lambda: not any(map(is_running, workers)), 2)
    assert wait_until(lambda: len(workers_of(supervisor)) == 2, 10)
    assert wait_until(lambda: bool(read_findings(tmp_path)), 10)
    code, outcome, findings = interrupted(supervisor)
    assert (code, outcome, findings) == ("130", "interrupted", ["GET /users-found"])


@pytest.mark.parametrize("seed", range(3))
def test_workers_killed_at_any_time_cost_no_finding(
    supervise: Supervise, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    supervisor = supervise(2, 60, f"find={FINDING}", "slow=0.002")
    # A run that cannot even begin is given up sooner.
    assert wait_until(lambda: bool(read_findings(tmp_path)), 10)
    for _ in range(6):
        time.sleep(chance.uniform(0.05, 0.3))
        assert wait_until(lambda: bool(workers_of(supervisor)), 10)
        chance.choice(workers_of(supervisor)).kill()
    code, outcome, findings = interrupted(supervisor)
    assert (code, outcome) == ("130", "interrupted")
    assert findings == ["GET /users-found"]


def test_a_terminal_interrupt_of_the_whole_group_is_quiet(supervise: Supervise) -> None:
    supervisor = supervise(2, 60, "slow=0.002")
    assert wait_until(lambda: len(workers_of(supervisor)) == 2, 10)
    children = family(supervisor)
    # As a terminal does: everybody gets it, also a worker that only just began.
    psutil.Process(supervisor.pid).send_signal(signal.SIGINT)
    for child in children:
        child.send_signal(signal.SIGINT)
    code, outcome, _ = report(supervisor)
    assert (code, outcome) == ("130", "interrupted")
    assert wait_until(lambda: not any(map(is_running, children)), 2)
