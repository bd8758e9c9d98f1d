"""Counts of a task in work, as its records have them."""

from collections.abc import Mapping


def rows(counts: Mapping[tuple[str, int], int]) -> tuple[tuple[str, int, int], ...]:
    """(label, status or 0 for none, count) of what is counted by label and status."""
    return tuple((label, status, count) for (label, status), count in counts.items())
