"""How long candidates of a shrink may take: one that is much slower than the failure is not the failure."""

from collections import Counter
from dataclasses import dataclass, field

_SLOW_S = 0.5
_SHORTEST_S = 0.6
_TIMES = 4.0
_MOST_SLOW = 2


@dataclass(slots=True)
class Haste:
    """Counts slow candidates of each task. Pure: no clock of its own.

    Sleeping operations fail at once on nonsense and take their time for anything else, so a shrink of such a failure
    would spend its whole budget asleep, and so would that of the next one.
    """

    _slow: Counter[str] = field(default_factory=Counter)

    def limit_s(self, failed_after_s: float) -> float:
        """Seconds to wait for a candidate of a failure that came after so many."""
        return max(_SHORTEST_S, _TIMES * failed_after_s)

    def observe(self, task: str, failed_after_s: float, took_s: float) -> None:
        """One candidate was answered, or given up."""
        if took_s > max(_SLOW_S, _TIMES * failed_after_s):
            self._slow[task] += 1

    def is_needed(self, task: str) -> bool:
        """Whether failures of this task are better left as they are."""
        return self._slow[task] >= _MOST_SLOW
