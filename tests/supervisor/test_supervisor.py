"""What a run promises while its workers work, die and hang."""

import resource
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.digests import case_id
from checker.core.meta import Drawn
from checker.corpus.fold import Sights, fold
from checker.corpus.journal import Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import (
    WHOLE_TASK,
    Finding,
    Note,
    Quarantined,
    Record,
    RunFinished,
    RunStarted,
    TaskProgress,
    ValueSeen,
    WorkerGone,
)
from checker.corpus.snapshot import read_snapshot
from checker.supervisor import lifecycle, state, supervisor
from checker.supervisor.supervisor import RunEnvironment, execute
from tests.supervisor.running import BOTH, IMPATIENT, INLINE, PATIENT, PROCESSES, Run, all_cases, is_work
from tests.supervisor.toys import LABELS


@BOTH
def test_every_case_is_made_once(run: Run, launcher: Any) -> None:
    outcome = run(launcher=launcher)
    assert all_cases() == run.told.cases
    assert (outcome.exit_code, outcome.outcome, outcome.error) == (0, "completed", None)
    assert outcome.view.counts.cases == 20


@pytest.mark.thorough
def test_journals_are_looked_for_when_a_worker_opens_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, lists = Counter[str](), list[RunLayout]()
    read, listed = lifecycle.RunLifecycle.read, RunLayout.journal_paths

    def reading(life: lifecycle.RunLifecycle, **options: bool) -> None:
        before = len(lists)
        read(life, **options)
        reads["listing" if len(lists) > before else "plain"] += 1

    def listing(layout: RunLayout) -> list[tuple[int, Path]]:
        lists.append(layout)
        return listed(layout)

    monkeypatch.setattr(lifecycle.RunLifecycle, "read", reading)
    monkeypatch.setattr(RunLayout, "journal_paths", listing)
    run(launcher=INLINE, phases=("examples", "coverage", "fuzzing", "stateful"))
    # As the first worker opens its journal, which begins the run, and at the end; else nothing is looked for.
    assert reads["listing"] <= 5
    assert reads["plain"] >= 4


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
    read, told = fold(journals.finish_all()), outcome.view
    assert read.findings == told.findings
    # The sights also hold the order in which records arrived.
    assert replace(read, sights=Sights()) == replace(told, sights=Sights())


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
    assert (outcome.exit_code, str(outcome.error)) == (2, "cannot open: no such file")
    assert run.told.records == []


def test_workers_that_stall_at_once_have_few_notes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "STALL_S", 0.0)
    monkeypatch.setattr(supervisor, "MOST_STALLS", 3)
    run(("slow", "0.1"), workers=4, launcher=INLINE, max_examples=10)
    assert sum(note.kind == state.STALLED for note in run.told.of(Note)) == 3


def test_a_worker_killed_half_way_costs_no_case_and_doubles_none(run: Run) -> None:
    outcome = run(("once", "POST /users:2"))
    assert all_cases() == run.told.cases
    assert outcome.exit_code == 0
    assert [gone.reason for gone in run.told.of(WorkerGone)] == ["killed by SIGKILL", "drained"]


def test_a_case_that_kills_twice_is_quarantined_and_no_other(run: Run) -> None:
    outcome = run(("kill", "POST /users:2"))
    assert all_cases() - Counter([("POST /users", 2)]) == run.told.cases
    (quarantined,) = run.told.of(Quarantined)
    assert (quarantined.label, quarantined.index, quarantined.stage, quarantined.strikes) == (
        "POST /users",
        2,
        "hook",
        2,
    )
    assert quarantined.steps[0].recipe == Drawn((2,))
    assert quarantined.reason == "killed by SIGSEGV"
    assert outcome.exit_code == 1


def test_kills_from_outside_cost_a_case_after_two_more_chances_and_are_no_error(run: Run) -> None:
    outcome = run(("starve", "POST /users:2"))
    assert all_cases() - Counter([("POST /users", 2)]) == run.told.cases
    assert run.told.of(Quarantined) == []
    (note,) = run.told.of(Note)
    assert (note.kind, note.label) == ("killed", "POST /users")
    assert "case 2 was running when its worker was killed from outside (SIGKILL, 4 times)" in note.text
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
    assert str(outcome.error).startswith("the run was given up")
    # The cases in quarantine are what was found.
    assert outcome.exit_code == 1


def test_a_case_that_hangs_twice_is_quarantined(run: Run) -> None:
    run(("hang", "POST /users:2"), deadlines=IMPATIENT)
    assert all_cases() - Counter([("POST /users", 2)]) == run.told.cases
    (quarantined,) = run.told.of(Quarantined)
    assert quarantined.reason.startswith("hung in hook")


def test_a_worker_that_hangs_while_it_opens_ends_the_run(run: Run) -> None:
    outcome = run(("hang", "opening"), deadlines=replace(PATIENT, opening_s=0.5))
    assert (outcome.exit_code, str(outcome.error)) == (
        2,
        "cannot open: the worker hung while it opened the API description",
    )


def test_a_worker_that_grew_too_far_is_replaced_and_nobody_is_blamed(run: Run) -> None:
    outcome = run(("memory", "POST /users:2"))
    assert outcome.exit_code == 0
    assert run.told.cases == all_cases()
    assert [gone.reason for gone in run.told.of(WorkerGone)] == ["memory", "drained"]


def test_a_full_disk_ends_the_run_with_a_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nor may halves of compiled modules stay behind.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    settings = run.settings(("slow", "0.01"), ("once", "POST /users:2"))

    def fill(incarnation: int, record: Record) -> None:
        if isinstance(record, RunStarted):
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))

    try:
        outcome = execute(settings, fill, RunEnvironment(PROCESSES))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert outcome.exit_code == 2
    assert str(outcome.error).startswith("the corpus cannot be written: File too large")
    assert outcome.view.opened is not None


def test_what_finished_runs_left_is_compacted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run(("find", "GET /users:2"))
    monkeypatch.setattr(lifecycle, "_LOOSE_JOURNALS", 0)
    layout = RunLayout(run.folder / "corpus")
    before = layout.journal_paths()
    outcome = run()
    assert not {path for _, path in before} & {path for _, path in layout.journal_paths()}
    assert [r.fingerprint for r in read_snapshot(layout).records if isinstance(r, Finding)] == ["GET /users-found"]
    assert (outcome.exit_code, outcome.view.finding_count()) == (0, 0)


@pytest.mark.parametrize("max_bytes", [1 << 30, 1000])
def test_journals_of_finished_runs_are_compacted_if_they_take_much_of_a_small_corpus(run: Run, max_bytes: int) -> None:
    run(("find", "GET /users:2"), launcher=INLINE)
    layout = RunLayout(run.folder / "corpus")
    before = {path for _, path in layout.journal_paths()}
    run(launcher=INLINE, max_bytes=max_bytes)
    is_kept = before <= {path for _, path in layout.journal_paths()}
    assert is_kept == (max_bytes > 1000)
    assert [one.label for one in read_snapshot(layout).records if isinstance(one, Finding)] == ["GET /users"] * (
        not is_kept
    )


def test_a_run_in_which_everything_dies_is_given_up(run: Run) -> None:
    outcome = run(("kill", "everything"), workers=2)
    assert outcome.exit_code == 2
    assert str(outcome.error).startswith("the run was given up")


def test_case_ids_are_those_of_the_seed(run: Run) -> None:
    run()
    starts = {task.labels[0]: task for task in run.told.of(TaskProgress)}
    assert len(starts) == 4
    assert len({value.case for value in run.told.of(ValueSeen)}) == 20
    assert case_id(1, 0) != case_id(1, 1)


def test_findings_are_told_once(run: Run) -> None:
    run(("find", "GET /users:2"), workers=2)
    assert len(run.told.of(Finding)) == 1


def test_what_the_time_did_not_suffice_for_is_named(run: Run) -> None:
    outcome = run(("slow", "0.002"), max_time_s=800.0, over=is_work)
    assert (outcome.exit_code, outcome.outcome) == (0, "time limit")
    cases = {task.labels[0]: task.cases for task in outcome.view.tasks.values()}
    notes = outcome.view.notes["untried"].values()
    assert {note.label: note.text for note in notes} == {
        label: f"sent {cases.get(label, 0)} of 5 cases of the fuzzing phase"
        for label in LABELS
        if cases.get(label, 0) < 5
    }
