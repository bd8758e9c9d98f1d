"""Slow operations: noticed while a worker waits for them, put aside, and given up if they never respond."""

from collections.abc import Mapping
from typing import Protocol

from checker.config.operation_settings import OperationResolver
from checker.core.errors import Unresponsive
from checker.core.operation import Label
from checker.core.phases import CaseSource
from checker.core.response import FailureKind, NetworkFailure, Outcome
from checker.core.send import Transport
from checker.phases.attempt import Verdict
from checker.workers.messages import LONG_WAIT_S, MOST_TIMEOUTS, TasksEnded
from checker.workers.observers.pacing import SlowLanes
from checker.workers.queues import Sender
from checker.workers.recording.task_state import InFlight, LeasedTask


class _Scheduler(Protocol):
    def defer(self, running: LeasedTask) -> None: ...
    def give_up(self, running: LeasedTask, label: Label, error: BaseException) -> None: ...


class Slowness:
    """Decides what is slow, and tells the supervisor."""

    def __init__(
        self, http: Transport, lanes: SlowLanes, operations: OperationResolver, scheduler: _Scheduler, up: Sender
    ) -> None:
        self._http = http
        self._lanes = lanes
        self._operations = operations
        self._scheduler = scheduler
        self._up = up

    def look(self, flights: Mapping[int, InFlight]) -> int:
        """Return how many flights became slow since the last call, by lane: they take no shared lane from now on."""
        found = 0
        for lane, flight in flights.items():
            if not flight.is_slow and self._http.waited_s(lane) >= LONG_WAIT_S:
                flight.is_slow = True
                found += 1
                rounds = flight.task.rounds
                if rounds is not None:
                    rounds.wait(flight.made.label)
                self._defer(flight.task)
        return found

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Count a response for its task; look closer at a slow one, and at any if its operation timed out before."""
        outcome, running = verdict.outcome, flight.task
        assert outcome is not None
        running.waited(outcome.elapsed)
        is_late = outcome.elapsed >= LONG_WAIT_S or isinstance(outcome, NetworkFailure)
        if flight.is_slow or is_late or running.timeouts:
            self._waited(flight, outcome)

    def _waited(self, flight: InFlight, outcome: Outcome) -> None:
        running, label = flight.task, flight.made.label
        timed_out = isinstance(outcome, NetworkFailure) and outcome.kind is FailureKind.TIMEOUT
        if timed_out or outcome.elapsed >= LONG_WAIT_S:
            self._defer(running)
        if flight.is_slow:
            self._lanes.observe(timed_out=timed_out)
            if running.rounds is not None:
                running.rounds.landed(label)
        if not timed_out:
            running.timeouts.pop(label, None)
        elif running.timed_out(label, flight.index):
            self._scheduler.give_up(running, label, self._unresponsive(flight))

    def _defer(self, running: LeasedTask) -> None:
        """Let others come first, and ask for them."""
        if not running.is_endless and not running.is_slow and not running.lease.again:
            self._scheduler.defer(running)
            self._up.send(TasksEnded((), (), (running.lease.id,)))

    def _unresponsive(self, flight: InFlight) -> Unresponsive:
        running, operation = flight.task, flight.made.case.operation
        timeout_s = self._operations.of(operation).http.request_timeout_s
        found = f"{MOST_TIMEOUTS} requests in a row had no complete response within {timeout_s:g} s"
        if running.is_endless:
            return Unresponsive(f"{found}: the operation is paused until its next turn")
        is_listed = running.row.source is CaseSource.LISTED
        tried = f"{running.next_index} {'' if is_listed else f'of {running.stop} '}cases"
        return Unresponsive(
            f"{found}, so {tried} were tried: give them more "
            "time (`--request-timeout`), or leave the operation out (`--exclude-name`)"
        )
