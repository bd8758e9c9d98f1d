from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from checker.supervisor.assignment import (
    CASES_OF_A_LEASE,
    EXTRA_INDEX,
    SLICE_S,
    BoundedPlan,
    Cut,
    ExplorationPlan,
    Plan,
    left,
    remainder,
    without,
)
from checker.workers.messages import OperationCard, Task, Waits

CARDS = tuple(OperationCard(f"GET /r{number}", "GET", f"/r{number}") for number in range(4))
TASK = Task("t", "fuzzing", ("GET /a",), seed=1, start=10, stop=100, slice_s=8.0)


def bounded(cards: tuple[OperationCard, ...] = CARDS, cases: int = 12) -> BoundedPlan:
    return BoundedPlan(cards, seed=1, max_examples=cases)


class Hands:
    """A worker that makes cases over some lanes, as the slots would tell of it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.todo = [
            index
            for index in (*task.redo, *range(task.start, task.stop))
            if index not in task.skipped
        ]
        self.begun: list[int] = []
        self.ended: list[int] = []

    def work(self, count: int, lanes: int, random: Random) -> None:
        for _ in range(count):
            if not self.todo:
                break
            if len(self.in_flight) == lanes:
                self.ended.append(random.choice(self.in_flight))
            self.begun.append(self.todo.pop(0))

    @property
    def in_flight(self) -> list[int]:
        return [index for index in self.begun if index not in self.ended]

    @property
    def reached(self) -> int:
        return max([self.task.start, *(index + 1 for index in self.begun)])

    def come_home(self, plan: Plan, spent_s: float) -> None:
        self.ended = list(self.begun)
        finished = not self.todo
        reached = self.task.stop if finished else self.reached
        plan.come_back(self.task, reached, finished=finished, spent_s=spent_s)

    def die(self, plan: Plan) -> None:
        rest = remainder(self.task, self.reached, self.in_flight)
        if not left(rest):
            plan.come_back(rest, rest.stop, finished=True, spent_s=0.0)
        else:
            plan.lose(rest)


@given(st.integers(0, 1 << 32), st.integers(1, 4), st.integers(1, 8))
def test_no_case_is_lost_or_doubled_under_any_deaths(seed: int, workers: int, lanes: int) -> None:
    random = Random(seed)
    plan = bounded()
    made: Counter[tuple[str, int]] = Counter()
    flown: set[tuple[str, int]] = set()
    busy: list[Hands] = []
    deaths = 0
    while not plan.is_over:
        while len(busy) < workers and (task := plan.lease(0.0)) is not None:
            busy.append(Hands(task))
        hands = busy.pop(random.randrange(len(busy)))
        hands.work(random.randint(1, 14), lanes, random)
        label = hands.task.labels[0]
        dies = deaths < 30 and random.random() < 0.4
        redone = bool(hands.task.redo) and hands.reached == hands.task.start
        if dies:
            deaths += 1
            flown.update((label, index) for index in hands.in_flight)
            hands.die(plan)
        else:
            hands.come_home(plan, 0.0)
        if redone:
            # Nobody knows which of those that were to be made again were.
            flown.update((label, index) for index in hands.task.redo)
        made.update((label, index) for index in hands.ended)
    every = {(card.label, index) for card in CARDS for index in range(12)}
    assert set(made) == every
    assert {case for case, count in made.items() if count > 1} <= flown


@given(
    st.integers(0, 200),
    st.lists(st.integers(0, 120), max_size=8),
    st.lists(st.integers(0, 9), unique=True, max_size=5),
)
def test_a_remainder_holds_what_was_in_flight_and_nothing_that_was_made(
    reached: int, in_flight: list[int], redo: list[int]
) -> None:
    task = replace(TASK, redo=tuple(sorted(redo)))
    rest = remainder(task, reached, in_flight)
    assert rest.start == max(10, reached, *(index + 1 for index in in_flight), 0)
    assert set(in_flight) <= set(rest.redo)
    assert set(rest.redo) <= {*in_flight, *redo}
    assert all(index < rest.start for index in rest.redo)


@given(st.integers(0, 90), st.integers(1, 8), st.integers(0, 1 << 32))
def test_what_is_left_shrinks_by_what_was_made(count: int, lanes: int, seed: int) -> None:
    hands = Hands(replace(TASK, redo=(3, 7), skipped=(7, 12)))
    hands.work(count, lanes, Random(seed))
    rest = remainder(hands.task, hands.reached, hands.in_flight)
    if hands.in_flight:
        assert left(hands.task) - left(rest) == len(hands.ended)


def test_a_worker_that_never_began_leaves_the_task_as_it_was() -> None:
    assert remainder(TASK, 0, []) == TASK


def test_cases_that_extend_a_sequence_are_not_made_again() -> None:
    assert remainder(TASK, 12, [11, EXTRA_INDEX + 3]) == replace(TASK, start=12, redo=(11,))


def test_a_quarantined_case_is_neither_made_nor_made_again() -> None:
    task = without(replace(TASK, redo=(3, 5)), 5)
    assert (task.redo, task.skipped) == ((3,), (5,))
    assert remainder(task, 12, [5, 11]).redo == (11,)


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
    assert plan.lease(105.0) is None
    task = plan.lease(1000 / 9)
    assert task is not None
    assert task.patience_s is not None
    # Nearly all of it is for one answer.
    assert task.slice_s == 0.2
    assert round(task.slice_s + task.patience_s, 6) == 1.0


def test_a_first_look_at_one_of_many_operations_is_short() -> None:
    task = bounded(many()).lease(0.0)
    assert task is not None
    assert (task.slice_s, task.patience_s) == (0.2, 1.0)
    # A second one would be sent when the slice is over.
    assert not task.makes_ahead


def test_failures_that_were_looked_into_count_against_the_share_of_what_is_slow() -> None:
    waits = Waits(requests=30, short_s=0.3, long=4)
    assert slow_plan(20, spent_s=3.0, waits=waits).lease(20.0) is None
    assert slow_plan(20, spent_s=3.0, waits=replace(waits, long=0)).lease(20.0) is not None


def test_one_long_wait_may_be_an_accident() -> None:
    plan = slow_plan(20, spent_s=1.2, waits=ONCE_LONG)
    task = plan.lease(5.0)
    assert task is not None
    assert (task.slice_s, task.patience_s) == (0.2, 0.5)
    plan.come_back(task, 3, finished=False, spent_s=0.5, waits=ONCE_LONG)
    assert plan.lease(5.0) is None
    assert len(plan.cut(5.0)) == 1


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


CLUSTERS = [("GET /a", "POST /a"), ("GET /b",), ("GET /c",)]


def exploration(workers: int = 1, begun: tuple[str, ...] = ()) -> ExplorationPlan:
    return ExplorationPlan(CLUSTERS, seed=1, workers=workers, begun=begun)


def leased(plan: ExplorationPlan, elapsed_s: float = 0.0) -> Task:
    task = plan.lease(elapsed_s)
    assert task is not None
    return task


def test_every_cluster_has_a_turn_before_any_has_a_second() -> None:
    plan = exploration()
    rounds = []
    for turn in range(6):
        task = leased(plan, turn * 30.0)
        rounds.append(task)
        plan.come_back(task, 50, finished=False, spent_s=30.0)
    assert [task.labels for task in rounds] == CLUSTERS * 2
    assert len({task.seed for task in rounds}) == 6
    assert [task.slice_s for task in rounds] == [10.0] * 3 + [30.0] * 3
    assert {(task.start, task.stop) for task in rounds} == {(0, CASES_OF_A_LEASE)}


def test_the_first_round_takes_a_minute_whatever_the_number_of_clusters() -> None:
    many = [(f"GET /{number}",) for number in range(40)]
    assert ExplorationPlan(many, seed=1, workers=2).lease(0.0).slice_s == SLICE_S - 5  # type: ignore[union-attr]


def test_a_short_run_sees_everything_in_a_third_of_its_time() -> None:
    plan = ExplorationPlan(CLUSTERS, seed=1, workers=1, time_s=9.0)
    assert leased(plan).slice_s == 1.0


def test_more_workers_than_clusters_all_have_work() -> None:
    plan = exploration(workers=5)
    tasks = [leased(plan) for _ in range(5)]
    assert len({task.id for task in tasks}) == 5


def test_a_cluster_that_is_through_in_no_time_rests_longer_and_longer() -> None:
    plan = ExplorationPlan([("GET /a",)], seed=1, workers=1)
    leases, now = 0, 0.0
    while now < 60.0:
        task = plan.lease(now)
        if task is not None:
            leases += 1
            plan.come_back(task, 1, finished=True, spent_s=0.001)
        now += 0.1
    assert leases < 10


def test_a_lost_lease_is_given_out_again_with_its_seed() -> None:
    plan = exploration()
    task = leased(plan)
    plan.lose(replace(task, start=7, redo=(3,)))
    assert leased(plan) == replace(task, start=7, redo=(3,))


def test_a_resumed_run_goes_on_with_the_next_round() -> None:
    plan = exploration()
    begun = tuple(leased(plan).id for _ in range(4))
    assert leased(exploration(begun=begun)).id not in begun
    assert leased(exploration()).id in begun


def test_there_is_no_end_of_exploration() -> None:
    assert not exploration().is_over
    assert ExplorationPlan([], seed=1, workers=1).is_over


def test_something_waits_also_when_a_round_is_over() -> None:
    plan = ExplorationPlan((("GET /a",), ("GET /b",)), seed=1, workers=1)
    assert [plan.lease(0.0), plan.lease(0.0)].count(None) == 0
    assert plan.waiting == 2


def test_an_operation_that_kills_its_workers_does_not_take_the_turns_of_others() -> None:
    plan = exploration()
    task = leased(plan)
    plan.lose(replace(task, start=9, redo=(8,)), task.slice_s / 2)
    again = leased(plan)
    assert (again.id, again.slice_s) == (task.id, task.slice_s / 2)
    # Its time is over: only what was in flight is tried once more.
    plan.lose(replace(again, start=20, redo=(19,)), again.slice_s)
    last = leased(plan)
    assert (last.id, last.redo, left(last)) == (task.id, (19,), 1)
    plan.come_back(last, last.stop, finished=True, spent_s=0.1)
    assert leased(plan).labels != task.labels


def test_a_lost_lease_without_time_and_cases_in_flight_is_over() -> None:
    plan = exploration()
    task = leased(plan)
    plan.lose(replace(task, start=9), task.slice_s)
    assert leased(plan).id != task.id
