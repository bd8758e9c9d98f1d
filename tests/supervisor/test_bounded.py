from dataclasses import dataclass, field, replace

import pytest

from checker.supervisor.assignment import Cut
from checker.supervisor.bounded import LEAST_PATIENCE_S, BoundedPlan
from checker.workers.messages import LONG_WAIT_S, OperationCard, Task, Waits

CARDS = tuple(OperationCard(f"GET /r{number}", "GET", f"/r{number}") for number in range(4))


def bounded(cards: tuple[OperationCard, ...] = CARDS, cases: int = 12) -> BoundedPlan:
    return BoundedPlan(cards, seed=1, max_examples=cases)


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


QUICK = Waits(requests=2, short_s=0.02)
ONCE_LONG = Waits(requests=1, long=1)
SLOW = Waits(requests=2, long=2)


def many(operations: int = 20) -> tuple[OperationCard, ...]:
    return tuple(OperationCard(f"GET /{n}", "GET", f"/{n}") for n in range(operations))


def slow_plan(operations: int, spent_s: float, waits: Waits = SLOW) -> BoundedPlan:
    """A plan whose first operation took this long for two cases; all others are finished."""
    plan = bounded(many(operations))
    for number in range(operations):
        task = plan.lease(0.0)
        assert task is not None
        plan.come_back(task, 2, finished=number > 0, spent_s=spent_s, waits=waits)
    return plan


def test_a_slow_operation_gets_less_than_a_tenth_of_the_time() -> None:
    plan = slow_plan(20, spent_s=9.0)
    assert plan.lease(104.0) is None
    task = plan.lease(1000 / 9)
    assert task is not None
    assert task.patience_s is not None
    # Nearly all of it is for one answer.
    assert task.slice_s == 0.2
    assert round(task.slice_s + task.patience_s, 6) == 1.0


def test_a_first_look_at_one_of_many_operations_is_short() -> None:
    task = bounded(many()).lease(0.0)
    assert task is not None
    assert (task.slice_s, round(task.patience_s or 0.0, 6)) == (0.2, LEAST_PATIENCE_S)
    # A second one would be sent when the slice is over.
    assert not task.makes_ahead


def test_failures_that_were_looked_into_count_against_the_share_of_what_is_slow() -> None:
    waits = Waits(requests=30, short_s=0.3, long=4)
    assert slow_plan(20, spent_s=3.0, waits=waits).lease(20.0) is None
    assert slow_plan(20, spent_s=3.0, waits=replace(waits, long=0)).lease(20.0) is not None


def test_one_long_wait_may_be_an_accident() -> None:
    plan = slow_plan(20, spent_s=LEAST_PATIENCE_S, waits=ONCE_LONG)
    task = plan.lease(5.0)
    assert task is not None
    assert (task.slice_s, task.patience_s) == (0.2, LEAST_PATIENCE_S)
    plan.come_back(task, 3, finished=False, spent_s=LEAST_PATIENCE_S, waits=ONCE_LONG)
    assert plan.lease(5.0) is None
    assert len(plan.cut(5.0)) == 1


@dataclass(slots=True)
class Target:
    """Answers at once, but for some operations: they never do, or only where they have refused `nonsense` requests."""

    sleepers: frozenset[str]
    nonsense: int
    fast_s: float
    spent_s: dict[str, float] = field(default_factory=dict)

    def work(self, task: Task) -> tuple[int, Waits]:
        """Where a worker gets with one lease, and what it waited for."""
        label, before = task.labels[0], self.spent_s.get(task.labels[0], 0.0)
        if label not in self.sleepers:
            self.spent_s[label] = self.fast_s
            return task.stop, Waits(requests=task.stop, short_s=self.fast_s)
        # Of a slice that was not over, a further case is begun.
        quick = self.nonsense if task.start == 0 else 0
        assert task.patience_s is not None
        self.spent_s[label] = before + task.patience_s + 0.01
        long = int(task.patience_s >= LONG_WAIT_S)
        return task.start + quick + 1, Waits(quick + 1, short_s=0.001 * quick, long=long)


@pytest.mark.parametrize("nonsense", [0, 5, 40])
@pytest.mark.parametrize("sleeping", [1, 3, 6])
@pytest.mark.parametrize("fast_s", [0.08, 0.2, 2.0])
def test_operations_that_never_answer_take_a_tenth_of_a_run_or_little_more_than_a_second(
    nonsense: int, sleeping: int, fast_s: float
) -> None:
    cards = many(78)
    names = frozenset(card.label for card in cards[10 : 10 + sleeping])
    plan, target = bounded(cards, cases=100), Target(names, nonsense, fast_s)
    while not plan.is_over:
        elapsed_s = sum(target.spent_s.values())
        if plan.cut(elapsed_s):
            break
        task = plan.lease(elapsed_s)
        assert task is not None
        label, before = task.labels[0], sum(target.spent_s.values())
        reached, waits = target.work(task)
        plan.come_back(
            task,
            reached,
            finished=label not in names,
            spent_s=sum(target.spent_s.values()) - before,
            waits=waits,
        )
    whole_s = sum(target.spent_s.values())
    assert max(target.spent_s[name] for name in names) < max(0.1 * whole_s, 1.3)
    if sleeping == 6:
        # As in httpbin, whose fast operations take six seconds and more.
        assert max(target.spent_s[name] for name in names) < 0.1 * whole_s


def test_what_had_to_wait_comes_last() -> None:
    plan = bounded()
    for waits in (ONCE_LONG, QUICK):
        task = plan.lease(0.0)
        assert task is not None
        plan.come_back(task, 2, finished=False, spent_s=0.6, waits=waits)
    order = [task for _ in CARDS if (task := plan.lease(20.0)) is not None]
    assert [task.labels[0] for task in order] == ["GET /r2", "GET /r3", "GET /r1", "GET /r0"]


def test_requests_of_a_small_document_have_all_their_time() -> None:
    task = bounded().lease(0.0)
    assert task is not None
    assert (task.slice_s, task.patience_s) == (8.0, None)


def test_requests_have_all_their_time_where_most_operations_are_slow() -> None:
    plan = bounded(many())
    for _ in many():
        task = plan.lease(0.0)
        assert task is not None
        plan.come_back(task, 2, finished=False, spent_s=2.0, waits=SLOW)
    task = plan.lease(40.0)
    assert task is not None
    assert (task.slice_s, task.patience_s) == (6.0, None)


def test_a_slow_operation_of_few_gets_its_even_share() -> None:
    assert slow_plan(2, spent_s=9.0).lease(19.0) is not None


def test_a_fast_operation_is_never_cut() -> None:
    plan = slow_plan(20, spent_s=9.0, waits=QUICK)
    task = plan.lease(0.0)
    assert task is not None
    assert task.makes_ahead
    plan.come_back(task, 9, finished=False, spent_s=30.0, waits=QUICK)
    assert plan.lease(0.0) is not None
    assert plan.cut(0.0) == []


def test_what_is_cut_is_told_and_ends_the_plan() -> None:
    plan = slow_plan(20, spent_s=9.0)
    assert plan.cut(110.0) == []
    assert plan.cut(40.0) == [Cut("GET /0", done=2, cases=12, spent_s=9.0)]
    assert plan.is_over


def test_nothing_is_cut_while_others_work() -> None:
    plan = bounded(many())
    tasks = [task for _ in range(20) if (task := plan.lease(0.0)) is not None]
    plan.come_back(tasks[0], 2, finished=False, spent_s=9.0, waits=SLOW)
    assert plan.lease(10.0) is None
    assert plan.cut(10.0) == []


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
