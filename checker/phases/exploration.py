"""Going deeper: a sequence that worked is extended by an operation that can use what it answered."""

from dataclasses import dataclass, field
from random import Random

from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.resources import ResourceModel, status_of
from checker.core.response import Response
from checker.phases.attempt import Verdict
from checker.phases.making import CaseFactory, GeneratedCase

LONGEST = 6
"""Steps of a sequence at most."""
_EXTEND = 0.6


@dataclass(slots=True)
class Explorer:
    """Decides whether and how a sequence goes on."""

    factory: CaseFactory
    model: ResourceModel
    random: Random
    _dead: set[Label] = field(default_factory=set)

    def follow(
        self, label: Label, verdict: Verdict, *, steps: int, recipe: tuple[int, int, PhaseInfo]
    ) -> GeneratedCase | None:
        """The next case of a sequence of `steps` cases, or None. `recipe` is (task seed, index, phase)."""
        outcome = verdict.outcome
        if steps >= LONGEST or not isinstance(outcome, Response):
            return None
        status = status_of(self.factory.operations[label], outcome)
        if not 200 <= status < 300 or self.random.random() > _EXTEND:
            return None
        candidates = [found for found in self.model.followers(label) if found not in self._dead]
        if not candidates:
            return None
        chosen = self.random.choice(candidates)
        seed, index, phase = recipe
        try:
            return self.factory.make(chosen, seed, index, phase, newest=True)
        except CheckerError:
            # The operation's own turn reports why it cannot be made; a sequence just does without it.
            self._dead.add(chosen)
            return None
