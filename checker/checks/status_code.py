"""The status of a response is documented."""

from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import rule_of_status
from checker.core.failures import CauseScope, Failure


class UndefinedStatusCode(Failure, code="ST103", title="Undocumented HTTP status code", cause_scope=CauseScope.API):
    """The description has neither this status nor a default."""


def status_code_conformance(context: CheckContext) -> Found:
    """Fail on a status that is not documented, wildcards and `default` considered."""
    if context.plan.status_documented:
        return PASSED
    status = context.response.status_code
    documented = ", ".join(context.plan.documented_statuses)
    return UndefinedStatusCode(
        f"Received: {status}\nDocumented: {documented or 'none'}", unique_key=rule_of_status(status)
    )
