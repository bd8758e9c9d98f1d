"""Going deeper: a sequence that worked is extended by an operation that can use what it answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.response import Response
from checker.phases.attempt import Verdict
from checker.phases.making import CaseFactory, Made

LONGEST = 6
"""Steps of a sequence (facts 4.2.5)."""
_EXTEND = 0.6


def resource_of(path: str) -> tuple[str, ...]:
    """Segments of the collection that a path belongs to: trailing parameters are members, not collections."""
    segments = [segment for segment in path.split("/") if segment]
    while segments and segments[-1].startswith("{"):
        segments.pop()
    return tuple(segments)


def followers_of(paths: Mapping[Label, str]) -> Mapping[Label, Sequence[Label]]:
    """Operations that can use what an operation answers: members of its collection and what lies below."""
    found: dict[Label, list[Label]] = {}
    for label, path in paths.items():
        prefix = resource_of(path)
        found[label] = [
            other
            for other, candidate in paths.items()
            if "{" in candidate and _is_member(prefix, candidate)
        ]
    return found


def _is_member(prefix: tuple[str, ...], candidate: str) -> bool:
    segments = [segment for segment in candidate.split("/") if segment]
    size = len(prefix)
    return (
        tuple(segments[:size]) == prefix and len(segments) > size and segments[size].startswith("{")
    )


@dataclass(slots=True)
class Explorer:
    """Decides whether and how a sequence goes on."""

    factory: CaseFactory
    followers: Mapping[Label, Sequence[Label]]
    random: Random
    _dead: set[Label] = field(default_factory=set)

    def follow(
        self, label: Label, verdict: Verdict, *, steps: int, recipe: tuple[int, int, PhaseInfo]
    ) -> Made | None:
        """The next case of a sequence of `steps` cases, or None. `recipe` is (task seed, index, phase)."""
        outcome = verdict.outcome
        if steps >= LONGEST or not isinstance(outcome, Response):
            return None
        if not 200 <= outcome.status_code < 300 or self.random.random() > _EXTEND:
            return None
        candidates = [found for found in self.followers.get(label, ()) if found not in self._dead]
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
