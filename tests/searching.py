"""Searches for the smallest failing value, answered by a predicate."""

from collections.abc import Callable, Generator
from typing import TypeVar

Value = TypeVar("Value")
Found = TypeVar("Found")
MOST = 500
"""Candidates that a search is answered for, if it is not said otherwise."""


def searched(search: Generator[Value, bool | None, Found], fails: Callable[[Value], object], most: int = MOST) -> Found:
    """Return the result of a search that is ended after so many candidates."""
    try:
        candidate = next(search)
        while True:
            answer = bool(fails(candidate)) if most else None
            most -= 1
            candidate = search.send(answer)
    except StopIteration as end:
        found: Found = end.value
        return found
