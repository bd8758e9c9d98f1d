"""Chooses the next request: first the next step of a running sequence, then the case that was made ahead, then the next case of a task."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.rules import denies_state
from checker.core.case import Case
from checker.core.digests import case_id, digest
from checker.core.errors import CheckerError, HookError
from checker.core.meta import Step
from checker.core.operation import Label
from checker.core.phases import CaseSource
from checker.core.request import ANY_CHECK
from checker.core.resources import ACCEPTED, SAFE
from checker.core.response import Response
from checker.core.security import UNAUTHORIZED
from checker.corpus.codec import pack
from checker.corpus.inflight import Stage
from checker.corpus.known import TRIES
from checker.corpus.records import CONFIRMED, FIXED, FLAKY, NOT_REPRODUCED, FindingReplayed, Quarantined
from checker.generation.sources.context import Rejected
from checker.health import GATEWAY, HEALTH_CHECK, TOO_MANY
from checker.phases.attempt import Verdict, attempt, probe
from checker.phases.bindings import resolved
from checker.phases.case_factory import (
    CaseMaker,
    EachOnce,
    Exhausted,
    FilteredOut,
    GeneratedCase,
    LeftOutFirst,
    RecalledFirst,
    SmallestFirst,
    is_safe,
    key_of,
)
from checker.workers.context import Activity, WorkerContext
from checker.workers.messages import EXTRA_INDEX, LeavingKind, Replay, Task
from checker.workers.queues import Sender
from checker.workers.recording.task_state import PROBE_INDEX, SAVED_INDEX, InFlight, LeasedTask, given_back
from checker.workers.recording.unconfirmed import Chain, JudgedCase, before_in


class TaskCounts(Struct):
    """Records progress, and returns finished tasks."""

    context: WorkerContext
    _met: set[tuple[int | str, ...]] = field(default_factory=set)
    """Statuses and places of operations that are recorded already."""
    _last: LeasedTask | None = None  # The task that was counted last. It reports time that belongs to no task.

    def report(self, tasks: Iterable[LeasedTask]) -> None:
        """Record the counts of each task since its last report. The times of the worker go with the first task."""
        recorder, ledger = self.context.recorder, self.context.ledger
        for running in tasks:
            if running.requests or running.cases or running.is_over(0.0, leaving=False):
                recorder.progress(running, ledger.take())
                running.counted()
                self._last = running

    def keep_firsts(self, running: LeasedTask) -> None:
        """Commit the first occurrences in a task at once, so that the death of a worker does not change the report."""
        if not running.firsts <= self._met:
            self._met |= running.firsts
            self.report((running,))
            self.context.recorder.flush()
        running.firsts.clear()

    def hand_in(self, over: Sequence[LeasedTask], up: Sender) -> None:
        """Return finished tasks to the supervisor."""
        if not over:
            return
        # The records are written first: a finished task is never leased again, so unwritten parts would be lost.
        recorder = self.context.recorder
        self.context.ledger.enter(Activity.RECORD)
        self.report(over)
        recorder.keep(self.context.subject.classes.news())
        recorder.flush()
        up.send(given_back(over))

    def report_rest(self) -> None:
        """Record the time since the last report, with the task that was reported last."""
        if self._last is not None:
            self.context.recorder.progress(self._last, self.context.ledger.take())


_UNPROVING = UNAUTHORIZED | GATEWAY | {TOO_MANY, 503, 404, 409, 410, 412}
"""Statuses that do not prove that a failure is fixed, because the refusal may have another reason than in the earlier run."""


def is_reached(chain: Chain, then: Sequence[int | None]) -> bool:
    """Whether responses that do not show a finding of an earlier run prove that it is fixed.

    The earlier steps have the statuses of `then`, and the last request was handled, or refused as in the earlier run.
    """
    *before, last = (shot.status for shot in chain)
    *before_then, last_then = then or (None,)
    is_prepared = before == before_then[len(before_then) - len(before) :]
    if last == last_then or not is_prepared:
        return is_prepared and last is not None
    response = chain[-1].verdict.outcome
    # An earlier run may have created the name that is in use now.
    return isinstance(response, Response) and last not in _UNPROVING and not denies_state(response)


_AS_DRAWN = "(as it was drawn, before hooks saw it)"


def is_accused(running: LeasedTask, index: int) -> bool:
    """Whether this case was in flight when an earlier worker died."""
    return bool(running.lease.redo) and index in running.lease.redo


def leave_drawn(context: WorkerContext, slot: int, running: LeasedTask, index: int) -> None:
    """Write the case to its slot before hooks receive it, unless hooks control generation.

    If a hook kills the worker, the supervisor reports the request from the slot.
    """
    if context.unhooked is None:
        return
    label = running.label_of(index)
    try:
        make = context.unhooked.maker(running.row)
        made = make(label, running.lease.seed, index, running.phase)
    except CheckerError:
        return
    if command := _command(context, made.case):
        text = f"{command}\n{_AS_DRAWN}"
        _leave(context, slot, _testimony(context, (running, index, label), made.case, text))


def leave_made(context: WorkerContext, flight: InFlight) -> None:
    """Write the command of an accused case to its slot, in its form before the `before_call` hooks.

    A follow-up case of `fuzz` is not made again after a death, so its command is written at the first attempt, if user code
    runs.
    """
    is_risky = Stage.HOOK in (context.stages.calling, context.stages.judging)
    if not is_accused(flight.task, flight.index) and not (is_risky and flight.index >= EXTRA_INDEX):
        return
    step = flight.made.step
    if command := _command(context, flight.made.case):
        accused = (flight.task, flight.index, step.label)
        testimony = _testimony(context, accused, flight.made.case, command)
        _leave(context, flight.slot, replace(testimony, steps=(step,)))


def _testimony(context: WorkerContext, accused: tuple[LeasedTask, int, Label], case: Case, command: str) -> Quarantined:
    running, index, label = accused
    return Quarantined(
        task=running.lease.id,
        label=label,
        index=index,
        case="",
        stage="",
        strikes=0,
        steps=(),
        request=command,
        reason="",
        components=context.recorder.traffic.components.of(case),
    )


def _leave(context: WorkerContext, slot: int, testimony: Quarantined) -> None:
    context.slots.recipe(slot, pack(testimony))


def _command(context: WorkerContext, case: Case) -> str:
    """Return a curl command with secrets masked; empty for a case that cannot be written."""
    try:
        request = context.tools.maker.make(case)
    except (CheckerError, ValueError):
        return ""
    command = context.recorder.reproduction(request)
    return context.recorder.secrets.store.mask(command)


_KNOWN_IN_A_ROW = 16
"""Most known requests that are dropped in a row. The next one is sent, because a task with only such cases would never end."""


# On a service that only reads, half of the safe requests repeated earlier ones (1,623 of 3,362 in 40 s).
class KnownReads(Struct):
    """The safe requests of a `fuzz` task since the target may have changed last. Sending them again would give the same responses.

    All operations that use the same resources belong to one task, so requests of other tasks do not matter.
    """

    _keys: set[tuple[Label, bytes]] = field(default_factory=set)  # (operation, key of the request).
    _in_a_row: int = 0  # Known requests that were dropped since the last sent one.
    _changes_later: bool = False  # Whether the target answered 202, so that it may change at any later time.

    def is_new(self, case: Case) -> bool:
        """Whether to send a request: it may change something, was not sent before, or follows `_KNOWN_IN_A_ROW` dropped requests."""
        if self._changes_later or not is_safe(case):
            return True
        key = case.operation.label, key_of(case)
        is_known = key in self._keys and self._in_a_row < _KNOWN_IN_A_ROW
        self._in_a_row = self._in_a_row + 1 if is_known else 0
        self._keys.add(key)
        return not is_known

    def saw(self, case: Case, status: int) -> None:
        """Forget the requests if something may have changed. `status` is 0 without a response."""
        # 202 announces a change at an unknown later time (RFC 9110, 15.3.3).
        self._changes_later |= status == ACCEPTED
        # A server error, or a missing response, may follow a change that was made.
        if not is_safe(case) and not 400 <= status < 500:
            self._keys.clear()


class Follower(Struct):
    """A case that waits for a lane: the next step of a sequence, or the first step of a saved failure."""

    task: LeasedTask
    index: int
    made: GeneratedCase
    chain: Chain = ()  # The requests that were sent before it.
    rest: tuple[Step, ...] = ()  # The steps after it, if they are known.
    slot: int | None = None
    """The slot of the previous step, if the whole sequence is one index. If the worker dies in between, the sequence is made again."""


class FollowerQueue:
    """The follow-up cases of one worker, first in, first out. Each counts as in flight."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self.waiting: deque[Follower] = deque()
        self.reads: dict[str, KnownReads] = {}
        """By the id of a held `fuzz` task."""

    def pop_ready(self, *, has_slot: bool, before: int | None = None) -> Follower | None:
        """Remove and return the first case that can be sent; None if there is none.

        With `before`, only cases below that index are sent, because a failure at that index is investigated after all
        earlier cases. Without a free slot, only a step that has the slot of its previous step can be sent.
        """
        for one in self.waiting:
            if (has_slot or one.slot is not None) and (before is None or one.index < before):
                self.waiting.remove(one)
                return one
        return None

    def dropped(self, *, finishes_sequences: bool) -> list[Follower]:
        """Remove and return the waiting cases: all, or all except the next steps of begun sequences."""
        dropped = [one for one in self.waiting if one.slot is None or not finishes_sequences]
        self.waiting = deque(one for one in self.waiting if one not in dropped)
        return dropped

    def add_saved(self, running: LeasedTask) -> None:
        """Add saved failures of earlier runs: sequences to tasks of sequences, single cases to other tasks."""
        context, task = self._context, running.lease
        saved = [steps for label in task.labels for steps in context.saved.load(label)]
        for number, steps in enumerate(saved):
            if (len(steps) > 1 and running.is_closed) or (len(steps) == 1 and running.is_chained):
                continue
            name = digest("saved", task.id, str(number))[:12]
            try:
                made = context.factory.remake(steps[0], name=name, phase=running.phase)
            except CheckerError:
                # The example belongs to another version of the description. Errors of the current version are reported
                # when the operation is tested.
                context.saved.forget(steps)
                continue
            except Exception as error:  # noqa: BLE001 - an error costs only this example
                context.saved.forget(steps)
                context.recorder.gave_up(steps[0].label, task.phase, error)
                continue
            running.flying += 1
            self.waiting.append(Follower(running, SAVED_INDEX + number, made, (), steps[1:]))

    def replay(self, running: LeasedTask, replay: Replay, number: int = 0) -> None:
        """Add a try of a finding of an earlier run."""
        name = digest("replay", replay.fingerprint, str(number))[:12]
        made = self._remade(running, replay.steps[0], name)
        if made is not None:
            running.flying += 1
            self.waiting.append(Follower(running, SAVED_INDEX + number, made, (), replay.steps[1:]))

    def _remade(self, running: LeasedTask, step: Step, name: str) -> GeneratedCase | None:
        """Return the case of a step; None if the description has changed. For a replay, the result is then recorded."""
        try:
            return self._context.factory.remake(step, name=name, phase=running.phase)
        except Exception as error:
            # Errors of the current description are reported elsewhere.
            if running.lease.replay is not None:
                self._note_replay(running.lease.replay, NOT_REPRODUCED)
            elif not (running.lease.first.recalled and isinstance(error, CheckerError | Rejected)):
                raise
            return None

    def _judge_replay(self, flight: InFlight, chain: Chain, replay: Replay, *, may_retry: bool) -> None:
        """Record the result after the last step of a replayed finding, or add another try."""
        number, last = flight.index - SAVED_INDEX, chain[-1]
        failures = last.verdict.judgement.failures
        if any(one.fingerprint(last.made.label) == replay.fingerprint for one in failures):
            self._note_replay(replay, FLAKY if number else CONFIRMED)
        elif replay.check not in (HEALTH_CHECK, *self._context.tools.judge_of(last.made.case).names):
            # The check is disabled in this run, so the replay proves nothing.
            return
        elif number + 1 == TRIES:
            is_like = any(one.check == replay.check for one in failures)
            request, recorder = last.verdict.request, self._context.recorder
            # With a changed description, the same choices may make a different request, which proves nothing. Requests
            # are compared in masked form, because records contain references in place of secrets.
            sent = None if request is None else recorder.secrets.masked((request.target, request.body))
            is_same = replay.sent in (None, sent)
            is_fixed = replay.shows_surely and is_same and not is_like and is_reached(chain, replay.statuses)
            # If another case of the run shows the same failure, this request only failed to reproduce it.
            is_seen = replay.fingerprint in recorder.defects.fingerprints
            self._note_replay(replay, FLAKY if is_seen else FIXED if is_fixed else NOT_REPRODUCED)
        elif may_retry:
            self.replay(flight.task, replay, number + 1)

    def _note_replay(self, replay: Replay, result: str) -> None:
        self._context.recorder.journal.write(FindingReplayed(replay.fingerprint, result, time.time()))

    def add_probes(self, running: LeasedTask, make: CaseMaker) -> None:
        """Add probes for operations that accepted no case in their first task, each with its smallest case."""
        task, probed = running.lease, self._context.knowledge.probed
        for number, label in enumerate(task.labels):
            if probed.is_begun(task.id, label):
                continue
            probed.begin(task.id, label)
            try:
                made = make(label, task.seed, number, running.phase)
            except CheckerError:
                # The operation has no case, or hooks reject it. This is reported elsewhere.
                continue
            if not self._context.tools.judge_of(made.case).may_probe(made.case):
                continue
            made.case.id = digest("probe", task.id, label)[:12]
            running.flying += 1
            self.waiting.append(Follower(running, PROBE_INDEX + number, made))

    def extend(self, flight: InFlight, verdict: Verdict, *, is_news: bool, leaving: LeavingKind | None) -> None:
        """Queue the next step of a sequence, if there is one. `leaving` is set if the worker makes no new cases."""
        running = flight.task
        if (reads := self.reads.get(running.lease.id)) is not None:
            reads.saw(flight.made.case, flight.status)
        chain = (*flight.chain, JudgedCase(flight.made, verdict))
        if running.lease.replay is not None and not flight.rest:
            self._judge_replay(flight, chain, running.lease.replay, may_retry=leaving is None)
            return
        if leaving is not None and not (leaving is LeavingKind.MEMORY and running.is_chained):
            return
        if running.is_chained or flight.rest:
            follower = self._next_step(flight, chain)
            flight.goes_on = follower is not None
        elif is_news or (running.lease.redo and is_accused(running, flight.index)):
            # Making the next step may have killed an earlier worker, so it is not made again.
            return
        else:
            follower = self._explored(flight, chain)
        if follower is not None:
            running.flying += 1  # The step counts as in flight, so that its task does not end before it is begun
            self.waiting.append(follower)

    def _next_step(self, flight: InFlight, chain: Chain) -> Follower | None:
        """Return the next step, in the slot of the previous one. It must not depend on findings of other workers."""
        running, context = flight.task, self._context
        if flight.rest:
            step, sent = flight.rest[0], before_in(chain)
            step = replace(step, bindings=tuple(resolved(binding, sent) for binding in step.bindings))
            made = self._remade(running, step, flight.made.case.id)
            return None if made is None else Follower(running, flight.index, made, chain, flight.rest[1:], flight.slot)
        if not flight.is_counted:
            return None
        seed = running.lease.seed
        found = context.explorer.chains.follow(before_in(chain), seed, flight.index, running.phase)
        if found is None or self._is_held_back(running, found):
            return None
        return Follower(running, flight.index, found, chain, slot=flight.slot)

    def _is_held_back(self, running: LeasedTask, made: GeneratedCase) -> bool:
        """Whether a step may end a session, or a resource that other operations need. Only tasks of its own operation send it."""
        return made.label in self._context.held_back and made.label not in running.lease.labels

    def _explored(self, flight: InFlight, chain: Chain) -> Follower | None:
        running = flight.task
        if running.lease.is_last:
            return None
        running.extras += 1
        index = EXTRA_INDEX + running.extras
        recipe = (running.lease.seed, index, running.phase)
        hill_climber = self._context.hill_climber
        if hill_climber is not None:
            variant = hill_climber.variant(flight.made.label, case_id(*recipe[:2]), running.phase)
            if variant is not None:
                return Follower(running, index, variant)
        found = self._context.explorer.follow(chain, recipe, is_news=flight.has_news)
        if found is None:
            return None
        chain, made = found
        if made.label in running.dead_labels or self._is_held_back(running, made):
            return None
        reads = self.reads.get(running.lease.id)
        return Follower(running, index, made, chain) if reads is None or reads.is_new(made.case) else None


MOST_FAULTS = 3
"""Errors of one operation that a task reports. After the last one, the task stops testing the operation."""
_MAKE = Stage.MAKE
_SLOW_TOGETHER = 3  # Requests of one slow operation that are in flight together.
_TOGETHER_S = 0.05  # Seconds between two messages about finished tasks, while the worker has other tasks.


class CaseScheduler:
    """Makes the cases of the tasks of one worker, and decides when a task is finished."""

    def __init__(self, context: WorkerContext, counts: TaskCounts) -> None:
        self.tasks: deque[LeasedTask] = deque()
        self.slow: deque[LeasedTask] = deque()
        """Tasks whose requests are in flight beside those of other tasks."""
        self.may_be_over = False
        """Whether the last request of a task has ended since `over` was called."""
        self._context = context
        self.counts = counts
        self.over_observers: Callable[[InFlight, Verdict], None] = lambda flight, verdict: None
        """Called for each finished case."""
        self._slots = context.slots
        self._is_plain = context.tools.is_plain
        self._makers: dict[str, CaseMaker] = {}
        """By the id of a held task."""
        self._request = context.tools.maker.make
        self._free_slots = list(range(context.lanes.slots))
        self.followers = FollowerQueue(context)
        self._ahead: InFlight | None = None
        self._is_stopped = False
        self._told_at = 0.0
        """When finished tasks were reported last."""
        # With one lane, hooks may rely on seeing one call after the other, so no case is made ahead.
        self._makes_ahead = context.stages.calling is not Stage.HOOK

    @property
    def is_empty(self) -> bool:
        return not (self.tasks or self.slow or self.followers.waiting) and self._ahead is None

    @property
    def held(self) -> list[LeasedTask]:
        return [*self.tasks, *self.slow]

    @property
    def has_made(self) -> bool:
        """Whether a case, or the next step of a sequence, is ready and waits for a lane."""
        return self._ahead is not None or bool(self.followers.waiting)

    def accept(self, task: Task) -> None:
        """Queue a task, with saved failures before its first case."""
        running = LeasedTask.of(task)
        self._context.knowledge.begin(task)
        factory = self._context.factory
        maker = factory.maker(running.row)
        if task.first.sends_smallest:
            maker = SmallestFirst(factory, maker, running.row.first_listed, len(task.labels))
        elif task.first.left_out:
            maker = LeftOutFirst(factory, maker, task.first.left_out, task.stop - len(task.first.recalled))
        # Equal requests are dropped only if nothing changes between them. This is certain for one safe operation.
        is_alone = running.row.source is CaseSource.DRAWN and len(task.labels) == 1
        is_once = is_alone and factory.operations[task.labels[0]].resource_method in SAFE
        maker = EachOnce(maker) if is_once else maker
        recalled = task.first.recalled
        maker = RecalledFirst(factory, maker, recalled, task.first_recalled) if recalled else maker
        self._makers[task.id] = maker
        if running.is_endless:
            self.followers.reads[task.id] = KnownReads()
        # The entry may contain counts of an earlier lease of this task. After a death they would be counted twice.
        running.tally(self._slots)
        (self.slow if task.is_slow else self.tasks).append(running)
        if self._is_stopped:
            running.stop_now()
            return
        if task.replay is not None:
            self.followers.replay(running, task.replay)
            return
        # Only the first lease of a task sends saved failures. After a death they would be sent again without being counted.
        if not task.first.tries_saved or task.start or task.redo or task.skipped or task.again:
            return
        self.followers.add_saved(running)

    def stop(self, *, finishes_sequences: bool = False) -> None:
        """Make no further case. Cases that are ready are still sent, because their indices count as made."""
        self._is_stopped = self.may_be_over = True
        for one in self.followers.dropped(finishes_sequences=finishes_sequences):
            # A waiting step counts as in flight (`extend`). The task would never end if the waiting step stayed counted.
            one.task.flying -= 1
            if one.slot is not None:
                # The earlier steps were sent, so they count.
                flight = InFlight(one.slot, one.task, one.index, one.made, None, one.chain)
                self.over_observers(flight, one.chain[-1].verdict)
                self._slots.leave(one.slot)
                self._free_slots.append(one.slot)
        for running in self.held:
            running.stop_now()

    def defer(self, running: LeasedTask) -> None:
        """Begin no further case of a slow task before the cases of other tasks."""
        running.is_slow = True
        running.stop_now()
        self.tasks.remove(running)
        self.slow.append(running)
        self.may_be_over = True

    def retry(self, flight: InFlight) -> None:
        """Return the index of a case to its task, which makes it again in the next lease."""
        running = flight.task
        running.make_again(flight.index)
        self.release(flight)

    def skip_operations(self, labels: frozenset[Label]) -> None:
        """Stop making cases of operations that are deferred to the end of the run. Endless tasks continue with other operations."""
        for running in self.held:
            if running.lease.is_last:
                continue
            if running.is_endless:
                running.dead_labels |= labels.intersection(running.lease.labels)
            elif not labels.isdisjoint(running.lease.labels):
                running.stop_now()
        self.may_be_over = True

    def over(self, now: float) -> list[LeasedTask]:
        """Remove and return the finished tasks."""
        self.may_be_over = False
        held = self.held
        for running in held:
            if running.lease.first.sends_smallest and running.ends() and not (self._is_stopped or running.is_endless):
                self.followers.add_probes(running, self._makers[running.lease.id])
        over = [running for running in held if running.is_over(now, self._is_stopped)]
        # Finished tasks are collected for 50 ms while others continue, because a message for each may take longer than
        # a short task.
        if not over or (len(over) < len(held) and now - self._told_at < _TOGETHER_S):
            return []
        self._told_at = now
        for running in over:
            (self.slow if running.is_slow else self.tasks).remove(running)
            del self._makers[running.lease.id]
            self.followers.reads.pop(running.lease.id, None)
        return over

    # Flights

    def next(self, now: float, before: int | None = None) -> InFlight | None:
        """Return a case that is ready to be sent; None if there is none. With `before`, only a follow-up case below that index."""
        followers = self.followers
        # Steps of sequences come first, because they hold slots, and no case of a task can begin without a free slot.
        if followers.waiting:
            one = followers.pop_ready(has_slot=bool(self._free_slots), before=before)
            if one is not None:
                lease, case = one.task.lease, one.made.case
                slot = self._free_slots.pop() if one.slot is None else one.slot
                self._slots.enter(slot, self._context.stages.making, lease.id, one.index)
                work, tools, replay = None, self._context.tools, lease.replay
                if one.index >= PROBE_INDEX:
                    work = probe(tools, case)
                elif replay is not None or not self._is_plain or tools.judge_of(case).asks_first(case):
                    # Without this, requests of other checks were two thirds of all requests in replays of a night.
                    confirms = "" if replay is None else replay.check
                    work = attempt(tools, case, before_in(one.chain), confirms=confirms)
                return self._begun(InFlight(slot, one.task, one.index, one.made, work, one.chain, rest=one.rest))
        if before is not None:
            return None
        if self._ahead is not None:
            flight, self._ahead = self._ahead, None
            return flight
        return self._of_tasks(now)

    def next_slow(self, now: float) -> InFlight | None:
        """Return a case of a slow task. Tasks alternate, with three requests in flight each, or one while requests time out."""
        for running in tuple(self.slow):
            # Requests that time out together count as one time-out, so more of them would only load the target.
            alone = running.timeouts or running.lease.ends_at_failure
            if running.flying < (1 if alone else _SLOW_TOGETHER) and not running.waits_for_verdicts:
                flight = self._made(running, now)
                if flight is not None and (flight := self._begun(flight)) is not None:
                    self.slow.remove(running)
                    self.slow.append(running)
                    flight.is_slow = True
                    return flight
        return None

    def prepare(self, now: float) -> None:
        """Make one case ahead, so that a free lane does not wait for it to be drawn."""
        if self._ahead is not None or self.followers.waiting or not self._makes_ahead:
            return
        if self.tasks:
            self._ahead = self._of_tasks(now)

    def release(self, flight: InFlight) -> None:
        """Finish a case. None of its requests is in flight."""
        running = flight.task
        running.charge(flight.requests)
        running.flying -= 1
        if flight.goes_on:
            # The slot passes to the next step. If the worker dies before the sequence ends, the whole sequence is made again.
            return
        verdict = flight.verdict
        if verdict is None and flight.chain:
            # This step was not sent or not judged. The steps before it were.
            verdict = flight.chain[-1].verdict
        if verdict is not None:
            self.over_observers(flight, verdict)
        # If the worker dies before this line, the case is made and counted again.
        self._slots.leave(flight.slot)
        self._free_slots.append(flight.slot)
        if running.firsts:
            self.counts.keep_firsts(running)
        if not running.flying:
            self.may_be_over = True

    def fail(self, flight: InFlight, error: Exception) -> None:
        """Finish a case that cannot be judged or recorded, and report the error."""
        self.release(flight)
        self.record_error(flight, error)

    def record_error(self, flight: InFlight, error: Exception) -> None:
        """Report an error of one case. After the third error of an operation, the task stops testing it."""
        self._record_fault(flight.task, flight.made.label, flight.index, error)

    def _record_fault(self, running: LeasedTask, label: Label, index: int, error: Exception) -> None:
        running.faults[label] += 1
        count = running.faults[label]
        if isinstance(error, HookError):
            # A hook that fails for some cases costs only these; one that fails for half of them costs the operation.
            tried = max(1, (index - running.lease.start) // len(running.lease.labels) + 1)
            is_last = count >= MOST_FAULTS and 2 * count >= tried
        else:
            is_last = isinstance(error, CheckerError) or count >= MOST_FAULTS
        if is_last:
            self.give_up(running, label, error)
        else:
            self._context.recorder.gave_up(label, running.lease.phase, error)

    def give_up(self, running: LeasedTask, label: Label, error: BaseException) -> None:
        """Stop testing an operation. The task continues with its other operations."""
        running.dead_labels.add(label)
        running.given_up.add(label)
        self._context.recorder.gave_up(label, running.lease.phase, error)

    def _of_tasks(self, now: float) -> InFlight | None:
        for running in self.tasks:
            if running.flying and running.lease.ends_at_failure:
                # The case in flight may fail and end the task. Whether another one is sent must not depend on timing.
                continue
            if running.waits_for_verdicts:
                continue
            flight = self._made(running, now)
            if flight is not None:
                # Without hooks, only the recipe of a case that needs one remains to be written.
                is_ready = flight.wanted is not None and not running.lease.redo
                return flight if is_ready else self._begun(flight)
        return None

    def _made(self, running: LeasedTask, now: float) -> InFlight | None:
        """Return the next case of a task; None if it has no case or no time left, or if sequences hold all slots."""
        if not self._free_slots:
            return None
        context, slots, task = self._context, self._slots, running.lease
        labels, rounds, reads = task.labels, running.rounds, self.followers.reads.get(task.id)
        while (index := running.take_index(now)) is not None:
            label = labels[index % len(labels)]
            if label in running.dead_labels:
                continue
            if rounds is not None and rounds.pauses and rounds.passes(label, index):
                continue
            # The slot names the case before it is made, so that this index is blamed if a hook or a generator kills the
            # worker now. The slot counts as free until the case exists, because an index without a case needs no slot.
            slot = self._free_slots[-1]
            slots.begin(slot, task.id, index, running.next_index, running.redone)
            wanted = work = None
            try:
                if context.stages.making is not _MAKE:
                    # A case that kills workers is made again after each death, so only accused cases need this.
                    if is_accused(running, index):
                        leave_drawn(context, slot, running, index)
                    slots.enter(slot, context.stages.making, task.id, index)
                made = self._recalled(running, index) if task.again else None
                made = made or self._makers[task.id](label, task.seed, index, running.phase)
                if reads is not None and not (task.redo or reads.is_new(made.case)):
                    # The case is made before it is dropped, so that an index stands for the same case after a death,
                    # when `reads` is empty.
                    raise FilteredOut(f"{label}: the request of case {index} was sent before")
                if self._is_plain and not task.again:
                    wanted = self._request(made.case)
                else:
                    work = attempt(context.tools, made.case, confirms=ANY_CHECK if task.again else "")
            except Exception as error:  # noqa: BLE001 - an error fails only this operation
                running.unmade += 1
                running.tally(slots)
                slots.leave(slot)
                self._not_made(running, label, index, error)
                continue
            # A POST without choices is sent twice, because some requests need two members of a collection: a transfer
            # needs two accounts.
            is_first_of_two = made.case.operation.resource_method == "POST" and index < len(labels)
            if not (made.choices or made.other or running.is_chained or is_first_of_two):
                running.constant(label)
            self._free_slots.pop()
            running.flying += 1
            flight = InFlight(slot, running, index, made, work, (), wanted)
            if task.first.recalled:
                flight.rest = task.recalled_at(index)[1:]
            return flight
        return None

    def _not_made(self, running: LeasedTask, label: Label, index: int, error: Exception) -> None:
        if isinstance(error, Exhausted):
            running.exhausted(label)
        elif isinstance(error, HookError):
            self._record_fault(running, label, index, error)
        elif not isinstance(error, FilteredOut):
            self.give_up(running, label, error)

    def _recalled(self, running: LeasedTask, index: int) -> GeneratedCase:
        """Return the case of a finding that is shrunk further."""
        again = running.lease.again[index]
        name = digest("again", again.fingerprint)[:12]
        return self._context.factory.remake(again.step, name=name, phase=running.phase)

    def _begun(self, flight: InFlight) -> InFlight | None:
        """Return a case with its first request; None if the case sends no request and is finished."""
        context, running = self._context, flight.task
        if context.stages.calling is not context.stages.making:
            self._slots.enter(flight.slot, context.stages.calling, running.lease.id, flight.index)
        try:
            if running.lease.redo or flight.index >= EXTRA_INDEX:
                # Writing a recipe costs time for each case. Only a case that is blamed at its first death needs it
                # before it is sent. Others are made again after a death, and their recipe is written then.
                self._slots.recipe(flight.slot, context.recorder.recipe(flight.made, flight.chain))
                leave_made(context, flight)
            if flight.work is not None:
                flight.wanted = next(flight.work)
            elif flight.wanted is None:
                flight.wanted = self._request(flight.made.case)
        except StopIteration:
            self.release(flight)
        except Exception as error:  # noqa: BLE001 - an error fails only this operation
            self.release(flight)
            self._not_made(running, flight.made.label, flight.index, error)
        else:
            return flight
        return None
