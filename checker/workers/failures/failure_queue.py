"""The failures of one worker, investigated case by case while the other lanes keep flying."""

from collections.abc import Iterable

from checker.core.errors import StorageError
from checker.corpus.inflight import Stage
from checker.corpus.records import Finding
from checker.workers.context import WorkerContext
from checker.workers.failures.investigation import Investigation
from checker.workers.failures.slot import InvestigationSlot
from checker.workers.jobs import Job
from checker.workers.messages import FindingsWritten
from checker.workers.observer_table import Observers
from checker.workers.outages.health import TargetHealth
from checker.workers.queues import Sender
from checker.workers.recording.investigation_budget import ShrinkBudget
from checker.workers.recording.task_state import InFlight
from checker.workers.recording.unconfirmed import UnconfirmedFailure
from checker.workers.scheduling.answers import Placed, earliest_in
from checker.workers.scheduling.case_scheduler import CaseScheduler
from checker.workers.time_accounting import Activity


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
        """Failures to investigate. No new case is started meanwhile."""
        self.added = 0
        """The number of failures that are not on disk yet."""

    def add(self, flight: InFlight, suspicions: Iterable[UnconfirmedFailure]) -> None:
        """Keep failures, and the slot of their case, until they are investigated.

        A failure replaces a waiting one of the same defect: it is of an earlier case, whose response came later.
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
        """The lowest index of a case that waits; None if none does."""
        return min((flight.index for flight, _ in self.waiting), default=None)

    def next_job(self, flying: Iterable[Placed]) -> Job[None] | None:
        """Return the investigation of all failures of one case; None if all cases wait for responses to earlier ones.

        The case that shows a defect must not depend on the order of responses.
        """
        earliest = earliest_in(flying)
        for flight in sorted((waiting[0] for waiting in self.waiting), key=lambda one: one.index):
            if flight.index <= earliest.get(flight.running.task.id, flight.index):
                return self._settle(flight)
        return None

    def drop_all(self) -> None:
        """Investigate nothing more: the first versions of the findings are on disk."""
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
            investigation = Investigation(slot, suspicions)
            try:
                while investigation.waiting:
                    settled.append((yield from investigation.settle_next()))
                    if flight.running.is_endless:
                        # `fuzz` does not promise to send the same requests again after a death.
                        self._write(settled, flight)
            except GeneratorExit:
                # The run ends at once. For failures that are not settled yet, the first versions on disk must do.
                pass
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - the wall: the first versions are on disk
                context.recorder.gave_up(suspicions[0].label, flight.running.task.phase, error)
            context.ledger.enter(Activity.RECORD)
            slot.enter(Stage.RECORD)
            # All at once: if the worker dies before, the whole case is investigated again.
            self._write(settled, flight)
        for _ in together:
            self._release(flight)

    def _write(self, settled: list[Finding], flight: InFlight) -> None:
        """Write the last versions of findings, and clear the list."""
        self._context.recorder.settled(settled)
        for finding in settled:
            if finding.reproduced:
                self._save(finding, flight)
        self._up.send(FindingsWritten(len(settled)))
        settled.clear()

    def _save(self, finding: Finding, flight: InFlight) -> None:
        again = flight.again
        try:
            if again is not None and again.fingerprint == finding.fingerprint:
                # Later runs try the smaller version instead.
                self._context.saved.forget((again.step,))
            self._context.saved.save(finding.steps)
        except Exception as error:  # noqa: BLE001 - the wall: the finding is written down all the same
            self._context.recorder.gave_up(finding.label, finding.phase, error)
