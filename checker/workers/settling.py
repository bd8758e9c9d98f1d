"""Suspicions of one worker, settled one after another while the other lanes keep flying."""

from collections import deque
from collections.abc import Callable, Iterable

from checker.core.failures import Failure
from checker.core.response import Outcome
from checker.core.send import Send
from checker.corpus.inflight import Stage
from checker.workers.flight import Flight
from checker.workers.haste import Haste
from checker.workers.investigation import Shot, Suspicion
from checker.workers.ledger import Part
from checker.workers.messages import Found
from checker.workers.opening import Workplace
from checker.workers.queues import Sender


class Settling:
    """Holds what failed once until it is confirmed, shrunk and reproduced."""

    def __init__(self, place: Workplace, up: Sender, breathe: Callable[[], bool]) -> None:
        self._place = place
        self._up = up
        self._breathe = breathe
        self._is_hurried = False
        self._haste = Haste()
        self._waiting: deque[tuple[Flight, Suspicion]] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, flight: Flight, suspicions: Iterable[Suspicion]) -> None:
        """Keep suspicions, and their flight's slot, until they are settled."""
        for suspicion in suspicions:
            flight.pending += 1
            self._waiting.append((flight, suspicion))
        self._up.send(Found(flight.pending))

    def settle_next(self, lane: int, *, hasten: bool) -> Flight | None:
        """Settle the oldest on an idle lane; its flight if nothing is left to settle of it.

        With `hasten` the first version, which is on disk, must do.
        """
        flight, suspicion = self._waiting.popleft()
        if not hasten:
            self._settle(flight, suspicion, lane)
        flight.pending -= 1
        return None if flight.pending else flight

    def _settle(self, flight: Flight, suspicion: Suspicion, lane: int) -> None:
        place, task = self._place, flight.running.task.id
        current = Stage.CONFIRM
        first = suspicion.chain[-1].verdict.outcome
        failed_after_s = first.elapsed if first is not None else 0.0

        def enter(stage: Stage) -> None:
            nonlocal current
            current = stage
            place.slots.enter(flight.slot, stage, task, flight.index)
            place.slots.acting(flight.slot)

        def send(wanted: Send) -> Outcome:
            # Deadlines are for one request, not for all of them.
            enter(current)
            if current is not Stage.SHRINK:
                return self._send(flight, lane, wanted)
            limit_s = self._haste.limit_s(failed_after_s)
            outcome = self._send(flight, lane, wanted, limit_s)
            self._haste.observe(task, failed_after_s, outcome.elapsed)
            return outcome

        settled = place.investigator(
            send=send,
            stage=enter,
            new_failure=lambda shot, failure: self._suspect(flight, suspicion, shot, failure),
            is_hurried=lambda: self._is_hurried or self._haste.is_needed(task),
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
        self, flight: Flight, lane: int, wanted: Send, patience_s: float | None = None
    ) -> Outcome:
        ledger = self._place.ledger
        ledger.enter(Part.WAIT)
        flight.running.requests += 1
        outcome = self._place.http.send(
            lane, wanted.request, fresh=wanted.fresh, patience_s=patience_s
        )
        self._is_hurried = self._breathe()
        ledger.enter(Part.JUDGE)
        return outcome
