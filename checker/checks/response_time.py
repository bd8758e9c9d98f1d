"""Responses come in time."""

from checker.checks.check import Config, QuickLook
from checker.checks.context import PASSED, CheckContext, Found
from checker.core.contract import ResponsePlan
from checker.core.failures import Failure, Severity
from checker.core.response import Response


class ResponseTimeExceeded(
    Failure, code="ST112", title="Response time limit exceeded", severity=Severity.LOW
):
    """The response took longer than it may."""


def is_in_time(plan: ResponsePlan, config: Config) -> QuickLook:
    """Whether a response came in time."""
    limit_s: float = config["max_response_time"]

    def look(response: Response) -> bool:
        return response.elapsed <= limit_s

    return look


def max_response_time(context: CheckContext) -> Found:
    """Fail on a response that took longer than the limit."""
    limit_s: float = context.config["max_response_time"]
    elapsed_s = context.response.elapsed
    if elapsed_s <= limit_s:
        return PASSED
    return ResponseTimeExceeded(
        f"Actual: {elapsed_s * 1000:.2f}ms\nLimit: {limit_s * 1000:.2f}ms", unique_key="slow"
    )
