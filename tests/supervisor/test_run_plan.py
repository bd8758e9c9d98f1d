from collections import Counter
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checker.core.meta import Binding, Drawn, Step
from checker.core.operation import Label
from checker.core.request import Location
from checker.corpus.records import CorpusEntry
from checker.supervisor.plans import TimeWindow
from checker.supervisor.run_plan import MOST_SLOW, RunPlan
from checker.workers.messages import MOST_TIMEOUTS, LeaseReport, OperationCard, Task

CARDS = tuple(OperationCard(f"GET /r{number}", "GET", (f"r{number}",)) for number in range(4))


def bounded(cards: tuple[OperationCard, ...] = CARDS, cases: int = 12) -> RunPlan:
    return RunPlan(cards, seed=1, max_examples=cases)


def test_seeds_are_the_same_whatever_the_order_of_operations() -> None:
    def seeds(cards: tuple[OperationCard, ...]) -> dict[str, tuple[int, str]]:
        plan = bounded(cards)
        tasks = [plan.lease(0.0) for _ in cards]
        return {task.labels[0]: (task.seed, task.id) for task in tasks if task is not None}

    assert seeds(CARDS) == seeds(CARDS[::-1])
    assert len(set(seeds(CARDS).values())) == 4


def test_an_unfinished_operation_goes_to_the_back() -> None:
    plan = bounded()
    first = plan.lease(0.0)
    assert first is not None
    plan.come_back(first, 5, finished=False, spent_s=0.1)
    order = [task for _ in range(4) if (task := plan.lease(8.0)) is not None]
    assert [task.labels[0] for task in order] == ["GET /r1", "GET /r2", "GET /r3", "GET /r0"]
    assert order[-1].start == 5


SLOW = LeaseReport(requests=2, long=2)


def slow_plan(*, producers: tuple[str, ...] = ()) -> tuple[RunPlan, Task]:
    """A plan of four operations whose first one turned out to be slow."""
    cards = [replace(card, is_producer=card.label in producers) for card in CARDS]
    plan = RunPlan(cards, seed=1, max_examples=12)
    task = plan.lease(0.0)
    assert task is not None
    plan.come_back(task, 2, finished=False, spent_s=0.6, report=SLOW)
    return plan, task


def test_what_is_slow_comes_last() -> None:
    plan, slow = slow_plan()
    assert plan.waiting == 3
    assert plan.lease_slow(1.0, 0) is None
    fast = [plan.lease(1.0) for _ in range(3)]
    assert plan.lease(1.0) is None
    assert slow.labels not in [task and task.labels for task in fast]
    # Those that are fast are still at work, and leave lanes to it.
    again = plan.lease_slow(1.0, 0)
    assert again == replace(slow, start=2, is_slow=True)


def test_a_slow_producer_goes_on_beside_what_is_fast() -> None:
    plan, slow = slow_plan(producers=("GET /r0",))
    again = plan.lease_slow(1.0, 0)
    assert again is not None
    assert (again.labels, again.is_slow, plan.waiting) == (slow.labels, True, 3)


def test_a_worker_holds_few_slow_tasks() -> None:
    plan, _ = slow_plan(producers=("GET /r0",))
    assert plan.lease_slow(1.0, MOST_SLOW) is None


def test_what_did_not_wait_any_more_is_fast_again() -> None:
    plan, _ = slow_plan(producers=("GET /r0",))
    slow = plan.lease_slow(1.0, 0)
    assert slow is not None
    plan.come_back(slow, 6, finished=False, spent_s=8.0, report=LeaseReport(requests=4))
    assert plan.lease_slow(9.0, 0) is None
    tasks = [plan.lease(9.0) for _ in range(4)]
    assert tasks[-1] == replace(slow, start=6, is_slow=False)


def test_time_outs_in_a_row_are_counted_from_lease_to_lease() -> None:
    plan, _ = slow_plan(producers=("GET /r0",))
    slow = plan.lease_slow(1.0, 0)
    assert slow is not None
    plan.come_back(slow, 5, finished=False, spent_s=8.0, report=LeaseReport(3, long=3, timeouts=2))
    again = plan.lease_slow(9.0, 0)
    assert again is not None
    assert (again.start, again.timeouts) == (5, 2)


@given(
    waits=st.lists(st.integers(min_value=0, max_value=3), min_size=1, max_size=40),
    workers=st.integers(min_value=1, max_value=4),
    creating=st.sets(st.integers(min_value=0, max_value=9)),
)
def test_every_operation_has_all_its_cases_whatever_waits(waits: list[int], workers: int, creating: set[int]) -> None:
    """`waits` are the long waits of one lease after the other; a lease of what waits makes two cases."""
    cards = tuple(OperationCard(f"GET /{n}", "GET", (f"{n}",)) for n in range(10))
    cards = tuple(replace(cards[n], is_producer=n in creating) for n in range(10))
    plan = RunPlan(cards, seed=1, max_examples=9)
    made: Counter[str] = Counter()
    held: dict[int, list[Task]] = {worker: [] for worker in range(workers)}
    for turn in count():
        if plan.is_over:
            break
        tasks = held[turn % workers]
        slow = sum(task.is_slow for task in tasks)
        for task in (plan.lease(0.0), plan.lease_slow(0.0, slow)):
            if task is not None:
                tasks.append(task)
        if tasks:
            task = tasks.pop(0)
            long = waits[turn % len(waits)]
            reached = min(task.stop, task.start + 2) if long else task.stop
            made[task.labels[0]] += reached - task.start
            finished = reached == task.stop
            plan.come_back(task, reached, finished=finished, spent_s=1.0, report=LeaseReport(2, long))
        assert turn < 1000
    assert made == Counter({card.label: 9 for card in cards})


def test_a_lost_task_is_leased_before_all_others() -> None:
    plan = bounded()
    task = plan.lease(0.0)
    assert task is not None
    plan.lose(replace(task, start=3))
    again = plan.lease(0.0)
    assert again is not None
    assert (again.id, again.start) == (task.id, 3)


def test_a_dropped_task_never_comes_back() -> None:
    plan = bounded(CARDS[:1])
    task = plan.lease(0.0)
    assert task is not None
    plan.drop(task.id)
    assert plan.is_over
    plan.lose(task)
    assert plan.is_over


LAYERED = (
    OperationCard("DELETE /a/{b}", "DELETE", ("a",), layer=2),
    OperationCard("GET /a/{b}", "GET", ("a",), layer=1),
    OperationCard("GET /a", "GET", ("a",)),
    OperationCard("POST /a", "POST", ("a",), is_producer=True, begins=True),
)


def order_of(plan: RunPlan) -> list[tuple[str, Label]]:
    """(phase, operation), each finished before the next one is leased."""
    found = []
    while not plan.is_over:
        task = plan.lease(0.0)
        assert task is not None
        found.append((task.phase, task.labels[0]))
        plan.come_back(task, task.stop, finished=True, spent_s=0.1)
    return found


def test_phases_come_one_after_the_other_and_in_each_of_them_layers() -> None:
    plan = RunPlan(LAYERED, seed=1, max_examples=9, phases=("coverage", "fuzzing", "stateful"))
    layers = ["POST /a", "GET /a", "GET /a/{b}", "DELETE /a/{b}"]
    assert order_of(plan) == [
        *(("coverage", label) for label in layers),
        *(("fuzzing", label) for label in layers),
        ("stateful", "POST /a"),
    ]


def test_a_layer_waits_for_what_is_at_work_in_the_one_before_but_not_for_what_is_slow() -> None:
    plan = RunPlan(LAYERED, seed=1, max_examples=9)
    first, second = plan.lease(0.0), plan.lease(0.0)
    assert first is not None
    assert second is not None
    assert (plan.waiting, plan.lease(0.0)) == (0, None)
    plan.come_back(first, 9, finished=True, spent_s=0.1)
    assert plan.lease(0.0) is None
    plan.come_back(second, 2, finished=False, spent_s=0.6, report=SLOW)
    third = plan.lease(1.0)
    assert third is not None
    assert third.labels == ("GET /a/{b}",)


def test_a_phase_without_an_order_begins_with_all_operations_as_they_stand() -> None:
    plan = RunPlan(LAYERED, seed=1, max_examples=9, orders={"fuzzing": None})
    tasks = [plan.lease(0.0) for _ in LAYERED]
    assert [task and task.labels[0] for task in tasks] == [card.label for card in LAYERED]


def test_who_never_answers_is_left_alone_in_later_phases() -> None:
    plan = RunPlan(LAYERED[2:3], seed=1, max_examples=9, phases=("coverage", "fuzzing"))
    task = plan.lease(0.0)
    assert task is not None
    report = LeaseReport(timeouts=MOST_TIMEOUTS)
    plan.come_back(task, 3, finished=True, spent_s=9.0, report=report)
    assert plan.is_over


def ended_plan(*, of_dead: bool) -> RunPlan:
    """A plan of one operation whose coverage ended with a failure at case 3."""
    card = OperationCard("GET /a", "GET", continue_on_failure=False)
    plan = RunPlan((card,), seed=1, max_examples=12, phases=("coverage", "fuzzing"))
    task = plan.lease(0.0)
    assert task is not None
    assert task.ends_at_failure
    if of_dead:
        plan.come_back(replace(task, start=4, stop=4), 4, finished=True, spent_s=0.0)
    else:
        report = LeaseReport(4, ended_at_failure=True)
        plan.come_back(task, 4, finished=True, spent_s=0.0, report=report)
    return plan


@pytest.mark.parametrize("of_dead", [True, False])
def test_what_a_list_left_out_is_drawn_whoever_ended_it(of_dead: bool) -> None:
    plan = ended_plan(of_dead=of_dead)
    drawn = plan.lease(0.0)
    assert drawn is not None
    assert (drawn.phase, drawn.first.left_out, drawn.ends_at_failure) == ("fuzzing", (("coverage", 4),), False)


def test_nothing_is_left_out_where_a_list_came_to_its_end() -> None:
    card = OperationCard("GET /a", "GET", continue_on_failure=False)
    plan = RunPlan((card,), seed=1, max_examples=12, phases=("coverage", "fuzzing"))
    task = plan.lease(0.0)
    assert task is not None
    plan.come_back(task, task.stop, finished=True, spent_s=0.0)
    drawn = plan.lease(0.0)
    assert drawn is not None
    assert drawn.first.left_out == ()


def test_a_list_that_ends_after_the_phase_that_draws_began_goes_on_itself() -> None:
    card = OperationCard("GET /a", "GET", continue_on_failure=False)
    plan = RunPlan((card,), seed=1, max_examples=12, phases=("coverage", "fuzzing"))
    plan.limit(TimeWindow(0.0, 60.0), 1)
    listed = plan.lease(0.0)
    assert listed is not None
    plan.come_back(listed, 2, finished=False, spent_s=1.0)
    drawn = plan.lease(1.0)
    assert drawn is not None
    assert (drawn.phase, drawn.first.left_out) == ("fuzzing", ())
    plan.come_back(drawn, drawn.stop, finished=True, spent_s=1.0)
    listed = plan.lease(2.0)
    assert listed is not None
    assert listed.ends_at_failure
    report = LeaseReport(4, ended_at_failure=True)
    plan.come_back(listed, 6, finished=True, spent_s=1.0, report=report)
    rest = plan.lease(3.0)
    assert rest is not None
    assert (rest.phase, rest.start, rest.ends_at_failure) == ("coverage", 6, False)
    plan.come_back(rest, rest.stop, finished=True, spent_s=1.0)
    assert plan.is_over


@pytest.mark.parametrize(
    ("card", "is_used"), [({}, False), ({"is_producer": True}, True), ({"method": "DELETE"}, True)]
)
def test_failures_of_slow_operations_end_later_lists_if_no_stage_waits_for_them(
    card: dict[str, Any], *, is_used: bool
) -> None:
    slow = replace(CARDS[0], continue_on_failure=False, **card)
    fast = replace(CARDS[1], continue_on_failure=False)
    plan = RunPlan((slow, fast), seed=1, max_examples=12, phases=("examples", "coverage"))
    plan.grave_failures = lambda phase: {one.label: frozenset({"v1-a"}) for one in (slow, fast)}
    known = dict[str, frozenset[str] | None]()
    while not plan.is_over:
        task = plan.lease(0.0) or plan.lease_slow(0.0, 0)
        assert task is not None
        is_turn = task.start == 0 and task.labels[0] == slow.label
        if task.phase == "coverage":
            known[task.labels[0]] = task.known
        plan.come_back(task, 2, finished=not is_turn, spent_s=0.1, report=SLOW if is_turn else LeaseReport(2))
    assert known == {fast.label: frozenset({"v1-a"}), slow.label: frozenset({"v1-a"} if is_used else ())}


ITEMS, ITEM, LEAVE = Label("POST /items"), Label("GET /items/{id}"), Label("POST /leave")
RECALLING = (
    OperationCard(ITEMS, "POST", ("items",), begins=True),
    OperationCard(ITEM, "GET", ("items",)),
    OperationCard(LEAVE, "POST", ("leave",), begins=True, is_ending=True),
)


def entry(*steps: Step) -> CorpusEntry:
    return CorpusEntry(steps[-1].label, steps, (1,), 0.1)


def alone(label: Label, number: int) -> Step:
    return Step(label, Drawn((number,)))


def bound(label: Label, step: int, producer: Label = ITEMS) -> Step:
    return Step(label, Drawn(()), (Binding(Location.PATH, "id", producer, "/id", 0, "7", '["/id"]', step),))


def recalled(*entries: CorpusEntry, cases: int = 10) -> dict[tuple[str, str], list[list[Label]]]:
    """Return the recalled sequences of each operation and phase."""
    plan = RunPlan(RECALLING, seed=1, max_examples=cases, phases=("fuzzing", "stateful"), entries=entries)
    found = {
        (one.labels[0], one.phase): [[step.label for step in steps] for steps in one.first.recalled]
        for one in plan.tasks
    }
    return {place: sequences for place, sequences in found.items() if sequences}


def test_requests_are_recalled_where_cases_are_drawn_and_sequences_where_sequences_are() -> None:
    sequence = entry(alone(ITEMS, 1), bound(ITEM, 0))
    assert recalled(entry(alone(ITEM, 1)), sequence) == {
        (ITEM, "fuzzing"): [[ITEM]],
        (ITEMS, "stateful"): [[ITEMS, ITEM]],
    }


def test_a_fifth_of_the_cases_is_recalled_at_most_and_the_best_entries_come_first() -> None:
    plan = RunPlan(RECALLING, seed=1, max_examples=10, entries=[entry(alone(ITEM, number)) for number in range(9)])
    (task,) = (one for one in plan.tasks if one.labels == (ITEM,))
    assert [steps[0].recipe for steps in task.first.recalled] == [Drawn((0,)), Drawn((1,))]
    assert task.stop == 10


@pytest.mark.parametrize(
    "sequence",
    [
        pytest.param([bound(ITEM, -1)], id="a value from outside of the sequence"),
        pytest.param([alone(ITEMS, 1), alone(Label("GET /gone"), 1)], id="an operation that is not tested"),
        pytest.param([alone(ITEMS, 1), alone(LEAVE, 1)], id="an operation that ends the access of the run"),
        pytest.param([alone(ITEM, 1), alone(ITEM, 2)], id="an operation that begins no sequence"),
    ],
)
def test_what_a_run_cannot_send_is_not_recalled(sequence: list[Step]) -> None:
    assert recalled(entry(*sequence)) == {}
