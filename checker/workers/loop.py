"""The loop of a worker: one thread that makes cases, sends them on lanes, judges and records the responses."""

import time
from collections import deque
from collections.abc import Iterable

from checker.checks.judge import CLEAN
from checker.core.errors import StorageError
from checker.core.response import NetworkFailure, Outcome, Response
from checker.corpus.inflight import Stage
from checker.health import REFUSALS
from checker.phases.attempt import Verdict
from checker.workers.answers import Answers, Placed
from checker.workers.case_scheduler import CaseScheduler, TaskCounts
from checker.workers.cleaning import conclude_run
from checker.workers.context import Activity, WorkerContext
from checker.workers.failures.investigation import FailureQueue
from checker.workers.jobs import ForegroundJob, Job
from checker.workers.limits import Limits
from checker.workers.messages import (
    Assign,
    CredentialAction,
    CredentialMessage,
    Drain,
    Leaving,
    LeavingKind,
    OutageOrder,
    PeerJournals,
    SettledFindings,
)
from checker.workers.observer_table import Observers, ObserverTools
from checker.workers.observers.pacing import Slowness
from checker.workers.queues import Receiver, Sender
from checker.workers.recording.task_state import InFlight
from checker.workers.target_health import OutageControl, TargetHealth

_ROUND_S = 0.05
_IDLE_S = 0.2
_HOUSEKEEPING_S = 0.2
_ORDERS_S = 0.02
"""Seconds that orders may wait in the pipe. Reading the pipe in each round would cost one system call per case."""
_REPORT_S = 1.0
"""Seconds between two reports of counts. The first reports come sooner, so that the work of a worker that dies early is counted."""
# A module-level name is ten times faster than a member of an enumeration.
_MAKING, _WAITING = Activity.MAKE, Activity.WAIT
_JUDGING, _RECORDING = Activity.JUDGE, Activity.RECORD
_SEND, _RECORD = Stage.SEND, Stage.RECORD


class Worker:
    """The loop of one incarnation: read orders, run the foreground job, judge responses, fill the lanes, poll."""

    def __init__(self, context: WorkerContext, down: Receiver, up: Sender) -> None:
        self._context = context
        self._http = context.http
        self._slots = context.slots
        self._ledger = context.ledger
        self._recorder = context.recorder
        self._down = down
        self._up = up
        memory = context.subject.settings.processes
        self._limits = Limits(
            memory.memory_limit_mib << 20, memory.memory_growth_mib << 20, once_s=context.subject.description.once_s
        )
        self._counts = TaskCounts(context)
        self._scheduler = CaseScheduler(context, self._counts)
        self._flights: dict[int, InFlight] = {}
        self._answers = Answers(context, self._scheduler)
        self._parked = self._answers.parked
        self._health = TargetHealth(context, up)
        self._outage = OutageControl(context, self._health, self._scheduler, self._answers)
        self._slowness = Slowness(context.http, context.lanes.slow, context.subject.operations, self._scheduler, up)
        self._observers = Observers(ObserverTools(context, self._scheduler, self._health, self._slowness))
        self._scheduler.over_observers = self._observers.over
        self._failures = FailureQueue(context, up, self._scheduler, self._health, self._observers)
        self._job: ForegroundJob | None = None
        self._landed: deque[tuple[InFlight, Outcome]] = deque()
        """Cases whose responses are not judged yet."""
        self._reserved: set[int] = set()
        self._slow_count = 0
        """Number of cases in flight outside the shared lanes, when they were counted last."""
        self._leaving: LeavingKind | None = None
        self._is_immediate = False
        self._orders_at = 0.0
        self._housekeeping_at = 0.0
        self._reported_at = time.monotonic()
        self._report_pause_s = _HOUSEKEEPING_S
        self._credentials = context.subject.keeper
        if self._credentials is not None:
            self._credentials.line = self

    def run(self) -> None:
        """Work until the worker is told to leave, its memory has grown too much, or the supervisor is gone."""
        while True:
            self._poll_orders()
            if self._leaving is not None and self._is_immediate:
                break
            if self._job is not None:
                self._attend(self._job)
                continue
            if self._landed:
                # This comes before a case is made, so that a failure is on disk before the next request is sent.
                self._judge_landed()
                continue
            if self._health.is_holding:
                self._hold()
                continue
            if self._leaving is not None and not self._busy():
                break
            self._fill()
            # Investigations come after the lanes are filled: `_fill` begins only steps below the index of a failure,
            # and the investigation
            # waits for their responses. So the case that shows a defect does not depend on the order of responses.
            if self._failures.waiting and self._idle_lanes():
                investigation = self._failures.next_job(self._flying())
                if investigation is not None:
                    self._begin(investigation)
                    continue
            if self._flights or self._answers.first_accepted.held:
                # With one lane the worker would sleep until the response arrives.
                if self._recorder.traffic.writer.waiting:
                    self._ledger.enter(_RECORDING)
                    self._slots.clear_acting()
                    self._recorder.catch_up()
                if not self._failures.waiting and self._leaving is None:
                    self._scheduler.prepare(self._ledger.enter(_MAKING))
                self._ledger.enter(_WAITING)
                self._slots.clear_acting()
                self._round(self._http.poll(_ROUND_S) if self._flights else ())
            else:
                self._scheduler.may_be_over = True
            # A worker that is leaving keeps its finished tasks until it exits. Returning them earlier would make the
            # supervisor lease it new ones.
            if self._scheduler.may_be_over and self._leaving is None:
                self._finish_tasks()
        # Report the last counts and close the files. A worker that ends at once leaves tasks and responses unfinished.
        if self._job is not None:
            self._job.close()
        self._failures.drop_all()
        self._answers.abandon(self._flights.values(), self._landed)
        self._finish_tasks()
        self._counts.report(self._scheduler.held)
        self._counts.report_rest()
        if self._leaving is not LeavingKind.CONCLUDED:
            self._recorder.keep(self._context.subject.classes.news())
        self._recorder.close()
        self._up.send(Leaving(self._leaving))

    # Orders

    def _busy(self) -> bool:
        waiting = self._flights or self._landed or self._answers.waiting or self._failures.waiting
        return self._scheduler.has_made or bool(waiting) or self._job is not None

    def _poll_orders(self) -> None:
        """Read orders and do periodic work, if there is nothing else to do or enough time has passed."""
        now = time.monotonic()
        is_early = now - self._orders_at < _ORDERS_S
        if is_early and (self._flights or self._scheduler.tasks):
            return
        nothing_to_do = self._scheduler.is_empty and not self._busy()
        if is_early and not nothing_to_do:
            return
        self._orders_at = now
        # The time of a task may end while none of its cases is in flight.
        self._scheduler.may_be_over = True
        if nothing_to_do and self._leaving is None:
            self._ledger.enter(Activity.IDLE)
            self._down.wait(_IDLE_S)
        self._read_orders()
        self._do_housekeeping()

    def _read_orders(self) -> None:
        while (message := self._down.get_nowait()) is not None:
            match message:
                case Assign(tasks):
                    for task in tasks:
                        self._scheduler.accept(task)
                case SettledFindings(settled):
                    self._recorder.defects.absorb(*settled)
                case PeerJournals(journals, ended, signals):
                    self._context.knowledge.follow(journals, ended, signals)
                case CredentialMessage():
                    keeper = self._credentials
                    if keeper is not None and message.action is CredentialAction.FETCH:
                        self._up.send(keeper.fetch(message))
                    elif keeper is not None and keeper.take(message):
                        self._health.renewed()
                case OutageOrder():
                    self._outage.obey(message, (*self._flights.values(), *(flight for flight, _ in self._landed)))
                case Drain(concludes=True):
                    self._leave(LeavingKind.CONCLUDED)
                    self._begin(conclude_run(self._context, message))
                case Drain(is_replaced=True):
                    self._leave(LeavingKind.MEMORY)
                case Drain(shrinks=shrinks, immediate=immediate):
                    self._leave(LeavingKind.DRAINED)
                    self._failures.shrink_budget.is_over |= not shrinks
                    self._is_immediate = self._is_immediate or immediate
                case _:
                    raise AssertionError(f"not an order: {message!r}")
        if self._down.closed:
            self._leave(LeavingKind.ORPHANED)
            self._is_immediate = True

    def _hold(self) -> None:
        """Wait for the requests in flight, then for the end of the outage."""
        if not self._flights:
            self._begin(self._health.sit_out())
            return
        self._ledger.enter(_WAITING)
        self._slots.clear_acting()
        self._round(self._http.poll(_ROUND_S))

    def send(self, message: CredentialMessage) -> None:
        """Send a request for credentials to the supervisor."""
        self._up.send(message)

    def wait_for_orders(self) -> bool:
        """Wait a moment for credentials, without blame for any case. Return whether the run ends."""
        self._slots.clear_acting()
        self._down.wait(_IDLE_S)
        self._do_housekeeping()
        self._read_orders()
        return self._is_immediate or self._failures.shrink_budget.is_over

    # The foreground job

    def _begin(self, work: Job[None]) -> None:
        self._ledger.enter(_JUDGING)
        job = ForegroundJob(work)
        if not job.is_over:
            self._job = job

    def _attend(self, job: ForegroundJob) -> None:
        """Wait for the response to the foreground job, or for the end of its pause. Responses to other requests are kept for later."""
        self._ledger.enter(_WAITING)
        pause_s = job.pause_s(_IDLE_S)
        if pause_s is not None:
            self._slots.clear_acting()
            self._down.wait(pause_s)
            self._read_orders()
            if job.may_resume and not self._is_immediate:
                self._resume(job, None)
            return
        if job.lane is None and (idle := self._idle_lanes()):
            job.start(self._http, idle[0])
        lane, found = job.lane, None
        for finished, outcome in self._http.poll(_ROUND_S):
            if finished == lane:
                found = outcome
            else:
                self._land(finished, outcome)
        self._reserved.clear()
        if found is not None:
            self._resume(job, found)

    def _resume(self, job: ForegroundJob, outcome: Outcome | None) -> None:
        self._ledger.enter(_JUDGING)
        job.resume(outcome)
        if job.is_over:
            self._job = None

    def _leave(self, reason: LeavingKind) -> None:
        self._leaving = self._leaving or reason
        self._scheduler.stop(finishes_sequences=reason is LeavingKind.MEMORY)

    def _do_housekeeping(self) -> None:
        now = time.monotonic()
        if now - self._housekeeping_at < _HOUSEKEEPING_S:
            return
        self._housekeeping_at = now
        self._slots.heartbeat()
        if now - self._reported_at >= self._report_pause_s:
            self._reported_at = now
            self._report_pause_s = min(2 * self._report_pause_s, _REPORT_S)
            self._counts.report(self._scheduler.held)
            self._recorder.flush()
        self._slow_count += self._slowness.look(self._flights)
        self._recorder.tick(now)
        self._context.knowledge.tick(now)
        if self._limits.exceeded(now) and self._leaving is None:
            self._leave(LeavingKind.MEMORY)

    # Sending

    def _fill(self) -> None:
        """Start as many requests as possible, then send all of them with one `perform`."""
        taken, reserved, most = self._flights, self._reserved, self._context.lanes.pacing.lanes
        if self._slow_count or self._scheduler.slow:
            self._fill_slow()
            most += min(self._slow_count, self._context.lanes.slow.most)
        idle = most - len(taken) - len(reserved)
        if idle <= 0 or self._health.is_holding:
            return
        now = self._ledger.enter(_MAKING)
        before = self._failures.lowest_index if self._failures.waiting else None
        if before is not None and self._slow_count and self._failures.next_job(self._flying()) is None:
            # The failure cannot be investigated before a slow request lands, so other cases continue meanwhile.
            before = None
        for lane in range(most):
            if lane in taken or lane in reserved:
                continue
            if not idle:
                # A lane above the current limit is still in use, because the limit was higher before.
                break
            idle -= 1
            if self._parked:
                flight = self._parked.popleft()
            elif (following := self._scheduler.next(now, before)) is None:
                break
            else:
                flight = following
            self._launch(lane, flight)
        self._http.flush()

    def _fill_slow(self) -> None:
        """Start requests of slow tasks on their own lanes; if there are no such lanes, when nothing else is in flight."""
        self._slow_count = sum(flight.is_slow for flight in self._flights.values())
        room = self._context.lanes.slow.lanes - self._slow_count
        if not self._context.lanes.slow.most:
            room = int(not self._busy() and not self._scheduler.tasks)
        if room <= 0 or self._failures.waiting or self._leaving is not None:
            return
        now = self._ledger.enter(_MAKING)
        for lane in self._idle_lanes():
            if not room or (flight := self._scheduler.next_slow(now)) is None:
                break
            self._launch(lane, flight)
            self._slow_count += 1
            room -= 1
        self._http.flush()

    def _idle_lanes(self) -> list[int]:
        """Return the lanes without a request in flight, shared ones first."""
        lanes = range(self._context.lanes.count)
        return [lane for lane in lanes if lane not in self._flights and lane not in self._reserved]

    def _launch(self, lane: int, flight: InFlight) -> None:
        wanted = flight.wanted
        assert wanted is not None
        self._flights[lane] = flight
        self._slots.advance(flight.slot, _SEND)
        self._slots.send()
        self._http.start(lane, wanted)
        flight.requests += 1

    # Judging

    def _round(self, finished: Iterable[tuple[int, Outcome]]) -> None:
        """Give the finished lanes new work first, then judge, so that the target works meanwhile.

        With one lane, a case is judged and recorded before the next is sent, so that only one case is repeated after a kill.
        """
        if self._answers.first_accepted.held:
            self._landed += self._answers.first_accepted.due(self._flying)
        for lane, outcome in finished:
            self._land(lane, outcome)
        if self._context.lanes.pacing.lanes > 1:
            self._fill()
        self._reserved.clear()
        self._judge_landed()

    def _land(self, lane: int, outcome: Outcome) -> None:
        """Take the response of a case from its lane."""
        flight = self._flights.pop(lane)
        if isinstance(outcome, NetworkFailure) and self._answers.resends(flight, outcome):
            if flight.wanted is not None:
                self._health.note_resent(flight.made, flight.wanted)
            return
        if isinstance(outcome, Response) and flight.wanted is not None and not flight.wanted.is_of_check:
            self._health.served.arrived(flight.made, flight.wanted, outcome)
        self._landed.append((flight, outcome))
        if not flight.task.is_closed:
            # The next step of the sequence depends on this response, so no other case gets the lane before it is judged.
            self._reserved.add(lane)

    def _judge_landed(self) -> None:
        """Judge responses until a foreground job has precedence."""
        landed, ledger = self._landed, self._ledger
        while landed and self._job is None:
            flight, outcome = landed.popleft()
            ledger.enter(_JUDGING)
            verdict = self._answers.judged(flight, outcome)
            ledger.enter(_RECORDING)
            if verdict is None:
                continue
            self._slots.act(flight.slot, _RECORD)
            final = verdict.outcome
            if final is None:
                self._scheduler.release(flight)
            elif isinstance(final, NetworkFailure) or final.status_code in REFUSALS:
                # This may need requests, to see whether the target still serves. Failures must be on disk before any request.
                self._failures.write()
                self._begin(self._doubt(flight, verdict, final))
            else:
                self._count(flight, verdict, final)
        if self._failures.added:
            self._failures.write()

    def _doubt(self, flight: InFlight, verdict: Verdict, outcome: Outcome) -> Job[None]:
        """Count a response, unless the target may have stopped serving."""
        try:
            is_held = yield from self._outage.holds(flight, verdict, outcome)
        except GeneratorExit:
            # The run ends at once, so the response is recorded as not judged.
            self._landed.appendleft((flight, outcome))
            raise
        if not is_held:
            self._count(flight, verdict, outcome)

    def _count(self, flight: InFlight, verdict: Verdict, outcome: Outcome) -> None:
        """Pass a response to the observers, and continue its sequence."""
        flight.status = 0
        if isinstance(outcome, Response):
            flight.status = flight.made.case.operation.status_of(outcome)
        verdict.at = verdict.at or time.time()
        if not flight.is_counted:
            verdict.purpose = flight.purpose
        flight.verdict = verdict
        try:
            self._observers.saw(flight, verdict)
            suspicions = () if verdict.judgement is CLEAN else self._recorder.failures(flight, verdict)
            if not flight.task.is_closed:
                self._ledger.enter(_MAKING)
                self._scheduler.followers.extend(flight, verdict, is_news=bool(suspicions), leaving=self._leaving)
                self._ledger.enter(_RECORDING)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - an error fails only this case
            self._scheduler.fail(flight, error)
            return
        if suspicions:
            self._failures.add(flight, suspicions)
        else:
            self._scheduler.release(flight)
        if isinstance(outcome, Response) and outcome.request is not None and outcome.request.is_probed:
            # Without testing the session here, an operation that ends it, such as `GET /leave` with a redirect, would
            # share the blame with the operation that was served just before.
            self._begin(self._health.probe_access(flight.made.label))

    def _flying(self) -> list[Placed]:
        """Return all cases that are made but not judged."""
        return [*self._flights.values(), *self._answers.waiting, *self._scheduler.followers.waiting]

    def _finish_tasks(self) -> None:
        self._counts.hand_in(self._scheduler.over(time.monotonic()), self._up)
