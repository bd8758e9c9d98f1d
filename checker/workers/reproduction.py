"""What is printed for a failure, and an attempt that sends just that."""

from collections.abc import Callable, Sequence

from checker.checks.judge import UNJUDGED
from checker.core import curl
from checker.core.case import Case
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.core.send import Exchanging
from checker.phases.attempt import Tools, Verdict, exchange, judge_outcome


def command_of(render: Callable[[WireRequest], str], verdict: Verdict, request: WireRequest) -> str:
    """The command that sends a request and goes on where its answer led."""
    command, outcome = render(request), verdict.outcome
    # With a method of its own curl sends that again, where clients go on with GET.
    is_redirected = isinstance(outcome, Response) and outcome.redirects > 0
    if is_redirected and request.method in ("GET", "HEAD"):
        return curl.with_redirects(command)
    return command


def attempt_as_printed(
    tools: Tools, case: Case, request: WireRequest, before: Sequence[Verdict] | None
) -> Exchanging[Verdict]:
    """One attempt with a command instead of a case. What comes before the last one is not judged: it has no `before`."""
    outcome = yield from exchange(tools, case, request)
    judgement = UNJUDGED
    if before is not None:
        judgement = yield from judge_outcome(tools, case, outcome, before, request=request)
    return Verdict(case, request, outcome, judgement)
