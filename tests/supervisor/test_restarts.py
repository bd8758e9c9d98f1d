import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.supervisor.deaths import DOUBTFUL, HANG, LONGEST_PAUSE_S, OPENING, Restarts, pause_bound_s


def restarts(workers: int = 1) -> Restarts:
    return Restarts(workers, lambda: 1.0)


def test_the_second_strike_quarantines_the_case() -> None:
    ruler = restarts()
    first = ruler.died(("t", 5), progressed=True)
    second = ruler.died(("t", 5), progressed=False)
    assert (first.strikes, first.quarantines_case) == (1, False)
    assert (second.strikes, second.quarantines_case) == (2, True)


def test_a_death_that_anybody_may_have_caused_counts_half() -> None:
    ruler = restarts()
    rulings = [ruler.died(("t", 5), progressed=True, guilt=DOUBTFUL) for _ in range(4)]
    assert [ruling.quarantines_case for ruling in rulings] == [False] * 3 + [True]
    assert rulings[-1].strikes == 4


def test_an_operator_and_a_crash_are_no_proof() -> None:
    ruler = restarts()
    ruler.died(("t", 5), progressed=True, guilt=DOUBTFUL)
    assert not ruler.died(("t", 5), progressed=True).quarantines_case
    assert ruler.died(("t", 5), progressed=True).quarantines_case


def test_strikes_of_a_case_survive_progress() -> None:
    ruler = restarts()
    ruler.died(("t", 5), progressed=True)
    ruler.progress()
    assert ruler.died(("t", 5), progressed=True).quarantines_case


def test_another_case_is_innocent() -> None:
    ruler = restarts()
    ruler.died(("t", 5), progressed=True)
    assert ruler.died(("t", 6), progressed=True).strikes == 1
    assert ruler.died(("u", 5), progressed=True).strikes == 1


def test_three_lost_cases_without_progress_quarantine_the_task() -> None:
    ruler = restarts()
    rulings = [ruler.died(("t", index), progressed=False) for index in (1, 1, 2, 2, 3, 3)]
    assert [ruling.quarantines_task for ruling in rulings] == [False] * 5 + [True]


def test_progress_before_the_death_of_a_case_that_is_never_made_again_forgives_its_task() -> None:
    ruler = restarts()
    for index in (1, 1, 2, 2):
        ruler.died(("t", index), progressed=False)
    extra = ruler.died(("t", None), progressed=True)
    assert (extra.strikes, extra.quarantines_case, extra.quarantines_task) == (0, False, False)
    assert not any(ruler.died(("t", 3), progressed=False).quarantines_task for _ in range(2))


def test_progress_forgives_a_task() -> None:
    ruler = restarts()
    for index in range(20):
        ruler.died(("t", index), progressed=True)
        assert not ruler.died(("t", index), progressed=False).quarantines_task


def test_a_worker_that_waited_strikes_nobody() -> None:
    ruling = restarts().died(None, progressed=False)
    assert (ruling.strikes, ruling.quarantines_case, ruling.quarantines_task) == (0, False, False)


@pytest.mark.parametrize(("weight", "deaths"), [(1, 16), (HANG, 8), (OPENING, 4)])
def test_a_run_in_which_everything_dies_ends(weight: int, deaths: int) -> None:
    ruler = restarts()
    rulings = [ruler.died(None, progressed=False, weight=weight) for _ in range(deaths)]
    assert [ruling.ends_run for ruling in rulings] == [False] * (deaths - 1) + [True]


def test_deaths_that_cannot_happen_again_end_no_run_and_need_no_pause() -> None:
    ruler = Restarts(1, lambda: 1.0)
    rulings = [ruler.died(("t", 1), progressed=False, weight=0) for _ in range(100)]
    assert not any(ruling.ends_run or ruling.pause_s for ruling in rulings)


def test_the_death_of_the_fork_server_with_all_its_workers_does_not_end_the_run() -> None:
    ruler = restarts(workers=16)
    assert not any(ruler.died(None, progressed=False).ends_run for _ in range(32))


@given(st.lists(st.booleans(), max_size=60))
def test_a_run_ends_only_after_many_deaths_without_progress(progressed: list[bool]) -> None:
    ruler, fruitless = restarts(), 0
    for moved in progressed:
        fruitless = 1 if moved else fruitless + 1
        assert ruler.died(("t", 1), progressed=moved).ends_run == (fruitless >= 16)


@given(st.integers(0, 1000), st.floats(0, 1))
def test_pauses_grow_and_stay_bounded(deaths: int, drawn: float) -> None:
    assert 0.0 <= pause_bound_s(deaths) <= pause_bound_s(deaths + 1) <= LONGEST_PAUSE_S
    assert pause_bound_s(1) == 0.0
    assert pause_bound_s(2) == 0.1


def test_the_pause_is_drawn_below_its_bound() -> None:
    ruler = Restarts(1, lambda: 0.5)
    ruler.died(None, progressed=False)
    assert ruler.died(None, progressed=False).pause_s == 0.05
