"""The reports of one worker about its tasks: counts since the last report, and finished tasks."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from checker.workers.context import WorkerContext
from checker.workers.queues import Sender
from checker.workers.recording.task_state import LeasedTask, given_back
from checker.workers.time_accounting import Activity


class TaskCounts(Struct):
    """Writes progress down, and gives tasks back."""

    context: WorkerContext
    _met: set[tuple[int | str, ...]] = field(default_factory=set)
    """Statuses and places of operations that are on record."""
    _last: LeasedTask | None = None
    """What was counted last: time that belongs to nothing goes with it."""

    def report(self, tasks: Iterable[LeasedTask]) -> None:
        """Counts since the last report; the ledger goes with the first of them."""
        recorder, ledger = self.context.recorder, self.context.ledger
        for running in tasks:
            if running.requests or running.cases or running.is_over(0.0, leaving=False):
                recorder.progress(running, ledger.take())
                running.counted()
                self._last = running

    def keep_firsts(self, running: LeasedTask) -> None:
        """Put what a task saw for the first time on disk at once: no death may change what a report says of it."""
        if not running.firsts <= self._met:
            self._met |= running.firsts
            self.report((running,))
            self.context.recorder.flush()
        running.firsts.clear()

    def hand_in(self, over: Sequence[LeasedTask], up: Sender) -> None:
        """Tell the supervisor of tasks of which nothing is left, once all of them is on disk."""
        if not over:
            return
        recorder = self.context.recorder
        self.context.ledger.enter(Activity.RECORD)
        self.report(over)
        recorder.keep(self.context.class_checks.news())
        recorder.flush()
        up.send(given_back(over))

    def last_words(self) -> None:
        """The time since the last report."""
        if self._last is not None:
            self.context.recorder.progress(self._last, self.context.ledger.take())
