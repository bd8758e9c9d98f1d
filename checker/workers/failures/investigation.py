"""The investigation of one case: its failures are confirmed, shrunk, and sent again as they are printed."""

from collections.abc import Iterable, Sequence
from functools import partial

from msgspec.structs import replace

from checker.checks.server_error import DroppedConnection, UnansweredRequest
from checker.core.digests import digest
from checker.core.errors import CheckerError, HookError, StorageError
from checker.core.failures import Failure
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.core.send import Exchanging, Purpose
from checker.corpus.inflight import Stage
from checker.corpus.records import Finding, Note
from checker.generation.sources.context import Rejected
from checker.phases.attempt import Verdict, attempt
from checker.phases.case_factory import GeneratedCase, plainest_like, undescribed_method
from checker.phases.shrinking import content_of, shrink_case
from checker.workers import jobs
from checker.workers.context import Activity, WorkerContext
from checker.workers.failures.creators import are_linked, with_creators
from checker.workers.failures.fresh_names import FreshNames
from checker.workers.failures.reproduction import PrintedReplay
from checker.workers.failures.result import InvestigationResult, as_printed, count_hits, shown_by
from checker.workers.failures.sequences import REPETITIONS, Confirmation, SequenceReplay, shrink_sequence
from checker.workers.failures.slot import InvestigationSlot
from checker.workers.jobs import Job, Pause
from checker.workers.messages import FindingsWritten
from checker.workers.observer_table import Observers
from checker.workers.outages.health import TargetHealth
from checker.workers.queues import Sender
from checker.workers.recording.investigation_budget import ShrinkBudget, spent_after
from checker.workers.recording.task_state import InFlight
from checker.workers.recording.traffic import Answered, answered
from checker.workers.recording.unconfirmed import Chain, ExpectedFailure, JudgedCase, UnconfirmedFailure, before_in
from checker.workers.scheduling.answers import Placed, earliest_in
from checker.workers.scheduling.case_scheduler import CaseScheduler

MOST_CREATED = 20
"""Candidates of one shrink that may have created a resource: a shrink must not fill the target."""


class Investigation:
    """Sends the requests for the failures of one case, and for all that turn up meanwhile."""

    def __init__(self, slot: InvestigationSlot, suspicions: Iterable[UnconfirmedFailure]) -> None:
        context = slot.context
        self.slot = slot
        self.tools = context.tools
        self.factory = context.factory
        self.waiting = list(suspicions)
        """Failures that are not investigated yet."""
        self._traffic = context.recorder.traffic
        self._defects = context.recorder.defects
        self._results: list[InvestigationResult] = []
        self._simplest: dict[str | None, JudgedCase] = {}
        """The simplest case, by method if the method is undocumented."""
        self._requests = 0

    def settle_next(self) -> Job[Finding]:
        """Return the last version of the most severe failure that waits."""
        suspicion = min(self.waiting, key=UnconfirmedFailure.urgency)
        self.waiting.remove(suspicion)
        before = self._requests
        finding = yield from self._settled(suspicion)
        finding = replace(finding, requests=suspicion.finding.requests + self._requests - before)
        self._defects.settle(finding)
        return finding

    def _settled(self, suspicion: UnconfirmedFailure) -> Job[Finding]:
        last = replace(suspicion.finding, stage="minimised")
        other = self._defects.same_as(suspicion.label, suspicion.failure, last.fingerprint)
        if other is not None:
            return replace(last, same_as=other)
        wanted = ExpectedFailure.of(suspicion)
        others = self._results if suspicion.failure.request is None else ()
        result = shown_by(others, wanted)
        if result is None:
            result = yield from self._looked_into(suspicion, wanted)
            self._results.append(result)
        return self._described(last, suspicion, wanted, result)

    def _looked_into(self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure) -> Job[InvestigationResult]:
        slot, needs_repetition = self.slot, suspicion.failure.needs_repetition
        slot.enter(Stage.CONFIRM)
        reproduce = partial(self._reproduce, suspicion)
        why = slot.limit(suspicion)
        if why and not slot.may_send():
            return self._unsent(suspicion, why)
        # A failure that other requests may cause is not reported before it happened several times.
        if why and not needs_repetition:
            return (yield from as_printed(suspicion.chain, wanted, reproduce, slot, why))
        if isinstance(suspicion.failure, UnansweredRequest):
            return (yield from self._unanswered(suspicion, wanted))
        is_again = suspicion.second is not None
        names = FreshNames.of(suspicion.chain)
        confirmation = self._confirmation(suspicion, wanted, names)
        chain = suspicion.chain if is_again else (yield from confirmation.shortest(suspicion.chain))
        if chain is not None and (yield from self._passes_later(suspicion, confirmation, chain)):
            return InvestigationResult(suspicion.chain, is_confirmed=False)
        if chain is not None and needs_repetition and not is_again and not (yield from confirmation.repeats(chain)):
            chain = None
        if chain is None:
            result = InvestigationResult(suspicion.chain, is_confirmed=False)
            if not needs_repetition:
                # A removal counts as spent when it is sent again, and the commands of such failures are sent as they are.
                result.names = names
        else:
            result = InvestigationResult(chain, is_confirmed=True, names=names)
            yield from self._minimise(suspicion, wanted, result)
        slot.enter(Stage.CONFIRM)
        if not needs_repetition and not suspicion.is_of_check:
            yield from self._make_anew(suspicion, wanted, result)
        yield from self._reproduce(suspicion, result, wanted)
        if needs_repetition and not result.is_confirmed:
            # Values that are taken from new responses may lead elsewhere: the printed commands are the same each time.
            result.is_confirmed = yield from self._shows_each_time(suspicion, result, wanted)
        if needs_repetition and not result.is_confirmed:
            yield from self._confirm_by_removal(suspicion, result, wanted)
        if chain is None and result.is_confirmed:
            result.is_confirmed = not (yield from self._passes_later(suspicion, confirmation, result.chain))
        if isinstance(suspicion.failure, DroppedConnection) and result.is_confirmed:
            # If the target responds to no request at all, the dropped connection is not caused by this one.
            result.is_confirmed = not (yield from slot.health.is_silent())
        if result.is_confirmed or not needs_repetition:
            yield from count_hits(result, wanted, reproduce, slot)
        return result

    def _unanswered(self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure) -> Job[InvestigationResult]:
        """Return the result for a request without a response. Each failing request costs a timeout, so only the simplest case is tried.

        The printed command has several times the timeout, so that a slow response is no failure.
        """
        chain, health = suspicion.chain, self.slot.health
        simplest = (yield from self._simplest_shot(suspicion)) if len(chain) == 1 else None
        if simplest is not None:
            self._note_others(suspicion, wanted, simplest)
            if wanted.shown(simplest) is not None:
                chain = (simplest,)
        result = InvestigationResult(chain, is_confirmed=False, names=FreshNames.of(chain))
        self.slot.is_patient = True
        try:
            yield from self._reproduce(suspicion, result, wanted)
        finally:
            self.slot.is_patient = False
        if result.showed(wanted):
            # If the target responds to no request at all, the missing response is not caused by this one.
            is_silent = health.is_silent() if health.served.served else self._is_mute()
            result.is_confirmed = not (yield from is_silent)
        return result

    def _is_mute(self) -> Job[bool]:
        """Return whether the target does not respond to a request for its root either."""
        root = WireRequest("GET", b"/", [], fresh=True)
        return not isinstance((yield from self.slot.exchange(root)), Response)

    def _make_anew(
        self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure, result: InvestigationResult
    ) -> Job[None]:
        """Put the creations of the resources that a single case names before it, if the failure shows again with them.

        Its commands then need nothing of the run.
        """
        model = self.slot.context.subject.selected.resources
        chain = with_creators(self.factory, model, result.chain[-1].made) if len(result.chain) == 1 else []
        if not chain:
            return
        names = replace(result.names, served=result.names.served | {made.label for made in chain[:-1]})
        shots = yield from self._replay(suspicion, names).replayed(chain)
        are_made = all(200 <= shot.said_status < 300 for shot in shots[:-1])
        if are_made and are_linked(chain[-1], before_in(shots[:-1])) and wanted.shown(shots[-1]) is not None:
            result.chain, result.names, result.is_confirmed = shots, names, True

    def _passes_later(self, suspicion: UnconfirmedFailure, confirmation: Confirmation, chain: Chain) -> Job[bool]:
        """Return whether the last request of a sequence no longer fails after a while, as with eventual consistency."""
        delay_s = suspicion.failure.second_look_s
        if not delay_s:
            return False
        yield Pause(delay_s)
        if confirmation.fails((yield from confirmation.again(chain[-1].made, chain[:-1]))):
            return False
        text = f"the failure `{suspicion.failure.title}` did not show again after {delay_s:g} s"
        self.slot.context.recorder.note(Note("unjudged", suspicion.label, "", text))
        return True

    def _unsent(self, suspicion: UnconfirmedFailure, why: str) -> InvestigationResult:
        """Return a failure as it was found, with its commands."""
        chain = suspicion.chain
        printed = self._printed(suspicion, FreshNames.of(chain), ())
        return InvestigationResult(
            chain,
            is_confirmed=False,
            stopped=why,
            wants_more=len(chain) == 1,
            commands=printed.commands(chain, suspicion.failure.request),
        )

    def _confirmation(self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure, names: FreshNames) -> Confirmation:
        return Confirmation(
            self._replay(suspicion, names), partial(self._again, suspicion), partial(self._fails, suspicion, wanted)
        )

    def _replay(self, suspicion: UnconfirmedFailure, names: FreshNames) -> SequenceReplay:
        return SequenceReplay(self.factory, suspicion.phase, self._shot, self.tools, names)

    def _again(
        self, suspicion: UnconfirmedFailure, made: GeneratedCase, earlier: Iterable[JudgedCase] = ()
    ) -> Job[JudgedCase]:
        name = digest("confirmed", made.case.id)[:12]
        remade = self.factory.remake(made.step, name=name, phase=suspicion.phase)
        return (yield from self._shot(remade, Purpose.CONFIRM, earlier))

    def _shot(
        self,
        made: GeneratedCase,
        purpose: Purpose,
        earlier: Iterable[JudgedCase] = (),
        *,
        fresh: bool = True,
        confirms: bool = True,
    ) -> Job[JudgedCase]:
        work = attempt(self.tools, made.case, before_in(earlier), fresh=fresh, confirms=confirms)
        return (yield from self._driven(made, work, purpose))

    def _driven(self, made: GeneratedCase, work: Exchanging[Verdict], purpose: Purpose) -> Job[JudgedCase]:
        """Return the end of an attempt. All its requests are recorded, even if the attempt raises or the run ends."""
        answers: list[Answered] = []

        def send(request: WireRequest) -> Job[Outcome]:
            self._requests += 1
            outcome = yield from self.slot.exchange(request)
            answers.append(answered(request, outcome))
            return outcome

        try:
            verdict = yield from jobs.answered(work, send)
        except BaseException:
            self._traffic.unjudged(made, answers, purpose)
            raise
        shot = JudgedCase(made, verdict)
        if answers:
            verdict.purpose = purpose
            self._traffic.record_others(made, answers, verdict)
            self._traffic.record(shot)
            self.slot.judged(verdict)
        return shot

    def _fails(self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure, shot: JudgedCase) -> bool:
        """Whether the very same request failed again."""
        self._note_others(suspicion, wanted, shot)
        return wanted.again(shot) is not None

    def _note_others(self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure, shot: JudgedCase) -> None:
        status = shot.status
        for failure in shot.verdict.judgement.failures:
            if not wanted.is_same_rule(failure, status):
                self._take_in(suspicion, shot, failure)

    def _take_in(self, suspicion: UnconfirmedFailure, shot: JudgedCase, failure: Failure) -> None:
        found = self.slot.suspect(suspicion, shot, failure)
        if found is not None:
            self.waiting.append(found)

    def _minimise(
        self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure, result: InvestigationResult
    ) -> Job[None]:
        """Replace the confirmed case or sequence by the smallest that still fails."""
        most = self.slot.allowance(suspicion)
        if most is None:
            return
        if len(result.chain) > 1:
            self.slot.begin(suspicion, Stage.SHRINK)

            def shows(shot: JudgedCase) -> bool:
                self._note_others(suspicion, wanted, shot)
                return wanted.shown(shot) is not None

            yield from shrink_sequence(self._replay(suspicion, result.names), result, shows, most, self.slot.end_reason)
            return
        simplest = yield from self._simplest_shot(suspicion)
        if simplest is not None:
            self._note_others(suspicion, wanted, simplest)
            if wanted.shown(simplest) is not None:
                # The input does not matter: there is nothing to shrink.
                result.chain = (simplest,)
                return
        if most <= 0:
            result.stopped, result.wants_more = spent_after(0), True
            return
        self.slot.begin(suspicion, Stage.SHRINK)
        # A candidate that equals the simplest case is known to pass.
        passing = frozenset() if simplest is None else frozenset((content_of(simplest.made.case),))
        yield from self._shrink(suspicion, wanted, result, most, passing)
        for shot, failure in wanted.strays.values():
            self._take_in(suspicion, shot, failure)

    def _simplest_shot(self, suspicion: UnconfirmedFailure) -> Job[JudgedCase | None]:
        """Return the simplest case of the operation, sent once; None if there is none. An undocumented method is kept."""
        last = suspicion.chain[-1].made
        method = undescribed_method(last.case)
        if method not in self._simplest:
            try:
                made = self._named(plainest_like(self.factory, last, suspicion.phase))
            except (CheckerError, Rejected):
                return None
            self._simplest[method] = yield from self._shot(made, Purpose.PROBE)
        return self._simplest[method]

    def _named(self, made: GeneratedCase) -> GeneratedCase:
        """Return a smallest case with an id that depends on its content alone."""
        made.case.id = digest("smallest", made.label, repr(made.recipe))[:12]
        return made

    def _shrink(
        self,
        suspicion: UnconfirmedFailure,
        wanted: ExpectedFailure,
        result: InvestigationResult,
        most: int,
        passing: frozenset[str],
    ) -> Job[None]:
        (confirmed,) = result.chain
        name = digest("shrunk", confirmed.made.case.id)[:12]
        created, tried, is_probed = 0, 0, suspicion.is_of_check
        named = partial(result.names.given, self.factory, self.tools)

        def still_fails(candidate: GeneratedCase) -> Job[bool | None]:
            nonlocal created, tried
            if tried >= most:
                result.stopped, result.wants_more = spent_after(tried), True
                return None
            result.stopped = self.slot.end_reason()
            if created >= MOST_CREATED:
                result.stopped = f"after {created} requests that may have created something"
            if result.stopped:
                return None
            tried += 1
            try:
                shot = yield from self._shot(named(candidate), Purpose.SHRINK, fresh=False, confirms=is_probed)
            except HookError:
                return False
            created += shot.may_have_created
            result.names.created(shot)
            self._note_others(suspicion, wanted, shot)
            return wanted.shown_by_candidate(shot)

        search = shrink_case(self.factory, confirmed.made, name, suspicion.phase, passing)
        shrunk = yield from jobs.answered(search, still_fails)
        result.executions = tried
        # The smallest case is no candidate: it has all the time that its failure needs.
        self.slot.enter(Stage.CONFIRM)
        smallest = yield from self._shot(self._named(named(shrunk.made)), Purpose.CONFIRM)
        self._note_others(suspicion, wanted, smallest)
        if wanted.shown(smallest) is not None:
            result.chain = (smallest,)

    def _reproduce(
        self, suspicion: UnconfirmedFailure, result: InvestigationResult, wanted: ExpectedFailure
    ) -> Job[None]:
        """Send the commands as they will be printed, and judge the last response."""
        printed = self._printed(suspicion, result.names, result.earlier)
        yield from result.send_printed(printed, self.factory, wanted)

    def _printed(self, suspicion: UnconfirmedFailure, names: FreshNames, earlier: Sequence[Verdict]) -> PrintedReplay:
        following = self._replay(suspicion, names).following
        render = self.slot.context.recorder.reproduction
        if isinstance(suspicion.failure, UnansweredRequest):
            # A command without a limit would wait for ever.
            render = partial(render, is_timed=True)
        return PrintedReplay(self.tools, render, self._driven, following, earlier)

    def _shows_each_time(
        self, suspicion: UnconfirmedFailure, result: InvestigationResult, wanted: ExpectedFailure
    ) -> Job[bool]:
        """Return whether the commands, which were sent once, show a failure each time that they are sent again."""
        for _ in range(REPETITIONS):
            if result.showed(wanted) < len(result.printed):
                return False
            yield from self._reproduce(suspicion, result, wanted)
        return 0 < len(result.printed) == result.showed(wanted)

    def _confirm_by_removal(
        self, suspicion: UnconfirmedFailure, result: InvestigationResult, wanted: ExpectedFailure
    ) -> Job[None]:
        """Confirm a sequence that cannot be sent again from its start, if its remaining steps show the failure each time."""
        confirmation = self._confirmation(suspicion, wanted, result.names)
        if (yield from confirmation.stays_after_removal(suspicion.chain)):
            result.earlier = before_in(suspicion.chain[:-1])
            result.printed.clear()
            result.is_confirmed = yield from self._shows_each_time(suspicion, result, wanted)

    def _described(
        self, last: Finding, suspicion: UnconfirmedFailure, wanted: ExpectedFailure, result: InvestigationResult
    ) -> Finding:
        shot = result.chain[-1]
        failure = wanted.again(shot) or suspicion.failure
        case, label, name = shot.made.case.id, suspicion.label, last.fingerprint
        other = self._defects.same_as(label, failure, name)
        other = other or self._defects.with_case(label, failure, name, case)
        cause = failure.cause(shot.made.step.label)
        described = result.described(replace(last, message=failure.message, cause=cause), wanted, self._traffic)
        withdrawn = failure.needs_repetition and not result.is_confirmed
        return replace(described, same_as=other or "", withdrawn=withdrawn)


class FailureQueue:
    """Holds failures until they are confirmed, shrunk and reproduced."""

    def __init__(
        self, context: WorkerContext, up: Sender, scheduler: CaseScheduler, health: TargetHealth, observers: Observers
    ) -> None:
        self._context = context
        self._up = up
        self._scheduler = scheduler
        self._health = health
        self._observers = observers
        self.shrink_budget = ShrinkBudget()
        self.waiting: list[tuple[InFlight, UnconfirmedFailure]] = []
        """Failures to investigate. No new case is started meanwhile."""
        self.added = 0
        """The number of failures that are not on disk yet."""

    def add(self, flight: InFlight, suspicions: Iterable[UnconfirmedFailure]) -> None:
        """Keep failures, and the slot of their case, until they are investigated.

        A failure replaces a waiting one of the same defect: it is of an earlier case, whose response came later.
        """
        for suspicion in suspicions:
            flight.pending += 1
            for waiting in self.waiting:
                if waiting[1].finding.fingerprint == suspicion.finding.fingerprint:
                    self.waiting.remove(waiting)
                    self._release(waiting[0])
                    break
            self.waiting.append((flight, suspicion))
            self.added += 1

    def write(self) -> None:
        """Write new failures to the disk, and tell the supervisor. Raises `StorageError`."""
        if self.added:
            self._context.recorder.write_failures()
            self._up.send(FindingsWritten(self.added))
            self.added = 0

    @property
    def lowest_index(self) -> int | None:
        """The lowest index of a case that waits; None if none does."""
        return min((flight.index for flight, _ in self.waiting), default=None)

    def next_job(self, flying: Iterable[Placed]) -> Job[None] | None:
        """Return the investigation of all failures of one case; None if all cases wait for responses to earlier ones.

        The case that shows a defect must not depend on the order of responses.
        """
        earliest = earliest_in(flying)
        for flight in sorted((waiting[0] for waiting in self.waiting), key=lambda one: one.index):
            if flight.index <= earliest.get(flight.task.lease.id, flight.index):
                return self._settle(flight)
        return None

    def drop_all(self) -> None:
        """Investigate nothing more: the first versions of the findings are on disk."""
        for flight, _ in self.waiting:
            self._release(flight)
        self.waiting.clear()

    def _release(self, flight: InFlight) -> None:
        flight.pending -= 1
        if not flight.pending:
            self._scheduler.release(flight)

    def _settle(self, flight: InFlight) -> Job[None]:
        context = self._context
        together = [suspicion for of, suspicion in self.waiting if of is flight]
        self.waiting = [waiting for waiting in self.waiting if waiting[0] is not flight]
        settled: list[Finding] = []
        if suspicions := [one for one in together if context.recorder.is_open(one)]:
            slot = InvestigationSlot(context, self._health, self._observers, flight, self.shrink_budget)
            slot.begin(suspicions[0])
            investigation = Investigation(slot, suspicions)
            try:
                while investigation.waiting:
                    settled.append((yield from investigation.settle_next()))
                    if flight.task.is_endless:
                        # `fuzz` does not promise to send the same requests again after a death.
                        self._write(settled, flight)
            except GeneratorExit:
                # The run ends at once. For failures that are not settled yet, the first versions on disk must do.
                pass
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - the first versions are already on disk
                context.recorder.gave_up(suspicions[0].label, flight.task.lease.phase, error)
            context.ledger.enter(Activity.RECORD)
            slot.enter(Stage.RECORD)
            # All at once: if the worker dies before, the whole case is investigated again.
            self._write(settled, flight)
        for _ in together:
            self._release(flight)

    def _write(self, settled: list[Finding], flight: InFlight) -> None:
        """Write the last versions of findings, and clear the list."""
        self._context.recorder.settled(settled)
        for finding in settled:
            if finding.reproduced:
                again = flight.again
                try:
                    if again is not None and again.fingerprint == finding.fingerprint:
                        # Later runs try the smaller version instead.
                        self._context.saved.forget((again.step,))
                    self._context.saved.save(finding.steps)
                except Exception as error:  # noqa: BLE001 - the finding must still be recorded
                    self._context.recorder.gave_up(finding.label, finding.phase, error)
        self._up.send(FindingsWritten(len(settled)))
        settled.clear()
