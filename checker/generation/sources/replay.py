"""The sources without chance: a record of choices, repeated; and always the simplest choice."""

from collections.abc import Sequence
from math import copysign, nextafter
from typing import Final

from checker.core.meta import Choice
from checker.generation.sources.alphabets import NAME, Alphabet
from checker.generation.sources.choices import RandomSource, Span


class ReplaySource:
    """A record, repeated. Total: what does not fit, or is missing, is drawn from chance, or as `rest` gives it."""

    __slots__ = ("_chance", "_open", "_position", "_recorded", "choices", "spans")

    def __init__(self, choices: Sequence[Choice], seed: int = 0, *, rest: "SimplestSource | None" = None) -> None:
        self._recorded = choices
        self._position = 0
        self._chance: RandomSource | SimplestSource = rest or RandomSource(seed)
        self.choices: list[Choice] = []
        self.spans: list[Span] = []
        self._open: list[Span] = []

    def bits(self) -> int:
        """128 random bits, not recorded."""
        return self._chance.bits()

    def _next(self) -> Choice | None:
        position = self._position
        self._position = position + 1
        return self._recorded[position] if position < len(self._recorded) else None

    def integer(self, low: int, high: int) -> int:
        """The recorded integer if it lies between."""
        value = self._next()
        if value.__class__ is not int or not low <= value <= high:
            value = self._chance.integer(low, high)
        self.choices.append(value)
        return value

    def floating(self, low: float, high: float) -> float:
        """The recorded number if it lies between."""
        value = self._next()
        if value.__class__ is not float or not _lies_between(low, value, high):
            value = self._chance.floating(low, high)
        self.choices.append(value)
        return value

    def boolean(self, p: float = 0.5) -> bool:
        """The recorded boolean."""
        value = self._next()
        if value.__class__ is not bool:
            value = self._chance.boolean(p)
        self.choices.append(value)
        return value

    def forced(self, value: bool) -> None:
        """Takes the place of what was recorded."""
        self._position += 1
        self.choices.append(value)

    def string(self, alphabet: Alphabet, min_size: int, max_size: int) -> str:
        """The recorded text if its length and its characters fit."""
        value = self._next()
        if value.__class__ is not str or not min_size <= len(value) <= max_size or not alphabet.permits(value):
            value = self._chance.string(alphabet, min_size, max_size)
        self.choices.append(value)
        return value

    def binary(self, min_size: int, max_size: int) -> bytes:
        """The recorded bytes if their number fits."""
        value = self._next()
        if value.__class__ is not bytes or not min_size <= len(value) <= max_size:
            value = self._chance.binary(min_size, max_size)
        self.choices.append(value)
        return value

    def choice(self, n: int) -> int:
        """The recorded index if there are as many."""
        value = self._next()
        if value.__class__ is not int or not 0 <= value < n:
            value = self._chance.choice(n)
        self.choices.append(value)
        return value

    def start_span(self, label: int) -> None:
        """Begin a span: the choices until `stop_span` belong together."""
        self._open.append((label, len(self.choices), len(self.spans)))

    def stop_span(self, discard: bool = False) -> None:
        """Close, or forget, what the innermost span has drawn."""
        label, start, inner = self._open.pop()
        if discard:
            del self.choices[start:]
            del self.spans[inner:]
        else:
            self.spans.append((label, start, len(self.choices)))

    def abandon(self, pointer: str) -> None:
        """Go on with what is left of the record, as if this were the start."""
        self.choices.clear()
        self.spans.clear()
        self._open.clear()
        self._chance.abandon(pointer)

    def remaining(self) -> Sequence[Choice]:
        """Recorded choices that are still to come."""
        return self._recorded[self._position :]

    def absorb(self, choices: Sequence[Choice]) -> None:
        """Record choices that another source drew, beginning with what remained."""
        self._position += len(choices)
        self.choices.extend(choices)


def _lies_between(low: float, value: float, high: float) -> bool:
    if not low <= value <= high:
        return False
    # -0.0 lies below 0.0, as Hypothesis has it.
    sign = copysign(1.0, value)
    return value != 0.0 or ((low != 0.0 or copysign(1.0, low) <= sign) and (high != 0.0 or sign <= copysign(1.0, high)))


_PATIENCE: Final = 12
"""Attempts that differ by a step from the one before; later ones are drawn from chance, with a fixed seed."""
_PLAIN: Final = "0aA-"
_LONGEST_NAME: Final = 8


class SimplestSource:
    """Integers close to zero, short strings of zeros, nothing optional, the first of all alternatives.

    An attempt that is discarded makes all choices of the next one at its place a step larger.
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
        """Made when it is first needed: hardly any value needs it, and it takes longer to make than a value to draw."""
        if self._random is None:
            self._random = RandomSource(self._seed)
        return self._random

    def _rank(self) -> int:
        """Return the distance from the simplest choice."""
        return self._first + sum(self._ranks)

    def bits(self) -> int:
        """128 bits, not recorded: the same ones for the same rank."""
        return self._chance.bits()

    def remaining(self) -> Sequence[Choice]:
        """Recorded choices that are still to come: none."""
        return ()

    def absorb(self, choices: Sequence[Choice]) -> None:
        """Record choices that another source drew."""
        self.choices.extend(choices)

    def integer(self, low: int, high: int) -> int:
        """As close to zero as possible; then the next ones."""
        rank = self._rank()
        value = min(max(low, 0), high) + rank
        if value > high:
            value = max(low, high - rank)
        if rank > _PATIENCE:
            value = self._chance.integer(low, high)
        self.choices.append(value)
        return value

    def floating(self, low: float, high: float) -> float:
        """The number of that rank, by distance from zero in steps of a half."""
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
        """False, until nothing else helps."""
        rank = self._rank()
        value = rank > _PATIENCE and self._chance.boolean(p)
        self.choices.append(value)
        return value

    def forced(self, value: bool) -> None:
        """Recorded as it is."""
        self.choices.append(value)

    def string(self, alphabet: Alphabet, min_size: int, max_size: int) -> str:
        """Zeros, as few as possible; then another character, then more of them. Names are all different."""
        rank = self._rank()
        if rank > _PATIENCE or (alphabet is NAME and max_size < _LONGEST_NAME):
            value = self._chance.string(alphabet, min_size, max_size)
        else:
            size = min(max_size, min_size + (rank + 1) // 2)
            value = self._plain(alphabet, size, rank)
        self.choices.append(value)
        return value

    def _plain(self, alphabet: Alphabet, size: int, rank: int) -> str:
        if alphabet is NAME:
            self._names += 1
            return f"x{self._names}".ljust(size, "x")
        for character in _PLAIN[rank % 2 :]:
            if alphabet.permits(character):
                return character * size
        return alphabet.slice(rank % alphabet.pool_size, size)

    def binary(self, min_size: int, max_size: int) -> bytes:
        """Zeros, as few as possible."""
        value = b"0" * min(max_size, min_size + self._rank())
        self.choices.append(value)
        return value

    def choice(self, n: int) -> int:
        """The first one; then the next ones, over and over again."""
        value = self._rank() % n
        self.choices.append(value)
        return value

    def start_span(self, label: int) -> None:
        """Begin a span that may be discarded."""
        self._ranks.append(0)

    def stop_span(self, discard: bool = False) -> None:
        """The next attempt at the same place is another one."""
        self._ranks.pop()
        self._ranks[-1] = self._ranks[-1] + 1 if discard else 0

    def abandon(self, pointer: str) -> None:
        """Nothing has been drawn; the next time is another one."""
        self.choices = []
        self._first += 1
        self._ranks = [0]
