"""The requests that confirm a failure, shrink it, and send it again as printed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace as replace_request
from functools import partial
from itertools import islice, takewhile
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.context import JudgedInteraction
from checker.checks.judge import UNJUDGED, lasts
from checker.checks.server_error import DroppedConnection, UnansweredRequest
from checker.core import curl
from checker.core.case import Case, is_idempotency_key, request_with_fresh_key
from checker.core.digests import digest, digest_int
from checker.core.errors import CheckerError, HookError
from checker.core.failures import Failure
from checker.core.meta import ANYTHING, Binding, Step
from checker.core.request import CONDITIONS, Location, WireRequest
from checker.core.resource_names import is_count, words
from checker.core.resources import REMOVING, ResourceModel, place_of, sent_at
from checker.core.response import Response
from checker.core.scalars import is_number
from checker.core.send import Exchanging, Purpose, watched
from checker.corpus.inflight import Stage
from checker.corpus.records import Note
from checker.generation.sources.context import Rejected
from checker.phases.attempt import Tools, Verdict, build_request, exchange, judge_outcome
from checker.phases.bindings import held_by, resolved, without_step
from checker.phases.case_factory import CaseFactory, GeneratedCase, plainest_like, undescribed_method
from checker.phases.case_parts import literal_of, others_like
from checker.phases.shrinking import content_of, shrink_case
from checker.transport.policies import becomes_get
from checker.workers import jobs
from checker.workers.failures.creators import (
    Creations,
    are_linked,
    drawn_names,
    makes_its_resources,
    named_by,
    situations,
    takes_filled,
)
from checker.workers.failures.fresh_names import FreshNames, about_other, is_of_taken_name
from checker.workers.failures.result import InvestigationResult
from checker.workers.failures.slot import InvestigationSlot
from checker.workers.jobs import Job, Pause
from checker.workers.recording.investigation_budget import spent_after
from checker.workers.recording.unconfirmed import Chain, ExpectedFailure, JudgedCase, UnconfirmedFailure, before_in

MOST_CREATED = 20  # Candidates of one shrink that may have created a resource: a shrink must not fill the target.
# With two workers on SQLite about every second write fails. Four of thirteen server errors of a run on Oscar failed
# four times in a row, and succeeded when their commands were pasted.
MORE_TRIES = 6  # How often commands are sent again that did not always show their failure.
IN_A_ROW = 4
"""Responses with the same failure in a row after which an error no longer counts as temporary, so that a service that always
fails gets no more requests.
"""
# One repetition is not enough if two workers change the same resource.
REPETITIONS = 2
"""The number of times that a failure has to happen again after it was confirmed, if other requests may have caused it."""
_LATER_S = 1.0
_CREATED = 201
_INVALID = frozenset((400, 422))
_NOT_THERE = frozenset((404, 410))
# `/delay/216000` and `/drip?duration=1e9` of httpbin were reported as requests without a response.
_DURATIONS = frozenset(("delay", "duration", "latency", "pause", "sleep", "timeout", "wait"))
"""Words in parameter names that ask the server to wait."""


class Inquiry(Struct):
    """Sends the requests for one failure, and recognises the failure in their responses."""

    slot: InvestigationSlot
    suspicion: UnconfirmedFailure
    wanted: ExpectedFailure
    names: FreshNames  # New names for the resources that the steps create.
    in_a_row: int = 1  # Responses in a row with the failure.
    is_anew: bool = False  # Whether the failure showed with resources that its own requests created, or without any.
    earlier: tuple[Verdict, ...] = ()
    """Earlier requests that count when the commands are sent, such as the removal of a resource that cannot be removed again."""

    @classmethod
    def of(cls, slot: InvestigationSlot, suspicion: UnconfirmedFailure) -> "Inquiry":
        """Return the inquiry about a failure of the case of a slot."""
        return cls(
            slot, suspicion, ExpectedFailure.of(suspicion), FreshNames.of(slot.context, suspicion.chain, slot.names)
        )

    @property
    def factory(self) -> CaseFactory:
        """Return the factory of the cases that are sent again."""
        return self.slot.context.factory

    @property
    def tools(self) -> Tools:
        return self.slot.context.tools

    @property
    def is_of_contention(self) -> bool:
        """Whether the text of the failure reports contention, so that temporary occurrences have the same cause."""
        failure = self.suspicion.failure
        return bool(failure.passing_cause) and failure.passing_cause == failure.shared_cause

    def result(self) -> Job[InvestigationResult]:
        """Return the result of the requests for the failure."""
        # The order of the steps: what the budget allows, the confirmation, the shrink, the creations of the named resources,
        # the commands. The commands come last, because the finding is reported as the commands show it. A failure that other
        # requests may cause (`needs_repetition`) can be confirmed in three ways: its sequence fails each time, its commands
        # fail each time, or, if its resource can be removed only once, its last steps fail each time.
        slot, suspicion, failure = self.slot, self.suspicion, self.suspicion.failure
        slot.enter(Stage.CONFIRM)
        if failure.is_repeated:
            failure.is_repeated = yield from jobs.answered(lasts(failure), slot.exchange)
        why = slot.limit(suspicion)
        # An error without a reason is always sent once more, because nothing else distinguishes a defect from high
        # load. A failure that is only reported after repetitions is always repeated; otherwise a dropped connection
        # would be lost when the share for shrinks is spent.
        if why and not slot.may_send() and not (failure.passing_cause or failure.needs_repetition):
            unsent = InvestigationResult(
                suspicion.chain,
                is_confirmed=False,
                stopped=why,
                wants_more=len(suspicion.chain) == 1,
                commands=self.commands(suspicion.chain, failure.request),
            )
            return (yield from self._made_anew_alone(unsent))
        # A failure that other requests may cause is not reported before it has happened several times.
        if why and not failure.needs_repetition:
            return (yield from self._made_anew_alone((yield from self.as_printed(why))))
        is_unanswered = isinstance(failure, UnansweredRequest)
        if why and (failure.passing_cause or not (is_unanswered or slot.may_send())):
            # Repetitions are enough for the verdict. A shrink would take four times as many requests.
            repeated = InvestigationResult(
                suspicion.chain, is_confirmed=False, stopped=why, wants_more=len(suspicion.chain) == 1
            )
            repeated.is_confirmed = yield from self._shows_each_time(repeated)
            return (yield from self._unless_silent(repeated))
        if is_unanswered:
            return (yield from self._unanswered())
        # A second look begins with a confirmed and shrunk case, so only a smaller one is news.
        is_again = suspicion.second is not None
        chain = suspicion.chain if is_again else (yield from self.shortest(suspicion.chain))
        if chain is not None and (yield from self._passes_later(chain)):
            # No further requests are sent, because an eventually consistent server becomes right after a while.
            return InvestigationResult(suspicion.chain, is_confirmed=False)
        if chain is not None and failure.needs_repetition and not is_again and not (yield from self._repeats(chain)):
            chain = None
        result = InvestigationResult(suspicion.chain if chain is None else chain, is_confirmed=chain is not None)
        if chain is not None:
            yield from self._minimise(result)
        elif failure.needs_repetition:
            # A removal counts as spent when it is sent again, so the commands of such failures are sent unchanged.
            self.names = FreshNames(self.slot.context, counter=self.slot.names)
        slot.enter(Stage.CONFIRM)
        # Creations are sent after the shrink, because one case is cheaper to shrink than a sequence of four.
        if not failure.needs_repetition or result.is_confirmed or failure.is_repeated:
            with slot.hurried():
                yield from self._make_anew(result)
        yield from self._reproduce(result)
        if failure.needs_repetition and not result.is_confirmed:
            # Values from new responses may lead to other resources, but the printed commands are the same each time.
            result.is_confirmed = yield from self._shows_each_time(result)
        if failure.needs_repetition and not result.is_confirmed and (yield from self.stays_after_removal()):
            # The sequence cannot be sent again from its start, so its remaining steps have to show the failure each time.
            self.earlier = before_in(suspicion.chain[:-1])
            result.printed.clear()
            result.is_confirmed = yield from self._shows_each_time(result)
        if chain is None and result.is_confirmed:
            result.is_confirmed = not (yield from self._passes_later(result.chain))
        yield from self._unless_silent(result)
        if result.is_confirmed or not failure.needs_repetition:
            yield from self._count_hits(result)
        return result

    def _unless_silent(self, result: InvestigationResult) -> Job[InvestigationResult]:
        """Return a result. A dropped connection is not caused by its request if the target responds to no request at all."""
        if isinstance(self.suspicion.failure, DroppedConnection) and result.is_confirmed:
            result.is_confirmed = not (yield from self.slot.health.is_silent())
        return result

    # Recognition

    def fails(self, shot: JudgedCase) -> bool:
        """Whether exactly the same request failed again."""
        self._note_others(shot)
        return self._counted(self.wanted.again(shot) is not None)

    def shows(self, shot: JudgedCase) -> bool:
        """Whether another request shows the failure."""
        self._note_others(shot)
        return self._counted(self.wanted.shown(shot) is not None)

    def _counted(self, shows: bool) -> bool:
        self.in_a_row = self.in_a_row + 1 if shows else 0
        return shows

    def _note_others(self, shot: JudgedCase) -> None:
        for failure in shot.verdict.judgement.failures:
            if not self.wanted.is_same_rule(failure, shot.status):
                self._take_in(shot, failure)

    def _take_in(self, shot: JudgedCase, failure: Failure) -> None:
        self.slot.suspect(self.suspicion, shot, failure)

    # Requests

    def again(self, made: GeneratedCase, earlier: Sequence[JudgedCase] = ()) -> Job[JudgedCase]:
        """Send a case with the values of its record, and judge it after earlier steps."""
        remade = self.factory.remake(made.step, name=digest("confirmed", made.case.id)[:12], phase=self.suspicion.phase)
        return (yield from self.slot.shot(remade, Purpose.CONFIRM, earlier))

    def _following(self, made: GeneratedCase, sent: Sequence[JudgedInteraction]) -> GeneratedCase:
        """Return a step with the values of the earlier steps' new responses. Raises the errors of making a case."""
        step = replace(made.step, bindings=tuple(resolved(binding, sent) for binding in made.bindings))
        return self.factory.remake(step, name=digest("confirmed", made.case.id)[:12], phase=self.suspicion.phase)

    def _replayed(
        self, chain: Sequence[GeneratedCase], purpose: Purpose = Purpose.CONFIRM, *, sent: Sequence[JudgedCase] = ()
    ) -> Job[Chain]:
        """Send all steps except those that were sent, each with the values of the current responses."""
        shots = list(sent)
        for made in chain[len(sent) :]:
            shots.append((yield from self._next(made, shots, purpose)))
        return tuple(shots)

    def _next(
        self, made: GeneratedCase, shots: Sequence[JudgedCase], purpose: Purpose = Purpose.CONFIRM
    ) -> Job[JudgedCase]:
        """Send a step with the values of the current responses, and with new names if the old ones are in use."""

        def send(made: GeneratedCase) -> Job[JudgedCase]:
            return (yield from self.slot.shot(made, purpose, shots))

        shot = yield from send(self.names.given(self._following(made, before_in(shots))))
        return (yield from self.names.sent(shot, send))

    # Confirmation

    def shortest(self, chain: Chain) -> Job[Chain | None]:
        """Return the shortest sequence that failed again; None if no sequence failed again.

        If the last case uses values of earlier steps, it is confirmed with these steps first. Without them it may fail
        because of the state that they left behind, which users could not reproduce.
        """
        last = chain[-1].made
        last = replace(last, bindings=tuple(replace(one, step=-1) for one in last.bindings))
        follows = not all(one.stands_alone for one in last.bindings)
        if len(chain) > 1 and follows:
            whole = yield from self._whole(chain)
            if whole is not None:
                return whole
        alone = yield from self.again(last)
        if self.fails(alone):
            return (alone,)
        if len(chain) > 1:
            return None if follows else (yield from self._whole(chain))
        # The server may refuse existing names, so the case is sent once more with new names.
        shot = yield from self.names.sent(alone, self.again)
        self.names.are_needed = shot is not alone and self.fails(shot)
        return (shot,) if self.names.are_needed else None

    def _whole(self, chain: Chain) -> Job[Chain | None]:
        """Return the steps that a sequence needs, if it failed again."""
        whole = yield from self._replayed([shot.made for shot in chain])
        return (yield from self._without_idle_steps(whole)) if self.fails(whole[-1]) else None

    def _without_idle_steps(self, chain: Chain) -> Job[Chain]:
        """Return the sequence without the steps that the failure does not need, latest first.

        A step stays if a later step uses its values: with old values, the failure would depend on the state at that time.
        """
        # Latest steps come first: if a step is dropped, the earlier steps whose values it used can be dropped as well.
        for number in range(len(chain) - 2, -1, -1):
            steps = [shot.made for shot in chain]
            if any(_takes_from(steps, number, later) for later in range(number + 1, len(steps))):
                continue
            shorter = yield from self._replayed(list(_dropped(steps, number)))
            kept = (*chain[:number], *chain[number + 1 :])
            if self.fails(shorter[-1]) and are_served_as(kept, shorter):
                chain = shorter
        return chain

    def _repeats(self, chain: Chain) -> Job[bool]:
        """Return whether a sequence fails every further time.

        By chance, another request of the run may come between two steps, and again during the confirmation.
        """
        for _ in range(REPETITIONS):
            shots = yield from self._replayed([shot.made for shot in chain])
            if not self.fails(shots[-1]):
                return False
        return True

    def stays_after_removal(self) -> Job[bool]:
        """Return whether the target repeatedly reports a removed resource as missing and returns it right afterwards."""
        # The sequence cannot be sent again: its resource is removed only once.
        chain = self.suspicion.chain
        # If the last request does not return the resource, nothing is proved: any other request may have removed it.
        if not chain[-1].is_served:
            return False
        # Otherwise each use after free of a resource that can be removed only once would be withdrawn, because its
        # sequence cannot fail again.
        removals = [
            shot for shot in chain[:-1] if shot.made.case.operation.resource_method == REMOVING and shot.is_served
        ]
        # Any other explanation would need a caller that creates or removes the resource between each two of these requests.
        for _ in range(REPETITIONS if removals else 0):
            missing = yield from self.again(removals[-1].made, chain[:-1])
            if missing.said_status not in _NOT_THERE:
                return False
            shown = yield from self.again(chain[-1].made, chain[:-1])
            if not self.fails(shown):
                return False
        return bool(removals)

    def _passes_later(self, chain: Chain) -> Job[bool]:
        """Return whether the last request of a sequence stops failing after a while, as with eventual consistency."""
        failure = self.suspicion.failure
        delay_s = failure.second_look_s
        if not delay_s:
            return False
        yield Pause(delay_s)
        if self.fails((yield from self.again(chain[-1].made, chain[:-1]))):
            return False
        text = f"the failure `{failure.title}` did not show again after {delay_s:g} s"
        self.slot.context.recorder.note(Note("unjudged", self.suspicion.label, "", text))
        return True

    def _unanswered(self) -> Job[InvestigationResult]:
        """Return the result for a request without a response."""
        # Each failing request costs a timeout, so only the simplest case is tried and no shrink.
        chain, health = self.suspicion.chain, self.slot.health
        simplest = (yield from self._simplest_shot()) if len(chain) == 1 else None
        if simplest is not None and self.shows(simplest):
            chain = (simplest,)
        self.names = FreshNames.of(self.slot.context, chain, self.slot.names)
        result = InvestigationResult(chain, is_confirmed=False)
        # The printed command gets several times the timeout, so that a slow response is no failure.
        self.slot.is_patient = True
        try:
            yield from self._reproduce(result)
        finally:
            self.slot.is_patient = False
        if result.showed(self.wanted):
            # If the target responds to no request at all, this request is not the cause.
            if health.served.served:
                is_silent = yield from health.is_silent()
            else:
                root = WireRequest("GET", b"/", [], fresh=True)
                is_silent = not isinstance((yield from self.slot.exchange(root)), Response)
            result.is_confirmed = not (is_silent or (yield from self._asked_to_wait(result.chain[-1])))
        return result

    def _asked_to_wait(self, shot: JudgedCase) -> Job[bool]:
        """Return whether the request itself asked for the delay, because it gets a response with a small number in place of a duration."""
        made = shot.made
        shorter = tuple(
            (f"{location} {name}", type(value)(1))
            for location in (Location.PATH, Location.QUERY, Location.HEADER)
            for name, value in getattr(made.case, location.container).items()
            if not _DURATIONS.isdisjoint(words(name)) and _is_above_one(value)
        )
        if not shorter:
            return False
        step = replace(made.step, names=(*made.names, *shorter))
        brief = self.factory.remake(step, name=digest("brief", made.case.id)[:12], phase=self.suspicion.phase)
        status = (yield from self.slot.shot(brief, Purpose.CONFIRM)).status
        # A refusal of the small number proves nothing about the delay.
        answered = status is not None and status not in _INVALID
        if answered:
            text = f"no response came in time, and {shorter[0][0]} asks for a delay"
            self.slot.context.recorder.note(Note("unjudged", self.suspicion.label, "", text))
        return answered

    # Shrinking

    def _minimise(self, result: InvestigationResult) -> Job[None]:
        """Replace the confirmed case or sequence by the smallest that still fails."""
        slot, suspicion = self.slot, self.suspicion
        most = slot.allowance(suspicion)
        if most is None:
            return
        if result.chain[-1].made.bindings:
            result.chain = yield from self._without_resource(result.chain)
        # A smaller case may use other names, so this has to be shown again.
        self.is_anew = False
        if len(result.chain) > 1:
            slot.begin(suspicion, Stage.SHRINK)
            yield from self._shrink_sequence(result, most)
            return
        simplest = yield from self._simplest_shot()
        # Before this and the budget, shrinks took 7,700 of 11,600 requests of a run.
        if simplest is not None and self.shows(simplest):
            # The input does not matter, so there is nothing to shrink.
            result.chain = (simplest,)
            return
        if most <= 0:
            result.stopped, result.wants_more = spent_after(0), True
            return
        slot.begin(suspicion, Stage.SHRINK)
        # A candidate that equals the simplest case is known to pass.
        passing = frozenset() if simplest is None else frozenset((content_of(simplest.made.case),))
        yield from self._shrink(result, most, passing)
        for shot, failure in self.wanted.strays.values():
            self._take_in(shot, failure)

    def _without_resource(self, chain: Chain, *, is_short: bool = False) -> Job[Chain]:
        """Return only the last request of a sequence, with names that the server does not know, if it fails in the same way; otherwise the sequence.

        `is_short`: drawn names are replaced only if they are known to exist.
        """
        # On a service of 188 operations about 110 of 413 failures were marked as dependent on other requests, although
        # the server had refused the requests before it looked up any resource. The path of the simplest case is not enough: its shape
        # may differ from the service's names, which then returns 404.
        last, failure = chain[-1].made, self.suspicion.failure
        is_refused = (chain[-1].status or 0) >= 400
        taken = [one for one in last.bindings if not one.stands_alone]
        # A page size does not name a resource.
        named = [one for one in taken if not is_count(one.name.rpartition("/")[2])]
        if len(chain) == 1 and not (is_short and self._names_nothing_known(chain)):
            places = [place_of(last.case.operation, one) for one in drawn_names(self._resources, last, with_own=True)]
            named += [Binding(*place, last.label, "", 0, sent_at(last.case, place)) for place in places]
        # If the server fails before it looks up a resource, the command also works on a fresh server. A request without
        # identifiers from earlier responses stays as it is.
        is_provable = is_refused or (len(chain) == 1 and not failure.needs_repetition)
        if not is_provable or not (taken or named) or self.is_of_contention or is_of_taken_name(chain[-1]):
            return chain
        others = tuple(one for one in last.bindings if one.stands_alone)
        # If the request creates something, its name becomes known, so each name is used once.
        token = digest_int("unknown", last.case.id, str(next(self.slot.names)))
        unknown = tuple(replace(one, literal=_unlike(one.literal, token)) for one in named)
        name, phase, label = digest("alone", last.case.id)[:12], self.suspicion.phase, last.label
        try:
            bound = self.factory.remake(Step(label, literal_of(last.case), unknown), name=name, phase=phase)
            made = self.factory.remake(Step(label, literal_of(bound.case), others), name=name, phase=phase)
            if held_by(made.case, named):
                return chain
            alone = yield from self.slot.shot(made, Purpose.CONFIRM)
        except (CheckerError, Rejected):
            return chain
        found = self.wanted.shown(alone) if self.shows(alone) else None
        # The server may refuse an unknown name for another reason.
        self.is_anew = found is not None and found.cause(label) == failure.cause(label)
        # A resource of the run does not exist on a fresh server either.
        return (alone,) if self.is_anew and (taken or alone.status != chain[-1].status) else chain

    def _names_nothing_known(self, chain: Chain) -> bool:
        """Whether no response, and no success of the last request, shows that one of the named resources exists."""
        return not (chain[-1].is_served or any(named_by(shot.made) for shot in chain))

    @property
    def _resources(self) -> ResourceModel:
        return self.slot.context.subject.selected.resources

    def takes_filled(self, chain: Chain) -> bool:
        """Whether a sequence uses a name from a list that other requests of the run have filled."""
        creations = self.slot.context.knowledge.creations
        made = [shot.made for shot in chain]
        return creations is not None and takes_filled(self._resources, made, creations.lists_filled)

    def _simplest_shot(self) -> Job[JudgedCase | None]:
        """Return the simplest case of the operation, which is sent once; None if there is none. An undocumented method is kept."""
        last, known = self.suspicion.chain[-1].made, self.slot.simplest
        meta = last.case.meta
        kind = undescribed_method(last.case), meta is not None and meta.mode.is_negative
        if kind not in known:
            try:
                made = _named(plainest_like(self.factory, last, self.suspicion.phase))
            except (CheckerError, Rejected):
                return None
            with self.slot.hurried():
                known[kind] = yield from self.slot.shot(made, Purpose.PROBE)
        return known[kind]

    def _shrink(self, result: InvestigationResult, most: int, passing: frozenset[str]) -> Job[None]:
        (confirmed,) = result.chain
        created, tried, is_probed = 0, 0, self.suspicion.is_of_check
        named = self.names.given

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
                shot = yield from self.slot.shot(named(candidate), Purpose.SHRINK, fresh=False, confirms=is_probed)
            except HookError:
                return False
            created += shot.may_have_created
            self.names.created(shot)
            self._note_others(shot)
            return self.wanted.shown_by_candidate(shot)

        name, phase = digest("shrunk", confirmed.made.case.id)[:12], self.suspicion.phase
        shrunk = yield from jobs.answered(shrink_case(self.factory, confirmed.made, name, phase, passing), still_fails)
        result.executions = tried
        # The time limit of candidates does not apply here, because the failure of the smallest case may need more time.
        self.slot.enter(Stage.CONFIRM)
        smallest = yield from self.slot.shot(_named(named(shrunk)), Purpose.CONFIRM)
        if self.shows(smallest):
            result.chain = (smallest,)

    def _shrink_sequence(self, result: InvestigationResult, most: int) -> Job[None]:
        """Make each step of a sequence smaller, the last first, with at most `most` requests. Each candidate is a whole sequence."""
        chain = result.chain
        # A candidate costs as many requests as the sequence has steps, and each step has its own candidates.
        share = most // (len(chain) ** 2)
        is_finished = share > 0
        for number in range(len(chain) - 1, -1, -1) if is_finished else ():
            steps = [shot.made for shot in chain]
            tried = 0

            def still_fails(
                candidate: GeneratedCase,
                chain: Chain = chain,
                steps: Sequence[GeneratedCase] = steps,
                number: int = number,
            ) -> Job[bool | None]:
                nonlocal tried, is_finished
                if tried < share:
                    result.stopped = self.slot.end_reason()
                if tried >= share or result.stopped:
                    is_finished = False
                    return None
                tried += 1
                shots = yield from self._replayed([*steps[:number], candidate, *steps[number + 1 :]], Purpose.SHRINK)
                return self.shows(shots[-1]) and are_served_as(chain, shots)

            name, phase = digest("shrunk", steps[number].case.id)[:12], self.suspicion.phase
            try:
                shrunk = yield from jobs.answered(shrink_case(self.factory, steps[number], name, phase), still_fails)
            except (CheckerError, Rejected):
                # A step that cannot be drawn again stays unchanged.
                continue
            result.executions += tried * len(chain)
            if content_of(shrunk.case) == content_of(steps[number].case):
                continue
            # Candidates are hurried, and some services show late what they have accepted.
            self.slot.enter(Stage.CONFIRM)
            smaller = yield from self._replayed([*steps[:number], shrunk, *steps[number + 1 :]])
            self.slot.enter(Stage.SHRINK)
            if self.shows(smaller[-1]) and are_served_as(chain, smaller):
                chain = smaller
        result.chain = chain
        if not is_finished and not result.stopped:
            result.stopped = spent_after(result.executions)

    def _make_anew(self, result: InvestigationResult, *, is_short: bool = False) -> Job[None]:
        """Put the creations of the named resources before a sequence, if the failure shows with them.

        The commands then need no resource of the run. If a confirmed failure does not show, it depends on a further request;
        with `is_short` none is tried.
        """
        # In this way, 46 of 47 findings of Kinto and 29 of 51 of Chroma that depended on other requests show on a fresh
        # server. The creations that the run sent are not used, because they differ between workers.
        chain = [shot.made for shot in result.chain]
        if len(chain) == 1 and not self.is_anew and result.is_confirmed:
            result.chain = yield from self._without_resource(result.chain, is_short=is_short)
        self.is_anew = self.is_anew or makes_its_resources(self._resources, chain)
        if self.is_anew or (is_short and self._names_nothing_known(result.chain)):
            return
        # All sequences share the names, so that each gets new ones. If no sequence shows the failure, the new names
        # must not stay, because the commands are then those of the old sequence.
        before, self.names = self.names, self.names.branch()
        creations = Creations(self.factory, self._resources, self.names, self._next)
        named = yield from creations.before(chain)
        made: Sequence[JudgedCase] = creations.shots if named else ()
        sent, is_known = made, bool(made)
        for steps in islice(self._sequences_anew(result, made, named), 1 if is_short else None):
            if is_of_taken_name(result.chain[-1]) and steps[-1].label not in [one.label for one in steps[:-1]]:
                sent = ()
                continue
            self.names.served |= {one.label for one in steps[: len(made)]}
            shots = yield from self._replayed(steps, sent=sent)
            sent = ()
            is_made = all(200 <= shot.said_status < 300 for shot in shots[: len(made)])
            # Without these creations, further sequences would not show it either.
            if not is_made or (is_known and not are_linked(steps, before_in(shots[:-1]))):
                break
            if self.wanted.shown(shots[-1]) is None:
                continue
            # With another name, the failure may show by chance: `POST /status/{code}` responds with the status in its path.
            is_doubtful = self.suspicion.failure.needs_repetition or self.names.are_needed
            if is_doubtful and not (yield from self._repeats(shots)):
                break
            result.chain, result.is_confirmed = (yield from self._without_idle_steps(shots)), True
            # Without creations, the new name of the last request is below resources of the run, if the request names any.
            self.is_anew = is_known or not any(map(named_by, steps))
            if not self.is_anew:
                result.chain = yield from self._without_resource(result.chain)
            return
        else:
            result.needs_state = is_known and result.is_confirmed
        self.names = before

    def _sequences_anew(
        self, result: InvestigationResult, made: Sequence[JudgedCase], named: Sequence[GeneratedCase]
    ) -> Iterator[list[GeneratedCase]]:
        """Yield sequences that begin with creations. `named`: the steps of the failure with the names of created resources."""
        model, chain = self._resources, [shot.made for shot in result.chain]
        whole = [*(shot.made for shot in made), *named]
        if whole:
            yield whole
        use = model.uses.get(chain[-1].label) if len(chain) == 1 else None
        is_named = use is not None and use.is_member and not whole
        if (
            use is not None
            and use.method == "POST"
            and model.makes(use.label)
            and (is_named or not result.is_confirmed)
        ):
            # With a new name, nothing that was created earlier is needed: the client chooses the name, or the server
            # returns a known one.
            self.names.are_needed = True
            yield whole or chain
        if not whole or not result.is_confirmed:
            return
        alone = [*whole[: len(made)], named[-1]]
        if makes_its_resources(model, alone):
            yield from takewhile(lambda _: not self.slot.end_reason(), situations(self.factory, model, alone))

    def _made_anew_alone(self, result: InvestigationResult) -> Job[InvestigationResult]:
        """Return the result of a failure for which no other requests are left, after creating the resources that it names."""
        before = result.chain
        if not self.suspicion.failure.needs_repetition:
            with self.slot.hurried():
                yield from self._make_anew(result, is_short=True)
        if result.chain is not before:
            result.printed.clear()
            yield from self._reproduce(result)
        return result

    def needed_header(self, chain: Chain) -> Job[str]:
        """Return the optional header without which an error without a reason does not show; empty if there is none.

        Servers read a header, and all conditions of a request (RFC 9110, 13.1), in one place for all operations.
        """
        # The only header of a fully shrunk case would name it as well, but if time is short, few cases are shrunk: one
        # line of Kinto that converts `If-Match` and `If-None-Match` was reported as five causes.
        last, failure = chain[-1].made, self.suspicion.failure
        if not failure.passing_cause or self.is_of_contention:
            return ""
        optional = {
            one.name.lower()
            for one in last.case.operation.parameters
            if one.location is Location.HEADER and not one.is_required
        }
        # Cases made from values, such as those with new names, do not record which values were given.
        recipe, meta = literal_of(last.case), self.suspicion.chain[-1].made.case.meta
        is_drawn = meta is not None and Location.HEADER in meta.components
        # A configured header stays, because the user wants it in each request.
        given = meta.outside(Location.HEADER) if meta is not None and is_drawn else (ANYTHING,)
        optional -= {one.lower() for one in given}
        for name in [one for one in recipe.headers if one.lower() in optional and ANYTHING not in given]:
            headers = {other: value for other, value in recipe.headers.items() if other != name}
            kept = tuple(one for one in last.bindings if one.location is not Location.HEADER or one.name != name)
            step = Step(last.label, replace(recipe, headers=headers), kept)
            less = self.factory.remake(step, name=digest("less", last.case.id)[:12], phase=self.suspicion.phase)
            shots = yield from self._replayed([*(shot.made for shot in chain[:-1]), less])
            if not self.shows(shots[-1]):
                return "of a condition" if name.lower() in CONDITIONS else name.lower()
        return ""

    # Printed commands

    def as_printed(self, why: str) -> Job[InvestigationResult]:
        """Return the result of the printed commands alone: the last request after those whose values it uses, otherwise all requests.

        `why` is the reason why nothing else is sent; empty if nothing else is needed.
        """
        chain = yield from self._without_resource(self.suspicion.chain, is_short=True)
        shorter = chain
        for number in range(len(shorter) - 2, -1, -1):
            steps = [shot.made for shot in shorter]
            if not any(_takes_from(steps, number, later) for later in range(number + 1, len(steps))):
                kept = (*shorter[:number], *shorter[number + 1 :])
                shorter = tuple(
                    replace(shot, made=made) for shot, made in zip(kept, _dropped(steps, number), strict=True)
                )
        # Shorter commands are better for readers. If they do not show the failure, all steps are sent: even a step
        # without a shared value may create the state.
        for sequence in [chain] if len(shorter) == len(chain) else [shorter, chain]:
            self.names = FreshNames.of(self.slot.context, sequence, self.slot.names)
            wants_more = bool(why) and len(sequence) == 1
            result = InvestigationResult(sequence, is_confirmed=False, stopped=why, wants_more=wants_more)
            yield from self._reproduce(result)
            result.is_confirmed = result.showed(self.wanted) > 0
            if result.is_confirmed:
                break
        # An earlier run has tried the commands of a known failure often enough.
        is_known = self.slot.flight.task.lease.replay is not None
        if not (is_known and result.is_confirmed) or self.is_of_contention:
            yield from self._count_hits(result)
        return result

    def _count_hits(self, result: InvestigationResult) -> Job[None]:
        """Send commands again that did not always show their failure, or that may show it by chance. This counts how often they show it."""
        may_pass = bool(self.suspicion.failure.passing_cause)
        for _ in range(MORE_TRIES):
            # For a temporary error, one success is enough to know the cause. Ending at the first hit of other failures
            # would make rare ones look frequent.
            is_known = may_pass == result.passes(self.wanted) or (may_pass and self.in_a_row >= IN_A_ROW)
            if result.is_confirmed and result.showed(self.wanted) and is_known:
                return
            if self.slot.may_repeat() and not result.is_spent:
                yield from self._reproduce(result)

    def _shows_each_time(self, result: InvestigationResult) -> Job[bool]:
        """Return whether the commands, which were sent once, show a failure every further time."""
        for _ in range(REPETITIONS):
            if result.showed(self.wanted) < len(result.printed):
                return False
            yield from self._reproduce(result)
        return 0 < len(result.printed) == result.showed(self.wanted)

    def look_later(self, result: InvestigationResult) -> Job[None]:
        """Send the commands of an error that other requests may cause once more after a while, whatever the budget.

        The lock of another request may last longer than the first repetitions: 60 ms with SQLite.
        """
        if result.printed and not result.is_spent:
            yield Pause(_LATER_S)
            yield from self._reproduce(result)

    def _reproduce(self, result: InvestigationResult) -> Job[None]:
        """Send the commands as they will be printed, and keep the verdict on the last response."""
        failure = self.wanted.again(result.chain[-1])
        own = None if failure is None else failure.request
        result.is_of_check = own is not None
        chain = self.names.unsent(result.chain)
        if own is not None and chain is not result.chain:
            own = about_other(own, result.chain[-1].verdict.request, chain[-1].verdict.request)
        if own is not None and own.is_twice:
            # With a known idempotency key, the server would only repeat its first response.
            own = request_with_fresh_key(own, self.suspicion.finding.fingerprint, str(len(result.printed)))
        result.commands = self.commands(chain, own)
        sent = yield from self._sent(chain, own)
        if not sent:
            return
        last = JudgedCase(chain[-1].made, sent[-1])
        shows = self._counted(len(sent) == len(chain) and self.wanted.again(last) is not None)
        # The recursion ends, because each call uses up one untried place (`FreshNames._untried`).
        if not shows and self.names.learn(chain, sent):
            yield from self._reproduce(result)
            return
        # The confirmed request created a resource, so its command may now be served with another status. A PUT that
        # creates its resource was printed with 200 and returned 201 on a fresh server. A new name for every PUT command
        # is no solution: most need none, and each would leave a resource behind.
        exists_now = result.chain[-1].status == _CREATED and last.is_served and last.status != _CREATED
        if exists_now and not self.names.are_needed and (yield from self._with_new_name(result)):
            return
        if self.names.are_spent(chain, sent):
            result.is_spent = True
            if result.is_confirmed and not result.is_of_check and not result.printed:
                # The confirmed requests had their own resource, and no further resource can be created.
                result.commands = self.commands(result.chain)
                result.printed.append((result.chain[-1].verdict.outcome, result.chain[-1].verdict.judgement))
            return
        result.printed.append((sent[-1].outcome, sent[-1].judgement))
        if not shows:
            return
        shots = tuple(JudgedCase(shot.made, verdict) for shot, verdict in zip(chain, sent, strict=True))
        if own is not None:
            result.steps_before = shots[:-1]
        elif chain is not result.chain:
            result.chain = shots

    def _with_new_name(self, result: InvestigationResult) -> Job[bool]:
        """Send the commands with a name that the server does not know. Return whether they show the failure, as on a fresh server."""
        commands, tries, showed = result.commands, len(result.printed), result.showed(self.wanted)
        self.names.are_needed = True
        if self.names.unsent(result.chain) is not result.chain:
            yield from self._reproduce(result)
        if result.showed(self.wanted) > showed:
            return True
        self.names.are_needed, result.commands = False, commands
        del result.printed[tries:]
        return False

    def _sent(self, chain: Chain, own: WireRequest | None) -> Job[Sequence[Verdict]]:
        """Send the commands of a sequence as a reader would, with identifiers of the new responses. Return the verdicts.

        A command with a value of an earlier response is printed with the old value, which the target may not know any
        more, and sent with the new one. The printed block says where to find the new value. `own` replaces the last request: the request of a check.
        """
        requests = _requests(chain, own)
        sent: list[Verdict] = []
        for number, (shot, request) in enumerate(requests, 1):
            is_last = number == len(requests)
            made = shot.made
            is_at_own_path = own is None or own.is_of_check or not is_last
            if sent and made.bindings and len(requests) == len(chain) and is_at_own_path:
                made, request = self._followed(shot, request, sent)
            # The printed text is parsed and the result is sent: a command that does not express what was meant fails
            # here and not for the user.
            again = replace_request(
                curl.as_sent(self._command(shot.verdict, request)),
                fresh=True,
                confirms=self.slot.check,
                via=request.via,
                proofs=request.proofs,
                is_of_check=request.is_of_check,
            )
            work = self._judged(made.case, again, (*self.earlier, *sent) if is_last else None)
            work = watched(work, partial(self.tools.gate.observe, made.case))
            sent.append((yield from self.slot.drive(made, work, Purpose.REPRODUCE)).verdict)
        return sent

    def commands(self, chain: Sequence[JudgedCase], own: WireRequest | None = None) -> tuple[str, ...]:
        """Return the commands of requests. If a check sent `own` in place of the last case's request, it is the last command."""
        return tuple(self._command(shot.verdict, request) for shot, request in _requests(chain, own))

    def _followed(
        self, shot: JudgedCase, request: WireRequest, sent: Sequence[Verdict]
    ) -> tuple[GeneratedCase, WireRequest]:
        """Return a step and its request with the values of the current responses, or unchanged if it cannot be made again."""
        try:
            anew = self._following(shot.made, sent)
        except (CheckerError, Rejected):
            return shot.made, request
        tools = self.tools
        again = build_request(tools.maker, tools.hooks, anew.case, tools.credentials)
        if request.is_twice:
            # The server knows the idempotency key of the case.
            keys = [one for one in request.headers if is_idempotency_key(one[0].decode("latin-1"))]
            others = [one for one in again.headers if not is_idempotency_key(one[0].decode("latin-1"))]
            again = replace_request(again, headers=[*others, *keys], is_of_check=True, is_twice=True)
        elif request.is_of_check:
            # The request of a check differs from its case's request in headers and query, not in the path.
            _, mark, query = request.target.partition(b"?")
            again = replace_request(request, target=again.target.partition(b"?")[0] + mark + query)
        return anew, again

    def _command(self, verdict: Verdict, request: WireRequest) -> str:
        # If the failure is a missing response, a command without a time limit would wait for ever.
        is_timed = isinstance(self.suspicion.failure, UnansweredRequest)
        command, outcome = self.slot.context.recorder.reproduction(request, is_timed=is_timed), verdict.outcome
        if not isinstance(outcome, Response) or not outcome.redirects:
            return command
        answers = [answer for _, answer, _ in outcome.earlier if isinstance(answer, Response)]
        method = request.method
        if method == "GET" or not any(becomes_get(method, one.status_code) for one in answers):
            return curl.with_options(command, "--location")
        # After a redirect, curl repeats an explicit method, but other clients continue with GET. With data and no
        # explicit method, curl also continues with GET.
        if method == "POST" and request.body is not None:
            return curl.with_options(curl.without_post(command), "--location")
        return command

    def _judged(self, case: Case, request: WireRequest, before: Sequence[Verdict] | None) -> Exchanging[Verdict]:
        """Return the verdict on a command. With `before` None, the command is not the last one and is not judged."""
        # The request of a check carries the credentials that the check chose, or none. Other credentials would make it
        # a different request.
        outcome = (yield request) if request.is_of_check else (yield from exchange(self.tools, case, request))
        judgement = UNJUDGED
        if before is not None:
            judgement = yield from judge_outcome(self.tools, case, outcome, before, request=request)
        return Verdict(case, request, outcome, judgement)


def are_served_as(before: Chain, now: Chain) -> bool:
    """Whether each step before the last that was served is served again: a refused step creates nothing.

    Otherwise the last step would use resources of earlier requests, and the sequence would not fail on another server.
    """
    return all(shot.is_served or not known.is_served for known, shot in zip(before[:-1], now[:-1], strict=True))


def _is_above_one(value: object) -> bool:
    """Whether a value is a number above one, or its text."""
    if isinstance(value, str):
        try:
            return float(value) > 1
        except ValueError:
            return False
    # Integers are compared directly: one with 400 digits has no float.
    return is_number(value) and value > 1


def _unlike(literal: object, token: int) -> object:
    """Return another name of the same form that no server knows; values that are no names are returned unchanged."""
    if isinstance(literal, bool) or not isinstance(literal, str | int):
        return literal
    others = [one for one in others_like(literal, Random(token)) if one != literal]
    # The first text has the form of the name; the last integer is the longest.
    return others[0 if isinstance(literal, str) else -1]


def _takes_from(steps: Sequence[GeneratedCase], number: int, later: int) -> bool:
    """Whether a later step uses a value of the response to step `number`."""
    bindings = [one for one in steps[later].bindings if not one.stands_alone]
    # A value with an expression replaces a drawn value at the same place.
    replaced = {(one.location, one.name) for one in bindings if one.expression}
    label = steps[number].label
    is_newest = all(step.label != label for step in steps[number + 1 : later])
    return any(
        one.step == number
        if one.expression
        else is_newest and one.producer == label and (one.location, one.name) not in replaced
        for one in bindings
    )


def _dropped(steps: Sequence[GeneratedCase], number: int) -> Iterator[GeneratedCase]:
    for place, made in enumerate(steps):
        if place != number:
            yield replace(made, bindings=without_step(made.bindings, number))


def _named(made: GeneratedCase) -> GeneratedCase:
    """Return a smallest case with an id that depends only on its content."""
    made.case.id = digest("smallest", made.label, repr(made.recipe))[:12]
    return made


def _requests(chain: Sequence[JudgedCase], own: WireRequest | None) -> list[tuple[JudgedCase, WireRequest]]:
    """Return the requests of a sequence with their cases. If a check sent `own` in place of the last case's request, it is the last one."""
    requests = [(shot, request) for shot in chain if (request := shot.verdict.request) is not None]
    if own is not None:
        requests[-1] = (requests[-1][0], own)
    return requests
