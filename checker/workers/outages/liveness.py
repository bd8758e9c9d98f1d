"""Probes of a target: requests that it served before are sent again."""

import time
from collections.abc import Sequence
from itertools import cycle, islice

from msgspec import Struct, field

from checker.core.errors import CheckerError
from checker.core.operation import Label, Operation
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.core.send import Purpose
from checker.health import GATEWAY, REFUSALS, TOO_MANY, looks_dangerous
from checker.phases.attempt import build_request
from checker.phases.case_factory import GeneratedCase
from checker.workers import jobs
from checker.workers.context import WorkerContext
from checker.workers.jobs import Job
from checker.workers.messages import Trouble
from checker.workers.observers.witnesses import Sent, ServedRequests
from checker.workers.outages.reachable import Connect, is_down
from checker.workers.recording.traffic import Answered

MOST_WITNESSES = 3
_JUST_BEFORE = 3


class LivenessProbes(Struct):
    """Sends requests that were served before, to see whether the target still serves them."""

    context: WorkerContext
    served: ServedRequests
    refused: Sent | None
    """The refusal that raised the question, if this worker received it."""
    about: Operation | None
    """The operation in question, if it is known."""
    connect: Connect | None = None
    sent: int = 0
    """The number of requests so far."""
    was_too_much: bool = False
    """Whether the latest refusal had status 429."""
    is_guess: bool = False
    """Whether no served request can answer the question. Then the refused request itself is sent again."""
    _chosen: list[Sent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chosen = self._choice()

    def is_turned_away(self) -> Job[bool]:
        """Return whether most requests that were served before are refused now."""
        count, refused = len(self._chosen), 0
        for number, witness in enumerate(self._chosen, 1):
            refused += is_refused((yield from self.again(witness)))
            if 2 * refused > count:
                return True
            if 2 * (refused + count - number) <= count:
                return False
        return False

    def is_silent(self) -> Job[bool]:
        """Return whether requests that were served before get no response at all; False if none was served before.

        A port forwarder in front of a dead server accepts connections and responds to nothing.
        """
        for witness in self._chosen:
            if isinstance((yield from self.again(witness)), Response):
                return False
        return bool(self._chosen)

    def others(self, suspect: Label) -> list[Sent]:
        """Return the requests of other operations that were served before."""
        return [one for one in self._chosen if one.label != suspect]

    def are_too_many(self, asked: Sequence[Sent], count: int) -> Job[bool]:
        """Return whether one of so many requests, each sent in turn, is refused with 429."""
        for one in islice(cycle(asked), count):
            if is_refused((yield from self.again(one))) and self.was_too_much:
                return True
        return False

    def is_in_trouble(self, trouble: Trouble) -> Job[bool]:
        """Return whether the target does not respond, or refuses every caller."""
        if trouble is Trouble.REFUSED:
            return (yield from self.is_turned_away())
        if (yield from is_down(self.context.origin, self.connect)):
            return True
        # A gateway may respond in place of the target.
        is_gateway = self.refused is not None and self.refused.status in GATEWAY
        return is_gateway and (yield from self.is_turned_away())

    def again(self, sent: Sent) -> Job[Outcome]:
        """Return the response to a request that was sent before, with the credentials of now. It is recorded."""
        request, credentials = sent.copy, self.context.tools.credentials
        if credentials is not None:
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
        """Have credentials fetched anew, if there is a source of them; return whether the target serves with them."""
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
        # A request just before the refusal may be the cause, and would be again.
        lately = [sent.label for sent in self.served.recent if sent.is_served][-_JUST_BEFORE:]
        calm = [one for one in sound if one.label not in lately]
        if not calm and refused is not None and refused.status == 503:
            self.is_guess = True
            return [refused]
        return (calm or sound or known)[:MOST_WITNESSES]

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


def is_refused(outcome: Outcome) -> bool:
    """Whether a response refuses the request."""
    return not isinstance(outcome, Response) or outcome.status_code in REFUSALS


def is_ending(sent: Sent) -> bool:
    """Whether the operation of a request sounds as if it ended what others need."""
    operation = sent.made.case.operation
    return looks_dangerous(operation.path, operation.operation_id)
