"""The traffic of a run by time, read while workers write it."""

import heapq
import time
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path

from msgspec import Struct, field

from checker.corpus.layout import RunLayout
from checker.corpus.records import Interaction, Note
from checker.corpus.traffic import TrafficReader

LATENESS_S = 3.0
"""So long after it was recorded every interaction can be read: workers whose loops turn hand over five times a second."""
HANDOVER_S = 0.7
"""A worker of which something can be read has handed over what it recorded so long before that."""

_Place = tuple[float, str, int]
"""(time, case, number): sorted by time, then case; the number tells two apart that are equal in both."""


class _Tail(Struct):
    """One segment, as far as it was read."""

    incarnation: int
    reader: TrafficReader
    stream: Iterator[Interaction] = field(default_factory=lambda: iter(()))
    reached: float = -inf
    """Time of the last interaction that was read."""

    def next(self) -> Interaction | None:
        """The next interaction; None when there is none now."""
        found = next(self.stream, None)
        if found is None:
            self.stream = self.reader.stream()
            found = next(self.stream, None)
        return found


class OrderedTraffic:
    """The interactions of a run, by time and case.

    What one worker recorded comes in its order. Of different workers it may only come out of order when one of them was
    held up for longer than `LATENESS_S` before it handed over what it had: then that stands where it came. What all
    workers are known to be beyond is not held back for so long: what is held back when the run ends is written when
    somebody waits for it.
    """

    def __init__(
        self,
        layout: RunLayout,
        first: int,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`first`: the lowest incarnation of the run. `now` is the clock of the records."""
        self._layout = layout
        self._first = first
        self._now = now
        self._tails: dict[Path, _Tail] = {}
        self._held: list[tuple[_Place, Interaction]] = []
        """A heap: what was read, and may still be preceded by what was not."""
        self._count = 0

    def ready(
        self, is_over: bool, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Interaction]:
        """What comes next, as far as that is known; everything when the run `is_over`. Ends early when told to `stop`.

        What was read until then and not told is counted by `count_rest`.
        """
        # What workers record meanwhile is for the next time: nobody could ever catch up with them.
        until = inf if is_over else self._now()
        complete_until = until - LATENESS_S
        behind = self._discovered()
        while behind and not stop():
            tail = min(behind, key=_reached)
            interaction = tail.next()
            if interaction is None:
                behind.remove(tail)
            else:
                tail.reached = interaction.at
                self._hold(interaction)
                if tail.reached > until:
                    behind.remove(tail)
            yield from self._before(min(complete_until, *map(_reached, behind), inf), stop)
        yield from self._before(max(complete_until, self._all_reached() - HANDOVER_S), stop)

    def count_rest(self, stop: Callable[[], bool]) -> tuple[int, bool]:
        """How many interactions were not told, and whether that is all of them: counting ends when told to `stop`."""
        count = len(self._held)
        for tail in self._discovered():
            while tail.next() is not None:
                count += 1
                if stop():
                    return count, False
        return count, True

    def notes(self) -> list[Note]:
        """One for each file that is damaged."""
        return [note for tail in self._tails.values() for note in tail.reader.notes()]

    def close(self) -> None:
        """Close all files."""
        for tail in self._tails.values():
            tail.reader.close()

    def _discovered(self) -> list[_Tail]:
        for incarnation, path in self._layout.traffic_paths():
            if incarnation >= self._first and path not in self._tails:
                self._tails[path] = _Tail(incarnation, TrafficReader(path))
        return list(self._tails.values())

    def _hold(self, interaction: Interaction) -> None:
        self._count += 1
        place = (interaction.at, interaction.case, self._count)
        heapq.heappush(self._held, (place, interaction))

    def _before(self, at: float, stop: Callable[[], bool]) -> Iterator[Interaction]:
        while self._held and self._held[0][0][0] < at and not stop():
            yield heapq.heappop(self._held)[1]

    def _all_reached(self) -> float:
        """What every worker was read up to: its segments of both kinds are handed over together."""
        reached: dict[int, float] = {}
        for tail in self._tails.values():
            reached[tail.incarnation] = max(tail.reached, reached.get(tail.incarnation, -inf))
        return min(reached.values(), default=-inf)


def _reached(tail: _Tail) -> float:
    return tail.reached
