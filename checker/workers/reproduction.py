"""Findings re-sent exactly as they are printed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from checker.checks.judge import UNJUDGED
from checker.core import curl
from checker.core.case import Case
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.core.send import Exchanging, Purpose
from checker.phases.attempt import Tools, Verdict, exchange, judge_outcome
from checker.phases.making import GeneratedCase
from checker.workers.unconfirmed import Chain, JudgedCase


@dataclass(slots=True)
class PrintedReplay:
    """Sends commands in place of cases."""

    tools: Tools
    render: Callable[[WireRequest], str]
    """The command that sends a request."""
    drive: Callable[[GeneratedCase, Exchanging[Verdict], Purpose], JudgedCase]

    def sent(
        self, chain: Chain, own: WireRequest | None = None
    ) -> tuple[tuple[str, ...], Verdict | None]:
        """The commands of a sequence, and what came of the last one; None if there is none.

        `own` is sent in place of the last request: what a check had sent.
        """
        requests = [
            (shot, request) for shot in chain if (request := shot.verdict.request) is not None
        ]
        if own is not None:
            requests[-1] = (requests[-1][0], own)
        commands = [
            (shot.made, request, self._command(shot.verdict, request)) for shot, request in requests
        ]
        sent: list[Verdict] = []
        for number, (made, request, command) in enumerate(commands, 1):
            again = replace(
                curl.as_sent(command), fresh=True, via=request.via, proofs=request.proofs
            )
            before = sent if number == len(commands) else None
            work = self._printed(made.case, again, before)
            sent.append(self.drive(made, work, Purpose.REPRODUCE).verdict)
        return tuple(command for *_, command in commands), sent[-1] if sent else None

    def _command(self, verdict: Verdict, request: WireRequest) -> str:
        command, outcome = self.render(request), verdict.outcome
        # With a method of its own curl sends that again, where clients go on with GET.
        is_redirected = isinstance(outcome, Response) and outcome.redirects > 0
        if is_redirected and request.method in ("GET", "HEAD"):
            return curl.with_redirects(command)
        return command

    def _printed(
        self, case: Case, request: WireRequest, before: Sequence[Verdict] | None
    ) -> Exchanging[Verdict]:
        """One attempt with a command instead of a case. What comes before the last one is not judged: it has no `before`."""
        outcome = yield from exchange(self.tools, case, request)
        judgement = UNJUDGED
        if before is not None:
            judgement = yield from judge_outcome(self.tools, case, outcome, before, request=request)
        return Verdict(case, request, outcome, judgement)
