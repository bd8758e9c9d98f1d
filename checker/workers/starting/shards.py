"""The partition of the operations of a description into the shards of a run."""

from checker.core.phases import CaseSource, phase_named
from checker.core.shards import Partition, partitioned, weighed
from checker.kinds.protocol import OperationEntry
from checker.workers.subject import Contents

_LISTED = 15.0
"""Cases that phases list for an operation, as `_estimate` counts them."""
_LISTED_FOR_NAME = 15.0
"""Cases that they list for each name of its inputs."""
_STEPS = 3.0
"""Requests of a sequence."""


def partition_of(contents: Contents) -> Partition | None:
    """Return the partition of the selected operations; None if the run tests all of them.

    Every shard of a run computes the same one: it follows from the description, the settings and the weights alone.
    """
    shard, selected = contents.settings.shard, contents.selected
    if shard is None:
        return None
    estimates = {str(entry.label): _estimate(contents, entry) for entry in selected.entries}
    # An unreadable operation costs nothing, and one shard reports it.
    estimates |= {str(one.label): 0.0 for one in selected.broken}
    groups = [*selected.resources.groups, *([one.label] for one in selected.broken)]
    return partitioned(groups, weighed(estimates, dict(shard.weights)), shard.count)


def _estimate(contents: Contents, entry: OperationEntry) -> float:
    """Return the number of requests that the phases of a run are expected to send to an operation."""
    operations, selected = contents.operations, contents.selected
    tested = [name for name in contents.settings.phases if name in operations.of(entry).phases]
    sources = {name: phase_named(name).source for name in tested}
    found = 0.0
    if CaseSource.LISTED in sources.values():
        found += _LISTED + _LISTED_FOR_NAME * len(set(selected.names(entry.label)))
    for name, source in sources.items():
        if source is CaseSource.DRAWN:
            found += operations.of(entry, name).cases.max_examples
        elif source is CaseSource.CHAINED and entry.label in selected.resources.roots:
            found += _STEPS * operations.of(entry, name).cases.max_examples
    return found
