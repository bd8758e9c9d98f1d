"""Values of responses that later requests may use: by layers in `run`, at once in `fuzz`."""

from collections.abc import Sequence

from msgspec import Struct

from checker.core.response import Response
from checker.corpus.records import Record
from checker.phases.attempt import Verdict
from checker.values.pool import ValuePool
from checker.workers.observers.knowledge import Knowledge
from checker.workers.recording.task_state import InFlight


class ValuesObserver(Struct):
    """Adds the values of responses to the pool, and removes those of deleted resources."""

    values: ValuePool
    is_layered: bool

    @classmethod
    def of(cls, knowledge: Knowledge) -> "ValuesObserver | None":
        """Return an observer for the pool of a worker, None if it has none."""
        return None if knowledge.values is None else cls(knowledge.values, knowledge.is_layered)

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Record]:
        """Return the values of a response that other workers may use."""
        outcome = verdict.outcome
        if not isinstance(outcome, Response):
            return ()
        # Layers share values of cases that any worker can make again. Sequences depend on their own steps.
        if self.is_layered and (not flight.is_counted or flight.task.is_chained):
            return ()
        return self.values.observe(flight.made.case, outcome, flight.task.lease.phase, flight.index)
