import os
import resource
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker.config.settings import RunSettings
from checker.core.digests import case_id
from checker.core.errors import UsageError
from checker.corpus.damage import DAMAGED, Loss, damage_note
from checker.corpus.fold import fold
from checker.corpus.inflight import InflightReader, Stage
from checker.corpus.journal import JournalReader
from checker.corpus.layout import RunLayout
from checker.corpus.reader import Journals
from checker.corpus.records import (
    Finding,
    Note,
    Quarantined,
    Record,
    RunFinished,
    RunStarted,
    TaskStarted,
    ValueSeen,
    WorkerGone,
)
from checker.corpus.snapshot import read_snapshot
from checker.supervisor import chronicle
from checker.supervisor.execution import RunOutcome, Surroundings, execute
from checker.supervisor.launchers.inline import InlineLauncher
from checker.supervisor.launchers.processes import ProcessLauncher
from checker.supervisor.lock import Ownership
from checker.supervisor.quarantine import WHOLE_TASK
from checker.supervisor.signals import Interrupts
from checker.supervisor.state import Deadlines
from tests.supervisor.toys import LABELS, toy_work

INLINE = InlineLauncher(toy_work)
PROCESSES = ProcessLauncher(toy_work)
BOTH = pytest.mark.parametrize("launcher", [INLINE, PROCESSES], ids=["inline", "processes"])
PATIENT = Deadlines({}, heartbeat_s=1000.0, opening_s=1000.0)
IMPATIENT = replace(PATIENT, stages={Stage.HOOK: 3.0})
"""Nothing but what hangs takes so long on the busiest machine."""
LONG_S = 1000.0
"""For nights that end by what they find, or by a clock that leaps."""
END = ("slow", "0.002"), ("find", "GET /users:2")
Is = Callable[[Record], bool]


def is_work(record: Record) -> bool:
    return isinstance(record, ValueSeen)


def is_finding(record: Record) -> bool:
    return isinstance(record, Finding)


class Clock:
    """Goes as all clocks do, until it leaps."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead_s


class Told:
    """A listener that remembers; `when` it is told of something, something happens."""

    def __init__(self, when: Is | None = None, happens: Callable[[], None] | None = None) -> None:
        self.records: list[tuple[int, Record]] = []
        self._when = when
        self._happens = happens

    def __call__(self, incarnation: int, record: Record) -> None:
        self.records.append((incarnation, record))
        if self._when is not None and self._happens is not None and self._when(record):
            self._happens()

    def of(self, kind: type[Any]) -> list[Any]:
        return [record for _, record in self.records if isinstance(record, kind)]

    @property
    def cases(self) -> Counter[tuple[str, int]]:
        return Counter((value.producer, value.value) for value in self.of(ValueSeen))


class Run:
    """Settings that are made once and run as often as wanted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = Told()

    def settings(self, *orders: tuple[str, str], **fields: Any) -> RunSettings:
        fields = {"kind": "run", "seed": 1, "max_examples": 5, **fields}
        return RunSettings(
            location="toy", corpus_dir=str(self.folder / "corpus"), headers=orders, **fields
        )

    def __call__(
        self,
        *orders: tuple[str, str],
        launcher: Any = PROCESSES,
        deadlines: Deadlines = PATIENT,
        over: Is | None = None,
        stop: Is | None = None,
        **fields: Any,
    ) -> RunOutcome:
        """`over`: 900 s are over when such a record is told; `stop`: the user asks to stop then."""
        clock, interrupts = Clock(), Interrupts()

        def leap() -> None:
            clock.ahead_s = 900.0

        def interrupt() -> None:
            interrupts.count = 1

        self.told = Told(over or stop, leap if over else interrupt)
        around = Surroundings(launcher, deadlines, interrupts, clock)
        return execute(self.settings(*orders, **fields), self.told, around)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def all_cases(count: int = 5) -> Counter[tuple[str, int]]:
    return Counter((label, index) for label in LABELS for index in range(count))


@BOTH
def test_every_case_is_made_once(run: Run, launcher: Any) -> None:
    outcome = run(launcher=launcher)
    assert all_cases() == run.told.cases
    assert (outcome.exit_code, outcome.outcome, outcome.error) == (0, "completed", "")
    assert outcome.view.cases == 20


def test_more_workers_make_the_same_cases(run: Run) -> None:
    outcome = run(("together", "2"), workers=3)
    assert all_cases() == run.told.cases
    assert outcome.exit_code == 0
    makers = {number for number, record in run.told.records if isinstance(record, ValueSeen)}
    assert len(makers) > 1


@BOTH
def test_the_run_begins_with_its_start_and_ends_with_its_finish(run: Run, launcher: Any) -> None:
    outcome = run(launcher=launcher)
    records = [record for _, record in run.told.records]
    assert isinstance(records[0], RunStarted)
    assert isinstance(records[-1], RunFinished)
    assert records[-1].outcome == "completed"
    journals = Journals(RunLayout(run.folder / "corpus"))
    assert outcome.view == fold(journals.finish_all())


@BOTH
def test_a_finding_makes_the_exit_code_1(run: Run, launcher: Any) -> None:
    outcome = run(("find", "GET /users:2"), launcher=launcher)
    assert outcome.exit_code == 1
    assert list(outcome.view.findings) == ["GET /users-found"]


def test_the_failure_limit_drains_the_run(run: Run) -> None:
    outcome = run(("find", "GET /users:2"), max_failures=1, max_examples=1000)
    assert (outcome.exit_code, outcome.outcome) == (1, "failure limit")


@BOTH
def test_nothing_selected_is_exit_code_2(run: Run, launcher: Any) -> None:
    assert run(("empty", ""), launcher=launcher).exit_code == 2


@BOTH
def test_a_worker_that_cannot_open_ends_the_run_with_its_sentence(run: Run, launcher: Any) -> None:
    outcome = run(("cannot", "no such file"), launcher=launcher, workers=2)
    assert (outcome.exit_code, outcome.error) == (2, "cannot open: no such file")
    assert run.told.records == []


def test_a_worker_killed_half_way_costs_no_case_and_doubles_none(run: Run) -> None:
    outcome = run(("once", "POST /users:2"))
    assert all_cases() == run.told.cases
    assert outcome.exit_code == 0
    assert [gone.reason for gone in run.told.of(WorkerGone)] == ["killed by SIGKILL", "drained"]


def test_a_case_that_kills_twice_is_quarantined_and_no_other(run: Run) -> None:
    outcome = run(("kill", "POST /users:2"))
    assert all_cases() - Counter([("POST /users", 2)]) == run.told.cases
    (quarantined,) = run.told.of(Quarantined)
    assert (
        quarantined.label,
        quarantined.index,
        quarantined.stage,
        quarantined.strikes,
    ) == ("POST /users", 2, "hook", 2)
    assert quarantined.steps[0].choices == (2,)
    assert quarantined.reason == "killed by SIGSEGV"
    assert outcome.exit_code == 1


def test_kills_from_outside_cost_a_case_after_two_more_chances_and_are_no_error(run: Run) -> None:
    outcome = run(("starve", "POST /users:2"))
    assert all_cases() - Counter([("POST /users", 2)]) == run.told.cases
    assert run.told.of(Quarantined) == []
    (note,) = run.told.of(Note)
    assert (note.kind, note.label) == ("killed", "POST /users")
    assert "case 2 was at work at 4 kills from outside" in note.text
    assert outcome.exit_code == 0


def test_a_task_in_which_every_case_kills_is_quarantined_and_the_others_go_on(run: Run) -> None:
    outcome = run(("kill", "POST /users:*"))
    assert run.told.cases == all_cases() - Counter({("POST /users", n): 1 for n in range(5)})
    assert [(q.index, q.label) for q in run.told.of(Quarantined)] == [
        (0, "POST /users"),
        (1, "POST /users"),
        (2, "POST /users"),
        (WHOLE_TASK, "POST /users"),
    ]
    assert outcome.exit_code == 1


def test_a_run_in_which_every_case_kills_is_given_up(run: Run) -> None:
    outcome = run(("kill", "every case"))
    assert outcome.error.startswith("the run was given up")


def test_a_case_that_hangs_twice_is_quarantined(run: Run) -> None:
    run(("hang", "POST /users:2"), deadlines=IMPATIENT)
    assert all_cases() - Counter([("POST /users", 2)]) == run.told.cases
    (quarantined,) = run.told.of(Quarantined)
    assert quarantined.reason.startswith("hung in hook")


def test_a_worker_that_hangs_while_it_opens_ends_the_run(run: Run) -> None:
    outcome = run(("hang", "opening"), deadlines=replace(PATIENT, opening_s=0.5))
    assert (
        outcome.exit_code,
        outcome.error,
    ) == (2, "cannot open: the worker hung while it opened the API description")


def test_a_worker_that_grew_too_far_is_replaced_and_nobody_is_blamed(run: Run) -> None:
    outcome = run(("memory", "POST /users:2"))
    assert outcome.exit_code == 0
    assert run.told.cases == all_cases()
    assert [gone.reason for gone in run.told.of(WorkerGone)] == ["memory", "drained"]


def test_a_full_disk_ends_the_run_with_a_sentence(run: Run) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    settings = run.settings(("slow", "0.01"), ("once", "POST /users:2"))

    def fill(incarnation: int, record: Record) -> None:
        if isinstance(record, RunStarted):
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))

    try:
        outcome = execute(settings, fill, Surroundings(PROCESSES))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert outcome.exit_code == 2
    assert outcome.error.startswith("the corpus cannot be written: File too large")
    assert outcome.view.opened is not None


def test_what_finished_runs_left_is_compacted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run(("find", "GET /users:2"))
    monkeypatch.setattr(chronicle, "_LOOSE_JOURNALS", 0)
    layout = RunLayout(run.folder / "corpus")
    before = layout.journal_paths()
    outcome = run()
    assert not {path for _, path in before} & {path for _, path in layout.journal_paths()}
    assert [r.fingerprint for r in read_snapshot(layout).records if isinstance(r, Finding)] == [
        "GET /users-found"
    ]
    assert (outcome.exit_code, outcome.view.finding_count()) == (0, 0)


def test_a_run_in_which_everything_dies_is_given_up(run: Run) -> None:
    outcome = run(("kill", "everything"), workers=2)
    assert outcome.exit_code == 2
    assert outcome.error.startswith("the run was given up")


@BOTH
def test_fuzz_stops_at_the_first_failure(run: Run, launcher: Any) -> None:
    orders = (("find", "GET /users:2"), ("slow", "0.002"))
    outcome = run(*orders, kind="fuzz", max_time_s=LONG_S, workers=2, launcher=launcher)
    assert (outcome.exit_code, outcome.outcome) == (1, "first failure")


def test_fuzz_goes_on_until_its_time_is_over(run: Run) -> None:
    outcome = run(("slow", "0.001"), kind="fuzz", max_time_s=800.0, workers=2, over=is_work)
    assert (outcome.exit_code, outcome.outcome) == (0, "time limit")


def test_limits_of_a_project_hold(run: Run) -> None:
    limits = {"max_time_s": 800.0, "continue_on_failure": True}
    projects = (("toy", limits),)
    outcome = run(*END, kind="fuzz", max_time_s=LONG_S, projects=projects, over=is_finding)
    assert (outcome.exit_code, outcome.outcome) == (1, "time limit")


def test_the_poison_of_a_fuzz_is_quarantined(run: Run) -> None:
    def is_quarantine(record: Record) -> bool:
        return isinstance(record, Quarantined)

    orders = (("kill", "POST /users:3"), ("slow", "0.002"))
    outcome = run(*orders, kind="fuzz", max_time_s=800.0, over=is_quarantine)
    assert run.told.of(Quarantined)[0].label == "POST /users"
    assert outcome.exit_code == 1


@BOTH
def test_an_interrupt_drains_and_reports(run: Run, launcher: Any) -> None:
    outcome = run(*END, kind="fuzz", continue_on_failure=True, stop=is_finding, launcher=launcher)
    assert (outcome.exit_code, outcome.outcome) == (130, "interrupted")
    assert outcome.view.finding_count() == 1


def test_a_second_interrupt_ends_also_what_hangs(run: Run) -> None:
    inflight = RunLayout(run.folder / "corpus").root / "inflight"
    interrupts = Interrupts()

    def is_hanging() -> bool:
        return any(InflightReader(path).acting_lane is not None for path in inflight.glob("*"))

    def interrupt_twice() -> None:
        while not is_hanging():
            time.sleep(0.01)
        interrupts.count = 2

    interrupting = threading.Thread(target=interrupt_twice)
    interrupting.start()
    around = Surroundings(PROCESSES, PATIENT, interrupts)
    outcome = execute(run.settings(("hang", "GET /users:0")), run.told, around)
    interrupting.join()
    assert outcome.exit_code == 130
    assert [gone.reason for gone in run.told.of(WorkerGone)] == ["killed: it did not leave in time"]


def test_a_second_supervisor_is_refused(run: Run) -> None:
    with (
        Ownership(RunLayout(run.folder / "corpus")),
        pytest.raises(UsageError, match=f"another checker is working in .*pid {os.getpid()}"),
    ):
        run()


def test_a_fuzz_without_an_end_goes_on(run: Run) -> None:
    run(*END, kind="fuzz", max_time_s=LONG_S)
    assert run.told.of(RunStarted)[0].seed == 1
    begun = {task.task for task in run.told.of(TaskStarted)}
    lose_the_end(run.folder / "corpus")

    def is_further(record: Record) -> bool:
        return isinstance(record, TaskStarted) and record.task not in begun

    again = run(
        ("slow", "0.002"),
        kind="fuzz",
        seed=2,
        max_time_s=800.0,
        continue_on_failure=True,
        over=is_further,
    )
    first, second = run.told.of(RunStarted)
    assert (first.run, first.seed) == (second.run, second.seed)
    assert list(again.view.findings) == ["GET /users-found"]
    assert not again.view.notes, "a torn end is no damage"
    assert begun < {task.task for task in run.told.of(TaskStarted)}


def test_damage_of_a_run_that_is_gone_on_with_is_told(run: Run) -> None:
    run(*END, kind="fuzz", max_time_s=LONG_S, launcher=INLINE)
    lose_the_end(run.folder / "corpus")
    path = next(p for _, p in RunLayout(run.folder / "corpus").journal_paths() if holds_values(p))
    path.write_bytes(path.read_bytes() + bytes(8))
    again = run(*END, kind="fuzz", launcher=INLINE)
    assert again.exit_code == 1
    assert [text for *_, text in again.view.notes[DAMAGED]] == [
        damage_note(path, f"wrong checksum at byte {path.stat().st_size - 8}", Loss.JOURNAL).text
    ]


def holds_values(journal: Path) -> bool:
    return any(isinstance(record, ValueSeen) for record in JournalReader(journal).finish())


def test_a_finished_fuzz_is_followed_by_a_new_run(run: Run) -> None:
    run(*END, kind="fuzz", max_time_s=LONG_S)
    again = run(("slow", "0.002"), kind="fuzz", max_time_s=800.0, over=is_work)
    assert len(run.told.of(RunStarted)) == 1
    assert again.exit_code == 0


def test_other_settings_begin_a_new_run(run: Run) -> None:
    run(*END, kind="fuzz", max_time_s=LONG_S)
    lose_the_end(run.folder / "corpus")
    run(*END, kind="fuzz", max_time_s=LONG_S, checks=("not_a_server_error",))
    assert len(run.told.of(RunStarted)) == 1


def lose_the_end(corpus: Path) -> None:
    """As if the supervisor had been killed: tear its last record."""
    _, path = RunLayout(corpus).journal_paths()[0]
    os.truncate(path, path.stat().st_size - 1)


def test_case_ids_are_those_of_the_seed(run: Run) -> None:
    run()
    starts = {task.labels[0]: task for task in run.told.of(TaskStarted)}
    assert len(starts) == 4
    assert len({value.case for value in run.told.of(ValueSeen)}) == 20
    assert case_id(1, 0) != case_id(1, 1)


def test_findings_are_told_once(run: Run) -> None:
    run(("find", "GET /users:2"), workers=2)
    assert len(run.told.of(Finding)) == 1
