"""Who is to blame for a death, and what follows from it. Pure: the random source is an argument."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

STRIKES_OF_A_CASE = 2
DEATHS_OF_A_TASK = 3
DEATHS_OF_A_RUN = 5
LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True)
class Ruling:
    """What follows from a death."""

    strikes: int
    """Of the case that acted; 0 when none did."""
    quarantines_case: bool
    quarantines_task: bool
    ends_run: bool
    pause_s: float
    """Before a worker takes the dead one's place."""


class Restarts:
    """Counts deaths. Progress forgives: of a task its own, of the run anybody's."""

    def __init__(self, workers: int, random: Callable[[], float]) -> None:
        # The fork server takes all its workers along when it dies: that is one accident, not `workers` of them.
        self._most = max(DEATHS_OF_A_RUN, 2 * workers + 1)
        self._random = random
        self._strikes: Counter[tuple[str, int]] = Counter()
        self._deaths: Counter[str] = Counter()
        self._fruitless = 0

    def progress(self) -> None:
        """Somebody came further."""
        self._fruitless = 0

    def died(self, task: str | None, index: int | None, *, progressed: bool) -> Ruling:
        """A worker is gone; case `index` of `task` acted (None: nobody knows). `progressed`: since its lease."""
        self._fruitless = 1 if progressed else self._fruitless + 1
        strikes = deaths = 0
        if task is not None:
            self._deaths[task] = deaths = 1 if progressed else self._deaths[task] + 1
            if index is not None:
                self._strikes[task, index] += 1
                strikes = self._strikes[task, index]
        return Ruling(
            strikes,
            quarantines_case=strikes >= STRIKES_OF_A_CASE,
            quarantines_task=deaths >= DEATHS_OF_A_TASK,
            ends_run=self._fruitless >= self._most,
            pause_s=self._random() * pause_bound_s(self._fruitless),
        )

    def left(self, *, progressed: bool) -> Ruling:
        """A worker left by itself to be replaced (memory): no case is to blame, but leaving at once is no way to live."""
        return self.died(None, None, progressed=progressed)


def pause_bound_s(deaths: int) -> float:
    """Upper bound of the pause after so many deaths without progress, in seconds; the first one costs nothing.

    Doubles from 0.1 s. The caller draws uniformly below it, so that workers killed together do not return together.
    """
    if deaths <= 1:
        return 0.0
    return min(LONGEST_PAUSE_S, float(0.1 * 2 ** (deaths - 2)))
