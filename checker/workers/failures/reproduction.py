"""The replay of findings exactly as their commands are printed."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import Struct

from checker.checks.judge import UNJUDGED
from checker.core import curl
from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.core.send import Exchanging, Purpose
from checker.generation.sources.context import Rejected
from checker.phases.attempt import Tools, Verdict, build_request, exchange, judge_outcome, observed
from checker.phases.case_factory import GeneratedCase
from checker.transport.policies import becomes_get
from checker.workers.jobs import Job
from checker.workers.recording.unconfirmed import Chain, JudgedCase


class PrintedReplay(Struct):
    """Sends the printed commands, as a reader would: with the identifiers of the new responses."""

    tools: Tools
    render: Callable[[WireRequest], str]
    """The command that sends a request."""
    drive: Callable[[GeneratedCase, Exchanging[Verdict], Purpose], Job[JudgedCase]]
    following: Callable[[GeneratedCase, Sequence[Verdict]], GeneratedCase]
    """Returns a step with the values of the new responses."""
    earlier: Sequence[Verdict] = ()
    """Requests that were sent before and still count, such as the removal of a resource that no command removes again."""

    def sent(self, chain: Chain, own: WireRequest | None = None) -> Job[tuple[tuple[str, ...], Sequence[Verdict]]]:
        """Send and return the commands of a sequence, and what came of each.

        A command with a value of an earlier response is printed with the old value, which the target may not have any
        more, and sent with the new one: the block says where to find it. `own` is sent in place of the last request: what a check had sent.
        """
        requests = _requests(chain, own)
        commands = self.commands(chain, own)
        sent: list[Verdict] = []
        for number, (shot, request) in enumerate(requests, 1):
            is_last = number == len(requests)
            made = shot.made
            is_at_own_path = own is None or own.is_of_check or not is_last
            if sent and made.bindings and len(requests) == len(chain) and is_at_own_path:
                made, request = self._followed(shot, request, sent)
            again = replace(
                curl.as_sent(self._command(shot.verdict, request)),
                fresh=True,
                confirms=True,
                via=request.via,
                proofs=request.proofs,
                is_of_check=request.is_of_check,
            )
            work = self._printed(made.case, again, (*self.earlier, *sent) if is_last else None)
            work = observed(self.tools.gate, made.case, work)
            sent.append((yield from self.drive(made, work, Purpose.REPRODUCE)).verdict)
        return commands, sent

    def commands(self, chain: Chain, own: WireRequest | None = None) -> tuple[str, ...]:
        """Return the commands of a sequence, unsent."""
        requests = _requests(chain, own)
        return tuple(self._command(shot.verdict, request) for shot, request in requests)

    def _followed(
        self, shot: JudgedCase, request: WireRequest, sent: Sequence[Verdict]
    ) -> tuple[GeneratedCase, WireRequest]:
        """A step and its request with the values of this time; as they were where it cannot be made again."""
        try:
            anew = self.following(shot.made, sent)
        except (CheckerError, Rejected):
            return shot.made, request
        tools = self.tools
        again = build_request(tools.maker, tools.hooks, anew.case, tools.credentials)
        if request.is_of_check:
            # The request of a check differs from that of its case in headers and query, not in its path.
            _, mark, query = request.target.partition(b"?")
            again = replace(request, target=again.target.partition(b"?")[0] + mark + query)
        return anew, again

    def _command(self, verdict: Verdict, request: WireRequest) -> str:
        command, outcome = self.render(request), verdict.outcome
        if not isinstance(outcome, Response) or not outcome.redirects:
            return command
        answers = [answer for _, answer, _ in outcome.earlier if isinstance(answer, Response)]
        method = request.method
        if method == "GET" or not any(becomes_get(method, one.status_code) for one in answers):
            return curl.with_redirects(command)
        # With a method of its own curl sends that again, where clients go on with GET; with data alone it does as they do.
        if method == "POST" and request.body is not None:
            return curl.with_redirects(curl.without_post(command))
        return command

    def _printed(self, case: Case, request: WireRequest, before: Sequence[Verdict] | None) -> Exchanging[Verdict]:
        """One attempt with a command instead of a case. What comes before the last one is not judged: it has no `before`."""
        # The request of a check carries the credentials that the check chose, or none: new ones would make it another request.
        outcome = (yield request) if request.is_of_check else (yield from exchange(self.tools, case, request))
        judgement = UNJUDGED
        if before is not None:
            judgement = yield from judge_outcome(self.tools, case, outcome, before, request=request)
        return Verdict(case, request, outcome, judgement)


def _requests(chain: Chain, own: WireRequest | None) -> list[tuple[JudgedCase, WireRequest]]:
    """Return the requests of a sequence with their cases; the last one is `own`, if a check sent it."""
    requests = [(shot, request) for shot in chain if (request := shot.verdict.request) is not None]
    if own is not None:
        requests[-1] = (requests[-1][0], own)
    return requests
