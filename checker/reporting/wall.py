"""The wall of the reporter: what cannot be shown costs the reader itself, and nothing else."""

from collections.abc import Callable
from typing import TypeVar

Shown = TypeVar("Shown")


def walled(show: Callable[[], Shown], excuse: Callable[[str], Shown]) -> Shown:
    """What `show` gives; the excuse, which is told why, when a bug of ours or a value beyond imagination forbids it."""
    try:
        return show()
    except Exception as error:  # noqa: BLE001 - the wall: all else that was found is still to be told
        return excuse(f"{type(error).__name__}: {error}")
