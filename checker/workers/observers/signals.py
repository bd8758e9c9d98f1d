"""New behaviour of the target: signals, and the cases that showed them, which make up the corpus."""

from collections.abc import Sequence

from msgspec import Struct

from checker.core.response import Response
from checker.corpus.learned import SignalsSeen
from checker.corpus.records import CorpusEntry, Record
from checker.corpus.signals import OUTPUTS, SignalSet
from checker.phases.attempt import Verdict
from checker.workers.recording.task_state import InFlight


class Signals(Struct):
    """Looks for what no earlier response showed."""

    known: SignalSet

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Record]:
        """Return the new signals of a response, and the case as an entry of the corpus."""
        outcome = verdict.outcome
        if not isinstance(outcome, Response):
            return ()
        previous = flight.chain[-1].made.label if flight.chain else None
        ids = self.known.observe(flight.made.case, outcome, verdict.judgement, previous)
        if not ids:
            return ()
        flight.is_notable = True
        label, rounds = flight.made.label, flight.running.rounds
        if rounds is not None and any(name in OUTPUTS for _, name in ids):
            rounds.showed(label)
        numbers = tuple(number for number, _ in ids)
        return (SignalsSeen(label, ids), CorpusEntry(label, flight.steps, numbers, outcome.elapsed))
