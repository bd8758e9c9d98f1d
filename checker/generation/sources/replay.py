"""Sources without randomness: recorded choices, and the simplest choices."""

from collections.abc import Sequence
from math import copysign, nextafter
from typing import Final

from checker.core.meta import Choice
from checker.generation.sources.alphabets import NAME, Alphabet
from checker.generation.sources.choices import RandomSource, Span


class ReplaySource:
    """Repeats recorded choices. If a choice is missing or does not fit, it is drawn at random, or from `rest`."""

    __slots__ = ("_chance", "_open", "_position", "_recorded", "choices", "spans")

    def __init__(self, choices: Sequence[Choice], seed: int = 0, *, rest: "SimplestSource | None" = None) -> None:
        self._recorded = choices
        self._position = 0
        self._chance: RandomSource | SimplestSource = rest or RandomSource(seed)
        self.choices: list[Choice] = []
        self.spans: list[Span] = []
        self._open: list[Span] = []

    def bits(self) -> int:
        return self._chance.bits()

    def _next(self) -> Choice | None:
        position = self._position
        self._position = position + 1
        return self._recorded[position] if position < len(self._recorded) else None

    def integer(self, low: int, high: int) -> int:
        value = self._next()
        if value.__class__ is not int or not low <= value <= high:
            value = self._chance.integer(low, high)
        self.choices.append(value)
        return value

    def floating(self, low: float, high: float) -> float:
        value = self._next()
        if value.__class__ is not float or not _lies_between(low, value, high):
            value = self._chance.floating(low, high)
        self.choices.append(value)
        return value

    def boolean(self, p: float = 0.5) -> bool:
        value = self._next()
        if value.__class__ is not bool:
            value = self._chance.boolean(p)
        self.choices.append(value)
        return value

    def forced(self, value: bool) -> None:
        self._position += 1
        self.choices.append(value)

    def string(self, alphabet: Alphabet, min_size: int, max_size: int) -> str:
        value = self._next()
        if value.__class__ is not str or not min_size <= len(value) <= max_size or not alphabet.permits(value):
            value = self._chance.string(alphabet, min_size, max_size)
        self.choices.append(value)
        return value

    def binary(self, min_size: int, max_size: int) -> bytes:
        value = self._next()
        if value.__class__ is not bytes or not min_size <= len(value) <= max_size:
            value = self._chance.binary(min_size, max_size)
        self.choices.append(value)
        return value

    def choice(self, n: int) -> int:
        value = self._next()
        if value.__class__ is not int or not 0 <= value < n:
            value = self._chance.choice(n)
        self.choices.append(value)
        return value

    def start_span(self, label: int) -> None:
        self._open.append((label, len(self.choices), len(self.spans)))

    def stop_span(self, discard: bool = False) -> None:
        label, start, inner = self._open.pop()
        if discard:
            del self.choices[start:]
            del self.spans[inner:]
        else:
            self.spans.append((label, start, len(self.choices)))

    def abandon(self, pointer: str) -> None:
        """Forget all choices, and continue with the rest of the record."""
        self.choices.clear()
        self.spans.clear()
        self._open.clear()
        self._chance.abandon(pointer)

    def remaining(self) -> Sequence[Choice]:
        return self._recorded[self._position :]

    def absorb(self, choices: Sequence[Choice]) -> None:
        """Record choices that another source made. Those choices replace the rest of the record."""
        self._position += len(choices)
        self.choices.extend(choices)


def _lies_between(low: float, value: float, high: float) -> bool:
    if not low <= value <= high:
        return False
    # -0.0 lies below 0.0, as in Hypothesis.
    sign = copysign(1.0, value)
    return value != 0.0 or ((low != 0.0 or copysign(1.0, low) <= sign) and (high != 0.0 or sign <= copysign(1.0, high)))


_PATIENCE: Final = 12  # Attempts that each add one step; later ones are random with a fixed seed.
_PLAIN: Final = "0aA-"
_LONGEST_NAME: Final = 8


class SimplestSource:
    """Draws integers close to zero, short strings of zeros, no optional parts, and the first alternative.

    After a discarded attempt, all choices of the next attempt at that place are one step larger. The number of steps is
    the *rank*.
    """

    __slots__ = ("_first", "_names", "_random", "_ranks", "_seed", "choices")

    def __init__(self, rank: int = 0) -> None:
        self.choices: list[Choice] = []
        self._first = rank
        self._ranks = [0]
        self._names = 0
        self._seed = rank
        self._random: RandomSource | None = None

    @property
    def _chance(self) -> RandomSource:
        """A random source, created on demand: few values need one, and creating it takes longer than drawing a value."""
        if self._random is None:
            self._random = RandomSource(self._seed)
        return self._random

    def _rank(self) -> int:
        return self._first + sum(self._ranks)

    def bits(self) -> int:
        """Return 128 bits, equal for equal ranks. These bits are not recorded."""
        return self._chance.bits()

    def remaining(self) -> Sequence[Choice]:
        return ()

    def absorb(self, choices: Sequence[Choice]) -> None:
        self.choices.extend(choices)

    def integer(self, low: int, high: int) -> int:
        """Return the integer of the rank, in order of distance from zero."""
        rank = self._rank()
        value = min(max(low, 0), high) + rank
        if value > high:
            value = max(low, high - rank)
        if rank > _PATIENCE:
            value = self._chance.integer(low, high)
        self.choices.append(value)
        return value

    def floating(self, low: float, high: float) -> float:
        """Return the number of the rank, in order of distance from zero, in steps of 0.5."""
        rank = self._rank()
        value = min(max(low, 0.0), high) + rank / 2
        if value > high:
            value = max(low, high - rank / 2)
        if not low <= value <= high:
            value = min(max(nextafter(low, high), low), high)
        if rank > _PATIENCE:
            value = self._chance.floating(low, high)
        self.choices.append(value)
        return value

    def boolean(self, p: float = 0.5) -> bool:
        """Return False, and a random boolean after many attempts."""
        rank = self._rank()
        value = rank > _PATIENCE and self._chance.boolean(p)
        self.choices.append(value)
        return value

    def forced(self, value: bool) -> None:
        self.choices.append(value)

    def string(self, alphabet: Alphabet, min_size: int, max_size: int) -> str:
        """Return the shortest text of zeros. Higher ranks use other characters and longer texts. Property names are all different."""
        rank = self._rank()
        if rank > _PATIENCE or (alphabet is NAME and max_size < _LONGEST_NAME):
            value = self._chance.string(alphabet, min_size, max_size)
        else:
            size = min(max_size, min_size + (rank + 1) // 2)
            plain = next((one for one in _PLAIN[rank % 2 :] if alphabet.permits(one)), None)
            if alphabet is NAME:
                self._names += 1
                value = f"x{self._names}".ljust(size, "x")
            elif plain is not None:
                value = plain * size
            else:
                value = alphabet.slice(rank % alphabet.pool_size, size)
        self.choices.append(value)
        return value

    def binary(self, min_size: int, max_size: int) -> bytes:
        value = b"0" * min(max_size, min_size + self._rank())
        self.choices.append(value)
        return value

    def choice(self, n: int) -> int:
        value = self._rank() % n
        self.choices.append(value)
        return value

    def start_span(self, label: int) -> None:
        self._ranks.append(0)

    def stop_span(self, discard: bool = False) -> None:
        """End the innermost span. If it is discarded, the next attempt has a higher rank."""
        self._ranks.pop()
        self._ranks[-1] = self._ranks[-1] + 1 if discard else 0

    def abandon(self, pointer: str) -> None:
        """Forget all choices; the next attempt has a higher rank."""
        self.choices = []
        self._first += 1
        self._ranks = [0]
