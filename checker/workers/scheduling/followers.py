"""Next steps of sequences: made when their answers are there, waiting for a lane."""

from collections import deque
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from checker.core.digests import case_id, digest
from checker.core.errors import CheckerError
from checker.core.meta import Step
from checker.phases.attempt import Verdict
from checker.phases.bindings import resolved
from checker.phases.making import GeneratedCase
from checker.workers.context import WorkerContext
from checker.workers.leaving import LeavingKind
from checker.workers.recording.leased import SAVED_INDEX, InFlight, LeasedTask
from checker.workers.recording.unconfirmed import Chain, JudgedCase, before_in
from checker.workers.scheduling.crash_suspects import is_accused


class Follower(Struct):
    """The next step of a sequence; the first one of what failed in an earlier run."""

    running: LeasedTask
    index: int
    made: GeneratedCase
    chain: Chain = ()
    """What was sent before it."""
    rest: tuple[Step, ...] = ()
    """What follows it, where that is known."""
    slot: int | None = None
    """That of the step before, where a sequence is one index: whoever dies in between has it made again."""


class FollowerQueue:
    """Those of one worker, first come, first sent. Each counts as flying already."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._waiting: deque[Follower] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Follower]:
        return iter(self._waiting)

    def pop_ready(self, *, has_slot: bool) -> Follower | None:
        """The next one that can fly: where no slot is free, of those that have theirs from the step before."""
        for one in self._waiting:
            if has_slot or one.slot is not None:
                self._waiting.remove(one)
                return one
        return None

    def pop_before(self, index: int) -> Follower | None:
        """The next step of an earlier sequence: what failed later waits for it."""
        for one in self._waiting:
            if one.slot is not None and one.index < index:
                self._waiting.remove(one)
                return one
        return None

    def dropped(self, *, finishes_sequences: bool) -> list[Follower]:
        """Those that nobody sends any more: all, or all but steps of sequences that are one index."""
        dropped = [one for one in self._waiting if one.slot is None or not finishes_sequences]
        self._waiting = deque(one for one in self._waiting if one not in dropped)
        return dropped

    def add_saved(self, running: LeasedTask) -> None:
        """What failed in earlier runs: sequences where sequences are made, single cases elsewhere."""
        context, task = self._context, running.task
        saved = [steps for label in task.labels for steps in context.saved.load(label)]
        for number, steps in enumerate(saved):
            if (len(steps) > 1 and running.is_closed) or (len(steps) == 1 and running.is_chained):
                continue
            name = digest("saved", task.id, str(number))[:12]
            try:
                made = context.factory.remake(steps[0], name=name, phase=running.phase)
            except CheckerError:
                # It was made from another description; the operation's own turn says what is wrong with this one.
                context.saved.forget(steps)
                continue
            except Exception as error:  # noqa: BLE001 - the wall: it costs this example only
                context.saved.forget(steps)
                context.recorder.gave_up(steps[0].label, task.phase, error)
                continue
            running.flying += 1
            self._waiting.append(Follower(running, SAVED_INDEX + number, made, (), steps[1:]))

    def extend(
        self, flight: InFlight, verdict: Verdict, *, is_news: bool, leaving: LeavingKind | None
    ) -> None:
        """Let a sequence go on, if something can use its answer. `leaving`: why the worker makes nothing new."""
        running = flight.running
        if running.is_closed:
            return
        if leaving is not None and not (leaving is LeavingKind.MEMORY and running.is_chained):
            return
        chain = (*flight.chain, JudgedCase(flight.made, verdict))
        if running.is_chained or flight.rest:
            follower = self._next_step(flight, chain)
            flight.goes_on = follower is not None
        elif is_news or is_accused(running, flight.index):
            # Making what follows may be what killed the worker: nobody dies of the same sequence twice.
            return
        else:
            follower = self._explored(flight, chain)
        if follower is not None:
            running.flying += 1  # until it is begun, so that its task does not end before
            self._waiting.append(follower)

    def _next_step(self, flight: InFlight, chain: Chain) -> Follower | None:
        """In the slot of the step before. What others have found must not decide what is sent."""
        running, context = flight.running, self._context
        if flight.rest:
            step, sent = flight.rest[0], before_in(chain)
            step = replace(
                step, bindings=tuple(resolved(binding, sent) for binding in step.bindings)
            )
            name = flight.made.case.id
            made = context.factory.remake(step, name=name, phase=running.phase)
            return Follower(running, flight.index, made, chain, flight.rest[1:], flight.slot)
        if not flight.is_counted:
            return None
        seed = running.task.seed
        found = context.chains.follow(before_in(chain), seed, flight.index, running.phase)
        if found is None or self._is_held_back(running, found):
            return None
        return Follower(running, flight.index, found, chain, slot=flight.slot)

    def _is_held_back(self, running: LeasedTask, made: GeneratedCase) -> bool:
        """Whether a step would end what others need: only tasks of its own operation send it."""
        return made.label in self._context.held_back and made.label not in running.task.labels

    def _explored(self, flight: InFlight, chain: Chain) -> Follower | None:
        running = flight.running
        index = running.extra_index()
        recipe = (running.task.seed, index, running.phase)
        hill_climber = self._context.hill_climber
        if hill_climber is not None:
            variant = hill_climber.variant(flight.made.label, case_id(*recipe[:2]), running.phase)
            if variant is not None:
                return Follower(running, index, variant)
        made = self._context.explorer.follow(before_in(chain), recipe)
        if made is None or made.label in running.dead_labels:
            return None
        return Follower(running, index, made, chain)
