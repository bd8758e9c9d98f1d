"""Whether a target serves: requests that it served before, sent again."""

import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice

from msgspec import Struct, field

from checker.core.errors import CheckerError
from checker.core.operation import Label, Operation
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.core.send import Purpose
from checker.health import GATEWAY, REFUSALS, TOO_MANY, looks_dangerous
from checker.phases.attempt import build_request, drive, exchange
from checker.phases.case_factory import GeneratedCase
from checker.workers.context import WorkerContext
from checker.workers.messages import Trouble
from checker.workers.observers.witnesses import Sent, ServedRequests
from checker.workers.outages.reachable import Connect, is_down
from checker.workers.recording.traffic import Answered

MOST_WITNESSES = 3
_JUST_BEFORE = 3


class ExaminationContext(Struct, frozen=True):
    """The tools of an examination for waiting and sending."""

    rest: Callable[[float], None]
    """Lets seconds pass."""
    meanwhile: Callable[[], object]
    """Called while an answer is waited for; raises when nothing counts any more."""
    lane: int
    connect: Connect | None = None


class LivenessProbes(Struct):
    """Asks on one lane whether the target serves what it served before."""

    context: WorkerContext
    served: ServedRequests
    refused: Sent | None
    """The answer that raised the question, if one of this worker did."""
    about: Operation | None
    """The operation in question, if it is known."""
    around: ExaminationContext
    sent: int = 0
    """Requests that the questions took."""
    was_too_much: bool = False
    """Whether the latest refusal said 429."""
    is_guess: bool = False
    """Whether nothing was served that could tell: then the request that was refused is the one that is sent again."""
    _chosen: list[Sent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chosen = self._choice()

    def is_turned_away(self) -> bool:
        """Whether most requests that were served before are refused now."""
        count, refused = len(self._chosen), 0
        for number, witness in enumerate(self._chosen, 1):
            refused += is_refused(self.again(witness))
            if 2 * refused > count:
                return True
            if 2 * (refused + count - number) <= count:
                return False
        return False

    def is_silent(self) -> bool:
        """Whether requests that were served before get no response at all. False if nothing was served before."""
        return bool(self._chosen) and not any(isinstance(self.again(one), Response) for one in self._chosen)

    def others(self, suspect: Label) -> list[Sent]:
        """Return the requests of other operations that were served before."""
        return [one for one in self._chosen if one.label != suspect]

    def are_too_many(self, asked: Sequence[Sent], count: int) -> bool:
        """Whether one of so many requests, each sent in turn, is refused with 429."""
        return any(is_refused(self.again(one)) and self.was_too_much for one in islice(cycle(asked), count))

    def is_in_trouble(self, trouble: Trouble) -> bool:
        """Whether the target does not respond, or refuses every caller."""
        if trouble is Trouble.REFUSED:
            return self.is_turned_away()
        if is_down(self.context.origin, self.around.rest, self.around.connect):
            return True
        # Whoever stands before the target may answer in its place.
        return self.refused is not None and self.refused.status in GATEWAY and self.is_turned_away()

    def again(self, sent: Sent) -> Outcome:
        """The answer to a request that was sent before, with the credentials of now. It is on record."""
        request, credentials = sent.copy, self.context.tools.credentials
        if credentials is not None:
            credentials.apply(sent.made.case, request)
        return self._answer(sent.made, request)

    def made(self, made: GeneratedCase) -> Outcome:
        """The answer to a new case. It is on record. Raises `CheckerError` when it cannot be sent."""
        return self._answer(made, self.request_of(made))

    def request_of(self, made: GeneratedCase) -> WireRequest:
        """Return the request of a new case. Raises `CheckerError` if it cannot be sent."""
        tools = self.context.tools
        return build_request(tools.maker, tools.hooks, made.case, tools.credentials)

    def renews_credentials(self) -> bool:
        """Have credentials fetched anew, if there is a source of them; whether the target serves with them."""
        tools = self.context.tools
        if tools.credentials is None or not self._chosen:
            return False
        made = self._chosen[0].made
        try:
            work = exchange(tools, made.case, self.request_of(made))
            outcome: Outcome = drive(work, lambda wanted: self._answer(made, wanted))
        except CheckerError:
            return False
        # Where nothing else was served, a witness may be what ends its own session.
        return not is_refused(outcome)

    def _choice(self) -> list[Sent]:
        refused = self.refused
        if not self.served.served or (refused is not None and not self.served.tells_of(refused)):
            return []
        of = self.about or next(iter(self.served.served.values())).operation
        known = self.served.witnesses(of)
        held = self.context.held_back
        sound = [one for one in known if one.label not in held and not is_ending(one)]
        # What came just before may be what did it, and would do it again.
        lately = [sent.label for sent in self.served.recent if sent.is_served][-_JUST_BEFORE:]
        calm = [one for one in sound if one.label not in lately]
        if not calm and refused is not None and refused.status == 503:
            self.is_guess = True
            return [refused]
        return (calm or sound or known)[:MOST_WITNESSES]

    def _answer(self, made: GeneratedCase, request: WireRequest) -> Outcome:
        self.sent += 1
        around = self.around
        outcome = self.context.http.send(around.lane, request, meanwhile=around.meanwhile)
        self.context.tools.gate.observe(made.case, request, outcome)
        if is_refused(outcome):
            self.was_too_much = isinstance(outcome, Response) and outcome.status_code == TOO_MANY
        answered = Answered(request, outcome, time.time())
        traffic = self.context.recorder.traffic
        traffic.uncounted.requests += 1
        traffic.unjudged(made, (answered,), Purpose.PROBE)
        return outcome


def is_refused(outcome: Outcome) -> bool:
    """Whether a response refuses the request."""
    return not isinstance(outcome, Response) or outcome.status_code in REFUSALS


def is_ending(sent: Sent) -> bool:
    """Whether the operation of a request sounds as if it ended what others need."""
    operation = sent.made.case.operation
    return looks_dangerous(operation.path, operation.operation_id)
