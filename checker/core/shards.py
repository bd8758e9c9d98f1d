"""Shards: the parts of one run for separate machines. Each operation belongs to one of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from checker.core.digests import digest

MOST_SHARDS: Final = 1000
_TEXT: Final = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


class Shard(Struct, frozen=True):
    """The part of the operations that a run tests."""

    number: int  # Counted from 1.
    count: int
    weights: tuple[tuple[str, float], ...] = ()
    """(operation, cost) as an earlier run measured it; empty: costs are estimated."""

    @classmethod
    def of(cls, text: str, weights: Iterable[tuple[str, float]] = ()) -> "Shard | None":
        """Return the shard that a text such as `3/8` names; None for another text."""
        found = _TEXT.fullmatch(text)
        if found is None or not int(found[1]) <= int(found[2]) <= MOST_SHARDS:
            return None
        return cls(int(found[1]), int(found[2]), tuple(weights))

    def __str__(self) -> str:
        """Return `3/8`."""
        return f"{self.number}/{self.count}"


Partition = tuple[tuple[str, ...], ...]  # The operations of all shards: labels in document order, for each shard.


def digest_of(partition: Partition) -> str:
    """Return a text that is different for each partition; empty if there is no operation."""
    return digest(*map("\n".join, partition)) if any(partition) else ""


def partitioned(groups: Iterable[Sequence[str]], costs: Mapping[str, float], count: int) -> Partition:
    """Return the partition of groups of operations into shards of about equal cost. `costs`: each label, in document order.

    Groups are assigned by decreasing cost, each to the shard with the lowest cost so far. This is "longest processing
    time first" (Graham, 1969). The slowest shard costs at most 4/3 of the optimum. Groups of equal cost are taken in document order.
    """
    place = {label: number for number, label in enumerate(costs)}
    ordered = sorted(
        groups, key=lambda group: (-sum(costs[label] for label in group), min(place[label] for label in group))
    )
    loads, parts = [0.0] * count, [list[str]() for _ in range(count)]
    for group in ordered:
        # Groups without a cost are distributed by number.
        least = min(range(count), key=lambda number: (loads[number], len(parts[number]), number))
        loads[least] += sum(costs[label] for label in group)
        parts[least] += group
    return tuple(tuple(sorted(part, key=place.__getitem__)) for part in parts)


def weighed(estimates: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """Return label -> cost: the measured cost, or else the estimate, scaled to the measured costs."""
    measured = sum(weights.get(label, 0.0) for label in estimates)
    if not measured:
        return dict(estimates)
    scale = measured / (sum(estimate for label, estimate in estimates.items() if label in weights) or 1.0)
    return {label: weights.get(label, estimate * scale) for label, estimate in estimates.items()}
