"""Faults of this program, and checks of users that raised: reported, and counted against the operation of the case."""

from typing import Final, Protocol

from msgspec import Struct

from checker.core.response import NetworkFailure
from checker.phases.attempt import Verdict
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.task_state import InFlight

MOST_FAULTS: Final = 3
"""Errors of one operation in one task that are reported. As many faults of this program end its tests."""


class _Scheduler(Protocol):
    def record_error(self, flight: InFlight, error: Exception) -> None: ...


class Faults(Struct):
    """Reports what raised while a case was sent or judged."""

    recorder: Recorder
    scheduler: _Scheduler

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Report the errors of one case: the first few of each operation, which is tested on after errors of checks."""
        outcome = verdict.outcome
        if isinstance(outcome, NetworkFailure) and outcome.cause is not None:
            self.scheduler.record_error(flight, outcome.cause)
        for _, error in verdict.judgement.errors:
            running, label = flight.task, flight.made.label
            running.raised[label] += 1
            if running.raised[label] <= MOST_FAULTS:
                self.recorder.gave_up(label, running.lease.phase, error)
