"""Uniform numbers that all random sources share, and where they end."""

from functools import cache
from random import Random
from typing import Final, Self

from checker.core.errors import BudgetSpent
from checker.generation.sources.plans import SLOTS

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
    """What comes after the last number: an iterator that raises `SourceSpent`."""

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
