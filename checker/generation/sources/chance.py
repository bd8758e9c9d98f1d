"""Uniform numbers that all random sources share, and where they end."""

from collections.abc import Callable
from functools import cache
from itertools import chain
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


class _Spent:
    """An iterator that ends by raising `SourceSpent`."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> float:
        raise SourceSpent


_SPENT: Final = _Spent()


@cache
def _table() -> tuple[float, ...]:
    """Uniform numbers below `SLOTS`, twice over, so that every start has as many to come."""
    random = Random(0x9E3779B97F4A7C15).random
    once = [random() * SLOTS for _ in range(FEWEST)]
    return tuple(once + once)


def uniform_from(seed: int) -> Callable[[], float]:
    """Uniform numbers below `SLOTS`, one a call, from a place of the table that the seed names.

    Raises `SourceSpent` after `FEWEST` of them or more.
    """
    numbers = iter(_table())
    # What unpickling does: goes to a place of the table without walking there.
    numbers.__setstate__(seed & (FEWEST - 1))  # type: ignore[attr-defined]
    return chain(numbers, _SPENT).__next__
