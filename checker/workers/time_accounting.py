"""The wall time of a worker by activity."""

from collections.abc import Callable
from enum import IntEnum


class Activity(IntEnum):
    """The activity of a worker; the order is that of the ledger in records."""

    MAKE = 0
    WAIT = 1
    JUDGE = 2
    RECORD = 3
    IDLE = 4


class TimeAccounting:
    """Seconds by part. One thread does one thing at a time, so the parts sum to the wall by construction.

    What passed between `since` and now, while the process was started, was idle; opening the document is making.
    """

    __slots__ = ("_clock", "_mark", "_part", "_seconds")

    def __init__(self, clock: Callable[[], float], since: float | None = None) -> None:
        self._clock = clock
        now = clock()
        self._mark = now if since is None else since
        self._part = Activity.IDLE
        self._seconds = [0.0] * len(Activity)
        self.enter(Activity.MAKE)

    def enter(self, part: Activity) -> float:
        """Close the current part and begin another; gives the time now."""
        now = self._clock()
        self._seconds[self._part] += now - self._mark
        self._mark = now
        self._part = part
        return now

    def take(self) -> tuple[float, float, float, float, float]:
        """Seconds since the last call: make, wait, judge, record, idle."""
        self.enter(self._part)
        make, wait, judge, record, idle = self._seconds
        self._seconds = [0.0] * len(Activity)
        return make, wait, judge, record, idle
