"""Work that dead workers finished after their last message: the supervisor reads it from their slots and records it."""

from collections.abc import Iterable, Iterator

from checker.corpus.fold import RunView
from checker.corpus.records import TaskProgress, requests_alone
from checker.supervisor.assignment import left
from checker.supervisor.state import WorkerSnapshot
from checker.workers.messages import Task


class Unreported:
    """Remembers what was on record of each task when it was leased: what is there beyond that, its worker said itself."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        """Leased task -> its cases on record when it was leased, and those that failed."""

    def lease(self, task: Task, view: RunView) -> None:
        """A worker begins with the task, or goes on with it."""
        known = view.tasks.get(task.id)
        if known is not None:
            self._known[task.id] = known.cases, known.failed_cases

    def come_back(self, task: Task) -> None:
        """A worker gave the task back: it reported everything."""
        self._known.pop(task.id, None)

    def of_dead(
        self, incarnation: int, leases: Iterable[Task], snapshot: WorkerSnapshot, view: RunView
    ) -> Iterator[TaskProgress]:
        """Yield what to write down for a worker that died with these leases."""
        missing = snapshot.sent - view.sent[incarnation]
        for task in leases:
            rest = snapshot.rest_of(task)
            tally = snapshot.tallies.get(task.id, (0, 0, 0))
            record = self._missing(rest, left(task) - left(rest), tally, view)
            if record is not None:
                missing -= record.requests
                yield record
        if missing > 0:
            yield requests_alone(missing)

    def _missing(
        self, rest: Task, done: int, tally: tuple[int, int, int], view: RunView
    ) -> TaskProgress | None:
        """None if everything is on record.

        `rest` is what is left of a lease, `done` how many of its indices are not; the tally holds failed cases, the
        first 2xx status (0: none) and indices that gave no case. Of what the cases were answered no more is known than
        that status.
        """
        failed, succeeded, unmade = tally
        cases = done - unmade
        known = view.tasks.get(rest.id)
        if known is not None:
            before, failed_before = self._known.get(rest.id, (0, 0))
            cases -= known.cases - before
            failed -= known.failed_cases - failed_before
        if cases <= 0 or rest.again:
            return None
        label = rest.labels[0]
        is_told = any(200 <= status < 300 for status in view.statuses.get(label, ()))
        statuses = ((label, succeeded, 1),) if succeeded and len(rest.labels) == 1 else ()
        return TaskProgress(
            task=rest.id,
            phase=rest.phase,
            labels=rest.labels,
            next_index=rest.start,
            finished=False,
            cases=cases,
            requests=cases,
            failed_cases=max(0, failed),
            statuses=() if is_told else statuses,
            ledger=(0.0, 0.0, 0.0, 0.0, 0.0),
        )
