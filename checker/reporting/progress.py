"""What is known while a run goes on: counters that follow the records, nothing that must be exact."""

from collections import Counter

from msgspec import Struct, field

from checker.corpus.records import (
    Finding,
    OperationError,
    Record,
    SchemaOpened,
    TaskProgress,
    WorkerGone,
)

_WINDOW_S = 5.0
"""Rates are of the last seconds, not of the whole run: a stall must show."""


class RunProgress(Struct):
    """Counters of a run that has not ended."""

    started: float
    """Monotonic seconds, like all times here."""
    cases: int = 0
    requests: int = 0
    failed_cases: int = 0
    fingerprints: set[str] = field(default_factory=set)
    errors: int = 0
    last_found: float | None = None
    tasks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Under way: task -> labels."""
    finished: set[str] = field(default_factory=set)
    """Labels whose task is over."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Working seconds of each label."""
    statuses: Counter[int] = field(default_factory=Counter)
    """Status class 0-5 -> count; 0 for no response."""
    incarnations: set[int] = field(default_factory=set)
    """Workers that have the description, and live."""
    _samples: list[tuple[float, int]] = field(default_factory=list)

    def follow(self, incarnation: int, record: Record, now: float) -> bool:
        """Take a record in. True when it is a finding that was not seen before."""
        match record:
            case SchemaOpened():
                # The first thing that a worker writes.
                self.incarnations.add(incarnation)
            case WorkerGone():
                self.incarnations.discard(record.incarnation)
            case TaskProgress():
                self._advance(record, now)
            case OperationError():
                self.errors += 1
            case Finding() if record.withdrawn:
                pass  # Nor does it take back what another worker has confirmed.
            case Finding() if record.same_as:
                self.fingerprints.discard(record.fingerprint)
            case Finding() if record.fingerprint not in self.fingerprints:
                self.fingerprints.add(record.fingerprint)
                self.last_found = now
                return True
            case _:
                pass
        return False

    def rate(self, now: float) -> float:
        """Requests per second, of late."""
        recent = [sample for sample in self._samples if now - sample[0] <= _WINDOW_S]
        span = min(_WINDOW_S, max(now - self.started, 0.1))
        return sum(count for _, count in recent) / span

    @property
    def slowest(self) -> str | None:
        """Label that took most of the workers' time so far."""
        return max(self.seconds, key=self.seconds.__getitem__, default=None)

    def _advance(self, record: TaskProgress, now: float) -> None:
        self.cases += record.cases
        self.requests += record.requests
        self.failed_cases += record.failed_cases
        for _, status, count in (*record.statuses, *record.probes):
            self.statuses[status // 100] += count
        if len(record.labels) == 1:
            label = record.labels[0]
            self.seconds[label] = self.seconds.get(label, 0.0) + sum(record.ledger[:4])
        if record.task:
            self.tasks[record.task] = record.labels
        if record.finished:
            self.finished.update(record.labels)
            del self.tasks[record.task]
        if self._samples and now - self._samples[0][0] > 2 * _WINDOW_S:
            # Once in a window and not for each record: a busy run has hundreds of them in a second.
            self._samples = [s for s in self._samples if now - s[0] <= _WINDOW_S]
        self._samples.append((now, record.requests))
