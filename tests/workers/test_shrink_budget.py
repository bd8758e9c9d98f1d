import pytest

from checker.workers.recording.investigation_budget import ShrinkBudget


def begun(task: str = "t", failed_after_s: float = 0.002) -> ShrinkBudget:
    budget = ShrinkBudget()
    budget.begin(task, failed_after_s)
    return budget


def test_the_first_candidate_may_be_slow_for_the_load_of_a_moment() -> None:
    budget = begun()
    assert budget.patience_s == 2.0
    budget.observe(0.9)
    assert budget.patience_s == 2.0
    budget.observe(1.5)
    assert budget.patience_s == 0.6
    budget.begin("u", 0.002)
    assert budget.patience_s == 2.0


def test_a_candidate_has_four_times_what_the_failure_took() -> None:
    assert begun(failed_after_s=2.0).patience_s == 8.0


def test_a_task_whose_candidates_sleep_is_not_shrunk_further() -> None:
    budget = begun()
    for _ in range(2):
        assert not budget.end_reason
        # They are given up just then.
        budget.observe(budget.patience_s)
    assert budget.end_reason == "because of slow responses"
    budget.begin("u", 0.002)
    assert not budget.end_reason
    budget.begin("t", 0.002)
    assert budget.end_reason


def test_a_few_late_answers_of_many_change_nothing() -> None:
    budget = begun()
    for number in range(60):
        budget.observe(1.5 if number in (20, 40) else 0.004)
        assert not budget.end_reason
    assert budget.patience_s == 2.0


def test_candidates_of_a_slow_failure_may_be_slow() -> None:
    budget = begun(failed_after_s=1.0)
    for _ in range(9):
        budget.observe(2.0)
    assert not budget.end_reason


def test_the_end_of_the_run_ends_a_shrink() -> None:
    budget = begun()
    budget.is_over = True
    assert budget.end_reason == "with the run"


@pytest.mark.parametrize(
    ("answer_s", "requests"), [(0.001, 500), (0.015, 500), (0.02, 250), (0.05, 125), (0.1, 62), (0.3, 15), (9.0, 15)]
)
def test_a_shrink_of_a_slow_target_sends_fewer_requests(answer_s: float, requests: int) -> None:
    budget, sent = begun(failed_after_s=10.0), 0
    while not budget.end_reason:
        budget.observe(answer_s)
        sent += 1
    assert sent == requests
    assert budget.end_reason == f"after {requests} requests to a slow target"


def test_a_busy_machine_does_not_make_a_target_slow() -> None:
    budget, sent = begun(), 0
    while not budget.end_reason:
        # Most answers are late, one in ten comes as soon as on a quiet machine.
        budget.observe(0.004 if sent % 10 == 9 else 0.2)
        sent += 1
    assert sent == 500
