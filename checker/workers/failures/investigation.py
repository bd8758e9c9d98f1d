"""The investigation of one case: its failures are confirmed, shrunk, and sent again as printed."""

from collections.abc import Iterable

from msgspec.structs import replace

from checker.core.errors import StorageError
from checker.core.request import ANY_CHECK
from checker.corpus.inflight import Stage
from checker.corpus.records import Finding
from checker.workers.answers import Placed, earliest_in
from checker.workers.case_scheduler import CaseScheduler
from checker.workers.context import Activity, WorkerContext
from checker.workers.failures.inquiry import Inquiry
from checker.workers.failures.result import InvestigationResult, shown_by
from checker.workers.failures.slot import InvestigationSlot
from checker.workers.jobs import Job
from checker.workers.messages import FindingsWritten
from checker.workers.observer_table import Observers
from checker.workers.queues import Sender
from checker.workers.recording.investigation_budget import ShrinkBudget
from checker.workers.recording.task_state import InFlight
from checker.workers.recording.unconfirmed import UnconfirmedFailure
from checker.workers.target_health import TargetHealth


class Investigation:
    """Settles the failures of one case, and all failures that are found meanwhile."""

    def __init__(self, slot: InvestigationSlot) -> None:
        self.slot = slot
        self._traffic = slot.context.recorder.traffic
        self._defects = slot.context.recorder.defects
        self._results: list[InvestigationResult] = []

    def settle_next(self) -> Job[Finding]:
        """Return the final version of the most severe failure that waits."""
        waiting, before = self.slot.waiting, self.slot.requests
        suspicion = min(waiting, key=UnconfirmedFailure.urgency)
        waiting.remove(suspicion)
        finding = yield from self._settled(suspicion)
        requests = suspicion.finding.investigation.requests + self.slot.requests - before
        finding = replace(finding, investigation=replace(finding.investigation, requests=requests))
        self._defects.settle(finding)
        return finding

    def _settled(self, suspicion: UnconfirmedFailure) -> Job[Finding]:
        first, failure, label = suspicion.finding, suspicion.failure, suspicion.label
        last = replace(first, investigation=replace(first.investigation, stage="minimised"))
        other = self._defects.same_as(label, failure, last.fingerprint)
        if other is not None:
            return replace(last, same_as=other)
        self.slot.check = suspicion.failure.check or ANY_CHECK
        inquiry = Inquiry.of(self.slot, suspicion)
        wanted = inquiry.wanted
        # Requests for another failure of the case may have shown this one. The request of a check shows only its own failure.
        result = shown_by(self._results if failure.request is None else (), wanted)
        if result is None:
            is_shrunk = self.slot.is_shrunk(suspicion)
            result = yield from (inquiry.as_printed("") if is_shrunk else inquiry.result())
            result.is_anew, result.takes_filled = inquiry.is_anew, inquiry.takes_filled(result.chain)
            self._results.append(result)
        shot = result.chain[-1]
        failure = wanted.again(shot) or failure
        # Compared again, with the failure of the smallest case: its text may be that of another finding.
        other = self._defects.same_as(label, failure, last.fingerprint)
        other = other or self._defects.with_case(label, failure, last.fingerprint, shot.made.case.id)
        # A masked 500 does not distinguish a lock from a defect: on Oscar, the lock caused 69 of 87 masked errors. One cause
        # for all temporary failures made 46 causes of 192 findings, where 174 findings had had 72. Pausing all workers
        # while such an error is sent alone would prove no more than a success under load.
        is_known = failure.cause_if_passing() in self._defects.passing
        is_like_passing = is_known and not inquiry.is_of_contention
        if is_like_passing and not result.passes(wanted) and self._defects.later_looks:
            self._defects.later_looks -= 1
            yield from inquiry.look_later(result)
        # An error that was seen only once cannot be distinguished from a temporary one.
        if failure.passing_cause and (result.passes(wanted) or (is_like_passing and not result.showed(wanted))):
            failure = failure.sharing(failure.passing_cause)
        elif result.showed(wanted) and (header := (yield from inquiry.needed_header(result.chain))):
            # The text of the error does not distinguish it from others, but its cause does.
            failure = failure.sharing(f"{failure.unique_key} {failure.text} for the header {header}")
        cause = failure.cause(shot.made.step.label)
        withdrawn = failure.needs_repetition and not (result.is_confirmed or suspicion.failure.is_repeated)
        judged = replace(
            last,
            message=failure.message,
            cause=cause,
            same_as=other or "",
            investigation=replace(last.investigation, withdrawn=withdrawn),
        )
        further = result.further(wanted)
        return result.described(judged, wanted, self._traffic, further, inquiry.commands(further))


class FailureQueue:
    """Holds failures until they are confirmed, shrunk and reproduced."""

    def __init__(
        self, context: WorkerContext, up: Sender, scheduler: CaseScheduler, health: TargetHealth, observers: Observers
    ) -> None:
        self._context = context
        self._up = up
        self._scheduler = scheduler
        self._health = health
        self._observers = observers
        self.shrink_budget = ShrinkBudget()
        self.waiting: list[tuple[InFlight, UnconfirmedFailure]] = []
        """Failures to investigate. Meanwhile, no new case is started."""
        self.added = 0
        """Number of failures that are not on disk yet."""

    def add(self, flight: InFlight, suspicions: Iterable[UnconfirmedFailure]) -> None:
        """Keep failures, and the slot of their case, until they are investigated.

        A failure replaces a waiting one of the same defect, because it belongs to an earlier case whose response came later.
        """
        for suspicion in suspicions:
            flight.pending += 1
            for waiting in self.waiting:
                if waiting[1].finding.fingerprint == suspicion.finding.fingerprint:
                    self.waiting.remove(waiting)
                    self._release(waiting[0])
                    break
            self.waiting.append((flight, suspicion))
            self.added += 1

    def write(self) -> None:
        """Write new failures to the disk, and tell the supervisor. Raises `StorageError`."""
        if self.added:
            self._context.recorder.write_failures()
            self._up.send(FindingsWritten(self.added))
            self.added = 0

    @property
    def lowest_index(self) -> int | None:
        """Return the lowest index of a waiting case; None if none waits."""
        return min((flight.index for flight, _ in self.waiting), default=None)

    def next_job(self, flying: Iterable[Placed]) -> Job[None] | None:
        """Return the investigation of all failures of one case; None if all cases wait for responses to earlier ones.

        Which case shows a defect must not depend on the order of responses.
        """
        earliest = earliest_in(flying)
        for flight in sorted((waiting[0] for waiting in self.waiting), key=lambda one: one.index):
            if flight.index <= earliest.get(flight.task.lease.id, flight.index):
                return self._settle(flight)
        return None

    def drop_all(self) -> None:
        """Begin no further investigation. The first versions of the findings are on disk."""
        for flight, _ in self.waiting:
            self._release(flight)
        self.waiting.clear()

    def _release(self, flight: InFlight) -> None:
        flight.pending -= 1
        if not flight.pending:
            self._scheduler.release(flight)

    def _settle(self, flight: InFlight) -> Job[None]:
        context = self._context
        together = [suspicion for of, suspicion in self.waiting if of is flight]
        self.waiting = [waiting for waiting in self.waiting if waiting[0] is not flight]
        settled: list[Finding] = []
        if suspicions := [one for one in together if context.recorder.is_open(one)]:
            slot = InvestigationSlot(context, self._health, self._observers, flight, self.shrink_budget)
            slot.begin(suspicions[0])
            slot.waiting += suspicions
            investigation = Investigation(slot)
            try:
                while slot.waiting:
                    settled.append((yield from investigation.settle_next()))
                    if flight.task.is_endless:
                        # `fuzz` does not promise to send the same requests again after a death.
                        self._write(settled, flight)
            except GeneratorExit:
                # The run ends at once. Failures that are not settled keep their first versions.
                pass
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - the first versions are already on disk
                context.recorder.gave_up(suspicions[0].label, flight.task.lease.phase, error)
            context.ledger.enter(Activity.RECORD)
            slot.enter(Stage.RECORD)
            # All results are recorded at once: if the worker dies before this, the whole case is investigated again.
            self._write(settled, flight)
        for _ in together:
            self._release(flight)

    def _write(self, settled: list[Finding], flight: InFlight) -> None:
        """Write the final versions of findings, and clear the list."""
        self._context.recorder.settled(settled)
        for finding in settled:
            if finding.investigation.reproduced:
                again = flight.again
                try:
                    if again is not None and again.fingerprint == finding.fingerprint:
                        # Later runs try the smaller version instead.
                        self._context.saved.forget((again.step,))
                    self._context.saved.save(finding.steps)
                except Exception as error:  # noqa: BLE001 - the finding must still be recorded
                    self._context.recorder.gave_up(finding.label, finding.phase, error)
        self._up.send(FindingsWritten(len(settled)))
        settled.clear()
