"""The source that always gives the simplest choice: small, deterministic values. Attempts that fail are told apart."""

from collections.abc import Sequence
from math import nextafter
from typing import Final

from checker.core.sequence import Choice
from checker.generation.sources.alphabets import NAME, Alphabet
from checker.generation.sources.choices import RandomSource

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
        """How far from the simplest we are."""
        return self._first + sum(self._ranks)

    def bits(self) -> int:
        """128 bits, not recorded: the same ones for the same rank."""
        return self._chance.bits()

    def remaining(self) -> Sequence[Choice]:
        """Recorded choices that are still to come: none."""
        return ()

    def absorb(self, choices: Sequence[Choice]) -> None:
        """Record what somebody else drew."""
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
        """What follows may be discarded."""
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
