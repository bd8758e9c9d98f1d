"""The follow-up cases of `fuzz`: further steps of sequences whose resources still exist, and cases with the newest values."""

from collections import Counter, defaultdict
from random import Random
from typing import Final

from msgspec import Struct, field

from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.resources import ResourceModel
from checker.core.response import Response
from checker.phases.case_factory import CaseFactory, GeneratedCase, is_safe
from checker.phases.sequences import SequenceBuilder, unchanged
from checker.workers.recording.unconfirmed import Chain, before_in

State = tuple[Label, ...]
"""The operations of a sequence that have changed something, each once, by their first success."""
_EXTENDED: Final = 0.3  # Share of the successes after which a case with values of the pool follows.
_RESUMED: Final = 0.5
"""Share of other responses after which a kept sequence is continued, while this shows new behaviour."""
_LEAST: Final = 1 / 16
"""Least share of other responses after which a kept sequence is continued, if further steps have shown nothing new for long. On
a small, fully explored API, a share of a half costs a third of the requests.
"""
_PATIENCE: Final = 100  # Further steps without new behaviour after which the share is halved.
_MOST: Final = 64  # Sequences that are kept, each in a different state.
_LONGEST: Final = 12  # Steps of a sequence.
_MOST_BYTES: Final = 32 << 10  # Bytes of a response in a kept sequence.
_MOST_STATES: Final = 4096
_MISSING: Final = (404, 410)


class Explorer(Struct):
    """Chooses the step that follows a response, if there is one.

    Creating an order may take five requests. Each request that uses the order without changing it takes only one more.
    So sequences are kept, and the next step is the operation that was tried least in the state that was tried least.
    """

    factory: CaseFactory
    model: ResourceModel
    random: Random
    chains: SequenceBuilder
    _kept: dict[State, Chain] = field(default_factory=dict)
    """State -> the latest sequence with this state, the latest state last."""
    _tried: defaultdict[State, Counter[Label]] = field(default_factory=lambda: defaultdict(Counter))
    """State -> operations that followed in sequences with this state."""
    _counts: dict[State, int] = field(default_factory=dict)
    """State -> number of operations that followed; for all kept states, and some others."""
    _dead: set[Label] = field(default_factory=set)
    _dull: int = 0  # Further steps in a row without new behaviour. New behaviour halves the number.

    def follow(
        self, chain: Chain, recipe: tuple[int, int, PhaseInfo], *, is_news: bool
    ) -> tuple[Chain, GeneratedCase] | None:
        """Return a case after the last response of a sequence, and the sequence that it continues; None if there is none.

        `recipe` is (task seed, index, phase). `is_news`: whether the response showed new behaviour.
        """
        # The last step is dropped from the kept sequence if it was refused, or if it only shows what another step shows.
        last, kept = chain[-1], chain
        reads = unchanged(before_in(chain[:-1])) if is_safe(last.made.case) and len(chain) > 1 else ()
        if not last.is_served or any(one.operation.label == last.made.label for one in reads):
            kept = chain[:-1]
        shown = kept[-1].verdict.outcome if kept else None
        is_short = len(kept) < _LONGEST and isinstance(shown, Response) and len(shown.content) <= _MOST_BYTES
        if is_short and last.status not in _MISSING:
            state = state_of(kept)
            self._kept.pop(state, None)
            self._kept[state] = kept
            self._counts.setdefault(state, 0)
            if len(self._kept) > _MOST:
                del self._kept[max(self._kept, key=self._counts.__getitem__)]
        if len(chain) > 1:
            self._dull = self._dull // 2 if is_news else self._dull + 1
        made = self._extended(chain, recipe)
        if made is not None:
            return chain, made
        share = max(_LEAST, _RESUMED * _PATIENCE / (_PATIENCE + self._dull))
        return self._resumed(recipe) if self._kept and self.random.random() < share else None

    def _resumed(self, recipe: tuple[int, int, PhaseInfo]) -> tuple[Chain, GeneratedCase] | None:
        """Return a further step of the sequence whose state was tried least. Of several such sequences, the latest is continued."""
        if len(self._counts) > _MOST_STATES:
            self._tried.clear()
            self._counts = dict.fromkeys(self._kept, 0)
        state = min(reversed(self._kept), key=self._counts.__getitem__)
        chain = self._kept.pop(state)
        tried = self._tried[state]
        made = self.chains.follow(before_in(chain), *recipe, tried=tried)
        if made is None:
            return None
        tried[made.label] += 1
        self._counts[state] += 1
        return chain, made

    def _extended(self, chain: Chain, recipe: tuple[int, int, PhaseInfo]) -> GeneratedCase | None:
        """Return a case of an operation that can use the last response."""
        last = chain[-1]
        if self.random.random() > _EXTENDED or len(chain) >= _LONGEST or not last.is_served:
            return None
        candidates = [found for found in self.model.followers(last.made.label) if found not in self._dead]
        if not candidates:
            return None
        chosen = self.random.choice(candidates)
        try:
            return self.factory.make(chosen, *recipe, newest=True)
        except CheckerError:
            # The task of the operation reports why no case can be made.
            self._dead.add(chosen)
            return None


def state_of(chain: Chain) -> State:
    """Return the state of a sequence. A step that uses no value of the sequence has created something else and does not count."""
    found: dict[Label, None] = {}
    for shot in chain:
        is_new = shot.made.label not in found and not is_safe(shot.made.case)
        # No generator is used here, because it would cost a call for each binding.
        if is_new and shot.is_served and (shot is chain[0] or [one for one in shot.made.bindings if one.expression]):
            found[shot.made.label] = None
    return tuple(found)
