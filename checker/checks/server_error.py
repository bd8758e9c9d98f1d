"""The server must not fall over."""

from collections.abc import Sequence

from checker.checks.check import Config, QuickLook
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import matches_status, rule_of_status
from checker.checks.undeclared_method import is_unknown_method
from checker.core.case import Case
from checker.core.contract import Blame, ResponsePlan
from checker.core.failures import Failure, Severity
from checker.core.response import FailureKind, NetworkFailure
from checker.core.scenarios import REQUEST_SHAPES
from checker.core.templates import error_template, names_error, sent_texts

EXPECTED = ("2XX", "3XX", "4XX")
DROPPED = "connection dropped"
"""The rule that a dropped connection breaks. One rule for all of them: a reset may discard what arrived before it."""
_REFUSED = "the request is refused"
_REFUSED_AS_FAILED = "The body says that the request is wrong: a status that blames the client (4xx) would say so, too."


class ServerError(Failure, code="ST101", title="Server error", severity=Severity.CRITICAL):
    """The status is none that the server may answer with."""


class ReportedServerError(Failure, code="ST113", title="Server error", severity=Severity.CRITICAL):
    """The body says that the server fell over, whatever the status."""


class DroppedConnection(Failure, code="ST115", title="Server error", severity=Severity.CRITICAL, needs_repetition=True):
    """The server closed the connection instead of sending a complete response."""


def dropped_connection(outcome: NetworkFailure) -> Found:
    """Fail on a connection that the server closed or reset while it handled the request.

    A reused connection that brought nothing may have been closed while it was idle: that proves nothing.
    """
    if outcome.kind is not FailureKind.DROPPED or outcome.may_be_late:
        return PASSED
    how = "in the middle of the response" if outcome.partial is not None else "without a response"
    return DroppedConnection(f"The server closed the connection {how}", unique_key=DROPPED)


def is_no_server_error(status: int, plan: ResponsePlan, config: Config) -> bool:
    """Whether a status is one that the server may answer with."""
    # Statuses below 200 are interim responses (RFC 9110, 15.2): never a crash.
    return _is_expected(status, config) and plan.answers is None


def has_no_complaint(plan: ResponsePlan, config: Config) -> QuickLook | None:
    """Whether an answer says that all went well."""
    return None if plan.answers is None else plan.answers.is_fine


def _is_expected(status: int, config: Config) -> bool:
    return status < 200 or matches_status(status, config["expected-statuses"])


def not_a_server_error(context: CheckContext) -> Found:
    """Fail on a status outside those that are expected, and on a body that says that the server fell over."""
    status, expected = context.response.status_code, context.config["expected-statuses"]
    if _is_expected(status, context.config):
        return _reported(context)
    if is_unknown_method(context):
        return PASSED
    complaint = context.complaint
    if complaint is not None and complaint.blame is Blame.REFUSED:
        # One mistake, whatever was wrong with which request: how the server answers with what it refuses.
        return ServerError(_REFUSED_AS_FAILED, unique_key=rule_of_status(status), text=_REFUSED).sharing(
            f"{rule_of_status(status)} {_REFUSED}"
        )
    template = error_template(context.response.readable.content, sent_texts(context.case), context.described)
    shared = template if names_error(template) else _shape(context.case)
    return ServerError(
        _message(status, expected, context.plan), unique_key=rule_of_status(status), text=template
    ).sharing(f"{rule_of_status(status)} {shared}" if shared else "")


def _reported(context: CheckContext) -> Found:
    complaint = context.complaint
    if complaint is None or complaint.blame is not Blame.FAILED:
        return PASSED
    said = complaint.text.encode("utf-8", "replace")
    template = error_template(said, sent_texts(context.case), context.described)
    return ReportedServerError(complaint.message, unique_key=complaint.place, text=template).sharing(
        f"{complaint.part} {template}" if complaint.part else ""
    )


def _shape(case: Case) -> str:
    """Return the oddity of a request that reaches no operation: the server answers it before any of them."""
    if case.meta is None:
        return ""
    said = case.meta.phase.data
    return said.description or "" if said.scenario in REQUEST_SHAPES else ""


def _message(status: int, expected: Sequence[str], plan: ResponsePlan) -> str:
    if tuple(expected) != EXPECTED:
        return f"Received: {status}\nExpected: {', '.join(expected)}"
    # That the description speaks of such an answer; nothing where `status_code_conformance` has its say.
    matched = plan.matched_response or ""
    return f"The description documents it as `{matched}`." if matched[:1] == "5" else ""
