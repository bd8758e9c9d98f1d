"""The replay of failing sequences: with the values of new responses, without unnecessary steps, with smaller steps."""

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
from checker.phases.attempt import Tools
from checker.phases.bindings import SentCase, resolved, without_step
from checker.phases.case_factory import CaseFactory, GeneratedCase
from checker.phases.shrinking import content_of, shrink_case
from checker.workers.failures.fresh_names import FreshNames
from checker.workers.failures.result import InvestigationResult
from checker.workers.jobs import Job, answered
from checker.workers.recording.investigation_budget import spent_after
from checker.workers.recording.unconfirmed import Chain, JudgedCase, before_in


class StepSender(Protocol):
    """Sends one step after others and judges the response."""

    def __call__(self, made: GeneratedCase, purpose: Purpose, earlier: Sequence[JudgedCase]) -> Job[JudgedCase]: ...


class SequenceReplay(Struct):
    """Sends the steps of one sequence once more."""

    factory: CaseFactory
    phase: PhaseInfo
    send: StepSender
    tools: Tools
    names: FreshNames

    def replayed(self, chain: Sequence[GeneratedCase], purpose: Purpose = Purpose.CONFIRM) -> Job[Chain]:
        """Send all steps, each with the values that earlier ones gave this time, and with new names where the old ones are taken."""
        shots: list[JudgedCase] = []
        for made in chain:
            remade = self.names.given(self.factory, self.tools, self.following(made, before_in(shots)))
            shot = yield from self.send(remade, purpose, shots)

            def again(other: GeneratedCase) -> Job[JudgedCase]:
                return (yield from self.send(other, purpose, shots))

            shots.append((yield from self.names.sent(self.factory, self.tools, shot, again)))
        return tuple(shots)

    def without_idle_steps(self, chain: Chain, fails: Callable[[JudgedCase], bool]) -> Job[Chain]:
        """Return the sequence without the steps that it fails without, the latest first.

        Whose values a later step takes stays: with a value of yesterday the failure would be of that day's state.
        """
        for number in range(len(chain) - 2, -1, -1):
            steps = [shot.made for shot in chain]
            if any(number in _steps_bound(made) for made in steps[number + 1 :]):
                continue
            shorter = yield from self.replayed(list(_dropped(steps, number)))
            kept = (*chain[:number], *chain[number + 1 :])
            if fails(shorter[-1]) and are_served_as(kept, shorter):
                chain = shorter
        return chain

    def following(self, made: GeneratedCase, sent: Sequence[SentCase]) -> GeneratedCase:
        """Return a step with the values of the new responses of earlier steps. Raises the errors of making a case."""
        bindings = tuple(resolved(binding, sent) for binding in made.bindings)
        name = digest("confirmed", made.case.id)[:12]
        return self.factory.remake(replace(made.step, bindings=bindings), name=name, phase=self.phase)


def shrink_sequence(
    replay: SequenceReplay,
    result: InvestigationResult,
    shows: Callable[[JudgedCase], bool],
    most: int,
    end_reason: Callable[[], str],
) -> Job[None]:
    """Make each step of the sequence of `result` small, the last one first, with at most so many requests.

    `shows` tells whether the last step failed as it should: each candidate is a whole sequence.
    """
    chain = result.chain
    share = most // (len(chain) ** 2)
    is_finished = share > 0
    for number in range(len(chain) - 1, -1, -1) if is_finished else ():
        steps = [shot.made for shot in chain]
        tried = 0

        def still_fails(
            candidate: GeneratedCase, chain: Chain = chain, steps: Sequence[GeneratedCase] = steps, number: int = number
        ) -> Job[bool | None]:
            nonlocal tried, is_finished
            if tried < share:
                result.stopped = end_reason()
            if tried >= share or result.stopped:
                is_finished = False
                return None
            tried += 1
            shots = yield from replay.replayed([*steps[:number], candidate, *steps[number + 1 :]], Purpose.SHRINK)
            return shows(shots[-1]) and are_served_as(chain, shots)

        name = digest("shrunk", steps[number].case.id)[:12]
        try:
            search = shrink_case(replay.factory, steps[number], name, replay.phase)
            shrunk = yield from answered(search, still_fails)
        except (CheckerError, Rejected):
            # A step that cannot be drawn again stays as it is.
            continue
        result.executions += tried * len(chain)
        if content_of(shrunk.made.case) == content_of(steps[number].case):
            continue
        smaller = yield from replay.replayed([*steps[:number], shrunk.made, *steps[number + 1 :]])
        if shows(smaller[-1]) and are_served_as(chain, smaller):
            chain = smaller
    result.chain = chain
    if not is_finished and not result.stopped:
        result.stopped = spent_after(result.executions)


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
    again: Callable[[GeneratedCase, Iterable[JudgedCase]], Job[JudgedCase]]
    """Sends a case with the values of its record, and judges it after earlier steps."""
    fails: Callable[[JudgedCase], bool]
    """Whether that is the failure again."""

    def shortest(self, chain: Chain) -> Job[Chain | None]:
        """Return the shortest sequence that failed again; None if none did.

        A last case that took values from the steps before it is confirmed with them first: alone it may fail for the
        state that they left behind, and no user could reproduce that.
        """
        last = cut_off(chain[-1].made)
        if len(chain) > 1 and follows(last):
            whole = yield from self._whole(chain)
            if whole is not None:
                return whole
        alone = yield from self.again(last, ())
        if self.fails(alone):
            return (alone,)
        if len(chain) == 1:
            replay = self.replay
            return (yield from replay.names.confirmed(replay.factory, replay.tools, alone, self.again, self.fails))
        if follows(last):
            return None
        return (yield from self._whole(chain))

    def repeats(self, chain: Chain) -> Job[bool]:
        """Return whether a sequence fails every further time.

        Another request of the run may come between two steps once, and once more while that is confirmed.
        """
        steps = [shot.made for shot in chain]
        for _ in range(REPETITIONS):
            shots = yield from self.replay.replayed(steps)
            if not self.fails(shots[-1]):
                return False
        return True

    def stays_after_removal(self, chain: Chain) -> Job[bool]:
        """Return whether the target repeatedly reports the removed resource as missing, and shows it right afterwards.

        Such a sequence cannot be sent again: its thing is removed only once. Who made that thing anew meanwhile, or removed
        it, would have to come between each two of these requests. What is not shown proves nothing: whoever removed a thing,
        it stays away.
        """
        if not chain[-1].is_served:
            return False
        removals = [
            shot for shot in chain[:-1] if shot.made.case.operation.resource_method == REMOVING and shot.is_served
        ]
        for _ in range(REPETITIONS if removals else 0):
            missing = yield from self.again(removals[-1].made, chain[:-1])
            if missing.said_status not in _NOT_THERE:
                return False
            shown = yield from self.again(chain[-1].made, chain[:-1])
            if not self.fails(shown):
                return False
        return bool(removals)

    def _whole(self, chain: Chain) -> Job[Chain | None]:
        """Return the steps that a sequence needs, if it failed again."""
        whole = yield from self.replay.replayed([shot.made for shot in chain])
        if not self.fails(whole[-1]):
            return None
        return (yield from self.replay.without_idle_steps(whole, self.fails))
