"""Whether a failure happens again: alone, with the steps that it needs, or by what the target says of a thing that is gone."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from checker.core.resources import REMOVING
from checker.phases.making import GeneratedCase
from checker.workers.failures.sequences import SequenceReplay, cut_off, follows
from checker.workers.recording.unconfirmed import Chain, JudgedCase

REPETITIONS = 2
"""So often a failure that other requests may cause has to happen again after it was confirmed."""
_NOT_THERE = frozenset((404, 410))


class Confirmation(Struct):
    """Sends what showed one failure again."""

    replay: SequenceReplay
    again: Callable[[GeneratedCase, Iterable[JudgedCase]], JudgedCase]
    """Sends a case with the values of its record, and judges it after earlier ones."""
    fails: Callable[[JudgedCase], bool]
    """Whether that is the failure again."""

    def shortest(self, chain: Chain) -> Chain | None:
        """The shortest sequence that failed again; None if nothing did.

        A last case that took values from the steps before it is confirmed with them first: alone it may fail for the
        state that they left behind, and nobody else could reproduce that.
        """
        last = cut_off(chain[-1].made)
        if len(chain) > 1 and follows(last):
            whole = self._whole(chain)
            if whole is not None:
                return whole
        alone = self.again(last, ())
        if self.fails(alone):
            return (alone,)
        if len(chain) == 1:
            replay = self.replay
            return replay.names.confirmed(
                replay.factory, replay.tools, alone, self.again, self.fails
            )
        if follows(last):
            return None
        return self._whole(chain)

    def repeats(self, chain: Chain) -> bool:
        """Whether a sequence fails every further time.

        Another request of the run may come between two steps once, and once more while that is confirmed.
        """
        steps = [shot.made for shot in chain]
        return all(self.fails(self.replay.replayed(steps)[-1]) for _ in range(REPETITIONS))

    def stays_after_removal(self, chain: Chain) -> bool:
        """Whether the target says every time that what the sequence removed is not there, and shows it right after that.

        Such a sequence cannot be sent again: its thing is removed only once. Who made that thing anew meanwhile, or removed
        it, would have to come between each two of these requests. What is not shown proves nothing: whoever removed a thing,
        it stays away.
        """
        if not chain[-1].is_served:
            return False
        removals = [
            shot
            for shot in chain[:-1]
            if shot.made.case.operation.resource_method == REMOVING and shot.is_served
        ]
        return bool(removals) and all(
            self.again(removals[-1].made, chain[:-1]).said_status in _NOT_THERE
            and self.fails(self.again(chain[-1].made, chain[:-1]))
            for _ in range(REPETITIONS)
        )

    def _whole(self, chain: Chain) -> Chain | None:
        """The steps that a sequence needs, if it failed again."""
        whole = self.replay.replayed([shot.made for shot in chain])
        return self.replay.without_idle_steps(whole, self.fails) if self.fails(whole[-1]) else None
