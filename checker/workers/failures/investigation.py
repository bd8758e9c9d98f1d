"""From failing cases to findings worth reading: alone, smaller, and re-sent exactly as printed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.server_error import DroppedConnection
from checker.core.digests import digest
from checker.core.errors import CheckerError, HookError
from checker.core.failures import Failure
from checker.core.request import WireRequest
from checker.core.response import Outcome
from checker.core.send import Exchanging, Purpose
from checker.corpus.inflight import Stage
from checker.corpus.records import Finding
from checker.generation.sources.context import Rejected
from checker.generation.sources.shrinking import ShrinkBudget, ShrinkingStopped
from checker.phases.attempt import Tools, Verdict, attempt, drive
from checker.phases.case_factory import CaseFactory, GeneratedCase, plainest_like, undescribed_method
from checker.phases.shrinking import ShrinkPlan, content_of, shrink_case
from checker.workers.failures.fresh_names import FreshNames
from checker.workers.failures.reproduction import PrintedReplay
from checker.workers.failures.sequences import REPETITIONS, Confirmation, SequenceReplay, SequenceShrink
from checker.workers.failures.settlement import Describer, Settlement, as_printed, count_hits, shown_by, spent_after
from checker.workers.recording.defects import Defects
from checker.workers.recording.traffic import Answered, answered
from checker.workers.recording.unconfirmed import ExpectedFailure, JudgedCase, UnconfirmedFailure, before_in

MOST_CREATED = 20
"""Candidates of one shrink that may have created something: what a target keeps of a shrink is no test of it."""


class Investigator(Struct):
    """Re-sends, shrinks and reproduces. Blocking: `send` pumps the other lanes meanwhile."""

    tools: Tools
    factory: CaseFactory
    describer: Describer
    defects: Defects
    render: Callable[[WireRequest], str]
    """The command that sends a request."""
    send: Callable[[WireRequest], Outcome]
    stage: Callable[[Stage], None]
    allowance: Callable[[UnconfirmedFailure], ShrinkBudget | None]
    """What a shrink may take; None leaves failing cases as they are (`no-shrink`)."""
    no_more: Callable[[UnconfirmedFailure], str] = lambda suspicion: ""
    """Why there is no more than one request for a failure, for which its command is sent; empty if there is more."""
    may_send: Callable[[], bool] = lambda: True
    """Whether commands may be sent once more as they are printed."""
    suspect: Callable[[UnconfirmedFailure, JudgedCase, Failure], UnconfirmedFailure | None] = (
        lambda parent, shot, found: None
    )
    """Told of every other failure that turns up on the way; gives it if it is news."""
    sent: Callable[[Verdict], None] = lambda verdict: None
    """Told of everything that was sent."""
    hurry: Callable[[], str] = lambda: ""
    """Why nothing but the last version is to be sent any more; empty if there is no reason."""
    is_silent: Callable[[], bool] = lambda: False
    """Whether the target answers no request any more: then a dropped connection is not one of its own request."""
    _waiting: list[UnconfirmedFailure] = field(default_factory=list)
    _settlements: list[Settlement] = field(default_factory=list)
    _simplest: dict[str | None, JudgedCase] = field(default_factory=dict)
    """By method, where that is one which is not described."""
    _requests: int = 0

    def settle(self, suspicions: list[UnconfirmedFailure]) -> Iterator[Finding]:
        """Last versions of what one case showed, and of all that turns up meanwhile; the worst first."""
        self._waiting = list(suspicions)
        while self._waiting:
            suspicion = min(self._waiting, key=UnconfirmedFailure.urgency)
            self._waiting.remove(suspicion)
            before = self._requests
            finding = self._settled(suspicion)
            spent = suspicion.finding.requests + self._requests - before
            finding = replace(finding, requests=spent)
            self.defects.settle(finding)
            yield finding

    def _settled(self, suspicion: UnconfirmedFailure) -> Finding:
        last = replace(suspicion.finding, stage="minimised")
        fingerprint = last.fingerprint
        other = self.defects.same_as(suspicion.label, suspicion.failure, fingerprint)
        if other is not None:
            return replace(last, same_as=other)
        wanted = ExpectedFailure.of(suspicion)
        others = self._settlements if suspicion.failure.request is None else ()
        settlement = shown_by(others, wanted)
        if settlement is None:
            settlement = self._looked_into(suspicion, wanted)
            self._settlements.append(settlement)
        return self._described(last, suspicion, wanted, settlement)

    def _looked_into(self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure) -> Settlement:
        self.stage(Stage.CONFIRM)
        reproduce = partial(self._reproduce, suspicion)
        # What may come of other requests is not told before it happened again and again.
        why = self.no_more(suspicion)
        if why and not self.may_send():
            return self._unsent(suspicion, why)
        if why and not suspicion.failure.needs_repetition:
            return as_printed(suspicion.chain, wanted, reproduce, self._may_repeat, why)
        is_again = suspicion.second is not None
        names = FreshNames.of(suspicion.chain)
        confirmation = self._confirmation(suspicion, wanted, names)
        chain = suspicion.chain if is_again else confirmation.shortest(suspicion.chain)
        is_told = chain is not None and (
            is_again or not suspicion.failure.needs_repetition or confirmation.repeats(chain)
        )
        if chain is None or not is_told:
            settlement = Settlement(suspicion.chain, is_confirmed=False)
        else:
            settlement = Settlement(chain, is_confirmed=True, names=names)
            allowance = self.allowance(suspicion)
            if allowance is not None and len(chain) == 1:
                self._minimise(suspicion, wanted, settlement, allowance)
            elif allowance is not None:
                self._minimise_sequence(suspicion, wanted, settlement, allowance.executions)
        self.stage(Stage.CONFIRM)
        self._reproduce(suspicion, settlement, wanted)
        needs_repetition = suspicion.failure.needs_repetition
        if needs_repetition and not settlement.is_confirmed:
            # Values that are found anew may lead elsewhere: what is sent as printed is the same each time.
            settlement.is_confirmed = self._shows_each_time(suspicion, settlement, wanted)
        if needs_repetition and not settlement.is_confirmed:
            self._confirm_by_removal(suspicion, settlement, wanted)
        if isinstance(suspicion.failure, DroppedConnection) and settlement.is_confirmed:
            settlement.is_confirmed = not self.is_silent()
        is_told = settlement.is_confirmed or not needs_repetition
        if is_told:
            count_hits(settlement, wanted, reproduce, self._may_repeat)
        return settlement

    def _may_repeat(self) -> bool:
        return not self.hurry() and self.may_send()

    def _unsent(self, suspicion: UnconfirmedFailure, why: str) -> Settlement:
        """Return a failure as it was found, with its commands."""
        chain = suspicion.chain
        printed = self._printed(suspicion, FreshNames.of(chain), ())
        return Settlement(
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
    ) -> JudgedCase:
        name = digest("confirmed", made.case.id)[:12]
        remade = self.factory.remake(made.step, name=name, phase=suspicion.phase)
        return self._shot(remade, Purpose.CONFIRM, earlier)

    def _shot(
        self,
        made: GeneratedCase,
        purpose: Purpose,
        earlier: Iterable[JudgedCase] = (),
        *,
        fresh: bool = True,
        confirms: bool = True,
    ) -> JudgedCase:
        work = attempt(self.tools, made.case, before_in(earlier), fresh=fresh, confirms=confirms)
        return self._driven(made, work, purpose)

    def _driven(self, made: GeneratedCase, work: Exchanging[Verdict], purpose: Purpose) -> JudgedCase:
        """The end of an attempt. All that was sent for it is on record, whatever becomes of it."""
        answers: list[Answered] = []

        def send(request: WireRequest) -> Outcome:
            self._requests += 1
            outcome = self.send(request)
            answers.append(answered(request, outcome))
            return outcome

        try:
            verdict: Verdict = drive(work, send)
        except Exception:
            self.describer.unjudged(made, answers, purpose)
            raise
        shot = JudgedCase(made, verdict)
        if answers:
            verdict.purpose = purpose
            self.describer.beside(made, answers, verdict)
            self.describer.record(shot)
            self.sent(verdict)
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
        found = self.suspect(suspicion, shot, failure)
        if found is not None:
            self._waiting.append(found)

    def _minimise(
        self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure, settlement: Settlement, budget: ShrinkBudget
    ) -> None:
        """Put the smallest case in the place of the one that was confirmed."""
        simplest = self._simplest_shot(suspicion)
        if simplest is not None:
            self._note_others(suspicion, wanted, simplest)
            if wanted.shown(simplest) is not None:
                # The input does not matter: there is nothing to shrink.
                settlement.chain = (simplest,)
                return
        if budget.executions <= 0:
            settlement.stopped, settlement.wants_more = spent_after(0), True
            return
        self.stage(Stage.SHRINK)
        # Only what differs from the simplest case is worth a request.
        passing = set() if simplest is None else {content_of(simplest.made.case)}
        self._shrink(suspicion, wanted, settlement, budget, frozenset(passing))
        for shot, failure in wanted.strays.values():
            self._take_in(suspicion, shot, failure)

    def _minimise_sequence(
        self, suspicion: UnconfirmedFailure, wanted: ExpectedFailure, settlement: Settlement, allowance: int
    ) -> None:
        """Put a sequence of smaller steps in the place of the one that was confirmed."""

        def may_send() -> None:
            settlement.stopped = self.hurry()
            if settlement.stopped:
                raise ShrinkingStopped

        def shows(shot: JudgedCase) -> bool:
            self._note_others(suspicion, wanted, shot)
            return wanted.shown(shot) is not None

        self.stage(Stage.SHRINK)
        work = SequenceShrink(self._replay(suspicion, settlement.names), shows, may_send, allowance)
        settlement.chain = work.shrunk(settlement.chain)
        settlement.executions = work.executions
        if not work.is_finished and not settlement.stopped:
            settlement.stopped = spent_after(work.executions)

    def _simplest_shot(self, suspicion: UnconfirmedFailure) -> JudgedCase | None:
        """The simplest case of the operation, sent once; None if there is none. A method that is not described is kept."""
        last = suspicion.chain[-1].made
        method = undescribed_method(last.case)
        if method not in self._simplest:
            try:
                made = self._named(plainest_like(self.factory, last, suspicion.phase))
            except (CheckerError, Rejected):
                return None
            self._simplest[method] = self._shot(made, Purpose.PROBE)
        return self._simplest[method]

    def _named(self, made: GeneratedCase) -> GeneratedCase:
        """A smallest case under a name of its own: whatever it was made of, it is this case."""
        made.case.id = digest("smallest", made.label, repr(made.recipe))[:12]
        return made

    def _shrink(
        self,
        suspicion: UnconfirmedFailure,
        wanted: ExpectedFailure,
        settlement: Settlement,
        budget: ShrinkBudget,
        passing: frozenset[str],
    ) -> None:
        (confirmed,) = settlement.chain
        name = digest("shrunk", confirmed.made.case.id)[:12]
        created, is_probed = 0, suspicion.is_of_check
        named = partial(settlement.names.given, self.factory, self.tools)

        def still_fails(candidate: GeneratedCase) -> bool:
            nonlocal created
            settlement.stopped = self.hurry()
            if created >= MOST_CREATED:
                settlement.stopped = f"after {created} requests that may have created something"
            if settlement.stopped:
                raise ShrinkingStopped
            try:
                shot = self._shot(named(candidate), Purpose.SHRINK, fresh=False, confirms=is_probed)
            except HookError:
                return False
            created += shot.may_have_created
            settlement.names.created(shot)
            self._note_others(suspicion, wanted, shot)
            return wanted.shown_by_candidate(shot)

        plan = ShrinkPlan(name, suspicion.phase, budget, passing=passing)
        result = shrink_case(self.factory, confirmed.made, still_fails, plan)
        settlement.executions = result.executions
        if not settlement.stopped and not result.finished:
            settlement.stopped, settlement.wants_more = spent_after(result.executions), True
        # No candidate any more: it has all the time that its failure needs.
        self.stage(Stage.CONFIRM)
        smallest = self._shot(self._named(named(result.made)), Purpose.CONFIRM)
        self._note_others(suspicion, wanted, smallest)
        if wanted.shown(smallest) is not None:
            settlement.chain = (smallest,)

    def _reproduce(self, suspicion: UnconfirmedFailure, settlement: Settlement, wanted: ExpectedFailure) -> None:
        """Send the commands as they will be printed, and judge the last answer."""
        printed = self._printed(suspicion, settlement.names, settlement.earlier)
        settlement.send_printed(printed, self.factory, wanted)

    def _printed(self, suspicion: UnconfirmedFailure, names: FreshNames, earlier: Sequence[Verdict]) -> PrintedReplay:
        following = self._replay(suspicion, names).following
        return PrintedReplay(self.tools, self.render, self._driven, following, earlier)

    def _shows_each_time(self, suspicion: UnconfirmedFailure, settlement: Settlement, wanted: ExpectedFailure) -> bool:
        """Whether the commands, which were sent once, show a failure as often as they are sent again."""
        for _ in range(REPETITIONS):
            if settlement.showed(wanted) < len(settlement.printed):
                return False
            self._reproduce(suspicion, settlement, wanted)
        return 0 < len(settlement.printed) == settlement.showed(wanted)

    def _confirm_by_removal(
        self, suspicion: UnconfirmedFailure, settlement: Settlement, wanted: ExpectedFailure
    ) -> None:
        """Take what cannot be sent again from the start for confirmed where what is left of it shows the failure each time."""
        confirmation = self._confirmation(suspicion, wanted, settlement.names)
        if confirmation.stays_after_removal(suspicion.chain):
            settlement.earlier = before_in(suspicion.chain[:-1])
            settlement.printed.clear()
            settlement.is_confirmed = self._shows_each_time(suspicion, settlement, wanted)

    def _described(
        self, last: Finding, suspicion: UnconfirmedFailure, wanted: ExpectedFailure, settlement: Settlement
    ) -> Finding:
        shot = settlement.chain[-1]
        failure = wanted.again(shot) or suspicion.failure
        case, label, name = shot.made.case.id, suspicion.label, last.fingerprint
        other = self.defects.same_as(label, failure, name)
        other = other or self.defects.with_case(label, failure, name, case)
        told = settlement.told(replace(last, message=failure.message), wanted, self.describer)
        withdrawn = failure.needs_repetition and not settlement.is_confirmed
        return replace(told, same_as=other or "", withdrawn=withdrawn)
