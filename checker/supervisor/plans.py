"""The protocol of a plan, the rest of a task whose worker died, and the time shares of stages and turns. Pure: seconds are arguments."""

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from checker.core.operation import Label
from checker.workers.messages import EXTRA_INDEX, LeaseReport, Task

SLICE_S = 8.0
"""A turn where time does not press: then others may have a look at the operation, too."""
SHORTEST_SLICE_S = 0.005
"""Of a turn, and of a stage."""
FIRST_TURNS = 0.5
"""Share of a stage for the first turns of its operations: what was reckoned too short is made up for by the rest."""


class TimeWindow(Struct, frozen=True):
    """The time that a run with a limit has for its work, in seconds since it began."""

    begins_s: float
    ends_s: float
    """When nothing new begins any more."""

    @property
    def length_s(self) -> float:
        """Seconds from its begin to its end."""
        return max(0.0, self.ends_s - self.begins_s)


class TimeShares:
    """The shares of stages in the time that is left: unused time goes to all stages that follow."""

    def __init__(self, window: TimeWindow | None = None, workers: int = 1) -> None:
        """Without `window` there is no limit."""
        self._window = window
        self._workers = workers
        self._stage_ends_s: float | None = None

    @property
    def is_limited(self) -> bool:
        """Whether time has a limit."""
        return self._window is not None

    def begin_next(self, elapsed_s: float, share: float) -> None:
        """One stage more begins, with this share of what is left."""
        if self._window is None:
            return
        left_s = self._window.ends_s - elapsed_s
        self._stage_ends_s = elapsed_s + max(SHORTEST_SLICE_S, left_s * share)

    def is_over(self, elapsed_s: float) -> bool:
        """Whether others should have had the time that this stage still takes."""
        return self._stage_ends_s is not None and elapsed_s >= self._stage_ends_s

    def is_rest(self, elapsed_s: float, share: float) -> bool:
        """Whether no more of the whole time is left than this share."""
        return self._window is not None and (self._window.ends_s - elapsed_s <= share * self._window.length_s)

    def slice_s(self, elapsed_s: float, pieces: int, *, is_first: bool = False, is_last: bool = False) -> float:
        """Seconds of the next turn; so many `pieces` are at work or wait in this stage.

        `is_first`: some of them had none yet; also the last of those has no more than the others, for it may wait in the queue
        of a worker. `is_last`: of what has all the time that is left.
        """
        ends_s = self._window.ends_s if is_last and self._window else self._stage_ends_s
        if ends_s is None:
            return SLICE_S
        fair_s = (ends_s - elapsed_s) * self._workers / max(1, pieces)
        return min(SLICE_S, max(SHORTEST_SLICE_S, FIRST_TURNS * fair_s if is_first else fair_s))


NOTHING_DONE = LeaseReport()


class Plan(Protocol):
    """The tasks of a run, and what became of each."""

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
        """The next task for this worker; None when there is none now."""
        ...

    def come_back(
        self, task: Task, next_index: int, *, finished: bool, spent_s: float, report: LeaseReport = NOTHING_DONE
    ) -> None:
        """A leased task is over, or its slice is, after so long; `report` tells of this lease."""
        ...

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """The worker of a leased task is gone after so long; `task` is what is left of it."""
        ...

    def drop(self, task: str) -> None:
        """A task will never be leased again."""
        ...

    def defer(self, label: Label) -> None:
        """Leave an operation to the end: it may stop the service."""
        ...

    def release_deferred(self) -> bool:
        """Lease what was held until all else is done and looked at again; whether there is any."""
        ...

    def lease_slow(self, elapsed_s: float, held: int) -> Task | None:
        """A slow task for a worker that holds so many of them beside its others; None when there is none for it."""
        ...

    @property
    def tasks(self) -> Sequence[Task]:
        """All that is to be done, as far as there is an end of it."""
        ...

    @property
    def waiting(self) -> int:
        """Tasks that wait for a worker."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether there will never be anything to lease again."""
        ...


def remainder(task: Task, reached: int, in_flight: Collection[int], redone: int = 0) -> Task:
    """Return the rest of a task whose worker is gone: nothing is lost, and only the cases in flight are made twice.

    `reached` is one past the highest index that was made, as far as known; indices that were `in_flight` are made again.
    Of those that were to be made again, which come first and in order, `redone` were begun.
    """
    known = [index for index in in_flight if index < EXTRA_INDEX]
    start = max(task.start, reached, *(index + 1 for index in known), 0)
    redo = [index for index in task.redo if index not in task.skipped]
    again = {*known, *redo[redone:]} - set(task.skipped)
    return replace(task, start=start, redo=tuple(sorted(again)))


def without(task: Task, index: int) -> Task:
    """The task without a case that is in quarantine."""
    skipped = tuple(sorted({*task.skipped, index}))
    return replace(task, skipped=skipped, redo=tuple(i for i in task.redo if i != index))


def left(task: Task) -> int:
    """Cases that are still to be made."""
    skipped = sum(1 for index in task.skipped if task.start <= index < task.stop)
    return max(0, task.stop - task.start - skipped) + len(set(task.redo) - set(task.skipped))
