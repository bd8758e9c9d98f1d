"""Runs that go on until they are told to stop, and those that go on with them."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from checker.core.errors import UsageError
from checker.core.meta import Drawn, Step
from checker.core.system import Interrupts
from checker.corpus.inflight import InflightReader
from checker.corpus.journal import DAMAGED, JournalReader, JournalWriter, Loss, damage_note
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note, Quarantined, Record, RunStarted, TaskProgress, ValueSeen, WorkerGone
from checker.supervisor.deaths import DEATHS_OF_A_RUN
from checker.supervisor.lock import Ownership
from checker.supervisor.supervisor import RunEnvironment, execute
from tests.asking import saying
from tests.reporting.samples import finding
from tests.supervisor.running import BOTH, END, INLINE, LONG_S, PATIENT, PROCESSES, Run, is_finding, is_work
from tests.supervisor.toys import LABELS


@BOTH
def test_fuzz_without_a_time_limit_stops_at_the_first_failure(run: Run, launcher: Any) -> None:
    orders = (("find", "GET /users:2"), ("slow", "0.002"))
    outcome = run(*orders, kind="fuzz", workers=2, launcher=launcher)
    assert (outcome.exit_code, outcome.outcome) == (1, "first failure")


@BOTH
@pytest.mark.thorough
def test_a_description_that_is_not_read_in_time_is_told(run: Run, launcher: Any) -> None:
    # All of the time, and more, has passed before the run begins.
    outcome = run(("hang", "opening"), kind="fuzz", max_time_s=800.0, age_s=900.0, launcher=launcher)
    assert (outcome.exit_code, outcome.outcome) == (2, "error")
    assert str(outcome.error).startswith(
        "cannot open: the API description was not read within the 800 s of `--max-time`; give"
    )


def test_fuzz_goes_on_until_its_time_is_over(run: Run) -> None:
    outcome = run(("slow", "0.001"), kind="fuzz", max_time_s=800.0, workers=2, over=is_work)
    assert (outcome.exit_code, outcome.outcome) == (0, "time limit")


def test_limits_of_a_project_hold(run: Run) -> None:
    said = saying(continue_on_failure=True, headers=dict(END))
    projects = (("toy", {"max_time_s": 800.0, "operations": said}),)
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
    around = RunEnvironment(PROCESSES, PATIENT, interrupts)
    outcome = execute(run.settings(("hang", "GET /users:0")), run.told, around)
    interrupting.join()
    assert outcome.exit_code == 130
    assert [gone.reason for gone in run.told.of(WorkerGone)] == ["killed: it did not exit in time"]


def test_a_second_supervisor_is_refused(run: Run) -> None:
    with (
        Ownership(RunLayout(run.folder / "corpus")),
        pytest.raises(UsageError, match=f"another checker is working in .*pid {os.getpid()}"),
    ):
        run()


def test_a_fuzz_without_an_end_goes_on(run: Run) -> None:
    run(*END, kind="fuzz")
    assert run.told.of(RunStarted)[0].seed == 1
    begun = {task.task for task in run.told.of(TaskProgress)}
    lose_the_end(run.folder / "corpus")

    def is_further(record: Record) -> bool:
        return isinstance(record, TaskProgress) and record.task not in begun

    again = run(("slow", "0.002"), kind="fuzz", seed=2, max_time_s=800.0, continue_on_failure=True, over=is_further)
    first, second = run.told.of(RunStarted)
    assert (first.run, first.seed) == (second.run, second.seed)
    assert list(again.view.findings) == ["GET /users-found"]
    assert not again.view.notes, "a torn end is no damage"
    assert begun < {task.task for task in run.told.of(TaskProgress)}


def test_damage_of_a_run_that_is_gone_on_with_is_told(run: Run) -> None:
    run(*END, kind="fuzz", launcher=INLINE)
    lose_the_end(run.folder / "corpus")
    path = next(p for _, p in RunLayout(run.folder / "corpus").journal_paths() if holds_values(p))
    path.write_bytes(path.read_bytes() + bytes(16))
    again = run(*END, kind="fuzz", launcher=INLINE)
    assert again.exit_code == 1
    assert [text for *_, text in again.view.notes[DAMAGED]] == [
        damage_note(path, f"wrong checksum at byte {path.stat().st_size - 16}", Loss.JOURNAL).text
    ]


def holds_values(journal: Path) -> bool:
    return any(isinstance(record, ValueSeen) for record in JournalReader(journal).read_new())


def test_a_finished_fuzz_is_followed_by_a_new_run(run: Run) -> None:
    run(*END, kind="fuzz")
    again = run(("slow", "0.002"), kind="fuzz", max_time_s=800.0, over=is_work)
    assert len(run.told.of(RunStarted)) == 1
    assert again.exit_code == 0


@pytest.mark.thorough
def test_findings_that_kill_workers_when_they_are_sent_again_do_not_end_a_night(run: Run) -> None:
    count = first_night(run)
    night = run(("kill", "replay"), ("slow", "0.002"), kind="fuzz", max_time_s=800.0, over=is_work)
    assert (night.exit_code, night.outcome) == (0, "time limit"), night.error
    assert sum("SIGSEGV" in gone.reason for gone in run.told.of(WorkerGone)) == count


@pytest.mark.thorough
def test_a_night_in_which_findings_are_sent_again_is_not_given_up(run: Run) -> None:
    count = first_night(run)
    # Every second worker dies before it has a task, the others after one finding.
    night = run(("mortal", "end of a replay"), ("slow", "0.002"), kind="fuzz", max_time_s=800.0, over=is_work)
    assert (night.exit_code, night.outcome) == (0, "time limit"), night.error
    assert sum("SIGKILL" in gone.reason for gone in run.told.of(WorkerGone)) > count


def test_a_night_whose_workers_are_killed_within_long_sequences_is_not_given_up(run: Run) -> None:
    count = 2 * DEATHS_OF_A_RUN
    orders = (("sequences", str(count)), ("slow", "0.002"))
    night = run(*orders, kind="fuzz", max_time_s=800.0, over=is_work)
    assert (night.exit_code, night.outcome) == (0, "time limit"), night.error
    assert sum("SIGKILL" in gone.reason for gone in run.told.of(WorkerGone)) > DEATHS_OF_A_RUN


def first_night(run: Run) -> int:
    """Leave more findings than deaths end a run; return their number."""
    run(*END, kind="fuzz", launcher=INLINE)
    layout = RunLayout(run.folder / "corpus")
    count = 2 * DEATHS_OF_A_RUN
    journal = JournalWriter(layout.journal(layout.next_incarnation(), os.getpid()))
    for number in range(count):
        journal.write(finding(fingerprint=f"f{number}", label=LABELS[0], steps=(Step(LABELS[0], Drawn(())),)))
    journal.close()
    return count


@pytest.mark.parametrize(("kind", "told"), [("fuzz", [1, 2, 3, 3, 3]), ("run", [1, 2, 3, 4, 5])])
def test_a_new_worker_of_a_night_reads_the_latest_journals_and_gets_all_signals(
    run: Run, kind: str, told: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checker.supervisor.supervisor.MOST_PEERS", 3)
    orders = (("generations", "6"), ("find", "GET /users:2"))
    assert run(*orders, kind=kind, launcher=INLINE, phases=("fuzzing",)).exit_code == 1
    # The last notes of each worker count: each journal is also told to all when it is opened.
    notes = {(one.kind, number): int(one.text) for number, one in run.told.records if isinstance(one, Note)}
    assert [count - 1 for (of, _), count in notes.items() if of == "peers"] == told
    # All but its own belong to the dead.
    assert [count for (of, _), count in notes.items() if of == "ended"] == [count - 1 for count in told]
    signals = [count for (of, _), count in notes.items() if of == "signals"]
    assert signals == ([0, 1, 2, 3, 4] if kind == "fuzz" else [0] * 5)


def test_other_settings_begin_a_new_run(run: Run) -> None:
    run(*END, kind="fuzz")
    lose_the_end(run.folder / "corpus")
    run(*END, kind="fuzz", without_checks=("content_type_conformance",))
    assert len(run.told.of(RunStarted)) == 1


def lose_the_end(corpus: Path) -> None:
    """As if the supervisor had been killed: tear its last record."""
    _, path = RunLayout(corpus).journal_paths()[0]
    os.truncate(path, path.stat().st_size - 1)
