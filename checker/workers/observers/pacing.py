"""The number of requests in flight: more while the worker mostly waits, fewer when the target suffers."""

from msgspec import Struct, field

from checker.config.settings import RunSettings
from checker.core.response import Response
from checker.phases.attempt import Verdict
from checker.workers.recording.task_state import InFlight

_WINDOW = 64
_SUFFERING = frozenset({429, 503})


class Concurrency(Struct):
    """Additive increase, multiplicative decrease, judged every 64 answers."""

    most: int
    lanes: int = 1
    fixed: bool = False
    """The user named a number: keep it."""
    _answers: int = 0
    _troubles: int = 0
    _latencies: list[float] = field(default_factory=list)
    _calm_p95_s: float | None = None

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Take note of a response, or of the lack of one."""
        outcome = verdict.outcome
        assert outcome is not None
        status = outcome.status_code if isinstance(outcome, Response) else None
        self.observe(status, outcome.elapsed)

    def observe(self, status: int | None, elapsed_s: float) -> None:
        """One answer; `status` is None when none arrived. Not to be asked when the number is fixed."""
        self._answers += 1
        self._latencies.append(elapsed_s)
        if status is None or status in _SUFFERING:
            self._troubles += 1
        if self._answers >= _WINDOW:
            p95 = sorted(self._latencies)[int(len(self._latencies) * 0.95)]
            if self._troubles * 10 > self._answers:
                self.lanes = max(1, self.lanes // 2)
            elif self._calm_p95_s is not None and p95 > 8 * self._calm_p95_s and p95 > 0.05:
                self.lanes = max(1, self.lanes - 1)
            else:
                self.lanes = min(self.most, self.lanes * 2)
                self._calm_p95_s = p95 if self._calm_p95_s is None else max(self._calm_p95_s, p95 / 2)
            self._answers = self._troubles = 0
            self._latencies.clear()


class SlowLanes(Struct):
    """The number of requests to slow operations that are in flight beside all others.

    A target that does one thing after another times out for what it is sent together: then they go alone.
    """

    most: int
    lanes: int = 0

    def __post_init__(self) -> None:
        self.lanes = self.most

    def observe(self, *, timed_out: bool) -> None:
        """One request that was waited for is over."""
        if timed_out:
            self.lanes = max(1, self.lanes - 1)
        else:
            self.lanes = min(self.most, self.lanes + 1)


MOST_LANES = 8
"""Requests in flight at one target by all workers together, unless the user named a number."""


class Lanes(Struct):
    """The number of requests that one worker has in flight."""

    pacing: Concurrency
    slow: SlowLanes
    count: int
    """One more than can be in flight: to look into a failure while slow requests are waited for."""
    slots: int
    """In-flight slots: a lane may carry the next case while the one before is judged."""

    @classmethod
    def of(cls, settings: RunSettings, *, is_watched: bool) -> "Lanes":
        """Return the number of the settings, or a share of what one target may get. `is_watched`: whether hooks see each call."""
        given, share = settings.processes.lanes, max(1, MOST_LANES // settings.processes.workers)
        pacing = Concurrency(most=share) if given is None else Concurrency(most=given, lanes=given, fixed=True)
        # Users with one lane may rely on their hooks seeing one call after the other.
        slow = SlowLanes(0 if is_watched else share)
        count = pacing.most + slow.most + bool(slow.most)
        return cls(pacing, slow, count, 2 * count + 2)
