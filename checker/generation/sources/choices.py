"""Sources of the choices of a draw: random numbers, a record, or Hypothesis (`hypothesis.py`). Each records the typed choices that it made."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cache, lru_cache
from itertools import chain, cycle, islice
from math import inf, trunc
from random import Random
from typing import Any, Final, Protocol, Self, TypeVar

from checker.core.errors import BudgetSpent
from checker.core.meta import Choice
from checker.generation.sources.alphabets import Alphabet, Interval, TextRange

SLOTS = 256
_PLANS: Final = 4096
Range = TypeVar("Range")
IntegerRange = tuple[int, float]
"""First value and width of a range; the width is infinite if a number of the table has too few bits for it."""
FloatRange = tuple[float, float, float]  # First value, width, and steps per unit (0: continuous).

AGAIN: Final[IntegerRange] = (0, inf)
"""Stands for the last drawn integer that fits; compared by identity. Without it, equal integers would be rare."""
AGAIN_TEXT: Final = "again"  # Stands for the last drawn text that fits; compared by identity.
EPOCH: Final = date(2000, 1, 1)  # Dates are drawn as days since this one and shrink towards it.
DAYS: Final[Interval] = ((date.min - EPOCH).days, (date.max - EPOCH).days)
_ODD_DATES = (
    "1970-01-01", "2000-02-29", "2024-02-29", "1900-02-28", "2038-01-19", "1999-12-31", "2023-12-31", "2024-12-31",
)  # fmt: skip
_FAVOURITES: Final = {DAYS: tuple((date.fromisoformat(text) - EPOCH).days for text in _ODD_DATES)}
"""Range of integers -> values of it that are drawn more often."""
_AGAIN = 4  # Slots.
_FAR = (10, 100, 255, 256, 1000, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1)
_SPECIAL_TEXTS = (
    "null", "None", "undefined", "true", "false", "0", "-1", "1e3", "NaN", "00", "007", " ", "\t", "\n",
    "'", '"', "%", "%00", "..", "../", "{}", "[]", "<a>", "${x}", "\u00e9", "\u0130", "\U0001f600", "a b", " a", "a ",
)  # fmt: skip
_LONG = 256
WIDE: Final = float(1 << 32)  # Integer ranges that are wider need more bits than a number of the table has.
_MEMORY = 12  # Last choices that are searched for one to repeat.
_SHORT_AGAIN = 64  # Characters of a text that may be repeated.


# Sources share the plans, because many sources draw only a few values to test a new draw.
@lru_cache(maxsize=_PLANS)
def integer_plan(low: int, high: int) -> list[IntegerRange]:
    """Return ranges of integers; only the full range can be too wide for the table.

    Edges and values near zero have more slots than their share of the range, because most defects are there.
    """
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


@lru_cache(maxsize=_PLANS)
def float_plan(low: float, high: float) -> list[FloatRange]:
    """Return ranges as (first, width, steps in a unit)."""
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
    """Return ranges of lengths, and a few complete strings."""
    sizes = _sizes(low, high)
    # A few ranges fill many slots and share one object each, because every draw reads the plan.
    ranges: dict[Interval, TextRange] = {size: (size[0], float(size[1]), None) for size in sizes}
    plan = [ranges[size] for size in sizes]
    texts = [text for text in _SPECIAL_TEXTS if low <= len(text) <= high and alphabet.permits(text)]
    if high > 1:
        texts += [AGAIN_TEXT] * _AGAIN
    plan[1 : 1 + len(texts)] = [(0, 0.0, text) for text in texts]
    return 2 * plan


def last_integer(choices: Sequence[Choice], low: int, high: int) -> int:
    """Return the latest integer choice between the bounds; `low` if there is none."""
    for value in reversed(choices[-_MEMORY:]):
        if type(value) is int and low <= value <= high:
            return value
    return low


def last_text(choices: Sequence[Choice], alphabet: Alphabet, sizes: Interval) -> str:
    """Return the latest short text that fits; the shortest one if there is none."""
    low, high = sizes[0], min(sizes[1], _SHORT_AGAIN)
    for value in reversed(choices[-_MEMORY:]):
        if type(value) is str and low <= len(value) <= high and alphabet.permits(value):
            return value
    return alphabet.slice(0, low)


@lru_cache(maxsize=_PLANS)
def size_plan(low: int, high: int) -> list[Interval]:
    """Return ranges of sizes as (first, width)."""
    return 2 * _sizes(low, high)


def _sizes(low: int, high: int) -> list[Interval]:
    """Return short ranges, the ends, and in a few slots a long range."""
    size = high - low + 1
    edges = [(low, 1), (low + 1, 1), (high, 1), (high - 1, 1), (low, 1)]
    edges = [edge for edge in edges if low <= edge[0] <= high]
    if high > _LONG:
        # A long text costs as much as ten short ones.
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
    """Return slots: `share` of them for the edges, if any, and the rest for the windows."""
    listed = list(edges)
    count = share if listed else 0
    wide = list(islice(cycle(windows), SLOTS - count))
    return wide + list(islice(cycle(listed), count))


FEWEST: Final = 1 << 16  # Numbers available for one case. A case that needs more has an endless schema.


class SourceSpent(BudgetSpent):
    """A case has used all numbers of the table."""

    def __init__(self) -> None:
        super().__init__("")

    def at(self, pointer: str) -> None:
        """Set the pointer of the place, unless an inner place has set it."""
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
    """Return `FEWEST` uniform numbers below `SLOTS` twice in a row, so that each start position has enough successors."""
    random = Random(0x9E3779B97F4A7C15).random
    once = [random() * SLOTS for _ in range(FEWEST)]
    return tuple(once + once)


Span = tuple[int, int, int]  # Label, and indices of the first choice and of the one after the last.

MOST_BYTES = 5000
"""Bytes of strings in a case, after which strings have their minimum length. Hypothesis refuses more than 8,192 bytes of choices."""
MOST_CHOICES = 700  # Choices of a case, after which no optional part is added.


class Source(Protocol):
    """A source of choices for a draw program."""

    @property
    def choices(self) -> Sequence[Choice]: ...

    def integer(self, low: int, high: int) -> int:
        """Return an integer between the bounds, both included."""
        ...

    def floating(self, low: float, high: float) -> float:
        """Return a finite number between the bounds, both included; -0.0 lies below 0.0."""
        ...

    def boolean(self, p: float = 0.5) -> bool:
        """Return True with probability `p`, which is neither 0 nor 1."""
        ...

    def forced(self, value: bool) -> None:
        """Record a boolean with a fixed value, so that each element begins with a boolean."""
        ...

    def string(self, alphabet: Alphabet, min_size: int, max_size: int) -> str: ...

    def binary(self, min_size: int, max_size: int) -> bytes: ...

    def choice(self, n: int) -> int:
        """Return an index from 0 to n-1."""
        ...

    def start_span(self, label: int) -> None:
        """Begin a span: the choices until `stop_span` belong together."""
        ...

    def stop_span(self, discard: bool = False) -> None:
        """End the innermost span; with `discard`, forget its choices."""
        ...

    def abandon(self, pointer: str) -> None:
        """Give up this attempt: forget all choices, or end the test case."""
        ...


Draw = Callable[[Source], Any]  # A compiled schema: a function from a source to a value.

_M40, _M64 = (1 << 40) - 1, (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_SPREAD = 0xD1342543DE82EF95F7C0A1B1F3D5E7A9C6BC279692B5CC83
_SHORT_TEXT = 16  # Characters. Longer texts count towards the size of a case.
_SHORT = 16  # Bytes that are taken from the table. Longer values need a random generator.


class RandomSource:
    """Random choices from a seed: the hot path.

    Seeding a Mersenne twister costs as much as ten draws. Instead, all cases read one table of uniform numbers: the seed
    gives the start position of a case, and an offset (modulo 256) that is added to all numbers it reads.
    """

    __slots__ = (
        "_end", "_go_to", "_mix", "_numbers", "_open", "_shift", "choices", "spent",
    )  # fmt: skip

    def __init__(self, seed: int = 0) -> None:
        self._open: list[int] = []
        self._go_to, self._numbers, self._end = _numbers()
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Start again with another seed. The list of choices is a new one."""
        mix = (seed + _GOLDEN) * 0xBF58476D1CE4E5B9 & _M64
        self._mix = mix = (mix ^ mix >> 29) * 0x94D049BB133111EB & _M64
        # The highest bits are mixed best: 16 of them give the start position, the next ones the offset.
        self._shift = (mix >> 8 & _M40) * (256.0 / (1 << 40))
        if self._end.is_reached:
            self._go_to, self._numbers, self._end = _numbers()
        self._go_to(mix >> 48)
        self.choices: list[Choice] = []
        if self._open:
            self._open = []
        self.spent = 0

    def bits(self) -> int:
        """Return 128 random bits, which are not recorded."""
        scrambled = (trunc((next(self._numbers) + 1.0) * (1 << 45)) ^ self._mix) * _SPREAD
        return scrambled >> 60 & ((1 << 128) - 1)

    def integer(self, low: int, high: int) -> int:
        """Draw an integer, both ends included: small ones and the ends more often."""
        plan = integer_plan(low, high)
        fraction = next(self._numbers) + self._shift
        slot = trunc(fraction)
        first, width = plan[slot]
        if width <= WIDE:
            value = first + trunc((fraction - slot) * width)
        else:
            entry = plan[slot]
            if entry is AGAIN:
                value = last_integer(self.choices, low, high)
            else:
                value = low + self.bits() % (high - low + 1)
        self.choices.append(value)
        return value

    def floating(self, low: float, high: float) -> float:
        """Draw a finite number: few digits and the ends more often."""
        plan = float_plan(low, high)
        fraction = next(self._numbers) + self._shift
        slot = trunc(fraction)
        first, width, steps = plan[slot]
        value = first
        if width:
            value += (fraction - slot) * width
            if steps:
                value = trunc(value * steps) / steps
            if value < low:
                value = low
            elif value > high:
                value = high
        self.choices.append(value)
        return value

    def boolean(self, p: float = 0.5) -> bool:
        """Draw a boolean; False once the case is large."""
        choices = self.choices
        value = (
            (next(self._numbers) + self._shift) % 256.0 < p * 256.0
            and self.spent < MOST_BYTES
            and len(choices) < MOST_CHOICES
        )
        choices.append(value)
        return value

    def forced(self, value: bool) -> None:
        choices = self.choices
        if len(choices) > FEWEST:
            raise SourceSpent
        choices.append(value)

    def string(self, alphabet: Alphabet, min_size: int, max_size: int) -> str:
        """Draw a slice of the pool of the alphabet."""
        # One number gives the range, the size and the offset. A number for each character would make texts the slowest
        # choice.
        try:
            plan, ring, pool_size = alphabet.plans[min_size, max_size]
        except KeyError:
            found = length_plan(alphabet, min_size, max_size), alphabet.ring, alphabet.pool_size
            if len(alphabet.plans) >= _PLANS:
                alphabet.plans.clear()
            plan, ring, pool_size = alphabet.plans[min_size, max_size] = found
        fraction = next(self._numbers) + self._shift
        slot = trunc(fraction)
        first, width, text = plan[slot]
        if text is None:
            scaled = (fraction - slot) * width
            size = trunc(scaled)
            offset = trunc((scaled - size) * pool_size)
            size += first
            if size > _SHORT_TEXT:
                # The full size is used only if the case has room for it.
                self.spent += size * alphabet.width
                value = alphabet.slice(offset, min_size if self.spent > MOST_BYTES else size)
            else:
                value = ring[offset : offset + size]
        elif text is AGAIN_TEXT:
            value = last_text(self.choices, alphabet, (min_size, max_size))
        else:
            value = text
        self.choices.append(value)
        return value

    def binary(self, min_size: int, max_size: int) -> bytes:
        """Draw bytes, short ones more often."""
        size = min_size
        if max_size > min_size:
            plan = size_plan(min_size, max_size)
            fraction = next(self._numbers) + self._shift
            slot = trunc(fraction)
            first, width = plan[slot]
            size = first + trunc((fraction - slot) * width)
            self.spent += size
            if self.spent > MOST_BYTES:
                size = min_size
        if size <= _SHORT:
            value = (self.bits() >> (128 - 8 * size)).to_bytes(size, "big")
        else:
            value = Random(self.bits()).randbytes(size)
        self.choices.append(value)
        return value

    def choice(self, n: int) -> int:
        """Draw an index; all are equally likely."""
        value = trunc((next(self._numbers) + self._shift) % 256.0 * n) >> 8
        self.choices.append(value)
        return value

    def start_span(self, label: int) -> None:
        """Begin a span that may be discarded. Only replays record spans."""
        self._open.append(len(self.choices))

    def stop_span(self, discard: bool = False) -> None:
        start = self._open.pop()
        if discard:
            del self.choices[start:]

    def abandon(self, pointer: str) -> None:
        """Forget all choices, and continue at another position of the table."""
        self.reset(self._mix)

    def remaining(self) -> Sequence[Choice]:
        """Return the recorded choices that are not used yet."""
        return ()

    def absorb(self, choices: Sequence[Choice]) -> None:
        """Record choices that another source drew."""
        self.choices.extend(choices)


def _numbers() -> tuple[Callable[[int], None], Iterator[float], End]:
    """Return the seek function of a table, its iterator, and the end after it."""
    numbers, end = iter(uniform_numbers()), End()
    # Unpickling uses `__setstate__` to position an iterator without stepping through it.
    return numbers.__setstate__, chain(numbers, end), end  # type: ignore[attr-defined]
