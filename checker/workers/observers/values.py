"""Values of responses that later requests may use: by layers in `run`, at once in `fuzz`."""

from collections.abc import Sequence

from msgspec import Struct

from checker.core.response import Response
from checker.corpus.records import Record
from checker.phases.attempt import Verdict
from checker.values.layers import LayeredValues
from checker.values.pool import LiveValues
from checker.workers.recording.task_state import InFlight


class LayeredObserver(Struct):
    """Writes down what later layers of `run` may use."""

    values: LayeredValues

    @classmethod
    def of(cls, values: LayeredValues | None) -> "LayeredObserver | None":
        """Return an observer for the pool of `run`, None for another command."""
        return None if values is None else cls(values)

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Record]:
        """Return the values of a response to a case that other workers can make, too; sequences depend on their own steps."""
        outcome = verdict.outcome
        if not isinstance(outcome, Response):
            return ()
        if not flight.is_counted or flight.running.is_chained:
            return ()
        phase = flight.running.task.phase
        return self.values.observe(flight.made.case, outcome, phase, flight.index)


class LiveObserver(Struct):
    """Adds values to the pool of `fuzz`, and removes those of deleted resources."""

    values: LiveValues

    @classmethod
    def of(cls, values: LiveValues | None) -> "LiveObserver | None":
        """Return an observer for the pool of `fuzz`, None for another command."""
        return None if values is None else cls(values)

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Record]:
        """Return the values of a response that the journal does not have."""
        outcome = verdict.outcome
        if not isinstance(outcome, Response):
            return ()
        return self.values.observe(flight.made.case, outcome)
