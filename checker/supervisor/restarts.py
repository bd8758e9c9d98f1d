"""The blame for the death of a worker, and its consequences. Pure: the random source is an argument."""

from collections import Counter
from collections.abc import Callable

from msgspec import Struct

GUILT_OF_A_CASE = 4
"""Enough for quarantine."""
CERTAIN = 2
DOUBTFUL = 1
"""Guilt of a case at the death of its worker, and at one that anybody may have caused: an operator, or a lack of memory."""
CASES_OF_A_TASK = 3
"""Quarantined one after another without a finished case in between. Not deaths: with several lanes a worker dies while it
makes the next case, before those in flight, innocent all, could be finished."""
DEATHS_OF_A_RUN = 16
HANG = 2
OPENING = 4
"""Deaths that a hang counts for, because it costs so much time, and one before any worker of the run could open."""
LONGEST_PAUSE_S = 30.0


class RestartDecision(Struct, frozen=True):
    """The consequences of a death."""

    strikes: int
    """Deaths in which the case acted; 0 when none did."""
    quarantines_case: bool
    quarantines_task: bool
    ends_run: bool
    pause_s: float
    """Before a worker takes the dead one's place."""


class Restarts:
    """The count of deaths. Progress of a task forgives its deaths, progress of any task those of the run."""

    def __init__(self, workers: int, random: Callable[[], float]) -> None:
        # The fork server takes all its workers along when it dies: that is one accident, not `workers` of them.
        self._most = max(DEATHS_OF_A_RUN, 2 * workers + 1)
        self._random = random
        self._strikes: Counter[tuple[str, int]] = Counter()
        self._guilt: Counter[tuple[str, int]] = Counter()
        self._lost_cases: Counter[str] = Counter()
        self._fruitless = 0
        self._pauses = 0

    def progress(self) -> None:
        """Record progress."""
        self._fruitless = self._pauses = 0

    def died(
        self,
        case: tuple[str, int | None] | None,
        *,
        progressed: bool,
        weight: int = 1,
        guilt: int = CERTAIN,
    ) -> RestartDecision:
        """A worker is gone; (task, index) of the case that acted, if one did. `progressed`: it had finished a case.

        The index is None for a case that is never made again, so that it can be struck once at most.
        Also for one that left by itself to be replaced: no case is to blame, but leaving at once is no way to live.
        """
        if progressed:
            self.progress()
        self._fruitless += weight
        self._pauses += 1
        strikes = lost = 0
        is_guilty = False
        if case is not None:
            task, index = case
            if progressed:
                self._lost_cases[task] = 0
            if index is not None:
                self._strikes[task, index] += 1
                self._guilt[task, index] += guilt
                strikes = self._strikes[task, index]
                is_guilty = self._guilt[task, index] >= GUILT_OF_A_CASE
            if is_guilty:
                self._lost_cases[task] += 1
                # Its cause is gone: no need to wait.
                self._pauses = 0
            lost = self._lost_cases[task]
        return RestartDecision(
            strikes,
            quarantines_case=is_guilty,
            quarantines_task=lost >= CASES_OF_A_TASK,
            ends_run=self._fruitless >= self._most,
            pause_s=self._random() * pause_bound_s(self._pauses),
        )


def pause_bound_s(deaths: int) -> float:
    """Upper bound of the pause after so many deaths without progress, in seconds; the first one costs nothing.

    Doubles from 0.1 s. The caller draws uniformly below it, so that workers killed together do not return together.
    """
    if deaths <= 1:
        return 0.0
    return min(LONGEST_PAUSE_S, float(0.1 * 2 ** (deaths - 2)))
