"""What looking into failures may cost follows from counts alone."""

from checker.core.failures import Severity
from checker.core.operation import Label
from checker.generation.sources.shrinking import ShrinkEffort
from checker.workers.defects import Defects
from checker.workers.leased import LeasedTask
from checker.workers.messages import Task
from checker.workers.purse import AROUND, CREDIT, FEWEST, Purse
from tests.workers.test_defects import settled

LABEL = "GET /a"
CHECK = "not_a_server_error"


def allowed(
    purse: Purse,
    *,
    cases: int = 400,
    phase: str = "fuzzing",
    check: str = CHECK,
    index: int = 0,
    drawn: int = 0,
) -> int:
    task = Task("0" * 16, phase, (Label(LABEL),), 1, 0, cases, 8.0, drawn=drawn)
    running = LeasedTask.of(task)
    return purse.allowance(running, index, LABEL, Severity.CRITICAL, check).executions


def test_a_finding_may_take_what_is_left_of_the_share_of_its_operation() -> None:
    assert allowed(Purse(0.2, Defects())) == 100 - AROUND
    assert allowed(Purse(0.5, Defects())) == 400 - AROUND
    assert allowed(Purse(0.2, Defects()), cases=4) == FEWEST - AROUND


def test_another_one_of_the_check_has_half_of_what_the_first_one_left() -> None:
    defects = Defects()
    defects.absorb(settled("error", requests=60))
    assert allowed(Purse(0.2, defects)) == (40 - AROUND) // 2
    assert allowed(Purse(0.2, defects), check="other") == 40 - AROUND
    defects.absorb(settled("other error", requests=60))
    assert allowed(Purse(0.2, defects)) == 0


def test_earlier_phases_count_and_lists_as_far_as_they_were_made() -> None:
    purse = Purse(0.2, Defects())
    assert allowed(purse, cases=200, drawn=200) == 100 - AROUND
    assert allowed(purse, phase="coverage", cases=5000, drawn=120, index=19) == 35 - AROUND
    # Indices beyond those of the list are of sequences that go on, and of saved examples.
    assert allowed(purse, phase="coverage", cases=5000, drawn=120, index=1 << 32) == 30 - AROUND


def test_with_a_limit_of_time_what_was_sent_counts_and_not_what_was_planned() -> None:
    purse = Purse(0.2, Defects(), is_timed=True)
    assert allowed(purse, cases=10_000) == CREDIT - AROUND
    purse.spent += CREDIT + 2 * AROUND
    assert allowed(purse, cases=10_000) == -3 * AROUND
    purse.earned += 400
    assert allowed(purse, cases=10_000) == 100 - 3 * AROUND


def test_a_first_look_in_run_is_quick_and_one_in_fuzz_is_whole_if_much_was_earned() -> None:
    task = Task("0" * 16, "fuzzing", (Label(LABEL),), 1, 0, 4000, 8.0)
    endless = Task("0" * 16, "exploration", (Label(LABEL),), 1, 0, 4000, 8.0)

    def effort(task: Task, earned: int) -> ShrinkEffort:
        purse, running = Purse(0.2, Defects(), earned=earned), LeasedTask.of(task)
        return purse.allowance(running, 0, LABEL, Severity.CRITICAL, CHECK).effort

    assert effort(task, 4000) is ShrinkEffort.QUICK
    assert effort(endless, 0) is ShrinkEffort.QUICK
    assert effort(endless, 4000) is ShrinkEffort.WHOLE


def test_in_fuzz_a_worker_may_take_what_its_cases_earned() -> None:
    purse = Purse(0.2, Defects(), spent=CREDIT, earned=400)
    assert allowed(purse, phase="exploration", check="first") == 100 - AROUND
