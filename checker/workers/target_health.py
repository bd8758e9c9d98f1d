"""The health of the target as one worker sees it: which responses do not count, and which requests are sent again."""

import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from checker.checks.judge import UNJUDGED
from checker.checks.server_error import UNAVAILABLE
from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.operation import Label, Operation
from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.health import GATEWAY, REFUSALS, TOO_MANY
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase
from checker.phases.case_parts import literal_of
from checker.workers.answers import Answers, with_answer
from checker.workers.authentication.opening import repeatable
from checker.workers.case_scheduler import CaseScheduler
from checker.workers.context import WorkerContext
from checker.workers.examination import MOST_WITNESSES, Examination, LivenessProbes, is_ending
from checker.workers.jobs import Job, Pause
from checker.workers.messages import Leaving, LeavingKind, OutageAction, OutageEvent, OutageOrder, OutageReport, Trouble
from checker.workers.observers.witnesses import Sent, ServedByOthers, ServedRequests
from checker.workers.queues import Sender
from checker.workers.reachable import has_own_servers, is_down, is_looked_at, is_tls_hint, wants_tls
from checker.workers.recording.task_state import InFlight

MOST_OUTAGES = 20  # Outages that one worker reports. A target that fails more often is tested as it is.
MOST_DOUBTS = 20
"""Number of refusals about which one worker asks the others. After this many without a success, its credentials are wrong."""
_STREAK = 8  # Consecutive refusals after which an operation that is known to refuse is examined again.
# Two are enough: each worker counts separately, and each further change makes it harder to remove the cause.
_MOST_BLOCKED = 2
"""Operations of one worker that refuse changes with 503 at the same time, after which all changes count as refused."""
# Searches for the cause of refused changes that may find none. After that, the changes are tested as they are.
_MOST_VAIN_LOOKS = 2
_BROKEN = frozenset((FailureKind.REFUSED, FailureKind.DROPPED))


@dataclass(slots=True)
class _Outage:
    """An outage in which a worker pauses, or the signs before it."""

    number: int = 0  # The number of the outage; 0 before the order of the supervisor.
    has_said: bool = False  # Whether the worker has reported that none of its requests is in flight.
    order: OutageOrder | None = None  # The order to examine the outage.
    first: Sent | None = None  # The response in which the outage was noticed.
    lost: list[Sent] = field(default_factory=list)  # Requests that were in flight when the connection broke.
    late: deque[Sent] = field(default_factory=lambda: deque(maxlen=16))
    """Requests that were sent again because their connection had been closed."""


@dataclass(slots=True)
class TargetHealth:
    """Watches the responses of one worker. A response that may be the effect of an outage does not count, and its request is sent again."""

    context: WorkerContext
    up: Sender
    is_holding: bool = False  # Whether no request of the run is sent.
    has_lost_session: bool = False  # Whether the target refuses every request for good, so that refusals are ignored.
    served: ServedRequests = field(default_factory=ServedRequests)
    _others: ServedByOthers = field(init=False)
    _outage: _Outage = field(default_factory=_Outage)
    _is_rate_limited: bool = False
    _repeatable: Sequence[Operation] | None = None
    """The operation of `probe_access`; None before the search for it, which reads up to 200 operations."""
    _usual: set[tuple[Label, int]] = field(default_factory=set)
    """Refusals that are known to be about their operation alone."""
    _outages: int = 0
    _doubts: int = 0
    _streak: int = _STREAK
    _refused_in_row: int = 0
    _vain_looks: int = 0  # How often no cause was found when changes were refused with 503.
    _may_want_tls: bool = False  # Whether a target whose URL has no TLS has not responded yet.
    _before_renewal: Label | None = None  # The operation that was served last before credentials were renewed.

    def __post_init__(self) -> None:
        context = self.context
        self.served.secrets = context.recorder.secrets
        self._others = ServedByOthers(context.knowledge.peers, context.subject.selected, context.tools.maker)
        self._may_want_tls = self.context.subject.origin.scheme == "http" and is_looked_at(self.context)
        first = self.context.first_look
        if first is not None:
            # This request was sent before the run, and may have ended the session.
            self.served.note(first.made, first.request, first.status)
            self.served.arrived(first.made, first.request, Response(first.status, [], b""))

    # Noticing

    def probe_access(self, label: Label) -> Job[None]:
        """Send a request that needs credentials, after the first success of an operation.

        If the request is served, the operation did not end the session, and is no suspect when another operation does.
        Repeating a request that was served to this worker instead would depend on the number of workers.
        """
        if self._repeatable is None:
            self._repeatable = repeatable(self.context.subject.selected)
        operation = next(iter(self._repeatable), None)
        if operation is None or operation.label in {label, *self.context.held_back}:
            return
        if self.is_holding or self.has_lost_session:
            return
        case = Case(operation, "access-probe")
        made = GeneratedCase(case, operation.label, (), (), literal_of(case))
        probes = self._witnesses(None)
        try:
            request = probes.request_of(made)
        except CheckerError:
            return
        outcome = yield from probes.again(Sent(made, request, 0))
        if isinstance(outcome, Response):
            self.served.arrived(made, request, outcome)
        yield from self.holds(made, request, outcome)

    def holds(
        self, made: GeneratedCase, request: WireRequest | None, outcome: Outcome, *, is_last: bool = False
    ) -> Job[bool]:
        """Return whether a response does not count, because the target may have stopped serving. The request is then sent again."""
        if request is None:
            return False
        if self._may_want_tls and self._wants_tls(outcome):
            return True
        if isinstance(outcome, NetworkFailure):
            is_lost = outcome.kind is FailureKind.DROPPED
            return outcome.kind in _BROKEN and (yield from self._is_broken(made, request, is_lost=is_lost))
        status = outcome.status_code
        if status not in REFUSALS or is_last or (status == TOO_MANY and self._is_rate_limited):
            return False
        if self.is_holding:
            return True
        if self.has_lost_session:
            return False
        refused = Sent(made, request, status)
        return (yield from self._is_turned_away(refused)) or self._is_blocked(refused)

    def excuses(self, outcome: Outcome, *, is_last: bool = False) -> bool:
        """Whether a refusal is ignored, because the session is lost or the operation itself ends it."""
        return isinstance(outcome, Response) and outcome.status_code in REFUSALS and (self.has_lost_session or is_last)

    def is_silent(self) -> Job[bool]:
        """Return whether the target accepts connections but no longer responds to requests that it served before."""
        return (yield from self._witnesses(None).is_silent())

    def note_resent(self, made: GeneratedCase, request: WireRequest) -> None:
        """Note that a request is sent again because its connection was closed: it may have been the last that the target received."""
        self._outage.late.append(Sent(made, request, 0))

    def _wants_tls(self, outcome: Outcome) -> bool:
        """Whether the target requires TLS, judging by the first response. Then the worker reports this and sends nothing more."""
        self._may_want_tls = False
        # Not after a plain-text response: such a server may take 10 s to refuse a TLS handshake.
        is_first = not self.served.has_answered
        if not is_first or not is_tls_hint(outcome) or has_own_servers(self.context):
            return False
        sentence = wants_tls(self.context.subject.origin, self.context.subject.operations.common.http.probe_s)
        if sentence:
            self.is_holding = True
            self.up.send(Leaving(LeavingKind.CANNOT_START, sentence))
        return bool(sentence)

    def _note_lost(self, made: GeneratedCase, request: WireRequest, *, is_lost: bool) -> None:
        """Keep a request that was in flight when the target stopped. With a refused connection, no request was sent."""
        if is_lost or any(late.made is made for late in self._outage.late):
            self._outage.lost.append(Sent(made, request, 0))

    def renewed(self) -> None:
        """Report an outage after a renewal of credentials, if a suspicious request may have ended the old session."""
        last = next(reversed(self.served.recent), None)
        if last is None or self.is_holding or not last.is_served or self._outages >= MOST_OUTAGES:
            return
        # An operation that was the last before two renewals is a suspect, whatever its name.
        is_again = self._before_renewal == last.label
        self._before_renewal = last.label
        if (is_ending(last) or is_again) and last.label not in self.context.held_back:
            self._report(Trouble.REFUSED)

    def _is_broken(self, made: GeneratedCase, request: WireRequest, *, is_lost: bool) -> Job[bool]:
        context = self.context
        if not is_looked_at(context):
            return False
        if self.is_holding:
            self._note_lost(made, request, is_lost=is_lost)
            return True
        # If operations have their own servers, the base URL may never have been served.
        has_been_there = self.served.has_answered or not has_own_servers(context)
        if not has_been_there or self._outages >= MOST_OUTAGES:
            return False
        if not (yield from is_down(context.subject.origin)):
            return False
        self._note_lost(made, request, is_lost=is_lost)
        self._report(Trouble.GONE)
        return True

    def _is_turned_away(self, refused: Sent) -> Job[bool]:
        """Return whether requests that were served before are refused as well."""
        if self._outages >= MOST_OUTAGES:
            return False
        key = (refused.label, refused.status)
        self._refused_in_row += 1
        if key in self._usual:
            # All responses have to be refusals for a while, and for twice as long after each false alarm.
            lately = list(self.served.recent)[-self._streak :]
            if len(lately) < min(self._streak, MOST_WITNESSES) or self._refused_in_row < self._streak:
                return False
            if any(sent.status not in REFUSALS for sent in lately):
                self._refused_in_row = 0
                return False
            self._streak, self._refused_in_row = 2 * self._streak, 0
        witnesses = self._witnesses(refused)
        if witnesses.is_guess or not self.served.tells_of(refused):
            self.served.recall(self._others.news())
            witnesses = self._witnesses(refused)
        if not self.served.tells_of(refused):
            # Ask the other workers, if there are any, and return whether they were asked: a worker that was never
            # served cannot tell an outage from a refusal.
            if self.context.subject.settings.processes.workers < 2 or self._doubts >= MOST_DOUBTS:
                return False
            self._outage.first = refused
            self._report(Trouble.REFUSED, refused.label)
            return True
        is_turned_away = yield from witnesses.is_turned_away()
        if not is_turned_away or witnesses.is_guess:
            self._usual.add(key)
        if not is_turned_away:
            return False
        self._outage.first = refused
        self._report(Trouble.GONE if refused.status in GATEWAY else Trouble.REFUSED)
        return True

    def _is_blocked(self, refused: Sent) -> bool:
        """Return whether the target seems to refuse all requests that change something, and report it.

        A resource that the run created may keep the target busy: a rule that triggers itself, an import, an index.
        """
        blocked = self.served.blocked
        if refused.status != UNAVAILABLE or refused.is_harmless or self._vain_looks >= _MOST_VAIN_LOOKS:
            return False
        now = time.time()
        blocked[refused.label] = (blocked.get(refused.label, (now, refused))[0], refused)
        if len(blocked) < _MOST_BLOCKED:
            return False
        self._outage.first = refused
        # One of the requests may have been refused by chance before the others.
        self._report(Trouble.CHANGES, at=sorted(at for at, _ in blocked.values())[1])
        return True

    def _report(self, trouble: Trouble, doubted: Label | None = None, at: float = 0.0) -> None:
        if doubted is None:
            self._outages += 1
        else:
            self._doubts += 1
        self.is_holding = True
        self.up.send(OutageReport(OutageEvent.NOTICED, trouble=trouble, doubted=doubted, at=at or time.time()))

    # Orders

    def obey(self, order: OutageOrder) -> None:
        """Take an order of the supervisor. `sit_out` carries it out."""
        match order.action:
            case OutageAction.HOLD:
                self.is_holding, self._outage.number, self._outage.has_said = True, order.number, False
            case OutageAction.EXAMINE:
                self._outage.order = order
            case OutageAction.RESUME:
                first = self._outage.first
                if first is not None:
                    key = (first.label, first.status)
                    if first.label == order.doubted:
                        self._usual.add(key)
                    elif not self.context.held_back.issuperset(order.held_back):
                        # The order names a new culprit, so the refusal was its effect and says nothing about the
                        # refused operation.
                        self._usual.discard(key)
                self.is_holding, self._outage = False, _Outage()
                self.served.blocked.clear()
                self.has_lost_session = not order.serves
                self._is_rate_limited = order.is_rate_limited
                self.context.held_back.update(order.held_back)

    def sit_out(self) -> Job[None]:
        """Wait for the end of an outage: report that no request is in flight, and examine the outage if that is ordered."""
        while self.is_holding:
            outage = self._outage
            if outage.number and not outage.has_said:
                outage.has_said = True
                # The worker that examines the outage reads which resources others have created.
                self.context.recorder.flush()
                self.up.send(OutageReport(OutageEvent.HOLDING, outage.number, served=self.served.operations()))
            order, outage.order = outage.order, None
            if order is not None:
                blocked = [one for _, one in self.served.blocked.values()] if order.trouble is Trouble.CHANGES else []
                if outage.first is not None and outage.first.status == UNAVAILABLE:
                    self.served.recall(self._others.news())
                witnesses = self._witnesses(outage.first, order.doubted, blocked)
                examination = Examination(self.context, witnesses, self._others.made)
                report = yield from examination.done(order, outage.lost)
                is_vain = order.trouble is Trouble.CHANGES and not report.has_passed and not report.culprit
                self._vain_looks += is_vain
                self.up.send(report)
            yield Pause()

    def _witnesses(
        self, refused: Sent | None, doubted: Label | None = None, blocked: Sequence[Sent] = ()
    ) -> LivenessProbes:
        about = None if refused is None else refused.operation
        if about is None and doubted is not None:
            about = self.context.subject.selected.get(doubted)
        return LivenessProbes(self.context, self.served, refused, about, blocked)


class OutageControl(Struct, frozen=True):
    """Sends cases of an outage again, returns them to their task, or skips them."""

    context: WorkerContext
    health: TargetHealth
    scheduler: CaseScheduler
    answers: Answers

    def obey(self, order: OutageOrder, flying: Iterable[InFlight]) -> None:
        """Take an order. At the end of an outage, responses to requests in flight do not count, because the target may not have served."""
        is_over = order.action is OutageAction.RESUME
        if is_over:
            # Responses before and after the end of an outage are counted separately.
            self.scheduler.counts.report(self.scheduler.held)
            self.context.recorder.is_turned_away = not order.serves
        self.health.obey(order)
        if not is_over:
            return
        for flight in flying:
            flight.is_doubtful = True
        labels = frozenset(order.held_back)
        for flight in self.answers.held_back(labels):
            self.scheduler.retry(flight)
        self.answers.begin_anew()
        self.scheduler.skip_operations(labels)

    def holds(self, flight: InFlight, verdict: Verdict, outcome: Outcome) -> Job[bool]:
        """Return whether a response does not count, because the target may have stopped serving. The request is sent again later."""
        is_last, made = flight.task.lease.is_last, flight.made
        is_held = flight.is_doubtful or (yield from self.health.holds(made, verdict.request, outcome, is_last=is_last))
        if not is_held:
            if self.health.excuses(outcome, is_last=is_last):
                verdict.judgement = UNJUDGED
            return False
        if is_last and isinstance(outcome, NetworkFailure):
            # The operation was deferred to the end of the run for this reason.
            flight.task.exhausted(made.label)
            answers = with_answer(flight, outcome)
            self.context.recorder.traffic.unjudged(made, answers, flight.purpose)
            self.scheduler.release(flight)
        else:
            self.answers.retry(flight)
        return True
