"""What looking into failures may cost follows from counts alone."""

from msgspec.structs import replace

from checker.core.failures import Severity
from checker.core.meta import Drawn, Step
from checker.core.operation import Label
from checker.workers.messages import KNOWN_PLACES, ShrinkAgain, Task
from checker.workers.recording.defects import Defects
from checker.workers.recording.investigation_budget import AROUND, ENOUGH, InvestigationBudget
from checker.workers.recording.task_state import LeasedTask
from tests.workers.test_defects import settled

LABEL = "GET /a"
CHECK = "not_a_server_error"


def leased(phase: str, cases: int, *, drawn: int = 0) -> LeasedTask:
    task = Task("0" * 16, phase, (Label(LABEL),), 1, 0, cases, 8.0, drawn_elsewhere=drawn)
    return LeasedTask.of(task)


def allowed(
    investigation_budget: InvestigationBudget,
    *,
    cases: int = 400,
    phase: str = "fuzzing",
    check: str = CHECK,
    index: int = 0,
    drawn: int = 0,
) -> int:
    running = leased(phase, cases, drawn=drawn)
    return investigation_budget.allowance(running, index, LABEL, Severity.CRITICAL, check)


def test_a_finding_may_take_what_is_left_of_the_share_of_its_operation() -> None:
    assert allowed(InvestigationBudget(0.2, Defects())) == 100 - AROUND
    assert allowed(InvestigationBudget(0.5, Defects())) == 400 - AROUND
    assert allowed(InvestigationBudget(0.2, Defects()), cases=4) == 0


def test_another_one_of_the_check_has_half_of_what_the_first_one_left() -> None:
    defects = Defects()
    defects.absorb(settled("error", requests=60))
    assert allowed(InvestigationBudget(0.2, defects)) == (40 - AROUND) // 2
    assert allowed(InvestigationBudget(0.2, defects), check="other") == 40 - AROUND
    defects.absorb(settled("other error", requests=60))
    assert allowed(InvestigationBudget(0.2, defects)) == 0


def test_earlier_phases_count_and_lists_as_far_as_they_were_made() -> None:
    investigation_budget = InvestigationBudget(0.2, Defects())
    assert allowed(investigation_budget, cases=200, drawn=200) == 100 - AROUND
    assert allowed(investigation_budget, phase="coverage", cases=5000, drawn=120, index=19) == 35 - AROUND
    # Indices beyond those of the list are of sequences that go on, and of saved examples.
    assert allowed(investigation_budget, phase="coverage", cases=5000, drawn=120, index=1 << 32) == 30 - AROUND
    # Those of other phases come for certain.
    assert allowed(investigation_budget, phase="coverage", cases=5000, index=19, drawn=100) == 30 - AROUND


def test_where_nobody_knows_how_many_cases_come_what_was_sent_counts() -> None:
    investigation_budget = InvestigationBudget(0.2, Defects(), is_open_ended=True)
    assert allowed(investigation_budget, cases=10_000) == 0
    investigation_budget.earned += 400
    assert allowed(investigation_budget, cases=10_000) == 100 - AROUND
    investigation_budget.spent += 60
    assert allowed(investigation_budget, cases=10_000) == 40 - AROUND
    assert allowed(InvestigationBudget(0.2, Defects(), is_open_ended=True, credit=50)) == 50 - AROUND


def test_a_failure_has_more_than_one_request_while_the_share_suffices_for_it() -> None:
    investigation_budget, few, many = (
        InvestigationBudget(0.2, Defects()),
        leased("fuzzing", 11),
        leased("fuzzing", 12),
    )
    assert [investigation_budget.affords(one, 0, LABEL) for one in (few, many)] == [False, True]
    investigation_budget.defects.absorb(settled("error", requests=1))
    assert not investigation_budget.affords(many, 0, LABEL)
    # What turns up in a second look is sent once.
    again = ShrinkAgain("f", Step(Label(LABEL), Drawn((1,)), ()), "t", 0, 0, 100)
    second = LeasedTask.of(replace(many.lease, again=(again,)))
    assert not InvestigationBudget(0.2, Defects()).affords(second, 0, LABEL)


def test_a_failure_that_had_one_request_is_news_again_when_enough_was_earned() -> None:
    investigation_budget = InvestigationBudget(0.2, Defects(), is_open_ended=True)
    investigation_budget.defects.unfinished.add("f")
    investigation_budget.earned = 4 * ENOUGH - 1
    assert not investigation_budget.reopens("f")
    investigation_budget.earned += 1
    assert investigation_budget.reopens("f")
    assert not investigation_budget.reopens("another")
    # `run` comes back to it at its end.
    bounded = InvestigationBudget(0.2, investigation_budget.defects, earned=1000)
    assert not bounded.reopens("f")


def test_where_time_is_short_further_places_of_a_known_cause_have_one_request() -> None:
    defects = Defects()
    short = InvestigationBudget(0.2, defects, is_open_ended=True, spares_known_causes=True, earned=1000)
    night = InvestigationBudget(0.2, defects, is_open_ended=True, earned=1000)
    places = [settled("error", label=f"GET /{n}", cause="c", fingerprint=f"f{n}") for n in range(4)]
    defects.unfinished.add("f3")
    for place in places[: KNOWN_PLACES - 1]:
        # Another sight of it in the same operation is no other place.
        defects.absorb(place, replace(place, fingerprint=f"{place.fingerprint} again"))
    assert not short.is_spared("c")
    defects.absorb(*places)
    assert short.is_spared("c")
    assert not any((short.is_spared(""), short.is_spared("another"), night.is_spared("c")))
    assert (short.reopens("f3"), night.reopens("f3")) == (False, True)
