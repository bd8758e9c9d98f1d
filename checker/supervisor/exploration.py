"""Who gets what next in `fuzz`. Pure: seconds are those since the run began, and arguments."""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import replace

from checker.core.digests import digest, digest_int
from checker.core.operation import Label
from checker.core.phases import EXPLORATION
from checker.supervisor.assignment import NO_WAITS, Cut
from checker.workers.messages import Task, Waits

FIRST_SLICE_S = 10.0
SHORTEST_SLICE_S = 0.2
FIRST_ROUND_S = 60.0
LATER_SLICE_S = 30.0
CASES_OF_A_LEASE = 4096
LONGEST_REST_S = 60.0
LOYALTY = 2
"""So many times the turns of a cluster others have before its worker loses it. Workers with three and four differ for ever."""


class ExplorationPlan:
    """Turns of clusters of operations, without end (`fuzz`). Every cluster has one before any has a second."""

    def __init__(
        self,
        clusters: Sequence[tuple[str, ...]],
        *,
        seed: int,
        workers: int,
        time_s: float | None = None,
        begun: Collection[str] = (),
    ) -> None:
        self._clusters = clusters
        self._seed = seed
        self._first = _first_round(clusters, seed, begun)
        # A short run, too, sees everything before it looks closer.
        round_s = FIRST_ROUND_S if time_s is None else min(FIRST_ROUND_S, time_s / 3)
        self._first_slice_s = min(FIRST_SLICE_S, round_s * workers / max(1, len(clusters)))
        self._turns = dict.fromkeys(clusters, 0)
        """How many each has had."""
        self._lost: deque[Task] = deque()
        self._leased: dict[str, tuple[tuple[str, ...], float]] = {}
        self._rests: dict[tuple[str, ...], tuple[float, float]] = {}
        self._homes: dict[tuple[str, ...], int] = {}
        """Which worker had a cluster last."""

    @property
    def waiting(self) -> int:
        """There is always more: after its turn, the next one of a cluster is waiting."""
        return len(self._lost) + len(self._clusters)

    @property
    def is_over(self) -> bool:
        """Never, if there is anything at all."""
        return not self._clusters

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
        """What a dead worker left; else the next cluster, those that nobody works on first.

        A worker keeps those that it had, since it has compiled them, until another's had less than half of their turns.
        """
        if self._lost:
            task = self._lost.popleft()
            self._leased[task.id] = (task.labels, elapsed_s)
            return task
        busy = {labels for labels, _ in self._leased.values()}
        rested = [labels for labels in self._clusters if self._is_rested(labels, elapsed_s)]
        free = [labels for labels in rested if labels not in busy]
        chosen = min(free or rested, key=lambda one: self._place_in_line(one, worker), default=None)
        if chosen is None:
            return None
        turns = self._turns[chosen]
        self._turns[chosen] += 1
        self._homes[chosen] = worker
        slice_s = LATER_SLICE_S if turns else max(SHORTEST_SLICE_S, self._first_slice_s)
        task = _exploration_task(chosen, self._seed, self._first + turns, slice_s)
        self._leased[task.id] = (chosen, elapsed_s)
        return task

    def come_back(
        self,
        task: Task,
        next_index: int,
        *,
        finished: bool,
        spent_s: float,
        waits: Waits = NO_WAITS,
    ) -> None:
        """The cluster has further turns, each with a new seed. One that was through in no time has a rest."""
        labels, leased_at = self._leased.pop(task.id, (task.labels, 0.0))
        _, rest_s = self._rests.pop(labels, (0.0, 0.5))
        has_few = waits.requests < task.stop - task.start
        if finished and has_few and spent_s < 1.0:
            # An operation without parameters has one case: without a pause it would be leased a thousand times a second.
            rest_s = min(LONGEST_REST_S, 2 * rest_s)
            self._rests[labels] = (leased_at + spent_s + rest_s, rest_s)

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """To the front: its case in flight decides soon whether it is poison.

        Its slice goes on. When that is over only the cases in flight are left: an operation that kills its workers again
        and again must not take the turns of all others.
        """
        if self._leased.pop(task.id, None) is None:
            return
        rest_s = task.slice_s - spent_s
        if rest_s > 0:
            self._lost.append(replace(task, slice_s=rest_s))
        elif task.redo:
            self._lost.append(replace(task, stop=task.start, slice_s=LATER_SLICE_S))

    def drop(self, task: str) -> None:
        """Forget it; later turns have its operations in other tasks."""
        self._leased.pop(task, None)
        self._lost = deque(lost for lost in self._lost if lost.id != task)

    def cut(self, elapsed_s: float) -> list[Cut]:
        """Nothing is cut: slices are enough."""
        return []

    def _place_in_line(self, labels: tuple[str, ...], worker: int) -> int:
        turns = self._turns[labels]
        is_foreign = self._homes.get(labels, worker) != worker
        return LOYALTY * (turns + 1) if is_foreign else turns

    def _is_rested(self, labels: tuple[str, ...], elapsed_s: float) -> bool:
        return self._rests.get(labels, (0.0, 0.0))[0] <= elapsed_s


def _exploration_task(labels: tuple[str, ...], seed: int, round_: int, slice_s: float) -> Task:
    identity = (str(seed), EXPLORATION.name, str(round_), *labels)
    return Task(
        digest(*identity),
        EXPLORATION.name,
        tuple(map(Label, labels)),
        digest_int(*identity),
        0,
        CASES_OF_A_LEASE,
        slice_s,
        tries_saved=EXPLORATION.tries_saved,
    )


def _first_round(clusters: Sequence[tuple[str, ...]], seed: int, begun: Collection[str]) -> int:
    """The first round of which nothing was begun: a resumed run goes on where it was."""
    round_ = 0
    while any(_exploration_task(labels, seed, round_, 1.0).id in begun for labels in clusters):
        round_ += 1
    return round_
