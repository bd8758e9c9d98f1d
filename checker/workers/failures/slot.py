"""The slot of an investigation: the case that failed, the lane for its requests, and the limits of both."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.server_error import UnansweredRequest
from checker.core.failures import Failure, Severity
from checker.core.request import ANY_CHECK, WireRequest
from checker.core.response import NetworkFailure, Outcome, Response
from checker.core.send import Exchanging, Purpose
from checker.corpus.inflight import Stage
from checker.phases.attempt import Verdict, attempt
from checker.phases.case_factory import GeneratedCase
from checker.transport.settings import time_limit_s, travelling
from checker.workers import jobs
from checker.workers.context import WorkerContext
from checker.workers.jobs import Job
from checker.workers.messages import PATIENCE
from checker.workers.observer_table import Observers
from checker.workers.operation_tools import settings_of_case
from checker.workers.recording.investigation_budget import AROUND, OF_KNOWN_CAUSE, ShrinkBudget, spent_after
from checker.workers.recording.task_state import InFlight
from checker.workers.recording.traffic import Answered, answered
from checker.workers.recording.unconfirmed import JudgedCase, UnconfirmedFailure, before_in, evidence
from checker.workers.target_health import TargetHealth


class InvestigationSlot(Struct):
    """The place of an investigation: its case, its requests, its limits."""

    context: WorkerContext
    health: TargetHealth
    observers: Observers
    flight: InFlight
    shrink_budget: ShrinkBudget
    is_patient: bool = False  # Whether requests get `PATIENCE` times their timeout.
    is_hurried: bool = False
    """Whether requests that the failure does not need get only the time limit of candidates, because the worker sends no other cases meanwhile."""
    waiting: list[UnconfirmedFailure] = field(default_factory=list)
    """Failures of the case that wait for their investigation. Failures found meanwhile are added."""
    simplest: dict[tuple[str | None, bool], JudgedCase] = field(default_factory=dict)
    """The simplest case of the operation, by method (if undocumented) and by whether it should be refused."""
    requests: int = 0  # Number of requests so far.
    names: Iterator[int] = field(default_factory=lambda: count(1))
    """Counter of new names for the failures of the case."""
    check: str = ANY_CHECK  # The check whose failure is investigated.
    _stage: Stage = Stage.CONFIRM
    _sent: int = 0  # Requests for the current failure; in a second look, requests for all failures of the case.

    def enter(self, stage: Stage) -> None:
        self._stage = stage
        self.context.slots.enter(self.flight.slot, stage, self.flight.task.lease.id, self.flight.index)

    def begin(self, suspicion: UnconfirmedFailure, stage: Stage = Stage.CONFIRM) -> None:
        """Enter a stage, and reset the limits of the shrink."""
        first = suspicion.chain[-1].verdict.outcome
        self.shrink_budget.begin(self.flight.task.lease.id, 0.0 if first is None else first.elapsed)
        self.enter(stage)

    @contextmanager
    def hurried(self) -> Iterator[None]:
        """Give requests only the time that candidates of a shrink have."""
        before, self.is_hurried = self.is_hurried, True
        try:
            yield
        finally:
            self.is_hurried = before

    def exchange(self, request: WireRequest) -> Job[Outcome]:
        """Return the response of a serving target. If the target does not serve, wait until it does, and send the request again."""
        health, flight, running = self.health, self.flight, self.flight.task
        running.requests += 1
        running.inquiries += 1
        is_candidate = self._stage is Stage.SHRINK or self.is_hurried
        if self.is_patient:
            usual = settings_of_case(self.context.subject.operations, flight.made.case).http
            limit_s = time_limit_s(request, usual)
            request.via = replace(travelling(request, usual), timeout_s=PATIENCE * limit_s)
        request.patience_s = self.shrink_budget.patience_s if is_candidate else None
        while True:
            # The deadline is for one request, not for the whole investigation.
            self.enter(self._stage)
            self.context.slots.send()
            outcome = yield from jobs.exchange(request)
            if isinstance(outcome, NetworkFailure) and outcome.may_be_late and not request.fresh:
                # A drop counts against this request only on a new connection.
                lost = (Answered(request, outcome, time.time()),)
                self.context.recorder.traffic.unjudged(flight.made, lost, Purpose.RETRY)
                request.fresh = True
                running.requests += 1
                continue
            if not (yield from health.holds(flight.made, request, outcome, is_last=running.lease.is_last)):
                break
            yield from health.sit_out()
        if isinstance(outcome, Response):
            health.served.note(flight.made, request, outcome.status_code)
            if not request.is_of_check:
                health.served.arrived(flight.made, request, outcome)
        if is_candidate:
            self.shrink_budget.observe(outcome.elapsed)
        sent = 1 + len(outcome.earlier)
        self._sent += sent
        # Findings of earlier runs are sent again whatever the budget. If they counted, new failures would get nothing.
        if running.lease.replay is None or not running.lease.replay.is_minimal:
            self.context.investigation_budget.spent += sent
        running.waited(outcome.elapsed)
        return outcome

    def shot(
        self,
        made: GeneratedCase,
        purpose: Purpose,
        earlier: Iterable[JudgedCase] = (),
        *,
        fresh: bool = True,
        confirms: bool = True,
    ) -> Job[JudgedCase]:
        """Send one case after earlier ones, and judge the response."""
        work = attempt(
            self.context.tools, made.case, before_in(earlier), fresh=fresh, confirms=self.check if confirms else ""
        )
        return (yield from self.drive(made, work, purpose))

    def drive(self, made: GeneratedCase, work: Exchanging[Verdict], purpose: Purpose) -> Job[JudgedCase]:
        """Return the end of an attempt. All its requests are recorded, even if the attempt raises an exception or the run ends."""
        answers: list[Answered] = []
        traffic = self.context.recorder.traffic

        def send(request: WireRequest) -> Job[Outcome]:
            self.requests += 1
            outcome = yield from self.exchange(request)
            answers.append(answered(request, outcome))
            return outcome

        try:
            verdict = yield from jobs.answered(work, send)
        except BaseException:
            traffic.unjudged(made, answers, purpose)
            raise
        shot = JudgedCase(made, verdict)
        if answers:
            verdict.purpose = purpose
            traffic.record_others(made, answers, verdict)
            traffic.record(shot)
            self.observers.sent(self.flight, verdict)
        return shot

    def limit(self, suspicion: UnconfirmedFailure) -> str:
        """Return why a failure gets only its one guaranteed request; empty if it gets more."""
        budget, flight = self.context.investigation_budget, self.flight
        if suspicion.second is not None:
            return ""
        self._sent = self._sent if flight.again is not None else 0
        if budget.is_spared(suspicion.finding.cause):
            return OF_KNOWN_CAUSE
        is_afforded = budget.affords(flight.task, flight.index, suspicion.label)
        return "" if is_afforded else spent_after(0)

    def may_send(self) -> bool:
        """Whether one more request may be sent for the current failure."""
        flight, budget = self.flight, self.context.investigation_budget
        if flight.again is not None:
            return self._sent < flight.again.allowed + AROUND
        return budget.may_send(flight.task, flight.index, flight.made.label, self._sent)

    def is_shrunk(self, suspicion: UnconfirmedFailure) -> bool:
        """Whether an earlier run has shrunk the failure, so that its commands are enough."""
        replay, failure = self.flight.task.lease.replay, suspicion.failure
        is_same = replay is not None and replay.is_minimal and replay.fingerprint == suspicion.finding.fingerprint
        return is_same and not (failure.needs_repetition or isinstance(failure, UnansweredRequest))

    def may_repeat(self) -> bool:
        """Whether printed commands may be sent once more, to count how often they show their failure."""
        return not self.end_reason() and self.may_send()

    def allowance(self, suspicion: UnconfirmedFailure) -> int | None:
        """Return the number of candidates for the shrink of a failure; None if it is not to be shrunk (`no-shrink`)."""
        finding, context = suspicion.finding, self.context
        if settings_of_case(context.subject.operations, suspicion.chain[-1].made.case).cases.no_shrink:
            return None
        if suspicion.second is not None:
            return suspicion.second
        running, index = self.flight.task, self.flight.index
        severity = Severity(finding.severity)
        return context.investigation_budget.allowance(running, index, suspicion.label, severity, finding.check)

    def suspect(self, parent: UnconfirmedFailure, shot: JudgedCase, failure: Failure) -> None:
        """Queue another failure that was found in the investigation of `parent`, unless it is known. It is then on disk.

        Only the part of the response that findings keep is kept, because one shrink may show hundreds of failures with
        a mebibyte each.
        """
        outcome = shot.verdict.outcome
        if outcome is not None and self.health.excuses(outcome):
            return
        found = self.context.recorder.suspect(self.flight, (*parent.chain[:-1], evidence(shot)), failure)
        self.context.recorder.write_failures()
        if found is not None:
            self.waiting.append(found)

    def end_reason(self) -> str:
        """Return why a shrink ends now; empty if it continues."""
        running = self.flight.task
        if self.flight.made.label in self.context.held_back and (running.is_endless or not running.lease.is_last):
            return "because the target serves no request after it"
        return self.shrink_budget.end_reason
