"""Who gets what next in `run`. Pure: seconds are those since the run began, and arguments."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from checker.core.digests import digest, digest_int
from checker.core.operation import Label
from checker.supervisor.assignment import NO_WAITS, Cut
from checker.workers.messages import LONG_WAIT_S, OperationCard, Task, Waits

FUZZING = "fuzzing"

SLICE_S = 8.0
FAST_ANSWER_S = 0.1
REQUESTS_OF_AN_ACCIDENT = 100
"""An operation is fast in spite of one long wait, and of one more in so many."""
LARGEST_SHARE = 0.09
"""Of the time so far: with what its last request takes beyond its slice, an operation stays below a tenth of the run."""
MANY_OPERATIONS = 20
"""From here on a slow operation takes time from many others, and is held to its share from the first request on."""
LEAST_PATIENCE_S = 1.1 * LONG_WAIT_S
"""Whoever is given up has waited long."""
SHORTEST_SLICE_S = 0.2
"""Beside what a last request may take."""
FIRST_LOOK_S = SHORTEST_SLICE_S + LEAST_PATIENCE_S
SECOND_LOOK_S = FIRST_LOOK_S + LEAST_PATIENCE_S
"""Both together: what was given up once may have been an accident."""


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
            _Piece(_bounded_task(card.label, seed, _count_of(card, max_examples)), 0)
            for card in cards
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

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
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
        # Tasks that come back together share the time, but for what one of them waited for.
        piece.spent_s += max(spent_s, waits.long_s)
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
        is_strict = self._is_strict
        if piece.is_new or (piece.is_fast and not (is_strict and piece.waits.long)):
            return True
        least_s = LEAST_PATIENCE_S if is_strict else 0.0
        return self._allowed_s(piece, elapsed_s) > least_s

    def _allowed_s(self, piece: _Piece, elapsed_s: float) -> float:
        floor_s = SLICE_S
        if self._is_strict:
            floor_s = SECOND_LOOK_S if piece.is_fast and piece.waits.long else FIRST_LOOK_S
        return max(floor_s, self._share * elapsed_s) - piece.spent_s

    def _sliced(self, piece: _Piece, elapsed_s: float) -> Task:
        """The task with the seconds of its slice, and of one request."""
        allowed_s = self._allowed_s(piece, elapsed_s)
        if not self._is_strict:
            slice_s = SLICE_S if piece.is_fast else min(SLICE_S, max(1.0, allowed_s))
            return replace(piece.task, slice_s=slice_s)
        is_fast = piece.is_fast and not piece.waits.long
        if is_fast:
            slice_s = patience_s = max(LEAST_PATIENCE_S, allowed_s)
        else:
            # Nearly all of it for one answer: a request that is given up says nothing, and the target is still at it.
            slice_s = SHORTEST_SLICE_S
            patience_s = max(LEAST_PATIENCE_S, allowed_s - slice_s)
        return replace(
            piece.task,
            slice_s=min(SLICE_S, slice_s),
            patience_s=patience_s,
            makes_ahead=is_fast,
        )


def _count_of(card: OperationCard, usual: int) -> int:
    return usual if card.max_examples is None else card.max_examples


def _had_to_wait(piece: _Piece) -> bool:
    return piece.waits.long > 0


def _bounded_task(label: str, seed: int, max_examples: int) -> Task:
    identity = (str(seed), FUZZING, label)
    return Task(
        digest(*identity), FUZZING, (Label(label),), digest_int(*identity), 0, max_examples, SLICE_S
    )
