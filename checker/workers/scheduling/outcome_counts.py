"""What came of cases, counted for their tasks: by status, by what of the description they showed."""

from checker.core.case import Case
from checker.core.meta import GenerationMode
from checker.core.operation import Label
from checker.core.response import Response
from checker.workers.context import WorkerContext
from checker.workers.recording.leased import InFlight, LeasedTask
from checker.workers.recording.tried import Showings
from checker.workers.recording.unconfirmed import JudgedCase
from checker.workers.scheduling.task_counts import TaskCounts

# Python finds a member of an enumeration ten times slower than a name.
_NEGATIVE = GenerationMode.NEGATIVE


class CaseOutcomes:
    """Counts each case once, when nothing of it is in flight any more."""

    def __init__(self, context: WorkerContext, counts: TaskCounts) -> None:
        self._slots = context.slots
        self._budget = context.investigation_budget
        self._recorder = context.recorder
        self._counts = counts
        self._met: set[tuple[int | str, ...]] = set()
        """Statuses and places of operations that are on record."""
        self._showings: dict[Label, Showings] = {}

    def count_chain(self, running: LeasedTask, chain: tuple[JudgedCase, ...]) -> None:
        """Count the steps of a sequence that is over, all but the last one."""
        for shot in chain:
            status = shot.said_status
            self._budget.earned += 1
            if shot.made.case.is_of_other_method:
                status = running.count_probe(shot.made.label, status)
            else:
                running.count(shot.made.label, status)
                outcome = shot.verdict.outcome
                content_type = outcome.content_type if isinstance(outcome, Response) else None
                self._note_shown(running, shot.made.case, status, content_type)
            if running.is_news(status, has_failed=bool(shot.verdict.judgement.failures)):
                self.tally(running)

    def count(self, flight: InFlight, running: LeasedTask) -> None:
        """Count it when it is over: whoever dies before has it made, and counted, again."""
        if not flight.is_counted:
            return
        self._budget.earned += 1
        case, label, status = flight.made.case, flight.made.label, flight.status
        if case.is_of_other_method:
            status = running.count_probe(label, status)
        else:
            meta = case.meta
            is_wrong = meta is not None and meta.mode is _NEGATIVE
            running.count(label, status, is_wrong=is_wrong)
            if meta is not None and (is_wrong or meta.phase.data):
                running.note_tried(label, meta, status)
            self._note_shown(running, case, status, flight.content_type)
        if running.is_news(status, has_failed=flight.has_failed):
            self.tally(running)
        if flight.is_wrong_itself and running.task.ends_at_failure:
            running.end_at_failure()
            self._slots.end(running.task.id, running.next_index)

    def tally(self, running: LeasedTask) -> None:
        """Put down in its slot what is counted of a task: it outlives this worker."""
        self._slots.tally(
            running.task.id, running.failed_in_lease, running.succeeded, running.unmade
        )

    def keep_firsts(self, running: LeasedTask) -> None:
        """Have what was never seen before on disk at once: no death may change what a report says of it."""
        if not running.firsts <= self._met:
            self._met |= running.firsts
            self._counts.report((running,))
            self._recorder.flush()
        running.firsts.clear()

    def _note_shown(
        self, running: LeasedTask, case: Case, status: int, content_type: str | None
    ) -> None:
        label = case.operation.label
        showings = self._showings.get(label)
        if showings is None:
            showings = self._showings[label] = Showings.of(case.operation)
        running.note_shown(case, showings, status, content_type)
