from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.known import Baseline, KnownFailure
from checker.core.operation import Label
from checker.corpus.fold import RunView
from checker.corpus.records import UNBROKEN, Note, OperationError, SchemaOpened, TaskProgress
from checker.supervisor.deaths import quarantined_task
from checker.supervisor.endings import GRACE_S, Ending, RunFault, closing_s, exit_code, untried
from checker.workers.messages import Drain, Task
from tests.asking import run_settings
from tests.corpus.generated import finding
from tests.supervisor.looking import looked_at

QUIET = RunView()


def ending(kind: str = "run", **fields: Any) -> Ending:
    return Ending(run_settings(kind=kind, **fields))


def busy_view() -> RunView:
    view = RunView()
    view.absorb(
        1,
        TaskProgress("t", "fuzzing", ("GET /a",), 1, True, 1, 1, 0, (("GET /a", 200, 1),), (0.0,) * 5),
    )  # fmt: skip
    return view


def test_nothing_ends_without_a_reason() -> None:
    assert ending().next_order(QUIET, 0.0, 1e6, 0) is None


def test_errors_count_as_failures_do() -> None:
    view = busy_view()
    for label in ("GET /b", "GET /c"):
        view.absorb(1, OperationError(label, "fuzzing", "Network Error", "nobody answers"))
    enough, too_few = ending(max_failures=2), ending(max_failures=3)
    assert enough.next_order(view, 0.0, 1.0, 0) == Drain()
    assert enough.outcome == "failure limit"
    assert too_few.next_order(view, 0.0, 1.0, 0) is None


def test_what_is_complete_drains_once_and_is_not_hurried() -> None:
    end = ending()
    end.begin("completed")
    assert end.next_order(QUIET, 0.0, 1.0, 0) == Drain()
    assert end.next_order(QUIET, 1000.0, 1001.0, 0) is None


@pytest.mark.parametrize("is_baselined", [False, True], ids=["plain", "with a baseline"])
def test_a_turn_looks_at_findings_that_are_news_only(monkeypatch: pytest.MonkeyPatch, is_baselined: bool) -> None:
    looks, view = looked_at(monkeypatch), busy_view()
    baseline = Baseline("known.toml", entries=(KnownFailure(fingerprint="v1-f0"),))
    end = ending("fuzz", max_failures=1000, max_time_s=1e6, baseline=baseline if is_baselined else Baseline())
    for number in range(100):
        view.absorb(1, finding(f"f{number}"))
        for _turn in range(5):
            assert end.next_order(view, 1.0, 1.0, 0) is None
    assert looks == [f"f{number}" for number in range(100)]
    view.absorb(1, finding("f7", stage="minimised", at=2.0))
    end.next_order(view, 1.0, 1.0, 0)
    assert looks[100:] == ["f7"]
    assert end.failures(view) == view.finding_count() - is_baselined


def test_a_failure_that_turns_out_to_be_another_sight_of_one_counts_once() -> None:
    view, end = busy_view(), ending(max_failures=2)
    view.absorb(1, finding("a"))
    assert end.next_order(view, 1.0, 1.0, 0) is None
    assert end.failures(view) == 1
    view.absorb(1, replace(finding("b", stage="minimised"), same_as="a"))
    assert end.next_order(view, 1.0, 1.0, 0) is None
    view.absorb(1, finding("c"))
    assert end.next_order(view, 1.0, 1.0, 0) == Drain()


def test_other_limits_judge_again_what_was_found_before() -> None:
    view, end = busy_view(), ending("fuzz")
    view.absorb(1, finding("a"))
    assert end.failures(view) == 1
    known = (KnownFailure(fingerprint="v1-a"),)
    end.go_by(run_settings(kind="fuzz", baseline=Baseline("known.toml", entries=known)))
    assert end.failures(view) == 0
    assert end.next_order(view, 1.0, 1.0, 0) is None


STOPPED, HASTENED = Drain(shrinks=False), Drain(shrinks=False, immediate=True)


def test_a_time_limit_is_when_nobody_is_at_work_any_more() -> None:
    end = ending(max_time_s=10.0)
    assert closing_s(10.0) == 1.0
    assert end.next_order(QUIET, 8.9, 8.9, 0) is None
    assert end.left_s(8.5) == 0.5
    # Nothing new, and nothing smaller; then what is under way does not count any more; then nobody is left.
    assert end.next_order(QUIET, 9.0, 9.0, 0) == STOPPED
    assert end.next_order(QUIET, 9.4, 9.4, 0) is None
    assert end.next_order(QUIET, 9.5, 9.5, 0) == HASTENED
    assert end.next_order(QUIET, 9.9, 9.9, 0) is None
    assert end.next_order(QUIET, 10.0, 10.0, 0) == HASTENED
    end.next_order(QUIET, 30.0, 30.0, 0)
    assert end.kills
    assert end.outcome == "time limit"


@pytest.mark.parametrize(("limit", "closing"), [(5.0, 0.5), (60.0, 1.5), (86400.0, 1.5)])
def test_the_closing_seconds_are_a_small_part_of_the_limit(limit: float, closing: float) -> None:
    assert closing_s(limit) == closing


def test_time_also_hurries_what_was_draining_already() -> None:
    end = ending(max_time_s=10.0)
    end.begin("completed")
    assert end.next_order(QUIET, 1.0, 1.0, 0) == Drain()
    assert end.next_order(QUIET, 9.0, 9.0, 0) == STOPPED
    assert end.next_order(QUIET, 9.5, 9.5, 0) == HASTENED
    end.next_order(QUIET, 10.0, 10.0, 0)
    assert end.kills
    assert end.outcome == "completed"


def test_an_interrupt_takes_no_longer_than_the_time_limit() -> None:
    end = ending(max_time_s=10.0)
    assert end.next_order(QUIET, 8.0, 8.0, 1) == Drain()
    end.next_order(QUIET, 10.0, 10.0, 1)
    assert end.kills


def test_who_asks_to_stop_waits_for_no_shrink() -> None:
    end = ending()
    assert end.next_order(QUIET, 0.0, 1.0, 1) == Drain()
    assert end.next_order(QUIET, 0.1 + GRACE_S / 2, 3.0, 1) == STOPPED
    assert end.next_order(QUIET, 0.1 + GRACE_S, 4.1, 1) == HASTENED
    end.next_order(QUIET, 0.1 + 1.5 * GRACE_S, 6.0, 1)
    assert end.kills


def test_the_first_interrupt_drains_and_the_second_kills() -> None:
    end = ending()
    assert end.next_order(QUIET, 0.0, 1.0, 1) == Drain()
    end.next_order(QUIET, 0.1, 1.1, 2)
    assert end.kills
    assert exit_code(busy_view(), end) == 130


def test_an_error_hastens_at_once() -> None:
    end = ending()
    end.fail(RunFault("the disk is full"))
    end.fail(RunFault("and another one"))
    assert end.next_order(QUIET, 0.0, 1.0, 0) == HASTENED
    assert (str(end.error), exit_code(busy_view(), end)) == ("the disk is full", 2)


def test_failures_found_before_a_run_was_given_up_decide_its_exit_code() -> None:
    end, view = ending(), busy_view()
    end.fail(RunFault("workers died one after another", keeps_verdict=True))
    assert exit_code(view, end) == 2
    view.absorb(1, finding("f"))
    assert exit_code(view, end) == 1


@pytest.mark.parametrize(("view", "code"), [(busy_view(), 0), (RunView(), 2)], ids=["tested", "nothing"])
def test_exit_code_of_a_quiet_run(view: RunView, code: int) -> None:
    end = ending()
    end.begin("completed")
    assert exit_code(view, end) == code


def test_an_operation_error_is_exit_code_1() -> None:
    view = busy_view()
    view.absorb(1, OperationError("GET /a", "fuzzing", "Schema Error", "no"))
    assert exit_code(view, ending()) == 1


def test_a_note_is_no_failure() -> None:
    view = busy_view()
    view.absorb(1, Note("slow", "GET /a", "", "stopped"))
    assert exit_code(view, ending()) == 0


@pytest.mark.parametrize(("selected", "code"), [(1, 0), (2, 2)], ids=["all", "some"])
def test_only_where_all_operations_are_skipped_nothing_need_be_tested(selected: int, code: int) -> None:
    view = RunView()
    view.absorb(1, SchemaOpened("T", "Open API 3.1.0", "http://h", "d", 3, selected))
    view.absorb(1, Note(UNBROKEN, "GET /a", "", "it takes everything"))
    assert exit_code(view, ending()) == code


def test_what_the_time_did_not_suffice_for_is_named() -> None:
    tasks = [Task(name, "fuzzing", (Label(f"GET /{name}"),), 1, 0, 100, 8.0) for name in "abcde"]
    view = RunView()
    counted = TaskProgress("a", "fuzzing", ("GET /a",), 9, False, 7, 7, 0, (), (0.0,) * 5)
    view.absorb(1, counted)
    view.absorb(1, replace(counted, task="b", labels=("GET /b",), finished=True))
    view.absorb(1, replace(counted, task="c", labels=("GET /c",), cases=100))
    view.absorb(0, quarantined_task(tasks[3], "it died"))
    tasks.append(Task("f", "coverage", (Label("GET /a"),), 1, 0, 100, 8.0))
    view.absorb(1, replace(counted, task="f", phase="coverage", cases=1))
    assert list(untried(view, tasks)) == [
        Note("untried", "GET /a", "", "sent 7 of 100 cases of the fuzzing phase, 1 case of the coverage phase"),
        Note("untried", "GET /e", "", "sent 0 of 100 cases of the fuzzing phase"),
    ]
