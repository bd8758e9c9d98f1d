"""The exchanges of the run: each interaction is handed over to be written down, whatever came of it."""

from msgspec import Struct

from checker.checks.judge import CLEAN
from checker.core.send import Purpose
from checker.phases.attempt import Verdict
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.task_state import InFlight
from checker.workers.recording.traffic import Draft

# Python finds a member of an enumeration ten times slower than a name.
_TEST = Purpose.TEST


class TrafficObserver(Struct):
    """Offers interactions to the writer of traffic."""

    recorder: Recorder

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Hand an interaction over. What is notable is kept where the rest is not."""
        recorder, made, outcome = self.recorder, flight.made, verdict.outcome
        is_notable = flight.is_notable or verdict.purpose is not _TEST
        if not is_notable and verdict.judgement is not CLEAN:
            is_notable = recorder.defects.has_news(made.label, verdict.judgement.failures)
        if outcome is not None and outcome.earlier:
            recorder.traffic.on_the_way(made, outcome)
        draft = Draft(recorder.traffic.encoded, made, verdict)
        recorder.traffic.writer.offer(draft, interesting=is_notable)
