"""The partition of the operations of a description into the shards of a run."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.phases import EXAMPLES, CaseSource, phase_named
from checker.core.shards import Partition, partitioned, weighed
from checker.kinds.protocol import OperationEntry
from checker.workers.messages import OperationCard
from checker.workers.subject import Contents

_LISTED = 15.0  # Cases that phases list for an operation, as counted by `_estimate`.
_LISTED_FOR_NAME = 15.0  # Cases that they list for each name of its inputs.
_LARGEST = 1.5
"""Largest group of dependent operations that stays together, as a share of a shard. With larger groups, more shards would not help."""
_HELPING = 10  # Cases of an operation that only creates resources for others.
_STEPS = 3.0  # Requests of a sequence.


def partition_of(contents: Contents) -> Partition | None:
    """Return the partition of the selected operations; None if the run tests all of them.

    Every shard of a run computes the same partition, because it depends only on the description, the settings and the weights.
    """
    shard, selected = contents.settings.selection.shard, contents.selected
    if shard is None:
        return None
    estimates = {str(entry.label): _estimate(contents, entry) for entry in selected.entries}
    # An unreadable operation costs nothing, and one shard reports it.
    estimates |= {str(one.label): 0.0 for one in selected.broken}
    # An operation that is not tested costs nothing.
    costs = {label: cost * contents.is_tested(label) for label, cost in weighed(estimates, dict(shard.weights)).items()}
    most = _LARGEST * sum(costs.values()) / shard.count
    families = {label: family for family in selected.resources.families for label in family}
    groups: list[Sequence[str]] = [[one.label] for one in selected.broken]
    for group in selected.resources.groups:
        is_large = sum(costs[label] for label in group) > most
        groups += {id(families[label]): families[label] for label in group}.values() if is_large else [group]
    return partitioned(groups, costs, shard.count)


def helpers_of(contents: Contents, tested: Collection[str]) -> frozenset[str]:
    """Return the other operations that create resources for the tested ones. The run sends few cases to these operations.

    Without values of earlier responses, no phase would use those resources.
    """
    settings, model = contents.settings, contents.selected.resources
    reusing = set(settings.phases) & set(settings.sources.reusing_phases)
    if all(phase_named(name).source is CaseSource.CHAINED for name in reusing):
        return frozenset()
    return frozenset(model.needed_by(label for label in model.uses if label in tested))


def helping(card: OperationCard, settings: RunSettings) -> OperationCard:
    """Return the card of an operation that only creates resources: few cases, in phases that send them early."""
    rows = [phase_named(name) for name in settings.phases if not card.phases or name in card.phases]
    drawn = [row.name for row in rows if row.source is CaseSource.DRAWN]
    own = dict(card.max_examples)
    names = (*(row.name for row in rows if row.name == EXAMPLES.name), *drawn)
    return replace(
        card,
        phases=names or tuple(row.name for row in rows[:1]),
        max_examples=tuple((name, min(_HELPING, own.get(name, settings.common.cases.max_examples))) for name in drawn),
        is_helper=True,
    )


def _estimate(contents: Contents, entry: OperationEntry) -> float:
    """Return the expected number of requests that the phases of a run send to an operation."""
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
