"""Who gets what next in `run`. Pure: seconds are those since the run began, and arguments."""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from checker.core.digests import digest, digest_int
from checker.core.operation import Label
from checker.supervisor.assignment import NOTHING_DONE
from checker.workers.messages import LeaseReport, OperationCard, Task

FUZZING = "fuzzing"

SLICE_S = 8.0
MOST_SLOW = 4
"""Slow tasks that one worker holds beside its others."""


@dataclass(slots=True)
class _Piece:
    task: Task
    is_producer: bool


class BoundedPlan:
    """One task for each operation, until it has its cases (`run`).

    What turns out to be slow comes last: waiting for it costs nothing but the time of the target. Only producers go on
    beside what is fast, since others need what they make.
    """

    def __init__(
        self,
        cards: Sequence[OperationCard],
        *,
        seed: int,
        max_examples: int,
        producers: Collection[str] = (),
    ) -> None:
        self._waiting = deque(
            _Piece(_bounded_task(card.label, seed, max_examples), card.label in producers)
            for card in cards
        )
        self._slow: deque[_Piece] = deque()
        self._leased: dict[str, _Piece] = {}
        self.tasks = tuple(piece.task for piece in self._waiting)
        """As they were in the beginning."""

    @property
    def waiting(self) -> int:
        """Tasks that wait for a worker, without those that are known to be slow."""
        return len(self._waiting)

    @property
    def is_over(self) -> bool:
        """Whether every task is finished or dropped."""
        return not self._waiting and not self._slow and not self._leased

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
        """The first task in the queue."""
        return self._lease(self._waiting.popleft()) if self._waiting else None

    def lease_slow(self, elapsed_s: float, held: int) -> Task | None:
        """A task whose requests wait beside others: a producer, or any when nothing fast waits for a worker."""
        if held >= MOST_SLOW:
            return None
        for piece in self._slow:
            if piece.is_producer or not self._waiting:
                self._slow.remove(piece)
                return self._lease(piece)
        return None

    def come_back(
        self,
        task: Task,
        next_index: int,
        *,
        finished: bool,
        spent_s: float,
        report: LeaseReport = NOTHING_DONE,
    ) -> None:
        """Unfinished: to the back of the queue, of that of slow ones if it waited long."""
        piece = self._leased.pop(task.id, None)
        if piece is None or finished:
            return
        # The indices that were to be made again are made before all others.
        redo = task.redo if next_index <= task.start else ()
        is_slow = report.long > 0 or report.timeouts > 0
        piece.task = replace(
            piece.task, start=next_index, redo=redo, is_slow=is_slow, timeouts=report.timeouts
        )
        self._queue(piece).append(piece)

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """To the front: its case in flight decides soon whether it is poison."""
        piece = self._leased.pop(task.id, None)
        if piece is not None:
            piece.task = task
            self._queue(piece).appendleft(piece)

    def drop(self, task: str) -> None:
        """Forget it, wherever it is."""
        self._leased.pop(task, None)
        self._waiting = deque(piece for piece in self._waiting if piece.task.id != task)
        self._slow = deque(piece for piece in self._slow if piece.task.id != task)

    def _lease(self, piece: _Piece) -> Task:
        self._leased[piece.task.id] = piece
        return piece.task

    def _queue(self, piece: _Piece) -> deque[_Piece]:
        return self._slow if piece.task.is_slow else self._waiting


def _bounded_task(label: str, seed: int, max_examples: int) -> Task:
    identity = (str(seed), FUZZING, label)
    return Task(
        digest(*identity), FUZZING, (Label(label),), digest_int(*identity), 0, max_examples, SLICE_S
    )
