"""Responses arrive within the time limit."""

from checker.checks.check import Config, QuickLook
from checker.checks.context import PASSED, CheckContext, Found
from checker.core.contract import ResponsePlan
from checker.core.failures import Failure, Severity
from checker.core.response import Response


class ResponseTimeExceeded(Failure, code="ST112", title="Response time limit exceeded", severity=Severity.LOW):
    """The response took longer than the limit."""


def is_in_time(plan: ResponsePlan, config: Config) -> QuickLook:
    """Return the quick test for a response within the limit."""
    limit_s: float | None = config["max_response_time"]

    def look(response: Response) -> bool:
        return limit_s is None or response.elapsed <= limit_s

    return look


def max_response_time(context: CheckContext) -> Found:
    """Fail on a response that took longer than the limit, if there is one."""
    limit_s: float | None = context.config["max_response_time"]
    elapsed_s = context.response.elapsed
    if limit_s is None or elapsed_s <= limit_s:
        return PASSED
    return ResponseTimeExceeded(f"Actual: {elapsed_s * 1000:.2f}ms\nLimit: {limit_s * 1000:.2f}ms", unique_key="slow")
