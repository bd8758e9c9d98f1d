"""How long the stages of a `run` with a time limit may take, and each turn in them. Pure: seconds are arguments."""

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
    """What stages may have of the time that is left: what one leaves over is for all that follow."""

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

    def last_slice_s(self, elapsed_s: float, waiting: int) -> float:
        """Seconds of the next turn of those that come one after another at the end."""
        left_s = 0.0 if self._window is None else self._window.ends_s - elapsed_s
        return min(SLICE_S, max(SHORTEST_SLICE_S, left_s / waiting))

    def slice_s(self, elapsed_s: float, first_turns: int, waiting: int) -> float:
        """Seconds of the next turn; `first_turns` of those that wait had none in this stage yet."""
        if self._stage_ends_s is None:
            return SLICE_S
        left_s = (self._stage_ends_s - elapsed_s) * self._workers
        fair_s = FIRST_TURNS * left_s / first_turns if first_turns else left_s / max(1, waiting)
        return min(SLICE_S, max(SHORTEST_SLICE_S, fair_s))
