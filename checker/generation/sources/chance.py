"""Uniform numbers that all random sources share, and where they end."""

from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from itertools import cycle, islice
from math import inf
from random import Random
from typing import Final, Self, TypeVar

from checker.core.errors import BudgetSpent
from checker.core.meta import Choice
from checker.generation.sources.alphabets import Alphabet, Interval, TextRange

SLOTS = 256
Range = TypeVar("Range")
IntegerRange = tuple[int, float]
"""First value and width; infinite for what a number of the table has too few bits for."""
FloatRange = tuple[float, float, float]
"""First value, width, and steps in a unit (0 for none)."""

AGAIN: Final[IntegerRange] = (0, inf)
"""Stands for the integer that was drawn last, if it fits: equal ones are rare otherwise. Known by identity."""
AGAIN_TEXT: Final = "again"
"""Stands for the text that was drawn last; known by identity."""
EPOCH: Final = date(2000, 1, 1)
"""Dates are drawn as days from here: it is what they shrink to."""
DAYS: Final[Interval] = ((date.min - EPOCH).days, (date.max - EPOCH).days)
_ODD_DATES = (
    "1970-01-01", "2000-02-29", "2024-02-29", "1900-02-28", "2038-01-19", "1999-12-31", "2023-12-31", "2024-12-31",
)  # fmt: skip
_FAVOURITES: Final = {DAYS: tuple((date.fromisoformat(text) - EPOCH).days for text in _ODD_DATES)}
"""Range of integers -> values in it that mean something."""
_AGAIN = 4
"""Slots."""
_FAR = (10, 100, 255, 256, 1000, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1)
_SPECIAL_TEXTS = (
    "null", "None", "undefined", "true", "false", "0", "-1", "1e3", "NaN", "00", "007", " ", "\t", "\n",
    "'", '"', "%", "%00", "..", "../", "{}", "[]", "<a>", "${x}", "\u00e9", "\u0130", "\U0001f600", "a b", " a", "a ",
)  # fmt: skip
_LONG = 256
WIDE: Final = float(1 << 32)
"""Wider ranges of integers need more bits than a number of the table has."""
_MEMORY = 12
"""Choices among which one to repeat is looked for."""
_SHORT = 64
"""Characters of a text that may be repeated."""


def integer_plan(low: int, high: int) -> list[IntegerRange]:
    """Ranges of integers; only that of all of them can be too wide."""
    size = high - low + 1
    if size <= 16:
        return 2 * _with_edges([(low, 1.0), (high, 1.0)], [(low, float(size))], 24)
    origin = min(max(0, low), high)
    near = (low, low + 1, high, high - 1, 0, 1, -1, low, high)
    favourites = _FAVOURITES.get((low, high))
    if favourites is not None:
        edges = [(n, 1.0) for n in (low, high, *favourites, *favourites)]
    else:
        far = [n for value in _FAR for n in (value, -value) if low < n < high and size > 4096]
        edges = [(n, 1.0) for n in (*near, *near, *far) if low <= n <= high]
    windows: list[IntegerRange] = []
    for width, share in ((16, 8), (256, 4), (4096, 2), (2**20, 1), (2**31, 1)):
        first, last = max(low, origin - width // 4), min(high, origin + width)
        windows += [(first, float(last - first + 1))] * share
        if first == low and last == high:
            break
    windows += [(low, float(size) if size <= WIDE else inf)] * 3
    plan = _with_edges(edges, windows, 40)
    plan[:_AGAIN] = [AGAIN] * _AGAIN
    return 2 * plan


def float_plan(low: float, high: float) -> list[FloatRange]:
    """Ranges as (first, width, steps in a unit)."""
    origin = min(max(0.0, low), high)
    near = [low, high, low, high, 0.0, 1.0, -1.0, 0.5, 0.1, 1e-7, 2.0**53, 1e16, 1e100, -1e16]
    edges = [(value, 0.0, 0.0) for value in near if low <= value <= high]
    if low < 0.0 <= high:
        edges += [(-0.0, 0.0, 0.0)] * 2
    windows: list[FloatRange] = []
    for width, steps, share in ((16.0, 1.0, 4), (10.0, 100.0, 4), (1e3, 100.0, 3), (1e6, 1e3, 2)):
        first = max(low, origin - width / 4)
        windows += [(first, min(high, origin + width) - first, steps)] * share
    first, last = max(low, -1e12), min(high, 1e12)
    if first <= last:
        windows += [(first, last - first, 0.0)] * 2
    return 2 * _with_edges(edges, windows, 40)


def length_plan(alphabet: Alphabet, low: int, high: int) -> list[TextRange]:
    """Ranges of lengths, and a few whole strings."""
    sizes = _sizes(low, high)
    # Few different ones, each in many slots: one object each, since all of them are looked at all the time.
    ranges: dict[Interval, TextRange] = {size: (size[0], float(size[1]), None) for size in sizes}
    plan = [ranges[size] for size in sizes]
    texts = [text for text in _SPECIAL_TEXTS if low <= len(text) <= high and alphabet.permits(text)]
    if high > 1:
        texts += [AGAIN_TEXT] * _AGAIN
    plan[1 : 1 + len(texts)] = [(0, 0.0, text) for text in texts]
    return 2 * plan


def last_integer(choices: Sequence[Choice], low: int, high: int) -> int:
    """The latest that lies between; `low` when none does."""
    for value in reversed(choices[-_MEMORY:]):
        if type(value) is int and low <= value <= high:
            return value
    return low


def last_text(choices: Sequence[Choice], alphabet: Alphabet, sizes: Interval) -> str:
    """The latest that fits and is not long; any short one when none does."""
    low, high = sizes[0], min(sizes[1], _SHORT)
    for value in reversed(choices[-_MEMORY:]):
        if type(value) is str and low <= len(value) <= high and alphabet.permits(value):
            return value
    return alphabet.slice(0, low)


def size_plan(low: int, high: int) -> list[Interval]:
    """Ranges of sizes as (first, width)."""
    return 2 * _sizes(low, high)


def _sizes(low: int, high: int) -> list[Interval]:
    """Short ones, the ends, now and then a long one."""
    size = high - low + 1
    edges = [(low, 1), (low + 1, 1), (high, 1), (high - 1, 1), (low, 1)]
    edges = [edge for edge in edges if low <= edge[0] <= high]
    if high > _LONG:
        # A long one costs as much as ten short ones: rarely.
        edges = [edge for edge in edges if edge[0] <= _LONG] * 6 + [(high, 1)]
    windows: list[Interval] = []
    for width, share in ((8, 10), (16, 8), (32, 3), (64, 1)):
        windows += [(low, min(size, width))] * share
        if size <= width:
            break
    plan = _with_edges(edges, windows, 44)
    if size > 64:
        plan[0] = (low, min(size, 512))
    return plan


def _with_edges(edges: Iterable[Range], windows: Iterable[Range], share: int) -> list[Range]:
    """`share` slots for the edges, if any, and the rest for the windows."""
    listed = list(edges)
    count = share if listed else 0
    wide = list(islice(cycle(windows), SLOTS - count))
    return wide + list(islice(cycle(listed), count))


FEWEST: Final = 1 << 16
"""Numbers that there are at least: who wants more of them for one case has a schema that never ends."""


class SourceSpent(BudgetSpent):
    """More was drawn than a case may have."""

    def __init__(self) -> None:
        super().__init__("")

    def at(self, pointer: str) -> None:
        """Say where it happened: the innermost place is told first, and stays."""
        if not self.pointer:
            super().__init__(pointer)


class End:
    """The end of the numbers: an iterator that raises `SourceSpent`."""

    __slots__ = ("is_reached",)

    def __init__(self) -> None:
        self.is_reached = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> float:
        self.is_reached = True
        raise SourceSpent


@cache
def uniform_numbers() -> tuple[float, ...]:
    """`FEWEST` uniform numbers below `SLOTS`, twice over, so that every start has as many to come."""
    random = Random(0x9E3779B97F4A7C15).random
    once = [random() * SLOTS for _ in range(FEWEST)]
    return tuple(once + once)
