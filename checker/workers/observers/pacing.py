"""The pace of one worker: the number of requests in flight, and the slow operations. These are deferred, or given up if they never respond."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct, field

from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.errors import Unresponsive
from checker.core.operation import Label
from checker.core.phases import CaseSource
from checker.core.response import FailureKind, NetworkFailure, Response
from checker.core.send import Transport
from checker.phases.attempt import Verdict
from checker.workers.messages import LONG_WAIT_S, MOST_TIMEOUTS, TasksEnded
from checker.workers.queues import Sender
from checker.workers.recording.task_state import InFlight, LeasedTask

_WINDOW = 64
_SUFFERING = frozenset({429, 503})


class Concurrency(Struct):
    """Additive increase, multiplicative decrease, decided after every 64 responses."""

    most: int
    lanes: int = 1
    fixed: bool = False  # The user set the number, so it is kept.
    _answers: int = 0
    _troubles: int = 0
    _latencies: list[float] = field(default_factory=list)
    _calm_p95_s: float | None = None

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Note a response, or a missing response."""
        outcome = verdict.outcome
        assert outcome is not None
        status = outcome.status_code if isinstance(outcome, Response) else None
        self.observe(status, outcome.elapsed)

    def observe(self, status: int | None, elapsed_s: float) -> None:
        """Record one response; `status` is None if none arrived. Not called if the number of lanes is fixed."""
        self._answers += 1
        self._latencies.append(elapsed_s)
        if status is None or status in _SUFFERING:
            self._troubles += 1
        if self._answers >= _WINDOW:
            p95 = sorted(self._latencies)[int(len(self._latencies) * 0.95)]
            if self._troubles * 10 > self._answers:
                self.lanes = max(1, self.lanes // 2)
            elif self._calm_p95_s is not None and p95 > 8 * self._calm_p95_s and p95 > 0.05:
                self.lanes = max(1, self.lanes - 1)
            else:
                self.lanes = min(self.most, self.lanes * 2)
                self._calm_p95_s = p95 if self._calm_p95_s is None else max(self._calm_p95_s, p95 / 2)
            self._answers = self._troubles = 0
            self._latencies.clear()


class SlowLanes(Struct):
    """The number of requests to slow operations that may be in flight beside all others.

    If the target handles one request at a time, simultaneous requests time out. Then slow requests are sent one at a time.
    """

    most: int
    lanes: int = 0

    def __post_init__(self) -> None:
        self.lanes = self.most

    def observe(self, *, timed_out: bool) -> None:
        """Record the end of one request to a slow operation."""
        if timed_out:
            self.lanes = max(1, self.lanes - 1)
        else:
            self.lanes = min(self.most, self.lanes + 1)


MOST_LANES = 8  # Requests that all workers together have in flight at one target, unless the user set a number.


class Lanes(Struct):
    """The number of requests that one worker has in flight."""

    pacing: Concurrency
    slow: SlowLanes
    count: int  # One more than can be in flight, so that a failure can be investigated while slow requests wait.
    slots: int  # In-flight slots: a lane may carry the next case while the previous one is judged.

    @classmethod
    def of(cls, settings: RunSettings, *, is_watched: bool) -> "Lanes":
        """Return the configured number of lanes, or this worker's share of all lanes to the target. `is_watched`: whether hooks see each call."""
        given, share = settings.processes.lanes, max(1, MOST_LANES // settings.processes.workers)
        pacing = Concurrency(most=share) if given is None else Concurrency(most=given, lanes=given, fixed=True)
        # With one lane, hooks may rely on seeing one call after the other.
        slow = SlowLanes(0 if is_watched else share)
        count = pacing.most + slow.most + bool(slow.most)
        return cls(pacing, slow, count, 2 * count + 2)


class _Scheduler(Protocol):
    def defer(self, running: LeasedTask) -> None: ...
    def give_up(self, running: LeasedTask, label: Label, error: BaseException) -> None: ...


class Slowness:
    """Decides which operations are slow, and reports them to the supervisor."""

    def __init__(
        self, http: Transport, lanes: SlowLanes, operations: OperationResolver, scheduler: _Scheduler, up: Sender
    ) -> None:
        self._http = http
        self._lanes = lanes
        self._operations = operations
        self._scheduler = scheduler
        self._up = up

    def look(self, flights: Mapping[int, InFlight]) -> int:
        """Return the number of flights that have become slow since the last call. Slow requests no longer take a shared lane."""
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
        """Count a response for its task. Slow responses, and all responses of an operation that timed out before, are examined."""
        outcome, running = verdict.outcome, flight.task
        assert outcome is not None
        running.waited(outcome.elapsed)
        is_late = outcome.elapsed >= LONG_WAIT_S or isinstance(outcome, NetworkFailure)
        if flight.is_slow or is_late or running.timeouts:
            label = flight.made.label
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
        """Let other tasks come first, and ask the supervisor for them."""
        if not running.is_endless and not running.is_slow and not running.lease.again:
            self._scheduler.defer(running)
            self._up.send(TasksEnded((), (), (running.lease.id,)))

    def _unresponsive(self, flight: InFlight) -> Unresponsive:
        running, operation = flight.task, flight.made.case.operation
        timeout_s = self._operations.of(operation).http.timeout_s
        found = f"{MOST_TIMEOUTS} requests in a row had no complete response within {timeout_s:g} s"
        if running.is_endless:
            return Unresponsive(f"{found}: the operation is paused until its next turn")
        is_listed = running.row.source is CaseSource.LISTED
        tried = f"{running.next_index} {'' if is_listed else f'of {running.stop} '}cases"
        return Unresponsive(
            f"{found}, so only {tried} were sent: give them more "
            "time (`--request-timeout`), or leave the operation out (`--exclude-name`)"
        )
