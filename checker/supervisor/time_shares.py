"""The time shares of the stages of a `run` with a time limit, and of each turn in them. Pure: seconds are arguments."""

from msgspec import Struct

SLICE_S = 8.0
"""A turn where time does not press: then others may have a look at the operation, too."""
SHORTEST_SLICE_S = 0.005
"""Of a turn, and of a stage."""
FIRST_TURNS = 0.5
"""Share of a stage for the first turns of its operations: what was reckoned too short is made up for by the rest."""


class TimeWindow(Struct, frozen=True):
    """The time that a run with a limit has for its work, in seconds since it began."""

    begins_s: float
    ends_s: float
    """When nothing new begins any more."""

    @property
    def length_s(self) -> float:
        """Seconds from its begin to its end."""
        return max(0.0, self.ends_s - self.begins_s)


class TimeShares:
    """The shares of stages in the time that is left: unused time goes to all stages that follow."""

    def __init__(self, window: TimeWindow | None = None, workers: int = 1) -> None:
        """Without `window` there is no limit."""
        self._window = window
        self._workers = workers
        self._stage_ends_s: float | None = None

    @property
    def is_limited(self) -> bool:
        """Whether time has a limit."""
        return self._window is not None

    def begin_next(self, elapsed_s: float, share: float) -> None:
        """One stage more begins, with this share of what is left."""
        if self._window is None:
            return
        left_s = self._window.ends_s - elapsed_s
        self._stage_ends_s = elapsed_s + max(SHORTEST_SLICE_S, left_s * share)

    def is_over(self, elapsed_s: float) -> bool:
        """Whether others should have had the time that this stage still takes."""
        return self._stage_ends_s is not None and elapsed_s >= self._stage_ends_s

    def is_rest(self, elapsed_s: float, share: float) -> bool:
        """Whether no more of the whole time is left than this share."""
        return self._window is not None and (
            self._window.ends_s - elapsed_s <= share * self._window.length_s
        )

    def slice_s(
        self, elapsed_s: float, pieces: int, *, is_first: bool = False, is_last: bool = False
    ) -> float:
        """Seconds of the next turn; so many `pieces` are at work or wait in this stage.

        `is_first`: some of them had none yet; also the last of those has no more than the others, for it may wait in the queue
        of a worker. `is_last`: of what has all the time that is left.
        """
        ends_s = self._window.ends_s if is_last and self._window else self._stage_ends_s
        if ends_s is None:
            return SLICE_S
        fair_s = (ends_s - elapsed_s) * self._workers / max(1, pieces)
        return min(SLICE_S, max(SHORTEST_SLICE_S, FIRST_TURNS * fair_s if is_first else fair_s))
