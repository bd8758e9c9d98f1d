from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checker.core.operation import Label
from checker.supervisor.plans import Plan, left, remainder, without
from checker.supervisor.run_plan import RunPlan
from checker.workers.messages import EXTRA_INDEX, LeaseReport, OperationCard, Task

CARDS = tuple(OperationCard(f"GET /r{number}", "GET", (f"r{number}",)) for number in range(4))
TASK = Task("t", "fuzzing", (Label("GET /a"),), seed=1, start=10, stop=100, slice_s=8.0)


def bounded(cards: tuple[OperationCard, ...] = CARDS, cases: int = 12) -> RunPlan:
    return RunPlan(cards, seed=1, max_examples=cases)


class Hands:
    """A worker that makes cases over some lanes, as the slots would tell of it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.todo = [index for index in (*task.redo, *range(task.start, task.stop)) if index not in task.skipped]
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
    def redone(self) -> int:
        return sum(index < self.task.start for index in self.begun)

    @property
    def reached(self) -> int:
        return max([self.task.start, *(index + 1 for index in self.begun)])

    def come_home(self, plan: Plan, spent_s: float) -> None:
        self.ended = list(self.begun)
        finished = not self.todo
        reached = self.task.stop if finished else self.reached
        redo = tuple(index for index in self.todo if index < self.task.start)
        report = LeaseReport(redo=redo)
        plan.come_back(self.task, reached, finished=finished, spent_s=spent_s, report=report)

    def die(self, plan: Plan) -> None:
        rest = remainder(self.task, self.reached, self.in_flight, self.redone)
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
        if dies:
            deaths += 1
            flown.update((label, index) for index in hands.in_flight)
            hands.die(plan)
        else:
            hands.come_home(plan, 0.0)
        made.update((label, index) for index in hands.ended)
    every = {(card.label, index) for card in CARDS for index in range(12)}
    assert set(made) == every
    assert {case for case, count in made.items() if count > 1} <= flown


@given(
    st.integers(0, 200), st.lists(st.integers(0, 120), max_size=8), st.lists(st.integers(0, 9), unique=True, max_size=5)
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
    rest = remainder(hands.task, hands.reached, hands.in_flight, hands.redone)
    assert left(hands.task) - left(rest) == len(hands.ended)


def test_a_worker_that_never_began_leaves_the_task_as_it_was() -> None:
    assert remainder(TASK, 0, []) == TASK


def test_cases_that_extend_a_sequence_are_not_made_again() -> None:
    assert remainder(TASK, 12, [11, EXTRA_INDEX + 3]) == replace(TASK, start=12, redo=(11,))


def test_a_quarantined_case_is_neither_made_nor_made_again() -> None:
    task = without(replace(TASK, redo=(3, 5)), 5)
    assert (task.redo, task.skipped) == ((3,), (5,))
    assert remainder(task, 12, [5, 11], 1).redo == (11,)
