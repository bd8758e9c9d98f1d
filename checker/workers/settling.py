"""Suspicions of one worker, settled one after another while the other lanes keep flying."""

from collections.abc import Callable, Iterable
from math import inf

from checker.core.errors import StorageError
from checker.core.failures import Failure
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.response import Outcome
from checker.corpus.inflight import Stage
from checker.workers.flight import Flight
from checker.workers.haste import Haste, Pace
from checker.workers.investigation import Shot, Suspicion
from checker.workers.ledger import Part
from checker.workers.messages import Found
from checker.workers.opening import Workplace
from checker.workers.queues import Sender


class Settling:
    """Holds what failed once until it is confirmed, shrunk and reproduced."""

    def __init__(
        self,
        place: Workplace,
        up: Sender,
        breathe: Callable[[], bool],
        release: Callable[[Flight], None],
    ) -> None:
        self._place = place
        self._up = up
        self._breathe = breathe
        self._release = release
        self._is_hurried = False
        self._haste = Haste()
        self.waiting: list[tuple[Flight, Suspicion]] = []
        """What is to be settled. Nothing new flies meanwhile."""

    def add(self, flight: Flight, suspicions: Iterable[Suspicion]) -> None:
        """Keep suspicions, and their flight's slot, until they are settled.

        One of a defect that waits already takes its place: it is of an earlier case, whose answer came later.
        """
        for suspicion in suspicions:
            flight.pending += 1
            for waiting in self.waiting:
                if waiting[1].finding.fingerprint == suspicion.finding.fingerprint:
                    self.waiting.remove(waiting)
                    self._forgo(waiting[0])
                    break
            self.waiting.append((flight, suspicion))
        self._up.send(Found(flight.pending))

    def settle_next(self, lane: int, flying: Iterable[Flight], *, hasten: bool) -> bool:
        """Settle one suspicion on an idle lane; False when all wait for answers to earlier cases.

        Which case shows a defect must not depend on whose answer came first. With `hasten` the first version, which is on
        disk, must do.
        """
        earliest: dict[str, int] = {}
        for flight in flying:
            task = flight.running.task.id
            earliest[task] = min(flight.index, earliest.get(task, flight.index))
        for waiting in sorted(self.waiting, key=_index):
            flight, suspicion = waiting
            if hasten or flight.index <= earliest.get(flight.running.task.id, flight.index):
                self.waiting.remove(waiting)
                if not hasten:
                    self._walled(flight, suspicion, lane)
                self._forgo(flight)
                return True
        return False

    def _forgo(self, flight: Flight) -> None:
        flight.pending -= 1
        if not flight.pending:
            self._release(flight)

    def _walled(self, flight: Flight, suspicion: Suspicion, lane: int) -> None:
        try:
            self._settle(flight, suspicion, lane)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - the wall: the first version of the finding is on disk
            label = Label(suspicion.finding.label)
            self._place.recorder.gave_up(label, flight.running.task.phase, error)

    def _settle(self, flight: Flight, suspicion: Suspicion, lane: int) -> None:
        place, task = self._place, flight.running.task.id
        current = Stage.CONFIRM
        first = suspicion.chain[-1].verdict.outcome
        failed_after_s = first.elapsed if first is not None else 0.0
        patience_s = flight.running.task.patience_s or inf
        pace = Pace()

        def enter(stage: Stage) -> None:
            nonlocal current
            current = stage
            place.slots.enter(flight.slot, stage, task, flight.index)

        def send(wanted: WireRequest) -> Outcome:
            # Deadlines are for one request, not for all of them.
            enter(current)
            if current is not Stage.SHRINK:
                return self._send(flight, lane, wanted)
            limit_s = self._haste.limit_s(task, failed_after_s, patience_s)
            outcome = self._send(flight, lane, wanted, limit_s)
            self._haste.observe(task, failed_after_s, outcome.elapsed, patience_s)
            pace.observe(outcome.elapsed)
            return outcome

        settled = place.investigator(
            send=send,
            stage=enter,
            new_failure=lambda shot, failure: self._suspect(flight, suspicion, shot, failure),
            is_hurried=lambda: (
                self._is_hurried
                or pace.is_over
                or self._haste.is_needed(task)
                or flight.running.has_waited
            ),
        ).settle(suspicion)
        place.ledger.enter(Part.RECORD)
        enter(Stage.RECORD)
        place.recorder.settled(settled)
        if settled.reproduced and len(settled.steps) == 1:
            place.saved.save(settled.steps[0])
        self._up.send(Found(1))

    def _suspect(self, flight: Flight, parent: Suspicion, shot: Shot, failure: Failure) -> None:
        """Another failure that turned up on the way: nothing is lost."""
        found = self._place.recorder.suspect(flight, (*parent.chain[:-1], shot), failure)
        if found is not None:
            self.add(flight, (found,))

    def _send(
        self, flight: Flight, lane: int, wanted: WireRequest, patience_s: float | None = None
    ) -> Outcome:
        ledger = self._place.ledger
        ledger.enter(Part.WAIT)
        flight.running.requests += 1
        outcome = self._place.http.send(lane, wanted, patience_s=patience_s)
        flight.running.waited(outcome.elapsed)
        self._is_hurried = self._breathe()
        ledger.enter(Part.JUDGE)
        return outcome


def _index(waiting: tuple[Flight, Suspicion]) -> int:
    return waiting[0].index
