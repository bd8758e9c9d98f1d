"""Which tasks exist and who gets what next. Pure: seconds are those since the run began, and arguments."""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from checker.core.digests import digest, digest_int
from checker.workers.messages import LONG_WAIT_S, OperationCard, Task, Waits

FUZZING = "fuzzing"
EXPLORATION = "exploration"

SLICE_S = 8.0
FAST_ANSWER_S = 0.1
REQUESTS_OF_AN_ACCIDENT = 100
"""An operation is fast in spite of one long wait, and of one more in so many."""
LARGEST_SHARE = 0.09
"""Of the time so far: with what its last request takes beyond its slice, an operation stays below a tenth of the run."""
MANY_OPERATIONS = 20
"""From here on a slow operation takes time from many others, and is held to its share from the first request on."""
FIRST_LOOK_S = 1.2
PATIENCE_OF_FAST_S = 1.0
SHORTEST_SLICE_OF_RUN_S = 0.2
"""Beside what a last request may take."""
NO_WAITS = Waits()

FIRST_SLICE_S = 10.0
SHORTEST_SLICE_S = 0.2
FIRST_ROUND_S = 60.0
LATER_SLICE_S = 30.0
CASES_OF_A_LEASE = 4096
LONGEST_REST_S = 60.0

EXTRA_INDEX = 1 << 32
"""From here on indices are those of cases that extend a sequence: they have no place in a task's numbering."""


class Plan(Protocol):
    """The tasks of a run, and what became of each."""

    def lease(self, elapsed_s: float) -> Task | None:
        """The next task for a worker; None when there is none now."""
        ...

    def come_back(
        self,
        task: Task,
        next_index: int,
        *,
        finished: bool,
        spent_s: float,
        waits: Waits = NO_WAITS,
    ) -> None:
        """A leased task is over, or its slice is, after so long; `waits` are those of this lease."""
        ...

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """The worker of a leased task is gone after so long; `task` is what is left of it."""
        ...

    def drop(self, task: str) -> None:
        """A task will never be leased again."""
        ...

    def cut(self, elapsed_s: float) -> "list[Cut]":
        """Give up what took too long, if nothing else is left to do."""
        ...

    @property
    def waiting(self) -> int:
        """Tasks that wait for a worker."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether there will never be anything to lease again."""
        ...


@dataclass(frozen=True, slots=True)
class Cut:
    """An operation that had its share of the time."""

    label: str
    done: int
    cases: int
    """That it should have had."""
    spent_s: float


@dataclass(slots=True)
class _Piece:
    task: Task
    first: int
    spent_s: float = 0.0
    """What counts against its share: failures that were looked into as well."""
    waits: Waits = NO_WAITS
    """What tells whether it is slow."""

    @property
    def done(self) -> int:
        return self.task.start - self.first

    @property
    def is_new(self) -> bool:
        return not self.spent_s

    @property
    def is_fast(self) -> bool:
        waits = self.waits
        return (
            waits.requests > 0
            and waits.long <= 1 + waits.requests // REQUESTS_OF_AN_ACCIDENT
            and waits.short_s / waits.requests < FAST_ANSWER_S
        )


class BoundedPlan:
    """One task for each operation, until it has its cases (`run`).

    What is slow gets its share of the time so far, again and again, and is cut when all else is done. Where a large
    document has a few slow operations, a single request, too, may take no longer than what is left of that share.
    """

    def __init__(self, cards: Sequence[OperationCard], *, seed: int, max_examples: int) -> None:
        self._share = max(LARGEST_SHARE, 1 / len(cards)) if cards else 1.0
        self._is_large = len(cards) >= MANY_OPERATIONS
        self._waiting = deque(
            _Piece(_bounded_task(card.label, seed, max_examples), 0) for card in cards
        )
        self._leased: dict[str, _Piece] = {}

    @property
    def waiting(self) -> int:
        """Tasks that wait for a worker."""
        return len(self._waiting)

    @property
    def is_over(self) -> bool:
        """Whether every task is finished, cut or dropped."""
        return not self._waiting and not self._leased

    def lease(self, elapsed_s: float) -> Task | None:
        """The first task in the queue that has not had its share of the time; those that had to wait come last.

        A target goes on with requests that were given up: what is fast would suffer from them.
        """
        for piece in sorted(self._waiting, key=_had_to_wait):
            if self._is_allowed(piece, elapsed_s):
                self._waiting.remove(piece)
                self._leased[piece.task.id] = piece
                return self._sliced(piece, elapsed_s)
        return None

    def come_back(
        self,
        task: Task,
        next_index: int,
        *,
        finished: bool,
        spent_s: float,
        waits: Waits = NO_WAITS,
    ) -> None:
        """Unfinished: to the back of the queue."""
        piece = self._leased.pop(task.id, None)
        if piece is None or finished:
            return
        # The indices that were to be made again are made before all others.
        redo = task.redo if next_index <= task.start else ()
        piece.task = replace(piece.task, start=next_index, redo=redo)
        piece.spent_s += spent_s
        piece.waits += waits
        self._waiting.append(piece)

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """To the front: its case in flight decides soon whether it is poison."""
        piece = self._leased.pop(task.id, None)
        if piece is not None:
            piece.task = task
            self._waiting.appendleft(piece)

    def drop(self, task: str) -> None:
        """Forget it, wherever it is."""
        self._leased.pop(task, None)
        self._waiting = deque(piece for piece in self._waiting if piece.task.id != task)

    def cut(self, elapsed_s: float) -> list[Cut]:
        """What had more than its share while nothing else was left to do."""
        if self._leased or any(self._is_allowed(piece, elapsed_s) for piece in self._waiting):
            return []
        cut = [
            Cut(piece.task.labels[0], piece.done, piece.task.stop - piece.first, piece.spent_s)
            for piece in self._waiting
        ]
        self._waiting.clear()
        return cut

    @property
    def _is_strict(self) -> bool:
        """Whether slow operations are few among many: where all are slow, all have the time that they need."""
        pieces = [*self._waiting, *self._leased.values()]
        slow = sum(1 for piece in pieces if not piece.is_new and not piece.is_fast)
        return self._is_large and slow * self._share < 1

    def _is_allowed(self, piece: _Piece, elapsed_s: float) -> bool:
        if piece.is_new or piece.is_fast:
            return True
        least_s = LONG_WAIT_S if self._is_strict else 0.0
        return self._allowed_s(piece, elapsed_s) > least_s

    def _allowed_s(self, piece: _Piece, elapsed_s: float) -> float:
        floor_s = FIRST_LOOK_S if self._is_strict else SLICE_S
        return max(floor_s, self._share * elapsed_s) - piece.spent_s

    def _sliced(self, piece: _Piece, elapsed_s: float) -> Task:
        """The task with the seconds of its slice, and of one request."""
        allowed_s = self._allowed_s(piece, elapsed_s)
        if not self._is_strict:
            slice_s = SLICE_S if piece.is_fast else min(SLICE_S, max(1.0, allowed_s))
            return replace(piece.task, slice_s=slice_s)
        is_fast = piece.is_fast and not piece.waits.long
        if is_fast:
            slice_s = patience_s = max(PATIENCE_OF_FAST_S, allowed_s)
        else:
            # Nearly all of it for one answer: a request that is given up says nothing, and the target is still at it.
            slice_s = SHORTEST_SLICE_OF_RUN_S
            patience_s = max(LONG_WAIT_S, allowed_s - slice_s)
        return replace(
            piece.task,
            slice_s=min(SLICE_S, slice_s),
            patience_s=patience_s,
            makes_ahead=is_fast,
        )


class ExplorationPlan:
    """Rounds over clusters of operations, without end (`fuzz`). Every cluster has a turn before any has a second one."""

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
        self._round = _first_round(clusters, seed, begun)
        # A short run, too, sees everything before it looks closer.
        round_s = FIRST_ROUND_S if time_s is None else min(FIRST_ROUND_S, time_s / 3)
        self._first_slice_s = min(FIRST_SLICE_S, round_s * workers / max(1, len(clusters)))
        self._first = self._round
        self._turns = deque(clusters)
        self._lost: deque[Task] = deque()
        self._leased: dict[str, tuple[tuple[str, ...], float]] = {}
        self._rests: dict[tuple[str, ...], tuple[float, float]] = {}

    @property
    def waiting(self) -> int:
        """There is always more: when a round is over, the next one is waiting."""
        return len(self._lost) + (len(self._turns) or len(self._clusters))

    @property
    def is_over(self) -> bool:
        """Never, if there is anything at all."""
        return not self._clusters

    def lease(self, elapsed_s: float) -> Task | None:
        """What a dead worker left; else the next cluster, those that nobody works on first."""
        if self._lost:
            task = self._lost.popleft()
            self._leased[task.id] = (task.labels, elapsed_s)
            return task
        if not self._turns:
            self._round += 1
            self._turns.extend(self._clusters)
        busy = {labels for labels, _ in self._leased.values()}
        rested = [labels for labels in self._turns if self._is_rested(labels, elapsed_s)]
        chosen = next((labels for labels in rested if labels not in busy), None)
        if chosen is None:
            chosen = rested[0] if rested else self._next_round(elapsed_s)
        if chosen is None:
            return None
        self._turns.remove(chosen)
        task = _exploration_task(chosen, self._seed, self._round, self._slice_s)
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
        """The next round has the cluster again, with a new seed. One that was through in no time has a rest."""
        labels, leased_at = self._leased.pop(task.id, (task.labels, 0.0))
        _, rest_s = self._rests.pop(labels, (0.0, 0.5))
        if finished and spent_s < 1.0:
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
        """Forget it; later rounds have its operations in other tasks."""
        self._leased.pop(task, None)
        self._lost = deque(lost for lost in self._lost if lost.id != task)

    def cut(self, elapsed_s: float) -> list[Cut]:
        """Nothing is cut: slices are enough."""
        return []

    @property
    def _slice_s(self) -> float:
        return (
            max(SHORTEST_SLICE_S, self._first_slice_s)
            if self._round == self._first
            else LATER_SLICE_S
        )

    def _is_rested(self, labels: tuple[str, ...], elapsed_s: float) -> bool:
        return self._rests.get(labels, (0.0, 0.0))[0] <= elapsed_s

    def _next_round(self, elapsed_s: float) -> tuple[str, ...] | None:
        """A cluster of the next round when all that is left of this one rests."""
        chosen = next((c for c in self._clusters if self._is_rested(c, elapsed_s)), None)
        if chosen is not None:
            self._round += 1
            self._turns = deque(self._clusters)
        return chosen


def _had_to_wait(piece: _Piece) -> bool:
    return piece.waits.long > 0


def remainder(task: Task, reached: int, in_flight: Collection[int]) -> Task:
    """What is left of a task whose worker is gone: nothing is lost, and only what was in flight is made twice.

    `reached` is one past the highest index that was made, as far as known; indices that were `in_flight` are made again.
    """
    known = [index for index in in_flight if index < EXTRA_INDEX]
    start = max(task.start, reached, *(index + 1 for index in known), 0)
    again = set(known)
    if start == task.start:
        # Redone indices come first and in order: what stands behind the last one in flight was not begun.
        begun = [position for position, index in enumerate(task.redo) if index in again]
        again.update(task.redo[begun[-1] :] if begun else task.redo)
    return replace(task, start=start, redo=tuple(sorted(again - set(task.skipped))))


def without(task: Task, index: int) -> Task:
    """The task without a case that is in quarantine."""
    skipped = tuple(sorted({*task.skipped, index}))
    return replace(task, skipped=skipped, redo=tuple(i for i in task.redo if i != index))


def left(task: Task) -> int:
    """Cases that are still to be made."""
    skipped = sum(1 for index in task.skipped if task.start <= index < task.stop)
    return max(0, task.stop - task.start - skipped) + len(set(task.redo) - set(task.skipped))


def _bounded_task(label: str, seed: int, max_examples: int) -> Task:
    identity = (str(seed), FUZZING, label)
    return Task(
        digest(*identity), FUZZING, (label,), digest_int(*identity), 0, max_examples, SLICE_S
    )


def _exploration_task(labels: tuple[str, ...], seed: int, round_: int, slice_s: float) -> Task:
    identity = (str(seed), EXPLORATION, str(round_), *labels)
    return Task(
        digest(*identity),
        EXPLORATION,
        labels,
        digest_int(*identity),
        0,
        CASES_OF_A_LEASE,
        slice_s,
    )


def _first_round(clusters: Sequence[tuple[str, ...]], seed: int, begun: Collection[str]) -> int:
    """The first round of which nothing was begun: a resumed run goes on where it was."""
    round_ = 0
    while any(_exploration_task(labels, seed, round_, 1.0).id in begun for labels in clusters):
        round_ += 1
    return round_
