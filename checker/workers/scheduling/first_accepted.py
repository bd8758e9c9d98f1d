"""Chooses the case of each operation for which a check sends its probes (`Check.probes`): the first accepted one.

"First" goes by the index of the case in its task and not by the time of the response, so that the same seed probes the same
cases with any number of lanes. A response that may be the first waits until all cases with lower indices are judged. The
obvious alternative, a fixed set of indices, misses operations that accept few cases.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from checker.core.response import Outcome, Response
from checker.workers.context import WorkerContext
from checker.workers.recording.leased import InFlight, LeasedTask


class Placed(Protocol):
    """An object with a place among the cases of a task."""

    @property
    def running(self) -> LeasedTask: ...
    @property
    def index(self) -> int: ...


def earliest_in(flying: Iterable[Placed]) -> dict[str, int]:
    """Return the lowest index of each task."""
    earliest: dict[str, int] = {}
    for one in flying:
        task = one.running.task.id
        earliest[task] = min(one.index, earliest.get(task, one.index))
    return earliest


Landed = tuple[InFlight, Outcome]
"""A case and its response, which is not judged yet."""


class FirstAccepted:
    """Holds back the responses of one worker that may be the first accepted ones: the lowest of each operation of a task."""

    def __init__(self, context: WorkerContext) -> None:
        self.held: list[Landed] = []
        self._judge = context.tools.judge
        self._probed = context.knowledge.probed

    def holds(self, flight: InFlight, outcome: Outcome) -> bool:
        """Whether a response is held back; if not, it can be judged now."""
        if not isinstance(outcome, Response) or outcome.status_code // 100 != 2:
            return False
        running, label, wanted = flight.running, flight.made.label, flight.wanted
        if wanted is None or wanted.is_of_check or not flight.is_counted:
            return False
        task = running.task
        if self._probed.is_done(flight):
            return False
        flight.is_looked_at = True
        is_accepted = self._judge.probes(flight.made.case, outcome, flight.before)
        if is_accepted is None:
            self._probed.begin(task.id, label)
        if not is_accepted:
            return False
        if running.is_endless:
            # `fuzz` does not promise the same requests, and there may always be cases with lower indices in flight.
            self._choose(flight, outcome)
            return False
        if any(_is_rival(one, flight) and one.index < flight.index for one, _ in self.held):
            return False
        self.held.append((flight, outcome))
        return True

    def due(self, flying: Callable[[], Iterable[Placed]]) -> list[Landed]:
        """Return the responses that can be judged now, and mark the requests to probe. `flying`: all cases that are not judged."""
        due: list[Landed] = []
        if not self.held:
            return due
        earliest = earliest_in(flying())
        flights = [flight for flight, _ in self.held]
        for flight, response in self.held:
            if any(_is_rival(one, flight) and one.index < flight.index for one in flights):
                due.append((flight, response))
            elif flight.index <= earliest[flight.running.task.id]:
                self._choose(flight, response)
                due.append((flight, response))
        self.held = [one for one in self.held if one not in due]
        return due

    def _choose(self, flight: InFlight, response: Outcome) -> None:
        assert isinstance(response, Response)
        assert response.request is not None
        response.request.is_probed = True
        self._probed.begin(flight.running.task.id, flight.made.label)


def _is_rival(one: InFlight, other: InFlight) -> bool:
    return one.running is other.running and one.made.label == other.made.label
