"""Sequences that failed, sent again: with what their producers answer this time, without the steps that do not matter, smaller."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from checker.core.digests import digest
from checker.core.errors import CheckerError
from checker.core.meta import PhaseInfo
from checker.core.resources import REMOVING
from checker.core.send import Purpose
from checker.generation.sources.context import Rejected
from checker.generation.sources.shrinking import ShrinkBudget
from checker.phases.attempt import Tools
from checker.phases.bindings import SentCase, resolved, without_step
from checker.phases.case_factory import CaseFactory, GeneratedCase
from checker.phases.shrinking import ShrinkPlan, StillFails, content_of, shrink_case
from checker.workers.failures.fresh_names import FreshNames
from checker.workers.recording.unconfirmed import Chain, JudgedCase, before_in


class StepSender(Protocol):
    """Sends one step after others and judges the answer."""

    def __call__(self, made: GeneratedCase, purpose: Purpose, earlier: Sequence[JudgedCase]) -> JudgedCase: ...


class SequenceReplay(Struct):
    """Sends the steps of one sequence once more."""

    factory: CaseFactory
    phase: PhaseInfo
    send: StepSender
    tools: Tools
    names: FreshNames

    def replayed(self, chain: Sequence[GeneratedCase], purpose: Purpose = Purpose.CONFIRM) -> Chain:
        """All steps, each with the values that earlier ones gave this time, and with new names where those of before are taken."""
        shots: list[JudgedCase] = []
        for made in chain:
            remade = self.names.given(self.factory, self.tools, self._remade(made, shots))
            shot = self.send(remade, purpose, shots)

            def again(other: GeneratedCase) -> JudgedCase:
                return self.send(other, purpose, shots)

            shots.append(self.names.sent(self.factory, self.tools, shot, again))
        return tuple(shots)

    def without_idle_steps(self, chain: Chain, fails: Callable[[JudgedCase], bool]) -> Chain:
        """The sequence without the steps that it fails without, the latest first.

        Whose values a later step takes stays: with a value of yesterday the failure would be of that day's state.
        """
        for number in range(len(chain) - 2, -1, -1):
            steps = [shot.made for shot in chain]
            if any(number in _steps_bound(made) for made in steps[number + 1 :]):
                continue
            shorter = self.replayed(list(_dropped(steps, number)))
            kept = (*chain[:number], *chain[number + 1 :])
            if fails(shorter[-1]) and are_served_as(kept, shorter):
                chain = shorter
        return chain

    def _remade(self, made: GeneratedCase, earlier: Sequence[JudgedCase]) -> GeneratedCase:
        return self.following(made, before_in(earlier))

    def following(self, made: GeneratedCase, sent: Sequence[SentCase]) -> GeneratedCase:
        """A step with the values that earlier ones gave this time. Raises whatever making a case does."""
        bindings = tuple(resolved(binding, sent) for binding in made.bindings)
        name = digest("confirmed", made.case.id)[:12]
        return self.factory.remake(replace(made.step, bindings=bindings), name=name, phase=self.phase)


class SequenceShrink(Struct):
    """Makes each step of a sequence small, the last one first: what leads to it has to fail it again each time."""

    replay: SequenceReplay
    wanted: Callable[[JudgedCase], bool]
    """Whether the last step failed as it should; raises `ShrinkingStopped` when nothing more is to be sent."""
    may_send: Callable[[], None]
    """Raises `ShrinkingStopped` as well: asked before each candidate."""
    requests: int
    """That all of it may take."""
    executions: int = 0
    is_finished: bool = True

    def shrunk(self, chain: Chain) -> Chain:
        """The smallest sequence that still failed."""
        share = self.requests // (len(chain) ** 2)
        if share <= 0:
            self.is_finished = False
            return chain
        for number in range(len(chain) - 1, -1, -1):
            steps = [shot.made for shot in chain]
            plan = ShrinkPlan(
                digest("shrunk", steps[number].case.id)[:12], self.replay.phase, ShrinkBudget(executions=share)
            )
            try:
                result = shrink_case(self.replay.factory, steps[number], self._still_fails(chain, number), plan)
            except (CheckerError, Rejected):
                # One step that cannot be drawn anew stays as it is.
                continue
            self.executions += result.executions * len(chain)
            self.is_finished = self.is_finished and result.finished
            if content_of(result.made.case) == content_of(steps[number].case):
                continue
            smaller = self.replay.replayed([*steps[:number], result.made, *steps[number + 1 :]])
            if self.wanted(smaller[-1]) and are_served_as(chain, smaller):
                chain = smaller
        return chain

    def _still_fails(self, chain: Chain, number: int) -> StillFails:
        steps = [shot.made for shot in chain]

        def still_fails(candidate: GeneratedCase) -> bool:
            self.may_send()
            tried = [*steps[:number], candidate, *steps[number + 1 :]]
            shots = self.replay.replayed(tried, Purpose.SHRINK)
            return self.wanted(shots[-1]) and are_served_as(chain, shots)

        return still_fails


def are_served_as(before: Chain, now: Chain) -> bool:
    """Whether each step that was served before the last one is served again: those that are refused make nothing.

    What stands is then of earlier requests, and the sequence fails nowhere else.
    """
    return all(shot.is_served or not known.is_served for known, shot in zip(before[:-1], now[:-1], strict=True))


def _steps_bound(made: GeneratedCase) -> set[int]:
    return {one.step for one in made.bindings if one.expression and not one.stands_alone}


def follows(made: GeneratedCase) -> bool:
    """Whether a step holds values that others gave."""
    return not all(one.stands_alone for one in made.bindings)


def cut_off(made: GeneratedCase) -> GeneratedCase:
    """A step without those before it: its values stay as they were."""
    return replace(made, bindings=tuple(replace(one, step=-1) for one in made.bindings))


def _dropped(steps: Sequence[GeneratedCase], number: int) -> Iterator[GeneratedCase]:
    for place, made in enumerate(steps):
        if place != number:
            yield replace(made, bindings=without_step(made.bindings, number))


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
        """Return the shortest sequence that failed again; None if none did.

        A last case that took values from the steps before it is confirmed with them first: alone it may fail for the
        state that they left behind, and no user could reproduce that.
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
            return replay.names.confirmed(replay.factory, replay.tools, alone, self.again, self.fails)
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
        """Whether the target repeatedly reports the removed resource as missing, and shows it right afterwards.

        Such a sequence cannot be sent again: its thing is removed only once. Who made that thing anew meanwhile, or removed
        it, would have to come between each two of these requests. What is not shown proves nothing: whoever removed a thing,
        it stays away.
        """
        if not chain[-1].is_served:
            return False
        removals = [
            shot for shot in chain[:-1] if shot.made.case.operation.resource_method == REMOVING and shot.is_served
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
