"""Going deeper: a sequence that worked is extended by an operation that can use what it answered."""

from collections.abc import Sequence
from random import Random

from msgspec import Struct, field

from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.resources import ResourceModel, status_of
from checker.core.response import Response
from checker.phases.bindings import SentCase
from checker.phases.chains import ChainExplorer
from checker.phases.making import CaseFactory, GeneratedCase

LONGEST = 6
"""Steps of a sequence at most."""
_EXTEND = 0.6
_BOUND = 0.5
"""Of the steps: so many take what their own sequence made, as in the stateful phase; the others what anybody has found."""


class Explorer(Struct):
    """Decides whether and how a sequence goes on."""

    factory: CaseFactory
    model: ResourceModel
    random: Random
    chains: ChainExplorer
    _dead: set[Label] = field(default_factory=set)

    def follow(
        self, sequence: Sequence[SentCase], recipe: tuple[int, int, PhaseInfo]
    ) -> GeneratedCase | None:
        """The next case of a sequence, or None. `recipe` is (task seed, index, phase)."""
        last = sequence[-1]
        if len(sequence) >= LONGEST or not isinstance(last.outcome, Response):
            return None
        label = last.case.operation.label
        status = status_of(self.factory.operations[label], last.outcome)
        if not 200 <= status < 300 or self.random.random() > _EXTEND:
            return None
        if self.random.random() < _BOUND:
            return self.chains.follow(sequence, *recipe)
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
