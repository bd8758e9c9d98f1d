"""Counts of cases by status, and by what of the description they showed."""

from checker.core.case import Case
from checker.core.meta import GenerationMode
from checker.core.operation import Label
from checker.core.response import Response
from checker.corpus.inflight import InflightWriter
from checker.phases.attempt import Verdict
from checker.workers.recording.coverage import Showings
from checker.workers.recording.investigation_budget import InvestigationBudget
from checker.workers.recording.task_state import InFlight, LeasedTask

# Python finds a member of an enumeration ten times slower than a name.
_NEGATIVE = GenerationMode.NEGATIVE


class CaseCounts:
    """Counts each case once, when nothing of it is in flight any more."""

    def __init__(self, slots: InflightWriter, budget: InvestigationBudget) -> None:
        self._slots = slots
        self._budget = budget
        self._showings: dict[Label, Showings] = {}

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Count a case, and the steps before it if it was the last one of a sequence."""
        running = flight.task
        if not flight.is_counted:
            return
        if running.is_chained:
            self._count_steps(flight, running)
        if flight.status < 0:
            # A step that was never sent.
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
            running.tally(self._slots)
        if running.lease.ends_at_failure and not running.lease.known.issuperset(flight.grave):
            running.end_at_failure()
            self._slots.end(running.lease.id, running.next_index)

    def _count_steps(self, flight: InFlight, running: LeasedTask) -> None:
        for shot in flight.chain:
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
                running.tally(self._slots)

    def _note_shown(self, running: LeasedTask, case: Case, status: int, content_type: str | None) -> None:
        label = case.operation.label
        showings = self._showings.get(label)
        if showings is None:
            showings = self._showings[label] = Showings.of(case.operation)
        running.firsts.update(running.shown.note(case, showings, status, content_type))
