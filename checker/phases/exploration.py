"""Going deeper: a sequence that worked is extended by an operation that can use what it answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.response import Response
from checker.phases.attempt import Verdict
from checker.phases.making import CaseFactory, GeneratedCase

LONGEST = 6
"""Steps of a sequence (facts 4.2.5)."""
_EXTEND = 0.6


def resource_of(path: str) -> tuple[str, ...]:
    """Segments of the collection that a path belongs to: trailing parameters are members, not collections."""
    segments = [segment for segment in path.split("/") if segment]
    while segments and segments[-1].startswith("{"):
        segments.pop()
    return tuple(segments)


class Followers:
    """Operations that can use what another one answers: members of its collection and what lies below."""

    def __init__(self, paths: Mapping[Label, str]) -> None:
        self._paths = paths

    def of(self, label: Label) -> Sequence[Label]:
        """Those of an operation, in document order."""
        return self._members.get(label, ())

    @cached_property
    def _members(self) -> Mapping[Label, Sequence[Label]]:
        """All of them. Nobody asks where single cases are made."""
        found: dict[tuple[str, ...], list[Label]] = {}
        for label, path in self._paths.items():
            segments = tuple(segment for segment in path.split("/") if segment)
            for place, segment in enumerate(segments):
                if segment.startswith("{"):
                    found.setdefault(segments[:place], []).append(label)
        return {label: found.get(resource_of(path), ()) for label, path in self._paths.items()}


@dataclass(slots=True)
class Explorer:
    """Decides whether and how a sequence goes on."""

    factory: CaseFactory
    followers: Followers
    random: Random
    _dead: set[Label] = field(default_factory=set)

    def follow(
        self, label: Label, verdict: Verdict, *, steps: int, recipe: tuple[int, int, PhaseInfo]
    ) -> GeneratedCase | None:
        """The next case of a sequence of `steps` cases, or None. `recipe` is (task seed, index, phase)."""
        outcome = verdict.outcome
        if steps >= LONGEST or not isinstance(outcome, Response):
            return None
        if not 200 <= outcome.status_code < 300 or self.random.random() > _EXTEND:
            return None
        candidates = [found for found in self.followers.of(label) if found not in self._dead]
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
