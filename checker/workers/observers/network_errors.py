"""Requests without a response: each kind of network error of an operation is reported once."""

from collections.abc import Sequence

from msgspec import Struct

from checker.core.response import FailureKind, NetworkFailure
from checker.corpus.records import Record
from checker.phases.attempt import Verdict
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.task_state import InFlight
from checker.workers.recording.titles import network_error


class NetworkErrors(Struct):
    """Reports network errors that are no failures of a check."""

    recorder: Recorder

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Record]:
        """Return the error of an outcome if it is the first of its kind."""
        outcome, label, recorder = verdict.outcome, flight.made.label, self.recorder
        if not isinstance(outcome, NetworkFailure) or verdict.judgement.failures:
            return ()
        if outcome.cause is not None:
            # A fault of this program, which is counted with others of its task (`faults`).
            flight.is_notable = True
            return ()
        if not recorder.is_new("network", label, outcome.kind.value):
            return ()
        flight.is_notable = True
        # A command without a limit could wait longer than the request did, and be answered.
        is_timed, sent = outcome.kind is FailureKind.TIMEOUT, verdict.request
        command = "" if sent is None else recorder.reproduction(sent, is_timed=is_timed)
        components = recorder.traffic.components.of(verdict.case)
        return (network_error(label, flight.task.lease.phase, outcome, command, components),)
