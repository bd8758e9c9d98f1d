"""The examination of an outage: wait until the target serves again, then send earlier requests one at a time to find the cause."""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import cycle, islice

from msgspec import Struct, field

from checker.checks.judge import UNJUDGED
from checker.checks.server_error import UNAVAILABLE
from checker.core.case import Case
from checker.core.digests import digest, digest_int
from checker.core.errors import CheckerError
from checker.core.failures import Severity
from checker.core.meta import PhaseInfo, Step
from checker.core.operation import Label, Operation
from checker.core.phases import FUZZING
from checker.core.request import WireRequest
from checker.core.resources import REMOVING
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import Purpose
from checker.corpus.records import Finding, Interaction, Investigation, Note, ResourceMade
from checker.generation.sources.context import Rejected
from checker.health import GATEWAY, HEALTH_CHECK, REFUSALS, TARGET, TOO_MANY, looks_dangerous
from checker.phases.attempt import Verdict, build_request
from checker.phases.case_factory import GeneratedCase
from checker.phases.case_parts import literal_of
from checker.workers import jobs
from checker.workers.cleaning import values_in
from checker.workers.context import WorkerContext
from checker.workers.jobs import Job, Pause
from checker.workers.messages import Death, OutageEvent, OutageOrder, OutageReport, ServedOperation, Trouble
from checker.workers.observers.witnesses import Sent, ServedRequests
from checker.workers.reachable import is_down
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.traffic import Answered
from checker.workers.recording.unconfirmed import JudgedCase

MOST_WITNESSES = 3
_JUST_BEFORE = 3


class LivenessProbes(Struct):
    """Sends requests that were served before, to find out whether the target still serves them."""

    context: WorkerContext
    served: ServedRequests
    refused: Sent | None  # The refusal that started the examination, if this worker received it.
    about: Operation | None  # The operation that may refuse for its own reasons, if it is known.
    blocked: Sequence[Sent] = ()
    """Requests whose responses show whether changes are refused; empty if all requests may be refused."""
    left_out: Label | None = None  # An operation that may be the cause, so its requests are not sent.
    sent: int = 0  # The number of requests so far.
    was_too_much: bool = False  # Whether the latest refusal had status 429.
    is_guess: bool = False
    """Whether no served request can decide, so that the refused request itself is sent again."""
    _chosen: list[Sent] = field(default_factory=list)

    def __post_init__(self) -> None:
        refused = self.refused
        if self.blocked:
            self._chosen = list(self.blocked)
        elif not self.served.served or (refused is not None and not self.served.tells_of(refused)):
            self._chosen = []
        else:
            of = self.about or next(iter(self.served.served.values())).operation
            # Requests that were served before decide, and not a list of statuses: a single 401 is no outage, and a
            # status does not distinguish a lost session from a forbidden operation.
            known = self.served.witnesses(of)
            held = self.context.held_back
            sound = [one for one in known if one.label not in held and not is_ending(one)]
            # A request just before the refusal may be the cause, and would be the cause again.
            lately = [sent.label for sent in self.served.recent if sent.is_served][-_JUST_BEFORE:]
            calm = [one for one in sound if one.label not in lately]
            if not calm and refused is not None and refused.status == 503:
                self.is_guess = True
                self._chosen = [refused]
            else:
                self._chosen = (calm or sound or known)[:MOST_WITNESSES]

    @property
    def asks_by_reads(self) -> bool:
        """Whether the probes are requests that change nothing."""
        return any(one.is_harmless for one in self._chosen)

    def is_turned_away(self) -> Job[bool]:
        """Return whether most requests that were served before are refused now."""
        # A single witness may be refused for its own reasons, so the majority decides. The loop ends when the rest
        # cannot change the result.
        chosen = [one for one in self._chosen if one.label != self.left_out] or self._chosen
        count, refused = len(chosen), 0
        for number, witness in enumerate(chosen, 1):
            refused += is_refused((yield from self.again(witness)))
            if 2 * refused > count:
                return True
            if 2 * (refused + count - number) <= count:
                return False
        return False

    def is_silent(self) -> Job[bool]:
        """Return whether requests that were served before get no response at all; False if none was served before.

        A port forwarder before a dead server accepts connections and never responds.
        """
        for witness in self._chosen:
            if isinstance((yield from self.again(witness)), Response):
                return False
        return bool(self._chosen)

    def others(self, suspect: Label) -> list[Sent]:
        """Return the requests of other operations that were served before."""
        return [one for one in self._chosen if one.label != suspect]

    def are_too_many(self, asked: Sequence[Sent], count: int) -> Job[bool]:
        """Send `count` requests one after the other, cycling through `asked`. Return whether one of them is refused with 429."""
        for one in islice(cycle(asked), count):
            if is_refused((yield from self.again(one))) and self.was_too_much:
                return True
        return False

    def is_in_trouble(self, trouble: Trouble) -> Job[bool]:
        """Return whether the target does not respond, or refuses every caller."""
        if trouble is not Trouble.GONE:
            return (yield from self.is_turned_away())
        if (yield from is_down(self.context.subject.origin)):
            return True
        # A gateway may respond in place of the target.
        is_gateway = self.refused is not None and self.refused.status in GATEWAY
        return is_gateway and (yield from self.is_turned_away())

    def again(self, sent: Sent) -> Job[Outcome]:
        """Return the response to a repeated request, with current credentials. It is recorded.

        If the login is refused, the request carries its old credentials, which the target may still accept.
        """
        request, credentials = sent.copy, self.context.tools.credentials
        if credentials is not None:
            with suppress(CheckerError):
                credentials.apply(sent.made.case, request)
        return (yield from self._answer(sent.made, request))

    def made(self, made: GeneratedCase) -> Job[Outcome]:
        """Return the response to a new case. It is recorded. Raises `CheckerError` when it cannot be sent."""
        return (yield from self._answer(made, self.request_of(made)))

    def request_of(self, made: GeneratedCase) -> WireRequest:
        """Return the request of a new case. Raises `CheckerError` if it cannot be sent."""
        tools = self.context.tools
        return build_request(tools.maker, tools.hooks, made.case, tools.credentials)

    def renews_credentials(self) -> Job[bool]:
        """Renew the credentials if they have a source; return whether the target serves requests with the new ones."""
        tools = self.context.tools
        if tools.credentials is None or not self._chosen:
            return False
        made = self._chosen[0].made
        try:
            request = self.request_of(made)
            if not tools.credentials.renew(made.case, request):
                return False
            outcome = yield from self._answer(made, request)
        except CheckerError:
            return False
        # If no other request was served, the witness itself may have ended the session.
        return not is_refused(outcome)

    def _answer(self, made: GeneratedCase, request: WireRequest) -> Job[Outcome]:
        self.sent += 1
        outcome = yield from jobs.exchange(request)
        self.context.tools.gate.observe(made.case, request, outcome)
        if is_refused(outcome):
            self.was_too_much = isinstance(outcome, Response) and outcome.status_code == TOO_MANY
        traffic = self.context.recorder.traffic
        traffic.uncounted.requests += 1
        traffic.unjudged(made, (Answered(request, outcome, time.time()),), Purpose.PROBE)
        return outcome


def is_refused(outcome: Outcome | None) -> bool:
    """Whether a response refuses the request."""
    return not isinstance(outcome, Response) or outcome.status_code in REFUSALS


def is_ending(sent: Sent) -> bool:
    """Whether the name of an operation suggests that it ends something that other requests need."""
    operation = sent.made.case.operation
    return looks_dangerous(operation.path, operation.operation_id)


TITLE = "The API stopped answering"
_MOST_SHOWN = 5
_RATE_LIMITED = "rate_limited"


class OutageAccount(Struct, frozen=True):
    """The facts that are known about one outage."""

    order: OutageOrder
    culprit: Sent | ServedOperation | None
    is_certain: bool  # Whether suspects were sent alone: then the culprit caused the outage again, or no suspect did.
    serves: bool  # Whether the target serves again.
    refused: Sent | None  # The response that showed the outage.
    is_undone: bool = False  # Whether the outage ended when a resource that the culprit had created was removed.

    @property
    def is_rate(self) -> bool:
        """Whether the rate of requests is known to be the cause."""
        said = 0 if self.refused is None else self.refused.status
        return self.culprit is None and said == TOO_MANY

    @property
    def deaths(self) -> list[Death]:
        """Return the outages of the run with the same cause, including this one, oldest first; empty if the cause is unknown."""
        if self.culprit is None:
            return []
        label = self.culprit.label
        earlier = [one for one in self.order.deaths if one.culprit == label]
        return [*earlier, Death(self.order.at, label)]


def tell(recorder: Recorder, account: OutageAccount, before: Sequence[Sent]) -> None:
    """Record an outage. `before` are the requests before it, latest first."""
    if account.order.trouble is Trouble.GONE:
        recorder.keep([_finding(recorder, account, before)])
    else:
        label = TARGET if account.culprit is None else account.culprit.label
        kind = _RATE_LIMITED if account.is_rate else "turned_away"
        recorder.note(Note(kind, label, "", _turned_away(account)))
    recorder.flush()


def _turned_away(account: OutageAccount) -> str:
    status = "" if account.refused is None else f" with {account.refused.status}"
    culprit = account.culprit
    if account.is_undone:
        what = (
            "requests that change something are" if account.order.trouble is Trouble.CHANGES else "nearly everything is"
        )
        return (
            f"after `{culprit}` {what} refused{status}, until the created resource is removed: "
            "its operation is postponed to the end of the run"
        )
    if account.is_rate and not account.serves:
        what = f"nearly everything is refused{status}, even after a pause: because of a longer rate limit, or because an earlier request locked the caller out"
    elif culprit is None and not account.serves:
        shown = ", ".join(f"`{one}`" for one in account.order.suspects[:_MOST_SHOWN])
        suspects = f"; suspects: {shown}" if shown else ""
        what = f"nearly everything is refused{status}, and the request that caused it is unknown{suspects}"
    elif account.is_rate:
        what = f"nearly everything was refused{status} for a while, as when there are too many requests"
    elif culprit is None:
        what = f"nearly everything was refused{status} for a while, and no single request reproduced it"
    elif account.is_certain:
        what = (
            f"after `{culprit}` nearly everything is refused{status}: its operation is postponed to the end of the run"
        )
    else:
        what = (
            f"nearly everything is refused{status}, probably since `{culprit}`, the only suspect (not confirmed, because "
            "the target serves no request that could show it): its operation is postponed to the end of the run"
        )
    return what if account.serves else f"{what}; refusals after it are ignored"


def _finding(recorder: Recorder, account: OutageAccount, before: Sequence[Sent]) -> Finding:
    culprit = account.culprit
    interactions: tuple[Interaction, ...] = ()
    steps: tuple[Step, ...] = ()
    command = phase = case = ""
    if isinstance(culprit, Sent):
        meta = culprit.made.case.meta
        phase, case = ("" if meta is None else meta.phase.name), culprit.made.case.id
        lost = NetworkFailure(FailureKind.DROPPED, "the target ended the connection", 0.0)
        verdict = Verdict(culprit.made.case, culprit.request, lost, UNJUDGED, time.time())
        interactions = (recorder.traffic.interaction(JudgedCase(culprit.made, verdict)),)
        steps, command = (culprit.made.step,), recorder.reproduction(culprit.request)
    label = TARGET if culprit is None else culprit.label
    # All outages that one request causes are one finding. Outages without a known cause are separate findings.
    key = f"outage {account.order.number}" if culprit is None else "outage"
    at, refused = _clock(account.order.at), account.refused
    if refused is not None and refused.status in GATEWAY:
        what = f"A proxy or gateway in front of it returned {refused.status} for every request, from {at} on."
    else:
        what = f"No connection could be opened any more at {at}."
    parts = [what, *_guilt(account)]
    parts.append("It came back." if account.serves else "It did not come back.")
    shown = [f"    {sent} -> {sent.status or 'no response'}" for sent in before[:_MOST_SHOWN]]
    last = ["", "Last requests, the latest first:", "", *shown] if shown else []
    return Finding(
        fingerprint=digest("v1", label, HEALTH_CHECK, key),
        label=label,
        check=HEALTH_CHECK,
        title=TITLE,
        message="\n".join([" ".join(parts), *last]),
        severity=Severity.CRITICAL.value,
        unique_key=key,
        phase=phase,
        case=case,
        task=HEALTH_CHECK,
        index=account.order.number,
        steps=steps,
        interactions=interactions,
        investigation=Investigation("minimised", command, culprit is not None if account.is_certain else None),
        at=time.time(),
        cause=digest("cause v1", label, HEALTH_CHECK),
    )


def _guilt(account: OutageAccount) -> Iterator[str]:
    """Yield sentences about the known facts of the cause, and about the number of its outages."""
    if account.culprit is None:
        yield "None of the last requests reproduced it when they were sent again one at a time."
    elif account.is_certain:
        yield f"`{account.culprit}` reproduced it when it was sent again on its own."
    else:
        yield f"`{account.culprit}` got no response, or was the last request that changed something."
    if len(deaths := account.deaths) > 1:
        times = ", ".join(_clock(one.at) for one in deaths[:_MOST_SHOWN])
        more = ", ..." if len(deaths) > _MOST_SHOWN else ""
        yield f"The operation caused {len(deaths)} outages, at {times}{more}."


def _clock(at: float) -> str:
    """Return a time in the form that server logs use."""
    return time.strftime("%H:%M:%S UTC", time.gmtime(at))


GONE_PATIENCE_S = 30.0  # Seconds to wait for a target that does not accept connections.
# On a server that refuses three of fifteen requests with 503, four operations were blamed without this pause.
BUSY_PATIENCE_S = 0.5  # Seconds to wait for a target that refuses requests with 503, before its cause is searched.
CHANGES_PATIENCE_S = 1.0
"""Seconds to wait for a target that refuses changes, after the removal of a resource that may be the cause."""
REFUSED_PATIENCE_S = 4.0  # Seconds to wait for a target that refuses every request, before the run goes on as it is.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 1.0
# A `GET` may change the target as well: `GET /logout`.
_LATEST = 4  # Latest requests before an outage that are suspects whatever their method.
_MOST_SUSPECTS = 12  # Suspects that are sent alone.
_MOST_TOGETHER = 25  # Requests of one operation that are sent in a row, because some targets count them.
_MOST_GROUPS = 3
_FEWEST_COUNTED, _MOST_COUNTED = 25, 100  # Requests that are sent to find out whether the target limits their rate.
# Only resources that an operation can remove are counted. A busy Prefect refuses 29 of 30 changes, removals included:
# with these numbers 153 of 188 operations had a 2xx, without removals 104.
_MOST_REMOVED = 8  # Latest resources that are removed, to find out whether one of them is the cause.
_ROUNDS, _MOST_TRIES = 4, 32
"""Rounds of removals, and tries for the latest resource in each round. Each older resource has half as many."""
_MOST_RELATED = 6
_TRIES = 8  # Cases of each related operation that may undo the cause.


class Examination:
    """The examination of one outage by one worker."""

    def __init__(self, context: WorkerContext, witnesses: LivenessProbes, made: Sequence[ResourceMade]) -> None:
        """`made`: resources that the run created."""
        self._context = context
        self._witnesses = witnesses
        self._made = made
        self._recent = list(witnesses.served.recent)
        """The requests before the outage."""
        self._sorted = self._by_suspicion(())
        self._sent_before = 0
        """Number of requests of this examination before suspects were sent."""
        self._were_renewed = False
        """Whether new credentials were enough. Then the old ones had expired, or a request ended their session."""

    def done(self, order: OutageOrder, lost: Sequence[Sent]) -> Job[OutageReport]:
        """Return this worker's result, and record the outage unless another worker continues. `lost`: requests that were in flight when it began."""
        # Explanations that are cheap, or that blame no request, are tried first: (1) only one operation is
        # affected, (2) the target is busy, (3) removing a created resource helps, (4) the target serves again by
        # itself, with new credentials, or after a request that undoes a change. Only in case (4) are suspects sent one
        # at a time, because each may stop the service again. If the target does not serve again, suspects cannot be
        # tested and the cause is a guess (`_likely`).
        trouble = order.trouble
        self._sorted = self._by_suspicion([one.label for one in order.suspects])
        report = partial(OutageReport, OutageEvent.EXAMINED, order.number, trouble)
        # Only a worker that was served before can tell whether the refusal of another worker affects all callers.
        if order.doubted is not None and (
            self._witnesses.is_guess or not (yield from self._witnesses.is_turned_away())
        ):
            return report(is_unfounded=True)
        culprit: Sent | ServedOperation | None
        blocked = {one.label for one in self._witnesses.blocked}
        if trouble is Trouble.CHANGES and blocked.isdisjoint(one.label for one in order.served):
            # These operations may refuse all requests, for example because they need a service that is unavailable.
            return report(has_passed=True)
        refused = self._witnesses.refused
        is_busy = refused is not None and refused.status == UNAVAILABLE
        # A busy target refuses requests at random, and a suspect would be blamed by chance.
        if is_busy and (yield from self._serves_within(Trouble.REFUSED, BUSY_PATIENCE_S)):
            return report(has_passed=True)
        maker = yield from self._blocking(order)
        if maker is not None or trouble is Trouble.CHANGES:
            if maker is not None:
                account = OutageAccount(order, maker, is_certain=True, serves=True, refused=refused, is_undone=True)
                tell(self._context.recorder, account, ())
            return report(culprit=None if maker is None else maker.label)
        serves = is_certain = yield from self._has_recovered(trouble)
        if serves:
            culprit = yield from self._culprit(trouble, lost)
            if culprit is not None:
                serves = yield from self._has_recovered(trouble)
                if serves and (yield from self._is_rate_limited(culprit.label)):
                    text = "it refuses all requests with 429 when there are too many requests"
                    self._context.recorder.note(Note(_RATE_LIMITED, TARGET, "", text))
                    self._context.recorder.flush()
                    return report(is_rate=True)
                if not serves and self._witnesses.was_too_much:
                    # All requests together use up a quota. The suspect was only one of the last requests.
                    culprit = None
        elif self._witnesses.is_guess:
            # The target may have refused this operation from the start.
            return report()
        else:
            # A rate limit is caused by all requests together.
            guess = None if self._witnesses.was_too_much else self._likely(order)
            culprit = next(iter(lost), guess)
        is_riddle = order.is_last and not self._were_renewed
        account = OutageAccount(order, culprit, is_certain, serves, refused=self._witnesses.refused)
        is_told = culprit is not None or is_riddle or not serves
        if is_told:
            tell(self._context.recorder, account, [*lost, *reversed(self._recent)])
        label = None if culprit is None else culprit.label
        return report(culprit=label, serves=serves, is_rate=is_told and serves and account.is_rate)

    # Until it serves

    def _blocking(self, order: OutageOrder) -> Job[ServedOperation | None]:
        """Remove resources of the run from a busy target until it serves.

        Return the operation that created the last removed one; None if that does not help.
        """
        witnesses = self._witnesses
        # A target that also refuses reads is not only busy with a change.
        if witnesses.refused is None or witnesses.refused.status != UNAVAILABLE or witnesses.asks_by_reads:
            return None
        if not (yield from witnesses.is_in_trouble(order.trouble)):
            return None
        found = sorted((one for one in self._made if one.at <= order.at), key=lambda one: -one.at)
        removable = ((one, removal) for one in found for removal in self._removals(one.path))
        waiting = list(islice(removable, _MOST_REMOVED))
        # A removal is a change as well, and only one in thirty may be served. The latest resource is the likeliest cause.
        turns = (
            one for _ in range(_ROUNDS) for number, one in enumerate(waiting) for _ in range(_MOST_TRIES >> number or 1)
        )
        done: list[GeneratedCase] = []
        for made, removal in turns:
            outcome: Outcome | None = None
            if removal in done:
                continue
            with suppress(CheckerError):
                outcome = yield from witnesses.made(removal)
                if is_refused(outcome):
                    continue
            done.append(removal)
            is_removed = isinstance(outcome, Response) and outcome.status_code < 300
            if isinstance(outcome, Response):
                # Later cases must not use the removed resource.
                values = self._context.knowledge.values
                self._context.recorder.keep(values.observe(removal.case, outcome, FUZZING.name))
            label = witnesses.left_out = Label(made.label)
            if is_removed and (yield from self._serves_within(order.trouble, CHANGES_PATIENCE_S)):
                return ServedOperation(label, label, made.at, made.at)
        return None

    def _removals(self, path: str) -> Iterator[GeneratedCase]:
        """Yield the cases that remove the resource at a path."""
        subject = self._context.subject
        for entry in subject.selected.entries:
            if entry.method == REMOVING:
                operation = subject.selected[entry.label]
                values = values_in(path, operation, subject.origin)
                if values is not None:
                    case = Case(operation, "unblock", path_parameters=values)
                    yield GeneratedCase(case, operation.label, (), (), literal_of(case))

    def _has_recovered(self, trouble: Trouble) -> Job[bool]:
        """Return whether the target serves again: at once, with new credentials, after a request that undoes a change, or after a pause."""
        witnesses = self._witnesses
        if not (yield from witnesses.is_in_trouble(trouble)):
            return True
        if trouble is Trouble.REFUSED:
            self._were_renewed = yield from witnesses.renews_credentials()
            if self._were_renewed or (yield from self._is_undone()):
                return True
        patience_s = GONE_PATIENCE_S if trouble is Trouble.GONE else REFUSED_PATIENCE_S
        return (yield from self._serves_within(trouble, patience_s))

    def _serves_within(self, trouble: Trouble, patience_s: float) -> Job[bool]:
        """Return whether the target serves again within this many seconds."""
        pause_s, waited_s = _FIRST_PAUSE_S, 0.0
        while waited_s < patience_s:
            yield Pause(pause_s)
            waited_s += pause_s
            if not (yield from self._witnesses.is_in_trouble(trouble)):
                return True
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return False

    def _is_undone(self) -> Job[bool]:
        """Return whether another request to the same resource makes the target serve again, for example one that switches it on."""
        labels: dict[Label, None] = {}
        changing = [one for one in self._context.subject.selected.entries if one.method not in ("GET", "HEAD")]
        for suspect in self._sorted[:_MOST_SUSPECTS]:
            # Changes to the resource at the same path, including the suspect, come before changes to neighbouring resources.
            path = suspect.made.case.operation.path
            parent = path.rpartition("/")[0]
            labels |= dict.fromkeys(one.label for one in changing if one.path == path)
            if parent:
                labels |= dict.fromkeys(one.label for one in changing if one.path.rpartition("/")[0] == parent)
        for label in list(labels)[:_MOST_RELATED]:
            for made in self._cases(label):
                try:
                    outcome = yield from self._witnesses.made(made)
                except CheckerError:
                    continue
                if not is_refused(outcome) and not (yield from self._witnesses.is_turned_away()):
                    return True
        return False

    def _cases(self, label: Label) -> Iterator[GeneratedCase]:
        factory, phase = self._context.factory, PhaseInfo(FUZZING.name)
        for index in range(_TRIES):
            try:
                yield factory.make(label, digest_int("undo", label), index, phase)
            except (CheckerError, Rejected):
                return

    # The cause

    def _by_suspicion(self, labels: Collection[Label]) -> list[Sent]:
        """Return the requests of these operations that may have changed the target.

        The order is: suspicious names, the latest request, methods that change data.
        """
        served = self._witnesses.served
        suspects = [one for one in served.suspects() if one.may_have_acted]
        latest = {id(one) for one in suspects[:_LATEST]}
        suspects.sort(key=lambda one: (not is_ending(one), one.is_harmless and id(one) not in latest))
        return [*served.latest(labels), *(one for one in suspects if one.label not in labels)]

    def _likely(self, order: OutageOrder) -> Sent | ServedOperation | None:
        """Return the cause if no request can be tried and only one operation can be the cause; otherwise None."""
        if order.trouble is Trouble.REFUSED:
            return order.suspects[0] if len(order.suspects) == 1 else None
        suspects = self._sorted
        if len(suspects) == 1:
            return suspects[0]
        return next((one for one in suspects if not one.is_harmless or is_ending(one)), None)

    def _is_rate_limited(self, suspect: Label) -> Job[bool]:
        """Return whether twice as many requests of other operations are also refused with 429, which shows that the target counts requests of any kind."""
        witnesses = self._witnesses
        count = max(2 * (witnesses.sent - self._sent_before), _FEWEST_COUNTED)
        if not witnesses.was_too_much:
            return False
        # Refusals of the suspect itself prove nothing if only the suspect was served.
        asked = list(witnesses.others(suspect))
        if not asked:
            # The target has served only the suspect, so new cases of operations that change nothing are sent.
            others = (one for one in self._context.subject.selected.entries if one.label != suspect)
            calm = islice((one.label for one in others if one.method == "GET"), MOST_WITNESSES)
            for made in (case for label in calm for case in islice(self._cases(label), 1)):
                with suppress(CheckerError):
                    asked.append(Sent(made, witnesses.request_of(made), 0))
        return not asked or (yield from witnesses.are_too_many(asked, min(count, _MOST_COUNTED)))

    def _culprit(self, trouble: Trouble, lost: Sequence[Sent]) -> Job[Sent | None]:
        """Return the request after which the target stops serving; of several requests of one operation, the last."""
        self._sent_before = self._witnesses.sent
        for suspect in [*lost, *self._sorted][:_MOST_SUSPECTS]:
            outcome = yield from self._witnesses.again(suspect)
            is_served = trouble is Trouble.GONE and isinstance(outcome, Response) and not is_refused(outcome)
            if not is_served and (yield from self._witnesses.is_in_trouble(trouble)):
                return suspect
        groups: dict[Label, list[Sent]] = {}
        for sent in self._recent if trouble is Trouble.REFUSED else ():
            groups.setdefault(sent.label, []).append(sent)
        # The latest requests of each operation with several requests, oldest first.
        many = [group[-_MOST_TOGETHER:] for group in groups.values() if len(group) > 1]
        for group in sorted(many, key=lambda group: group[0].is_harmless)[:_MOST_GROUPS]:
            for suspect in group:
                yield from self._witnesses.again(suspect)
            if (yield from self._witnesses.is_in_trouble(trouble)):
                return group[-1]
        return None
