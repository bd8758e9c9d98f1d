import pytest

from checker.workers.failures.failure_queue import ShrinkPace, SlowCandidates


def test_the_first_candidate_may_be_slow_for_the_load_of_a_moment() -> None:
    haste = SlowCandidates()
    assert haste.limit_s("t", 0.002) == 2.0
    haste.observe("t", 0.002, 0.9)
    assert haste.limit_s("t", 0.002) == 2.0
    haste.observe("t", 0.002, 1.5)
    assert haste.limit_s("t", 0.002) == 0.6
    assert haste.limit_s("u", 0.002) == 2.0


def test_a_candidate_has_four_times_what_the_failure_took() -> None:
    assert SlowCandidates().limit_s("t", 2.0) == 8.0


def test_a_task_whose_candidates_sleep_is_not_shrunk_further() -> None:
    haste = SlowCandidates()
    for _ in range(2):
        assert not haste.is_needed("t")
        # They are given up just then.
        haste.observe("t", 0.002, haste.limit_s("t", 0.002))
    assert haste.is_needed("t")
    assert not haste.is_needed("u")


def test_a_few_late_answers_of_many_change_nothing() -> None:
    haste = SlowCandidates()
    for number in range(60):
        haste.observe("t", 0.002, 1.5 if number in (20, 40) else 0.004)
        assert not haste.is_needed("t")
    assert haste.limit_s("t", 0.002) == 2.0


def test_candidates_of_a_slow_failure_may_be_slow() -> None:
    haste = SlowCandidates()
    for _ in range(9):
        haste.observe("t", 1.0, 2.0)
    assert not haste.is_needed("t")


@pytest.mark.parametrize(
    ("answer_s", "requests"), [(0.001, 500), (0.015, 500), (0.02, 250), (0.05, 125), (0.1, 62), (0.3, 15), (9.0, 15)]
)
def test_a_shrink_of_a_slow_target_sends_fewer_requests(answer_s: float, requests: int) -> None:
    pace, sent = ShrinkPace(), 0
    while not pace.is_over:
        pace.observe(answer_s)
        sent += 1
    assert sent == requests


def test_a_busy_machine_does_not_make_a_target_slow() -> None:
    pace, sent = ShrinkPace(), 0
    while not pace.is_over:
        # Most answers are late, one in ten comes as soon as on a quiet machine.
        pace.observe(0.004 if sent % 10 == 9 else 0.2)
        sent += 1
    assert sent == 500
