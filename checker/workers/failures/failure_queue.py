"""Suspicions of one worker, settled case by case while the other lanes keep flying."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import inf

from msgspec import Struct, field

from checker.core.errors import StorageError
from checker.core.failures import Failure, Severity
from checker.core.request import WireRequest
from checker.core.response import NetworkFailure, Outcome, Response
from checker.core.send import Purpose
from checker.corpus.inflight import Stage
from checker.corpus.records import Finding
from checker.generation.sources.shrinking import ShrinkBudget
from checker.workers.context import WorkerContext
from checker.workers.failures.investigation import Investigator
from checker.workers.failures.settlement import OF_KNOWN_CAUSE, spent_after
from checker.workers.messages import FindingsWritten
from checker.workers.observer_table import Observers
from checker.workers.operation_tools import settings_of_case
from checker.workers.outages.health import TargetHealth
from checker.workers.queues import Sender
from checker.workers.recording.investigation_budget import AROUND
from checker.workers.recording.task_state import InFlight
from checker.workers.recording.traffic import Answered
from checker.workers.recording.unconfirmed import JudgedCase, UnconfirmedFailure, evidence
from checker.workers.scheduling.answers import Placed, earliest_in
from checker.workers.time_accounting import Activity

_SLOW_S = 1.0
_FIRST_S = 2.0
_LATER_S = 0.6
_TIMES = 4.0
_MOST_SLOW = 2
_RARE = 8
"""One slow candidate in more than so many is the load of a moment: it must not decide how small a case becomes."""

_QUICK_S = 0.016
_REQUESTS_OF_QUICK = 500
_FEWEST = 15


class SlowCandidates(Struct):
    """Counts slow candidates of each task. Pure: no clock of its own.

    Sleeping operations fail at once on nonsense and take their time for anything else, so a shrink of such a failure
    would spend its whole budget asleep, and so would that of the next one.
    """

    _slow: Counter[str] = field(default_factory=Counter)
    _all: Counter[str] = field(default_factory=Counter)

    def limit_s(self, task: str, failed_after_s: float) -> float:
        """Seconds to wait for a candidate of a failure that came after so many.

        The first slow one has more: a candidate that is given up for a moment's load changes what is sent after it.
        """
        limit_s = _LATER_S if self._is_sleepy(task) else _FIRST_S
        return max(limit_s, _TIMES * failed_after_s)

    def observe(self, task: str, failed_after_s: float, took_s: float) -> None:
        """One candidate was answered, or given up."""
        limit_s = _LATER_S if self._is_sleepy(task) else _SLOW_S
        self._all[task] += 1
        if took_s >= max(limit_s, _TIMES * failed_after_s):
            self._slow[task] += 1

    def is_needed(self, task: str) -> bool:
        """Whether failures of this task are better left as they are."""
        return self._slow[task] >= _MOST_SLOW and self._is_sleepy(task)

    def _is_sleepy(self, task: str) -> bool:
        """Whether slow candidates are no exception."""
        return self._slow[task] > 0 and self._slow[task] * _RARE >= self._all[task]


class ShrinkPace(Struct):
    """The number of requests of one shrink: 500 if the fastest response came within 16 ms, half of that within 32, and so on.

    Not seconds: those of a busy machine are others than those of a quiet one, and the seed is to decide what is sent. The
    fastest answer tells what the target needs, whatever else the machine does.
    """

    requests: int = 0
    """That were answered, or given up."""
    _fastest_s: float = inf

    def observe(self, took_s: float) -> None:
        """One request was answered, or given up."""
        self.requests += 1
        self._fastest_s = min(self._fastest_s, took_s)

    @property
    def is_over(self) -> bool:
        """Whether the shrink sent all that it may."""
        return self.requests >= _FEWEST and self.requests >= _allowed(self._fastest_s)


def _allowed(fastest_s: float) -> int:
    allowed, step_s = _REQUESTS_OF_QUICK, _QUICK_S
    while fastest_s > step_s and allowed > _FEWEST:
        allowed, step_s = allowed // 2, 2 * step_s
    return max(_FEWEST, allowed)


class Abandoned(Exception):
    """The run ends: what is under way is not waited for."""


class FailureQueue:
    """Holds what failed once until it is confirmed, shrunk and reproduced."""

    def __init__(
        self,
        context: WorkerContext,
        up: Sender,
        keep_alive: Callable[[], bool],
        release: Callable[[InFlight], None],
        health: TargetHealth,
        observers: Observers,
    ) -> None:
        self._observers = observers
        self._health = health
        self._context = context
        self._up = up
        self._keep_alive = keep_alive
        self._release = release
        self._haste = SlowCandidates()
        self.waiting: list[tuple[InFlight, UnconfirmedFailure]] = []
        """What is to be settled. Nothing new flies meanwhile."""
        self._added = 0
        """Number of failures that are not on disk yet."""

    def add(self, flight: InFlight, suspicions: Iterable[UnconfirmedFailure]) -> None:
        """Keep suspicions, and their flight's slot, until they are settled.

        One of a defect that waits already takes its place: it is of an earlier case, whose answer came later.
        """
        for suspicion in suspicions:
            flight.pending += 1
            for waiting in self.waiting:
                if waiting[1].finding.fingerprint == suspicion.finding.fingerprint:
                    self.waiting.remove(waiting)
                    self._forgo(waiting[0])
                    break
            self.waiting.append((flight, suspicion))
            self._added += 1

    def write(self) -> None:
        """Write what was added to the disk, and tell the supervisor. Raises `StorageError`."""
        if self._added:
            self._context.recorder.write_failures()
            self._up.send(FindingsWritten(self._added))
            self._added = 0

    @property
    def lowest_index(self) -> int | None:
        """Of the cases that wait; None when there are none."""
        return min((flight.index for flight, _ in self.waiting), default=None)

    def settle_next(self, lane: int, flying: Iterable[Placed], *, hasten: bool) -> bool:
        """Settle all suspicions of one case on an idle lane; False when all wait for answers to earlier cases.

        Which case shows a defect must not depend on whose answer came first. With `hasten` the first versions, which are
        on disk, must do.
        """
        earliest = earliest_in(flying)
        for flight in sorted((waiting[0] for waiting in self.waiting), key=_index):
            if hasten or flight.index <= earliest.get(flight.running.task.id, flight.index):
                together = [suspicion for of, suspicion in self.waiting if of is flight]
                self.waiting = [waiting for waiting in self.waiting if waiting[0] is not flight]
                left = [one for one in together if self._context.recorder.is_open(one)]
                if left and not hasten:
                    self._settle(flight, left, lane)
                for _ in together:
                    self._forgo(flight)
                return True
        return False

    def _forgo(self, flight: InFlight) -> None:
        flight.pending -= 1
        if not flight.pending:
            self._release(flight)

    def _settle(self, flight: InFlight, suspicions: list[UnconfirmedFailure], lane: int) -> None:
        context = self._context
        desk = _InvestigationSlot(
            context,
            self._keep_alive,
            self._haste,
            self._health,
            self._observers,
            flight,
            lane,
            _failed_after_s(suspicions),
        )
        settled: list[Finding] = []
        try:
            # Of what is abandoned the first versions, which are on disk, must do.
            with suppress(Abandoned):
                for finding in desk.investigator().settle(suspicions):
                    settled.append(finding)
                    if flight.running.is_endless:
                        # Nothing promises that `fuzz` sends the same after a death.
                        self._write(settled, flight)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - the wall: the first versions are on disk
            context.recorder.gave_up(suspicions[0].label, flight.running.task.phase, error)
        context.ledger.enter(Activity.RECORD)
        desk.enter(Stage.RECORD)
        # All at once: a worker that dies on the way leaves the whole case to be looked into again.
        self._write(settled, flight)

    def _write(self, settled: list[Finding], flight: InFlight) -> None:
        """Write down last versions, and forget them."""
        self._context.recorder.settled(settled)
        for finding in settled:
            if finding.reproduced:
                self._save(finding, flight)
        self._up.send(FindingsWritten(len(settled)))
        settled.clear()

    def _save(self, finding: Finding, flight: InFlight) -> None:
        again = flight.again
        try:
            if again is not None and again.fingerprint == finding.fingerprint:
                # What it was before it became smaller need not be tried by later runs.
                self._context.saved.forget((again.step,))
            self._context.saved.save(finding.steps)
        except Exception as error:  # noqa: BLE001 - the wall: the finding is written down all the same
            self._context.recorder.gave_up(finding.label, finding.phase, error)


class _InvestigationSlot(Struct):
    """The place of an investigation: its lane, its slot, its budget."""

    context: WorkerContext
    keep_alive: Callable[[], bool]
    haste: SlowCandidates
    health: TargetHealth
    observers: Observers
    flight: InFlight
    lane: int
    failed_after_s: float
    _stage: Stage = Stage.CONFIRM
    _pace: ShrinkPace = field(default_factory=ShrinkPace)
    _is_ending: bool = False
    _sent: int = 0
    """Requests for the failure that is looked into; in a second look those for all failures of the case."""

    def investigator(self) -> Investigator:
        """One that sends over this lane."""
        context = self.context
        return Investigator(
            tools=context.tools,
            factory=context.factory,
            describer=context.recorder.traffic,
            defects=context.recorder.defects,
            render=context.recorder.reproduction,
            send=self.send,
            stage=self.enter,
            no_more=self.no_more,
            may_send=self.may_send,
            allowance=self.allowance,
            suspect=self.suspect,
            sent=lambda verdict: self.observers.sent(self.flight, verdict),
            hurry=self.hurry,
            is_silent=self.health.is_silent,
        )

    def enter(self, stage: Stage) -> None:
        """Enter a stage of the investigation; each shrink has its own pace."""
        if stage is Stage.SHRINK and self._stage is not stage:
            self._pace = ShrinkPace()
        self._stage = stage
        self.context.slots.enter(self.flight.slot, stage, self.flight.running.task.id, self.flight.index)

    def send(self, wanted: WireRequest) -> Outcome:
        """The answer to one request of the inquiry."""
        # Deadlines are for one request, not for all of them.
        self.enter(self._stage)
        if self._stage is not Stage.SHRINK:
            return self._send(wanted)
        task = self.flight.running.task.id
        limit_s = self.haste.limit_s(task, self.failed_after_s)
        outcome = self._send(wanted, limit_s)
        self.haste.observe(task, self.failed_after_s, outcome.elapsed)
        self._pace.observe(outcome.elapsed)
        return outcome

    def no_more(self, suspicion: UnconfirmedFailure) -> str:
        """Return the reason why a failure gets only its one guaranteed request; empty if it gets more."""
        budget, flight = self.context.investigation_budget, self.flight
        if suspicion.second is not None:
            return ""
        self._sent = self._sent if flight.again is not None else 0
        if budget.is_spared(suspicion.finding.cause):
            return OF_KNOWN_CAUSE
        is_afforded = budget.affords(flight.running, flight.index, suspicion.label)
        return "" if is_afforded else spent_after(0)

    def may_send(self) -> bool:
        """Whether the failure that is looked into may have one more request."""
        flight, budget = self.flight, self.context.investigation_budget
        if flight.again is not None:
            return self._sent < flight.again.allowed + AROUND
        return budget.may_send(flight.running, flight.index, flight.made.label, self._sent)

    def allowance(self, suspicion: UnconfirmedFailure) -> ShrinkBudget | None:
        """Return the budget of the shrink of one failure; None if nothing is to be shrunk."""
        finding, context = suspicion.finding, self.context
        shot = suspicion.chain[-1]
        if settings_of_case(context.operations, shot.made.case).cases.no_shrink:
            return None
        if suspicion.second is not None:
            return suspicion.second
        running, index = self.flight.running, self.flight.index
        severity = Severity(finding.severity)
        return context.investigation_budget.allowance(running, index, suspicion.label, severity, finding.check)

    def suspect(self, parent: UnconfirmedFailure, shot: JudgedCase, failure: Failure) -> UnconfirmedFailure | None:
        """Another failure that turned up on the way, if it is news: nothing is lost.

        It waits with no more of its answer than a finding keeps: one shrink may show hundreds, of a mebibyte each.
        """
        outcome = shot.verdict.outcome
        if outcome is not None and self.health.excuses(outcome):
            return None
        found = self.context.recorder.suspect(self.flight, (*parent.chain[:-1], evidence(shot)), failure)
        self.context.recorder.write_failures()
        return found

    def hurry(self) -> str:
        """Return the reason why a shrink should end now; empty if there is none."""
        if self._is_ending:
            return "with the run"
        if self.flight.made.label in self.context.held_back and not self.flight.running.task.is_last:
            return "since the target serves nobody after it"
        if self._pace.is_over:
            return f"after {self._pace.requests} requests to a slow target"
        if self.haste.is_needed(self.flight.running.task.id):
            return "because of slow answers"
        return ""

    def _send(self, wanted: WireRequest, patience_s: float | None = None) -> Outcome:
        ledger, running = self.context.ledger, self.flight.running
        ledger.enter(Activity.WAIT)
        running.requests += 1
        running.inquiries += 1
        outcome = self._answer(wanted, patience_s)
        sent = 1 + len(outcome.earlier)
        self._sent += sent
        self.context.investigation_budget.spent += sent
        running.waited(outcome.elapsed)
        self._is_ending = self.keep_alive()
        ledger.enter(Activity.JUDGE)
        return outcome

    def _answer(self, wanted: WireRequest, patience_s: float | None) -> Outcome:
        """The answer of a target that serves: where it does not, it is waited for."""
        http, health, made = self.context.http, self.health, self.flight.made
        is_last = self.flight.running.task.is_last
        while True:
            self.context.slots.send()
            outcome = http.send(self.lane, wanted, patience_s=patience_s, meanwhile=self.keep_alive)
            if isinstance(outcome, NetworkFailure) and outcome.may_be_late and not wanted.fresh:
                # Only a drop on a new connection is one of this request.
                lost = (Answered(wanted, outcome, time.time()),)
                self.context.recorder.traffic.unjudged(made, lost, Purpose.RETRY)
                wanted.fresh = True
                self.flight.running.requests += 1
                continue
            if not health.holds(made, wanted, outcome, is_last=is_last):
                break
            while health.is_holding:
                health.sit_out()
            self.enter(self._stage)
        if isinstance(outcome, Response):
            health.served.note(made, wanted, outcome.status_code)
        return outcome


def _failed_after_s(suspicions: list[UnconfirmedFailure]) -> float:
    first = suspicions[0].chain[-1].verdict.outcome
    return first.elapsed if first is not None else 0.0


def _index(flight: InFlight) -> int:
    return flight.index
