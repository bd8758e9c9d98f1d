"""The first responses of a run: when all of them are refusals, one sentence says what is wrong with the settings."""

from collections.abc import Sequence

from msgspec import Struct

from checker.core.response import Response
from checker.corpus.records import Note
from checker.health import KIND, FirstAnswers
from checker.phases.attempt import Verdict
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.task_state import InFlight


class FirstAnswersObserver(Struct):
    """Counts the statuses of the first responses."""

    statuses: FirstAnswers
    recorder: Recorder
    is_saturated: bool = False

    @classmethod
    def of(cls, first: FirstAnswers | None, recorder: Recorder) -> "FirstAnswersObserver | None":
        """Return that of one worker; None if another worker looks."""
        return None if first is None else cls(first, recorder)

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Note]:
        """Count a response; note the sentence once there are enough."""
        outcome = verdict.outcome
        if isinstance(outcome, Response) and self.statuses.note(outcome.status_code):
            self.is_saturated = True
            if self.statuses.sentence:
                self.recorder.note(Note(KIND, "", "", self.statuses.sentence))
                # The console shows it while the run goes on.
                self.recorder.flush()
        return ()
