"""The smallest request of an operation as its first case: a list without filters shows the most names of things."""

from dataclasses import dataclass

from checker.core.digests import case_id
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.phases import Phase
from checker.phases.listing import SMALLEST
from checker.phases.making import CaseFactory, CaseMaker, FilteredOut, GeneratedCase


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
