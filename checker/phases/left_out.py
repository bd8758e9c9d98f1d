"""Listed cases that were left out at a failure: a later phase sends them, so that no defect hides behind another one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from checker.core.digests import case_id
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.phases import Phase
from checker.phases.listing import SMALLEST
from checker.phases.making import CaseFactory, CaseMaker, FilteredOut, GeneratedCase


@dataclass(slots=True)
class LeftOutFirst:
    """Makes the cases that lists left out, then draws: at least half of all that the task may have is drawn."""

    factory: CaseFactory
    draws: CaseMaker
    left_out: Sequence[tuple[str, int]]
    """(phase, number of its first case that is left)."""
    most: int
    """Cases of the task."""
    _places: list[tuple[str, int]] | None = field(default=None, init=False)

    def __call__(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        """Return case `index` of the task: the same in every worker. Raises the errors of both makers."""
        if self._places is None:
            self._places = self._chosen(label, task_seed)
        if index >= len(self._places):
            return self.draws(label, task_seed, index, phase)
        listed, number = self._places[index]
        made = self.factory.listed(label, task_seed, number, PhaseInfo(listed))
        made.case.id = case_id(task_seed, index)
        return made

    def _chosen(self, label: Label, task_seed: int) -> list[tuple[str, int]]:
        """All of them, in order; where they are too many one of each topic, and more by chance.

        By chance alone the one request without a header would drown among values of its body.
        """
        topics = {
            (phase, number): topic
            for phase, first in self.left_out
            for number, topic in self.factory.listed_from(label, phase, first)
        }
        room = self.most // 2
        if len(topics) <= room:
            return list(topics)
        shuffled = Random(task_seed).sample(list(topics), len(topics))
        one_of_each = {topics[place]: place for place in shuffled}.values()
        kept = set(islice(dict.fromkeys((*one_of_each, *shuffled)), room))
        return [place for place in topics if place in kept]


@dataclass(slots=True)
class SmallestFirst:
    """Makes the cases of the first task of one or more operations: the smallest case of each, then those of the phase.

    The coverage phase lists the smallest case first. Other lists have it before their own cases; in phases that draw their
    cases it takes the place of the first one.
    """

    factory: CaseFactory
    makes: CaseMaker
    row: Phase
    count: int
    """Operations of the task."""

    def __call__(self, label: Label, task_seed: int, index: int, phase: PhaseInfo) -> GeneratedCase:
        """Return case `index` of the task. Raises what the makers of both raise."""
        later = self.row.first_listed
        if index >= self.count:
            made = self.makes(label, task_seed, index - later, phase)
        elif self._has_smallest(label, phase):
            made = self.factory.listed(label, task_seed, 0, phase, of=phase.name + SMALLEST)
        elif later:
            raise FilteredOut(f"{label}: has no smallest case")
        else:
            made = self.makes(label, task_seed, index, phase)
        made.case.id = case_id(task_seed, index)
        return made

    def _has_smallest(self, label: Label, phase: PhaseInfo) -> bool:
        try:
            return any(self.factory.listed_from(label, phase.name + SMALLEST, 0))
        except LookupError:
            return False
