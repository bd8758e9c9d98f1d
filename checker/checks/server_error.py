"""The server must not fall over."""

from checker.checks.context import PASSED, CheckContext, CheckSettings, Failures
from checker.checks.statuses import matches_status
from checker.core.contract import ResponsePlan
from checker.core.failures import Failure, Severity
from checker.core.templates import error_template, sent_texts

NAME = "not_a_server_error"
_EXPECTED = ("2XX", "3XX", "4XX")


def is_no_server_error(status: int, plan: ResponsePlan, settings: CheckSettings) -> bool:
    """Whether a status is one that the server may answer with."""
    expected = settings.expected_statuses.get(NAME)
    return (status < 500) if expected is None else matches_status(status, expected)


def not_a_server_error(context: CheckContext) -> Failures:
    """Fail on a status outside 2xx, 3xx and 4xx (spec 2.8)."""
    status = context.response.status_code
    if is_no_server_error(status, context.plan, context.settings):
        return PASSED
    expected = context.settings.expected_statuses.get(NAME)
    template = error_template(
        context.response.readable.content, sent_texts(context.case), context.described
    )
    shown = ", ".join(expected or _EXPECTED)
    return (
        Failure(
            check=NAME,
            title="Server error",
            message=_documented(context.plan)
            if expected is None
            else f"Received: {status}\nExpected: {shown}",
            unique_key=str(status),
            severity=Severity.CRITICAL,
            text=template,
        ),
    )


def _documented(plan: ResponsePlan) -> str:
    """That the description speaks of such an answer; nothing where `status_code_conformance` has its say."""
    matched = plan.matched_response or ""
    return f"The description documents it as `{matched}`." if matched[:1] == "5" else ""
