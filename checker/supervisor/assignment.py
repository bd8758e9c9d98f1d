"""The protocol of a plan, and the fate of tasks whose workers are gone. Pure."""

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec.structs import replace

from checker.core.operation import Label
from checker.workers.messages import EXTRA_INDEX, LeaseReport, Task

NOTHING_DONE = LeaseReport()


class Plan(Protocol):
    """The tasks of a run, and what became of each."""

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
        """The next task for this worker; None when there is none now."""
        ...

    def come_back(
        self,
        task: Task,
        next_index: int,
        *,
        finished: bool,
        spent_s: float,
        report: LeaseReport = NOTHING_DONE,
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
