"""Who gets how much of a night of `fuzz`: the plan and the rounds of its workers, by a clock that only counts."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.operation import Label
from checker.supervisor.fuzz_plan import DEAD_TURNS, LATER_SLICE_S, LONGEST_PAUSE, LONGEST_REFUSED, FuzzPlan
from checker.workers.messages import LeaseReport, Task
from checker.workers.recording.task_state import CONSTANT_PRODUCER, DULL, DULL_CASES, ClusterRotation

ANSWER_S = 0.1
COUNT_S = 1.0
Answers = Callable[[str, int], int]
"""(operation, how often it was asked before) -> status."""


@dataclass
class Night:
    """Workers that go on until so many turns are over."""

    clusters: dict[tuple[str, ...], tuple[str, ...]]
    answers: Answers
    workers: int = 1
    constant: frozenset[str] = frozenset()
    """Operations that have a single case."""
    broken: frozenset[str] = frozenset()
    """Of which no case can be made."""
    asked: Counter[str] = field(default_factory=Counter)
    spent_s: defaultdict[tuple[str, ...], float] = field(default_factory=lambda: defaultdict(float))
    turns: list[tuple[str, ...]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    first_s: list[float] = field(default_factory=list)
    """How long each cluster was at work in its first turn."""

    def __post_init__(self) -> None:
        self.plan = FuzzPlan(self.clusters, seed=1, workers=self.workers)
        self.free_at = [0.0] * self.workers
        self.held: dict[int, tuple[Task, LeaseReport, float]] = {}

    def pass_turns(self, count: int) -> None:
        free_at, held = self.free_at, self.held
        while len(self.turns) < count and not self.plan.is_over:
            worker = free_at.index(min(free_at))
            now = free_at[worker]
            if worker in held:
                task, report, spent_s = held.pop(worker)
                finished = not report.requests
                self.plan.come_back(task, 1, finished=finished, spent_s=spent_s, report=report)
            leased = self.plan.lease(now, worker)
            if leased is None:
                free_at[worker] = now + 0.2
                continue
            report, spent_s = self.work(leased)
            held[worker] = leased, report, spent_s
            free_at[worker] = now + max(spent_s, 0.01)

    def share(self, *clusters: tuple[str, ...]) -> float:
        """Return the mean time of an operation of these clusters, in seconds."""
        return sum(self.spent_s[one] for one in clusters) / sum(map(len, clusters))

    def work(self, task: Task) -> tuple[LeaseReport, float]:
        """What a worker does with a turn, and how long that takes."""
        cluster = next(one for one in self.clusters if set(task.labels) <= set(one))
        rounds, now, counted_at = ClusterRotation(task.labels, task.producers, dict(task.pauses)), 0.0, 0.0
        statuses: Counter[tuple[str, int]] = Counter()
        given_up = {label for label in task.labels if label in self.broken}
        for index in range(task.start, task.stop):
            label = task.labels[index % len(task.labels)]
            if label in self.broken or rounds.passes(label, index):
                continue
            if now >= task.slice_s:
                break
            status = self.answers(label, self.asked[label])
            if not self.asked[label] or (status == 200 and "still" not in label):
                rounds.showed(label)
            self.asked[label] += 1
            statuses[label, status] += 1
            now += ANSWER_S
            if label in self.constant and rounds.is_constant(label):
                break
            if now - counted_at >= COUNT_S:
                counted_at, told = now, dict(statuses)
                statuses.clear()
                if rounds.count(told):
                    break
        rounds.count(statuses)
        if cluster not in self.turns:
            self.first_s.append(now)
        self.turns.append(cluster)
        self.tasks.append(task)
        self.spent_s[cluster] += now
        return LeaseReport(round(now / ANSWER_S), operations=rounds.reports(given_up)), now


def cluster(name: str, size: int = 8) -> tuple[str, ...]:
    return tuple(f"GET /{name}/{number}" for number in range(size))


LIVE = [cluster(f"live{number}") for number in range(4)]
DEAD = [cluster("dead0", 5), cluster("dead1", 5)]


def is_live(label: str, before: int) -> int:
    return 404 if "dead" in label else 200


@pytest.mark.thorough
def test_what_only_refuses_has_a_small_share_of_the_time_and_no_less() -> None:
    night = Night(dict.fromkeys([*DEAD, *LIVE], ()), is_live)
    night.pass_turns(1500)
    live, dead = night.share(*LIVE), night.share(*DEAD)
    assert 0.8 < LONGEST_REFUSED * dead / live < 3
    # The first look is over when it showed nothing: not ten seconds in each.
    assert max(night.first_s[: len(DEAD)]) <= 5 * DULL_CASES * ANSWER_S + COUNT_S
    floor = min(night.asked[label] for one in DEAD for label in one)
    assert floor > sum(night.asked.values()) / len(night.asked) / 20


@pytest.mark.thorough
def test_a_producer_that_is_refused_is_tried_oftener() -> None:
    plain, making = cluster("dead0"), cluster("dead1")
    night = Night({plain: (), making: making[:1], **dict.fromkeys(LIVE, ())}, is_live)
    night.pass_turns(1500)
    assert night.asked[making[0]] > 2 * night.asked[plain[0]]


def test_operations_that_refuse_leave_their_turns_to_those_that_do_not() -> None:
    mixed = (*cluster("live", 2), *cluster("dead", 6))
    night = Night({mixed: ()}, is_live)
    night.pass_turns(500)
    live, dead = night.asked[mixed[0]], night.asked[mixed[-1]]
    # Each turn begins with a look at all of them: answers may have changed.
    assert live / LONGEST_REFUSED < dead < live / DULL + 500 * (DULL_CASES + 2)


def test_the_only_source_of_an_identifier_is_asked_again_and_again() -> None:
    """It has a single case, and was sent once for each turn of half a minute."""
    things = ("GET /things", *(f"GET /things/{{id}}/{number}" for number in range(7)))
    constant = frozenset(things[:1])
    night = Night({things: things[:1]}, is_live, constant=constant)
    night.pass_turns(1)
    whole = sum(night.asked.values())
    assert night.asked["GET /things"] >= whole // (8 * CONSTANT_PRODUCER)
    assert night.asked["GET /things"] < night.asked[things[1]]


@pytest.mark.thorough
def test_what_begins_to_answer_has_its_whole_share_again() -> None:
    def later(label: str, before: int) -> int:
        return 200 if "dead0" in label and before >= 200 else is_live(label, before)

    night = Night(dict.fromkeys([*DEAD, *LIVE], ()), later)
    night.pass_turns(1000)
    night.spent_s.clear()
    night.turns.clear()
    night.pass_turns(1000)
    assert night.share(DEAD[0]) > 0.9 * night.share(LIVE[0])
    assert night.share(DEAD[1]) < 0.2 * night.share(LIVE[0])


def test_each_operation_has_the_same_time_in_clusters_of_any_size() -> None:
    alone, many = cluster("live0", 1), cluster("live1", 8)
    night = Night({alone: (), many: ()}, is_live)
    night.pass_turns(200)
    assert 0.9 < night.share(alone) / night.share(many) < 1.1


def test_an_operation_that_shows_nothing_new_has_an_eighth_of_the_time() -> None:
    still, lively = cluster("still", 4), cluster("live")
    night = Night({still: (), lively: ()}, is_live)
    night.pass_turns(400)
    assert 0.8 < LONGEST_PAUSE * night.share(still) / night.share(lively) < 1.3


def test_what_refuses_all_has_less_time_than_what_shows_nothing_new() -> None:
    still, dead = cluster("still", 4), cluster("dead", 4)
    night = Night({still: (), dead: ()}, is_live)
    night.pass_turns(800)
    assert night.share(still) > 2 * night.share(dead)


def test_in_a_cluster_turns_go_to_operations_that_still_show_something() -> None:
    mixed = (*cluster("still", 2), *cluster("live", 2))
    night = Night({mixed: ()}, is_live)
    night.pass_turns(100)
    still, lively = night.asked[mixed[0]], night.asked[mixed[-1]]
    # Each turn begins with a case of each.
    assert 0.8 < LONGEST_PAUSE * still / lively < 1.6


def test_new_behaviour_gives_an_operation_its_turns_back_at_once() -> None:
    still, lively = map(Label, ("GET /still", "GET /live"))
    rounds = ClusterRotation((still, lively), quiet={still: LONGEST_PAUSE})
    assert rounds.passes(still, 2)
    rounds.showed(still)
    assert not rounds.passes(still, 2)


def test_an_api_of_which_nothing_can_be_made_is_over() -> None:
    labels = frozenset(label for one in LIVE for label in one)
    night = Night(dict.fromkeys(LIVE, ()), is_live, broken=labels)
    night.pass_turns(1000)
    assert night.plan.is_over
    assert len(night.turns) == DEAD_TURNS * len(LIVE)


def test_of_what_cannot_be_made_no_task_is_told_again() -> None:
    night = Night({LIVE[0]: ()}, is_live, broken=frozenset(LIVE[0][:3]))
    night.pass_turns(DEAD_TURNS + 1)
    assert [task.labels for task in night.tasks] == [*DEAD_TURNS * [LIVE[0]], LIVE[0][3:]]


@pytest.mark.thorough
@settings(max_examples=15, deadline=None)
@given(
    kinds=st.lists(st.sampled_from(["live", "dead"]), min_size=2, max_size=10),
    making=st.sets(st.integers(0, 9)),
    workers=st.integers(1, 4),
)
def test_nobody_starves(kinds: list[str], making: set[int], workers: int) -> None:
    ordered = [cluster(f"{kind}{number}", 3) for number, kind in enumerate(kinds)]
    clusters = {one: one[:1] if number in making else () for number, one in enumerate(ordered)}
    night = Night(clusters, is_live, workers=workers)
    night.pass_turns(250)
    whole = sum(night.spent_s.values())
    # A worker keeps a cluster until another's had half of its time: that much less any of them may have.
    floor = whole / len(clusters) / LONGEST_PAUSE / 4
    assert min(night.spent_s[one] for one in clusters) > min(floor, LATER_SLICE_S)
    for one, producers in clusters.items():
        least = min(night.asked[label] for label in one)
        assert least > 0
        assert all(night.asked[label] >= least for label in producers)
