"""The reasons why operations that served no request refuse valid ones, for reports."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, field

from checker.core.response import Response
from checker.corpus.records import RefusalCounted
from checker.phases.attempt import Verdict
from checker.phases.case_factory import undescribed_method
from checker.refusals.reading import reason_of
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.task_state import InFlight

_MOST = 256
"""Refusals of one operation that are read."""


class Refusals(Struct):
    """Counts the refusals of valid cases, by operation and text."""

    recorder: Recorder
    _counts: dict[str, Counter[tuple[int, str]]] = field(default_factory=dict)
    _served: set[str] = field(default_factory=set)
    """Operations with a 2xx response."""

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[RefusalCounted]:
        """Return the count of a refusal when it reaches a power of two."""
        label, case, outcome = flight.made.label, flight.made.case, verdict.outcome
        is_valid = case.meta is None or not case.meta.mode.is_negative
        if label in self._served or not isinstance(outcome, Response) or not is_valid or undescribed_method(case):
            return ()
        if 200 <= outcome.status_code < 300:
            self._served.add(label)
        if outcome.status_code < 400:
            return ()
        counts = self._counts.setdefault(label, Counter())
        if counts.total() >= _MOST:
            return ()
        text = reason_of(outcome)
        text = "" if self.recorder.secrets.is_in(text) else text
        counts[outcome.status_code, text] += 1
        count = counts[outcome.status_code, text]
        return () if count & (count - 1) else (RefusalCounted(label, outcome.status_code, text, count),)
