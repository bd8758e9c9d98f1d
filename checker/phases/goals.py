"""What some sequences head for: operations that need several things, which chance alone seldom brings together."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from checker.core.operation import Label
from checker.core.resource_names import Resource
from checker.core.resources import (
    CREATING,
    READING,
    REMOVING,
    ResourceModel,
    ResourceUse,
    named_collections,
)
from checker.phases.known_resources import ShownStep

_AIMED: Final = 3
"""Every third sequence heads for one operation."""


class SequenceGoals(Struct):
    """Operations deep below the first one of a sequence, and those whose bodies name things of several collections."""

    model: ResourceModel
    _goals: dict[Label, Sequence[Label]] = field(default_factory=dict)
    """First operation of a sequence -> what it may head for."""
    _named: Mapping[Label, Sequence[Resource]] | None = None

    def next_step(self, steps: Sequence[ShownStep], index: int) -> Label | None:
        """What sequence `index` has to send next on the way to its goal; None when it is there, or heads for none.

        What it removes there it reads again.
        """
        if index % _AIMED:
            return None
        goals = self._of(steps[0].use.label)
        if not goals:
            return None
        goal = goals[index // _AIMED % len(goals)]
        sent = {step.use.label for step in steps if step.succeeded}
        if goal in sent:
            was_removed = steps[-1].use.label == goal and steps[-1].succeeded
            return self._reading(goal) if was_removed else None
        for _, owner in self.model.uses[goal].owners:
            makers = self.model.makers(owner)
            if makers and sent.isdisjoint(makers):
                return makers[0]
        tried = {step.use.label for step in steps}
        for collection in self._collections(goal):
            ways = self._ways_to(collection)
            # Who was refused gives nothing, and is asked once.
            if tried.isdisjoint(ways):
                return ways[0]
        return goal

    def _of(self, root: Label) -> Sequence[Label]:
        """At least two collections below what the root makes, removals first; then those that name it beside others."""
        found = self._goals.get(root)
        if found is None:
            uses = self.model.uses
            deep = [
                use
                for use in uses.values()
                if len(use.owners) > 1 and root in self.model.makers(use.owners[0][1])
            ]
            deep.sort(key=lambda use: (use.method != REMOVING, -len(use.owners)))
            labels = dict.fromkeys(use.label for use in deep)
            labels |= dict.fromkeys(label for label in uses if self._joins(label, root))
            found = self._goals[root] = list(labels)
        return found

    def _joins(self, label: Label, root: Label) -> bool:
        """Whether a body names things of several collections, of which the root gives one."""
        named = self._collections(label)
        is_own = self.model.uses[root].resource in named
        return len(named) > 1 and is_own and label != root

    def _collections(self, label: Label) -> Sequence[Resource]:
        """Collections of whose members the body of an operation names some, as far as anybody gives them."""
        if self._named is None:
            self._named = {
                label: [one for one in found if self._ways_to(one)]
                for label, found in named_collections(self.model).items()
            }
        return self._named.get(label, ())

    def _ways_to(self, collection: Resource) -> Sequence[Label]:
        """Who makes members of a collection without being told their names, else who lists them."""
        uses = [self.model.uses[label] for label in self.model.on(collection)]
        free = [use for use in uses if not use.owners]
        makers = [use.label for use in free if use.method in CREATING]
        return makers or [use.label for use in free if use.method in READING]

    def _reading(self, removing: Label) -> Label | None:
        """What reads a thing that an operation removes; None for an operation that removes nothing, or where nothing reads it."""
        use = self.model.uses[removing]
        if use.method != REMOVING:
            return None
        others = (self.model.uses[label] for label in self.model.on(use.resource))
        return next((one.label for one in others if reads_member(one)), None)


def reads_member(use: ResourceUse) -> bool:
    """Whether an operation shows one thing."""
    return use.method == "GET" and use.is_member
