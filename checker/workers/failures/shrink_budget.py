"""How long a shrink may take: by the requests that it sends, at the target's pace, so that a busy machine changes nothing."""

from collections import Counter
from math import inf

from msgspec import Struct, field

_SLOW_S = 1.0
_FIRST_S = 2.0
_LATER_S = 0.6
_TIMES = 4.0
_MOST_SLOW = 2
_RARE = 8
"""One slow candidate in more than so many is the load of a moment: it must not decide how small a case becomes."""

_QUICK_S = 0.016
_REQUESTS_OF_QUICK = 500
_FEWEST = 15


class SlowCandidates(Struct):
    """Counts slow candidates of each task. Pure: no clock of its own.

    Sleeping operations fail at once on nonsense and take their time for anything else, so a shrink of such a failure
    would spend its whole budget asleep, and so would that of the next one.
    """

    _slow: Counter[str] = field(default_factory=Counter)
    _all: Counter[str] = field(default_factory=Counter)

    def limit_s(self, task: str, failed_after_s: float) -> float:
        """Seconds to wait for a candidate of a failure that came after so many.

        The first slow one has more: a candidate that is given up for a moment's load changes what is sent after it.
        """
        limit_s = _LATER_S if self._is_sleepy(task) else _FIRST_S
        return max(limit_s, _TIMES * failed_after_s)

    def observe(self, task: str, failed_after_s: float, took_s: float) -> None:
        """One candidate was answered, or given up."""
        limit_s = _LATER_S if self._is_sleepy(task) else _SLOW_S
        self._all[task] += 1
        if took_s >= max(limit_s, _TIMES * failed_after_s):
            self._slow[task] += 1

    def is_needed(self, task: str) -> bool:
        """Whether failures of this task are better left as they are."""
        return self._slow[task] >= _MOST_SLOW and self._is_sleepy(task)

    def _is_sleepy(self, task: str) -> bool:
        """Whether slow candidates are no exception."""
        return self._slow[task] > 0 and self._slow[task] * _RARE >= self._all[task]


class ShrinkPace(Struct):
    """How many requests one shrink may send: 500 if the fastest answer came within 16 ms, half of that within 32, and so on.

    Not seconds: those of a busy machine are others than those of a quiet one, and the seed is to decide what is sent. The
    fastest answer tells what the target needs, whatever else the machine does.
    """

    requests: int = 0
    """That were answered, or given up."""
    _fastest_s: float = inf

    def observe(self, took_s: float) -> None:
        """One request was answered, or given up."""
        self.requests += 1
        self._fastest_s = min(self._fastest_s, took_s)

    @property
    def is_over(self) -> bool:
        """Whether the shrink sent all that it may."""
        return self.requests >= _FEWEST and self.requests >= _allowed(self._fastest_s)


def _allowed(fastest_s: float) -> int:
    allowed, step_s = _REQUESTS_OF_QUICK, _QUICK_S
    while fastest_s > step_s and allowed > _FEWEST:
        allowed, step_s = allowed // 2, 2 * step_s
    return max(_FEWEST, allowed)
