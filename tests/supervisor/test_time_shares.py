"""A `run` with a time limit, against a clock of the test: all phases have their share, every operation its turn."""

from collections import Counter, defaultdict

import pytest
from msgspec.structs import replace

from checker.core.operation import Label
from checker.core.phases import phase_names
from checker.supervisor.plans import SLICE_S, TimeWindow
from checker.supervisor.run_plan import RunPlan
from checker.workers.messages import OperationCard, Task

WORKERS = 2
LIST_LENGTH = 5
"""Cases that the listed phases of these operations have."""


def cards(count: int) -> tuple[OperationCard, ...]:
    """Operations in three layers, each of which begins sequences."""
    return tuple(OperationCard(f"GET /r{n}", "GET", (f"r{n}",), layer=n % 3, begins=True) for n in range(count))


class Simulation:
    """Workers that make a case in so many seconds, after as many to compile what they had not seen before."""

    def __init__(self, plan: RunPlan, *, case_s: float, compile_s: float) -> None:
        self.plan = plan
        self.cases = Counter[tuple[str, str]]()
        self.spent_s = defaultdict[str, float](float)
        """By phase."""
        self.order: list[tuple[str, str]] = []
        """(phase, operation) of the turns."""
        self._took_s = 0.0
        self._case_s = case_s
        self._compile_s = compile_s
        self._known: list[set[str]] = [set() for _ in range(WORKERS)]

    def run(self, begins_s: float, ends_s: float) -> None:
        clocks = [begins_s] * WORKERS
        held: list[tuple[Task, int, bool] | None] = [None] * WORKERS
        while True:
            worker = min(range(WORKERS), key=clocks.__getitem__)
            now = clocks[worker]
            if now >= ends_s:
                return
            done = held[worker]
            if done is not None:
                task, reached, finished = done
                held[worker] = None
                self.plan.come_back(task, reached, finished=finished, spent_s=0.1)
            leased = self.plan.lease(now, worker)
            if leased is None:
                if self.plan.is_over:
                    return
                clocks[worker] = now + 0.01
                continue
            held[worker] = self._worked(leased, worker)
            took_s = self._took_s
            clocks[worker] += took_s
            self.spent_s[leased.phase] += took_s

    def _worked(self, task: Task, worker: int) -> tuple[Task, int, bool]:
        label, phase = task.labels[0], task.phase
        self.order.append((phase, label))
        took_s = 0.0 if label in self._known[worker] else self._compile_s
        self._known[worker].add(label)
        stop = LIST_LENGTH if phase in ("examples", "coverage") else task.stop
        index = task.start
        while index < stop:
            index += 1
            took_s += self._case_s
            if took_s >= task.slice_s:
                break
        self.cases[phase, label] += index - task.start
        self._took_s = took_s
        return task, index, index >= stop


def limited(count: int, begins_s: float, ends_s: float) -> RunPlan:
    plan = RunPlan(cards(count), seed=1, max_examples=1000, phases=phase_names())
    plan.limit(TimeWindow(begins_s, ends_s), WORKERS)
    return plan


@pytest.mark.parametrize("case_s", [0.0005, 0.004])
def test_with_little_time_every_operation_has_its_turn_in_every_phase(case_s: float) -> None:
    simulation = Simulation(limited(800, 2.0, 28.5), case_s=case_s, compile_s=0.005)
    simulation.run(2.0, 28.5)
    wanted = {(phase, card.label) for phase in phase_names() for card in cards(800)}
    assert wanted == simulation.cases.keys()


def test_all_phases_that_can_use_it_have_their_share() -> None:
    simulation = Simulation(limited(30, 1.0, 61.0), case_s=0.01, compile_s=0.0)
    simulation.run(1.0, 61.0)
    spent_s = simulation.spent_s
    assert sum(spent_s.values()) == pytest.approx(60.0 * WORKERS, rel=0.02)
    # Lists end; what they leave is for those whose cases have no end.
    assert spent_s["examples"] == spent_s["coverage"] == pytest.approx(30 * LIST_LENGTH * 0.01)
    assert spent_s["fuzzing"] > 0.35 * 60.0 * WORKERS
    assert spent_s["stateful"] > 0.35 * 60.0 * WORKERS


def test_what_had_no_turn_comes_before_anything_has_a_second_one() -> None:
    """Coverage would take all its time for a few operations: the others have their turns after the last phase."""
    plan = limited(40, 0.0, 10.0)
    # So slow that the time of a stage is over before all had a turn in it.
    simulation = Simulation(plan, case_s=0.2, compile_s=0.05)
    simulation.run(0.0, 10.0)
    first = dict.fromkeys(simulation.order)
    assert len(first) == len(simulation.order) < 4 * 40
    assert {phase for phase, _ in first} == set(phase_names())


def test_a_worker_has_the_operations_again_that_it_knows() -> None:
    plan = limited(40, 0.0, 60.0)
    homes: dict[str, set[int]] = {}
    clock = 0.0
    while not plan.is_over:
        for worker in range(WORKERS):
            task = plan.lease(clock, worker)
            if task is not None:
                homes.setdefault(task.labels[0], set()).add(worker)
                plan.come_back(task, task.stop, finished=True, spent_s=0.0)
        clock += 0.001
    assert {len(workers) for workers in homes.values()} == {1}


def test_a_lost_task_goes_to_whoever_asks_first() -> None:
    plan = RunPlan(cards(9), seed=1, max_examples=9)
    task = plan.lease(0.0, 1)
    assert task is not None
    plan.lose(replace(task, start=3))
    again = plan.lease(0.0, 2)
    assert again is not None
    assert (again.id, again.start) == (task.id, 3)


def test_with_time_enough_turns_and_order_are_those_without_a_limit() -> None:
    def turns(plan: RunPlan) -> list[Task]:
        found: list[Task] = []
        while not plan.is_over:
            task = plan.lease(float(len(found)))
            assert task is not None
            found.append(task)
            plan.come_back(task, task.stop, finished=True, spent_s=1.0)
        return found

    rich = limited(5, 0.0, 1e6)
    assert turns(rich) == turns(RunPlan(cards(5), seed=1, max_examples=1000, phases=phase_names()))
    assert {task.slice_s for task in turns(limited(5, 0.0, 1e6))} == {SLICE_S}


def test_a_task_whose_stage_is_over_comes_back_after_the_last_phase() -> None:
    plan = limited(1, 0.0, 10.0)
    first = plan.lease(0.0)
    assert first is not None
    # It held its worker for longer than the share of its phase.
    second = plan.lease(5.0)
    assert second is not None
    assert (first.phase, second.phase) == ("examples", "coverage")
    plan.come_back(first, 3, finished=False, spent_s=5.0)
    plan.come_back(second, 5, finished=True, spent_s=0.1)
    phases = []
    while not plan.is_over:
        task = plan.lease(5.1)
        assert task is not None
        phases.append((task.phase, task.start))
        plan.come_back(task, task.stop, finished=True, spent_s=0.0)
    assert phases == [("fuzzing", 0), ("stateful", 0), ("examples", 3)]


def test_what_waits_for_the_end_has_its_turns_before_time_is_over() -> None:
    plain = cards(40)
    dangerous = [replace(plain[number], is_ending=True) for number in (3, 20)]
    mixed = [card for card in plain if card.label not in {one.label for one in dangerous}]
    plan = RunPlan([*mixed, *dangerous], seed=1, max_examples=10**6, phases=phase_names())
    plan.limit(TimeWindow(0.0, 20.0), WORKERS)
    simulation = Simulation(plan, case_s=0.001, compile_s=0.005)
    simulation.run(0.0, 20.0)
    labels = [label for _, label in simulation.order]
    last = {card.label for card in dangerous}
    begins = min(labels.index(label) for label in last)
    assert not set(labels[:begins]) & last
    # Everything that follows is theirs.
    assert set(labels[begins:]) == last
    assert {phase for phase, label in simulation.cases if label in last} == set(phase_names())


def test_with_little_time_nothing_is_removed_before_others_had_their_second_turns() -> None:
    plain = cards(20)
    removing = replace(plain[4], label=Label("DELETE /r4"), method="DELETE")
    plan = RunPlan([*plain, removing], seed=1, max_examples=10**6, phases=phase_names())
    plan.limit(TimeWindow(0.0, 20.0), WORKERS)
    simulation = Simulation(plan, case_s=0.01, compile_s=0.005)
    simulation.run(0.0, 20.0)
    labels = [label for _, label in simulation.order]
    begins = labels.index("DELETE /r4")
    assert set(labels[begins:]) == {"DELETE /r4"}
    turns = [("fuzzing", card.label) for card in plain]
    assert all(simulation.order[:begins].count(turn) > 1 for turn in turns)
    assert {phase for phase, label in simulation.cases if label == "DELETE /r4"} == set(phase_names())


def test_nothing_is_emptied_before_its_members_were_removed_one_by_one_in_all_phases() -> None:
    plain = cards(4)
    flush = replace(plain[0], label=Label("POST /flush"), is_ending=True)
    layers = {"DELETE /a": 5, "DELETE /a/{a}": 4, "DELETE /a/{a}/b/{b}": 3}
    removing = [replace(plain[0], label=Label(label), method="DELETE", layer=n) for label, n in layers.items()]
    # One of the users is the account of the run.
    user = replace(removing[2], label=Label("DELETE /users/{id}"), resource=("users",))
    plan = RunPlan([*plain, flush, user, *removing], seed=1, max_examples=9, phases=phase_names())
    plan.limit(TimeWindow(0.0, 20.0), WORKERS)
    simulation = Simulation(plan, case_s=0.001, compile_s=0.005)
    simulation.run(0.0, 20.0)
    last = {"POST /flush", "DELETE /users/{id}", *layers}
    order = [label for _, label in simulation.order if label in last]
    wanted = ["DELETE /a/{a}/b/{b}", "DELETE /a/{a}", "DELETE /a", "DELETE /users/{id}", "POST /flush"]
    assert list(dict.fromkeys(order)) == wanted
    assert order == sorted(order, key=wanted.index)


def some_dangerous(count: int, every: int) -> list[OperationCard]:
    return [replace(card, is_ending=number % every == 0) for number, card in enumerate(cards(count))]


@pytest.mark.parametrize("every", [7, 60])
def test_all_that_waits_for_the_end_has_its_turn_in_every_phase(every: int) -> None:
    plan = RunPlan(some_dangerous(800, every), seed=1, max_examples=1000, phases=phase_names())
    plan.limit(TimeWindow(2.0, 28.5), WORKERS)
    simulation = Simulation(plan, case_s=0.001, compile_s=0.005)
    simulation.run(2.0, 28.5)
    wanted = {(phase, card.label) for phase in phase_names() for card in cards(800)}
    assert wanted == simulation.cases.keys()


def test_where_time_presses_only_what_ended_the_service_runs_alone() -> None:
    plan = RunPlan(some_dangerous(3, 1), seed=1, max_examples=9)
    plan.limit(TimeWindow(0.0, 10.0), WORKERS)
    plan.defer(Label(cards(3)[1].label))
    beside = [plan.lease(0.0, worker) for worker in range(WORKERS)]
    assert [task and task.labels[0] for task in beside] == ["GET /r0", None]
    assert beside[0] is not None
    plan.come_back(beside[0], 9, finished=True, spent_s=0.1)
    alone = [plan.lease(0.1, worker) for worker in range(WORKERS)]
    assert [task and task.labels[0] for task in alone] == ["GET /r1", None]
    assert alone[0] is not None
    assert alone[0].is_last


@pytest.mark.parametrize("is_ending", [False, True])
def test_what_nobody_came_to_has_had_no_turn(is_ending: bool) -> None:
    """Workers that leave give back what waited: it comes before anything has a second turn."""
    rows = [replace(card, layer=0, is_ending=is_ending) for card in cards(3)]
    plan = RunPlan(rows, seed=1, max_examples=9)
    plan.limit(TimeWindow(0.0, 10.0), WORKERS)
    begun, waited = plan.lease(0.0, 1), plan.lease(0.0, 1)
    assert begun is not None
    assert waited is not None
    plan.come_back(begun, 3, finished=False, spent_s=0.1)
    plan.come_back(waited, 0, finished=False, spent_s=0.0)
    turns: list[tuple[str, int]] = []
    for _ in rows:
        task = plan.lease(0.5, 1)
        assert task is not None
        turns.append((task.labels[0], task.start))
        plan.come_back(task, 3, finished=False, spent_s=0.1)
    third = rows[2].label
    assert turns == [(waited.labels[0], 0), (third, 0), (begun.labels[0], 3)]


@pytest.mark.parametrize("is_ending", [False, True])
def test_the_last_first_turn_is_no_longer_than_the_others(is_ending: bool) -> None:
    """It may wait in the queue of a worker, and what is before it there must not take its time."""
    rows = [replace(card, layer=0, is_ending=is_ending) for card in cards(20)]
    plan = RunPlan(rows, seed=1, max_examples=9)
    plan.limit(TimeWindow(0.0, 10.0), WORKERS)
    slices: list[float] = []
    for _ in rows:
        task = plan.lease(0.1 * len(slices))
        assert task is not None
        assert task.start == 0
        slices.append(task.slice_s)
        plan.come_back(task, 3, finished=False, spent_s=0.1)
    assert max(slices) < 2 * min(slices)


@pytest.mark.parametrize("is_limited", [False, True])
def test_what_may_end_the_service_runs_beside_others_where_time_presses(is_limited: bool) -> None:
    plan = RunPlan(some_dangerous(3, 1), seed=1, max_examples=9)
    if is_limited:
        plan.limit(TimeWindow(0.0, 10.0), WORKERS)
    beside = [plan.lease(0.0, worker) for worker in range(WORKERS)]
    assert [task is not None for task in beside] == [True, is_limited]
