"""How a random source spreads its values: tables of 256 equally likely ranges, small and edge values more often than large."""

from collections.abc import Iterable
from itertools import cycle, islice
from typing import TypeVar

from checker.generation.alphabets import Alphabet, Interval

SLOTS = 256
Range = TypeVar("Range")
FloatRange = tuple[float, float, float]
"""First value, width, and steps in a unit (0 for none)."""

_FAR = (10, 100, 255, 256, 1000, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1)
_SPECIAL_TEXTS = (
    "null", "None", "undefined", "true", "false", "0", "-1", "1e3", "NaN", "00", "007", " ", "\t", "\n",
    "'", '"', "%", "%00", "..", "../", "{}", "[]", "<a>", "${x}", "\u00e9", "\u0130", "\U0001f600", "a b", " a", "a ",
)  # fmt: skip
_LONG = 256


def integer_plan(low: int, high: int) -> list[Interval]:
    """Ranges as (first, width)."""
    size = high - low + 1
    if size <= 16:
        return _with_edges([(low, 1), (high, 1)], [(low, size)], 24)
    origin = min(max(0, low), high)
    near = (low, low + 1, high, high - 1, 0, 1, -1, low, high)
    far = [n for value in _FAR for n in (value, -value) if low < n < high and size > 4096]
    edges = [(n, 1) for n in (*near, *near, *far) if low <= n <= high]
    windows = []
    for width, share in ((16, 8), (256, 4), (4096, 2), (2**20, 1), (2**31, 1)):
        first, last = max(low, origin - width // 4), min(high, origin + width)
        windows += [(first, last - first + 1)] * share
        if first == low and last == high:
            break
    return _with_edges(edges, [*windows, (low, size), (low, size), (low, size)], 40)


def float_plan(low: float, high: float) -> list[FloatRange]:
    """Ranges as (first, width, steps in a unit)."""
    origin = min(max(0.0, low), high)
    near = [low, high, low, high, 0.0, 1.0, -1.0, 0.5, 0.1, 1e-7, 2.0**53, 1e16, 1e100, -1e16]
    edges = [(value, 0.0, 0.0) for value in near if low <= value <= high]
    if low < 0.0 <= high:
        edges.append((-0.0, 0.0, 0.0))
    windows: list[FloatRange] = []
    for width, steps, share in ((16.0, 1.0, 4), (10.0, 100.0, 4), (1e3, 100.0, 3), (1e6, 1e3, 2)):
        first = max(low, origin - width / 4)
        windows += [(first, min(high, origin + width) - first, steps)] * share
    first, last = max(low, -1e12), min(high, 1e12)
    if first <= last:
        windows += [(first, last - first, 0.0)] * 2
    return _with_edges(edges, windows, 40)


def length_plan(alphabet: Alphabet, low: int, high: int) -> list[str | Interval]:
    """Ranges of lengths as (first, width), and a few whole strings."""
    plan: list[str | Interval] = list(size_plan(low, high))
    texts = [text for text in _SPECIAL_TEXTS if low <= len(text) <= high and alphabet.permits(text)]
    for index, text in enumerate(texts[:20], 1):
        plan[index] = text
    return plan


def size_plan(low: int, high: int) -> list[Interval]:
    """Ranges of sizes as (first, width): short ones, the ends, now and then a long one."""
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
