"""The server must not fall over."""

from collections.abc import Sequence

from checker.checks.check import Config
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.statuses import matches_status
from checker.core.contract import ResponsePlan
from checker.core.failures import Failure, Severity
from checker.core.templates import error_template, sent_texts

EXPECTED = ("2XX", "3XX", "4XX")


class ServerError(Failure, code="ST101", title="Server error", severity=Severity.CRITICAL):
    """The status is none that the server may answer with."""


def is_no_server_error(status: int, plan: ResponsePlan, config: Config) -> bool:
    """Whether a status is one that the server may answer with."""
    # Below 200 nothing is final: whoever answers so has not fallen over.
    return status < 200 or matches_status(status, config["expected-statuses"])


def not_a_server_error(context: CheckContext) -> Found:
    """Fail on a status outside 2xx, 3xx and 4xx, or outside those that are expected."""
    status, expected = context.response.status_code, context.config["expected-statuses"]
    if is_no_server_error(status, context.plan, context.config):
        return PASSED
    template = error_template(
        context.response.readable.content, sent_texts(context.case), context.described
    )
    return ServerError(
        _message(status, expected, context.plan), unique_key=str(status), text=template
    )


def _message(status: int, expected: Sequence[str], plan: ResponsePlan) -> str:
    if tuple(expected) != EXPECTED:
        return f"Received: {status}\nExpected: {', '.join(expected)}"
    # That the description speaks of such an answer; nothing where `status_code_conformance` has its say.
    matched = plan.matched_response or ""
    return f"The description documents it as `{matched}`." if matched[:1] == "5" else ""
