"""A worker hangs when it does not get on with a processor at hand, not where many wait for one."""

import os
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path

import pytest

from checker.corpus import inflight
from checker.corpus.inflight import InflightWriter, Stage
from checker.corpus.layout import RunLayout
from checker.supervisor import launchers
from checker.supervisor.launchers import FairAge, LocalWorker, waited_s
from checker.supervisor.state import Deadlines, WorkerState, is_stuck, overdue
from checker.workers.queues import Receiver, Sender
from tests.asking import run_settings, saying

S = 10**9
TASK = "00000000000000aa"


class Machine:
    """Its clock, and how long the main thread of its one worker has waited for a processor. Seconds."""

    def __init__(self, folder: Path) -> None:
        self.now_s = self.waited_s = 1.0
        settings = run_settings("openapi.json", "run", 1, folder=str(folder), operations=saying())
        slots = RunLayout(folder).inflight(1)
        slots.parent.mkdir(parents=True, exist_ok=True)
        self.ends = (*Pipe(duplex=False), *Pipe(duplex=False))
        self.worker = LocalWorker(1, settings, Sender(self.ends[3]), Receiver(self.ends[0]))
        self.slots = slots

    def hangs(self, now_s: float, waited_s: float) -> str | None:
        """Why the worker counts as hung then."""
        self.now_s, self.waited_s = now_s, waited_s
        standing = WorkerState(1, 0.0, opened=True)
        return overdue(standing, self.worker.snapshot(), Deadlines.of(10.0), now_s)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    made = Machine(tmp_path)
    for module in (launchers, inflight):
        monkeypatch.setattr(module, "monotonic_ns", lambda: round(made.now_s * S))
    monkeypatch.setattr(launchers, "waited_s", lambda _: made.waited_s)
    yield made
    for end in made.ends:
        end.close()


@pytest.fixture
def writer(machine: Machine) -> Iterator[InflightWriter]:
    made = InflightWriter(machine.slots, 1)
    yield made
    made.close()


def test_a_worker_that_gets_no_processor_does_not_hang(machine: Machine, writer: InflightWriter) -> None:
    assert machine.hangs(1.5, 1.0) is None
    writer.begin(0, TASK, 0, 1)
    # It has computed for 5 of 30 seconds.
    assert machine.hangs(31.5, 26.0) is None
    assert machine.hangs(41.0, 31.0) is None
    assert machine.hangs(43.0, 31.0) == "hung in make for more than 10 s"


def test_a_worker_that_does_not_wait_for_a_processor_hangs_at_its_deadline(
    machine: Machine, writer: InflightWriter
) -> None:
    # It waited long, before it began.
    machine.now_s = 900.0
    writer.heartbeat()
    assert machine.hangs(900.0, 800.0) is None
    machine.now_s = 901.0
    writer.begin(0, TASK, 0, 1)
    assert machine.hangs(910.9, 800.0) is None
    assert machine.hangs(911.1, 800.0) == "hung in make for more than 10 s"


def test_a_loop_that_gets_no_processor_is_not_silent(machine: Machine, writer: InflightWriter) -> None:
    writer.heartbeat()
    assert machine.hangs(20.0, 10.0) is None
    assert machine.hangs(30.0, 10.0) == "sent no message for 15 s"


def test_a_worker_that_removed_its_slots_is_not_silent_since_its_start(machine: Machine) -> None:
    writer = InflightWriter(machine.slots, 1)
    machine.now_s = 60.0
    writer.heartbeat()
    assert machine.hangs(61.0, 1.0) is None
    writer.close()
    assert machine.hangs(62.0, 1.0) is None
    assert machine.hangs(77.0, 1.0) == "sent no message for 15 s"


def test_where_time_is_over_what_got_no_processor_is_not_to_blame(machine: Machine, writer: InflightWriter) -> None:
    writer.begin(0, TASK, 0, 1)
    machine.now_s, machine.waited_s = 6.0, 5.0
    assert not is_stuck(machine.worker.snapshot())
    machine.now_s = 9.1
    assert is_stuck(machine.worker.snapshot())


def test_code_of_users_has_its_time_by_the_clock(machine: Machine, writer: InflightWriter) -> None:
    writer.begin(0, TASK, 0, 1)
    writer.enter(0, Stage.HOOK, TASK, 0)
    assert machine.hangs(30.9, 25.0) is None
    assert is_stuck(machine.worker.snapshot())
    assert machine.hangs(31.1, 25.0) == "hung in hook for more than 30 s"


def test_code_of_users_is_stuck_by_the_clock(machine: Machine, writer: InflightWriter) -> None:
    writer.begin(0, TASK, 0, 1)
    writer.enter(0, Stage.HOOK, TASK, 0)
    machine.now_s, machine.waited_s = 3.0, 2.0
    assert not is_stuck(machine.worker.snapshot())
    machine.now_s, machine.waited_s = 5.0, 4.5
    assert is_stuck(machine.worker.snapshot())
    writer.enter(0, Stage.MAKE, TASK, 0)
    machine.now_s, machine.waited_s = 9.0, 8.5
    assert not is_stuck(machine.worker.snapshot())


def test_what_the_system_said_last_holds_when_the_process_is_gone(machine: Machine, writer: InflightWriter) -> None:
    writer.begin(0, TASK, 0, 1)
    assert machine.hangs(21.0, 19.0) is None
    assert machine.hangs(22.0, 0.0) is None


def test_an_age_is_never_below_zero() -> None:
    assert FairAge().of(5 * S, 7 * S, 3.0) == 0.0


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the system does not say")
def test_the_system_says_how_long_a_process_waited() -> None:
    before = waited_s(os.getpid())
    assert 0.0 <= before <= waited_s(os.getpid())


def test_schedstat_is_read_as_the_system_writes_it(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "schedstat").write_text("780008 2536000000 2\n")
    assert waited_s(7, tmp_path) == pytest.approx(2.536)


@pytest.mark.parametrize("content", ["", "1\n", "1 x 2\n"])
def test_where_nobody_says_it_nothing_was_waited(tmp_path: Path, content: str) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "schedstat").write_text(content)
    assert waited_s(7, tmp_path) == 0.0
    assert waited_s(8, tmp_path) == 0.0
