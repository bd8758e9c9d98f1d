"""The back-pressure of reports on a run with a time limit: everything that is sent can still be written."""

from collections.abc import Callable

from checker.core.reports import WritingProgress
from checker.supervisor.crew import Crew
from checker.supervisor.endings import Ending
from checker.workers.messages import AwaitReports

MOST_BEHIND_S = 1.25
"""Writing that may be left while something new is sent: some is, as long as it may be preceded by what is not there yet."""
FIRST_GUESS_S = 0.00025
"""What an interaction takes before the first one is written."""

Progress = Callable[[], WritingProgress | None]
"""How far the reports of a run are; None where nobody writes, or there is no end of its time."""


class ReportBacklog:
    """The backlog of records that are not written yet. It has no clock: the writer measures its time."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._recorded: dict[int, int] = {}
        """By incarnation."""
        self._lately: dict[int, int] = {}
        """What came between two words of a worker: there may be as much since its last one."""
        self.behind_s = 0.0
        """Seconds that it takes to write what is not written."""
        self.waits = False
        """Whether nothing is to be sent until more of it is."""

    def record(self, incarnation: int, count: int) -> None:
        """A worker has handed over so many interactions."""
        self._lately[incarnation] = count - self._recorded.get(incarnation, 0)
        self._recorded[incarnation] = count

    def leave(self, incarnation: int) -> None:
        """A worker said its last word, and before it what it recorded in all: nothing more comes of it."""
        self._lately.pop(incarnation, None)

    def keep(self, crew: Crew, ending: Ending) -> None:
        """Have workers wait or go on, and the run end so much earlier that what it sent can be written."""
        # Again as long as it holds: workers come and go.
        if self.look() or self.waits:
            crew.tell_all(AwaitReports(self.waits))
        ending.leave_for_writing(self.behind_s)

    def look(self) -> bool:
        """Take note of how far the reports are; whether that changes what workers are to do."""
        progress, waited = self._progress(), self.waits
        if progress is None:
            # What cannot be written holds nobody up.
            self.behind_s, self.waits = 0.0, False
        else:
            sent = sum(self._recorded.values()) + sum(self._lately.values())
            self.behind_s = max(0, sent - progress.written) * (progress.each_s or FIRST_GUESS_S)
            self.waits = self.behind_s > MOST_BEHIND_S and not progress.is_idle
        return self.waits is not waited
