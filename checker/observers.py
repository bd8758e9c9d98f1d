"""Observers of your own: `register` an `ObserverRow` in a module behind an entry point of `checker.plugins`, or of `hooks`.

Its `make` is called once in each worker and gives an object with a method `saw(flight, verdict)`, which is called for
interactions as often as the row says. The records that it returns, such as a `Note`, are written to the journal of the run.
"""

from checker.corpus.records import Note
from checker.phases.attempt import Verdict
from checker.workers.observer_table import Moment, Observer, ObserverRow, ObserverTools, register
from checker.workers.recording.task_state import InFlight

__all__ = ["InFlight", "Moment", "Note", "Observer", "ObserverRow", "ObserverTools", "Verdict", "register"]
