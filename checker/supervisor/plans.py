"""The protocol of plans, the rest of a dead worker's task, and the time shares of stages and turns. Pure: seconds are arguments."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from checker.core.meta import Step
from checker.core.operation import Label
from checker.corpus.records import CorpusEntry
from checker.workers.messages import EXTRA_INDEX, LeaseReport, OperationCard, Task

SLICE_S = 8.0
"""Seconds of a turn in a run without a time limit. A longer task returns to the queue, so that it does not occupy a worker for ever."""
SHORTEST_SLICE_S = 0.005  # Shortest turn, and shortest stage.
FIRST_TURNS = 0.5
"""Share of a stage for the first turns of its operations. The rest extends turns that were too short."""


class TimeWindow(Struct, frozen=True):
    """The working time of a run with a time limit, in seconds since its beginning."""

    begins_s: float
    ends_s: float  # From then on nothing new begins.

    @property
    def length_s(self) -> float:
        """Return the seconds from the beginning to the end."""
        return max(0.0, self.ends_s - self.begins_s)


class TimeShares:
    """The shares of the stages in the remaining time. Unused time goes to all later stages."""

    def __init__(self, window: TimeWindow | None = None, workers: int = 1) -> None:
        """`window` is None without a time limit."""
        self._window = window
        self._workers = workers
        self._stage_ends_s: float | None = None

    @property
    def is_limited(self) -> bool:
        return self._window is not None

    def begin_next(self, elapsed_s: float, share: float) -> None:
        """Begin a stage with this share of the time that is left."""
        if self._window is None:
            return
        left_s = self._window.ends_s - elapsed_s
        self._stage_ends_s = elapsed_s + max(SHORTEST_SLICE_S, left_s * share)

    def is_over(self, elapsed_s: float) -> bool:
        return self._stage_ends_s is not None and elapsed_s >= self._stage_ends_s

    def is_rest(self, elapsed_s: float, share: float) -> bool:
        """Whether at most this share of the whole time remains."""
        return self._window is not None and (self._window.ends_s - elapsed_s <= share * self._window.length_s)

    def slice_s(self, elapsed_s: float, pieces: int, *, is_first: bool = False, is_last: bool = False) -> float:
        """Return the seconds of the next turn if `pieces` tasks are leased or wait in this stage.

        `is_first`: some of them had no turn yet. `is_last`: a deferred task gets the turn, and may use all the remaining time.
        """
        ends_s = self._window.ends_s if is_last and self._window else self._stage_ends_s
        if ends_s is None:
            return SLICE_S
        # Recomputed for each turn, so that later turns get the time that a short turn left.
        fair_s = (ends_s - elapsed_s) * self._workers / max(1, pieces)
        return min(SLICE_S, max(SHORTEST_SLICE_S, FIRST_TURNS * fair_s if is_first else fair_s))


NOTHING_DONE = LeaseReport()


class Plan(Protocol):
    """The tasks of a run and their states. By default no task is deferred, and none is slow."""

    tasks: Sequence[Task] = ()
    """All tasks; empty for a plan without an end. Tasks that the time limit prevents are reported as untried."""
    # With shares of a short time limit, turns last milliseconds, and requesting each lease took longer than the turn.
    most_leases: int = 16  # Most tasks that one worker holds.

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
        """Return the next task for this worker; None if there is none now."""
        ...

    def come_back(
        self, task: Task, next_index: int, *, finished: bool, spent_s: float, report: LeaseReport = NOTHING_DONE
    ) -> None:
        """Take back a leased task when it is finished or its slice is over. `report` is about this lease."""
        ...

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """Take back a leased task whose worker died; `task` is the rest of the task."""
        ...

    def drop(self, task: str) -> None:
        """Never lease a task again."""
        ...

    def defer(self, label: Label) -> None:
        """Defer an operation to the end, because it may stop the service."""
        ...

    def release_deferred(self) -> bool:
        """Allow the lease of deferred tasks, once all other tasks are finished and shrunk. Return whether there are any."""
        return False

    def lease_slow(self, elapsed_s: float, held: int) -> Task | None:
        """Return a slow task for a worker that already holds `held` slow tasks; None if no slow task is free."""
        return None

    @property
    def waiting(self) -> int:
        """Return the number of tasks that wait for a worker."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing will be leased any more."""
        ...


def sendable(entries: Iterable[CorpusEntry], cards: Sequence[OperationCard]) -> Iterator[tuple[Step, ...]]:
    """Yield the steps of those sequences of earlier runs that a run of these operations may send again, in the given order.

    A sequence is left out if it uses a value from outside, which a fresh target does not have, or if a case after the first
    may end the access of the run.
    """
    known = {card.label for card in cards}
    ending = {card.label for card in cards if card.is_ending}
    for entry in entries:
        labels = [step.label for step in entry.steps]
        is_whole = all(
            one.step >= 0 or one.producer in labels[:number]
            for number, step in enumerate(entry.steps)
            for one in step.bindings
        )
        # The first case decides which task sends the sequence, and tasks of operations that end the access are
        # deferred. A later case of this kind would be sent too early.
        if labels and is_whole and known.issuperset(labels) and ending.isdisjoint(labels[1:]):
            yield entry.steps


def remainder(task: Task, reached: int, in_flight: Collection[int], redone: int = 0) -> Task:
    """Return the rest of a dead worker's task: no case is lost, and only the cases in flight are made twice.

    `reached` is one more than the highest index that was made. The indices `in_flight` are made again. `redone` counts the
    indices of `task.redo` that were begun; they come first and in order.
    """
    # The index of a follow-up case is not stable: after a restart it may belong to another case.
    known = [index for index in in_flight if index < EXTRA_INDEX]
    start = max(task.start, reached, *(index + 1 for index in known), 0)
    redo = [index for index in task.redo if index not in task.skipped]
    # A repeated case that is in flight counts as begun. Only `known` contains it.
    again = {*known, *redo[redone:]} - set(task.skipped)
    return replace(task, start=start, redo=tuple(sorted(again)))


def without(task: Task, index: int) -> Task:
    """Return the task without a quarantined case."""
    skipped = tuple(sorted({*task.skipped, index}))
    return replace(task, skipped=skipped, redo=tuple(i for i in task.redo if i != index))


def left(task: Task) -> int:
    """Return the number of cases that are still to be made."""
    skipped = sum(1 for index in task.skipped if task.start <= index < task.stop)
    return max(0, task.stop - task.start - skipped) + len(set(task.redo) - set(task.skipped))
