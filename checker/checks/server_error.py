"""Checks that the server reports no internal error."""

import json
from typing import Final

from checker.checks.check import Config, QuickLook
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.methods import UnsupportedMethodResponse, is_unknown_method
from checker.checks.response_head import UndefinedStatusCode
from checker.checks.rules import is_beyond_int64, matches_status, requested_status, rule_of_status, values_of
from checker.core.case import Case
from checker.core.contract import Blame, ResponsePlan
from checker.core.failures import Failure, Severity
from checker.core.resource_names import words
from checker.core.response import FailureKind, NetworkFailure
from checker.core.scenarios import REQUEST_SHAPES
from checker.core.system import later_pattern
from checker.core.templates import error_template, names_error, says_nothing, sent_texts
from checker.refusals.state import is_of_contention

EXPECTED = ("2XX", "3XX", "4XX")
UNAVAILABLE: Final = 503
DROPPED = "connection dropped"
"""The rule of dropped connections. There is only one, because a reset may discard data that arrived before it."""
UNANSWERED = "no response"  # The rule of requests without a response.
_WITHOUT_REASON = "an error without a reason that passes"
"""The cause of intermittent server errors without a stated reason. A client cannot distinguish them from the errors of a locked database."""
_BEGINNING = 2_000  # Bytes at the start of a response in which its reason is searched.
_UPDATING: Final = frozenset(("PUT", "PATCH"))
_OF_STATE = "Status 503 reports a state of the service, which an earlier request may have caused."
_REFUSED = "the request is refused"
_REFUSED_AS_FAILED = "The body reports an invalid request, for which the status should be 4xx."


class ServerError(Failure, code="ST101", title="Server error", severity=Severity.CRITICAL):
    """The status is a server error."""

    covers = (UndefinedStatusCode, UnsupportedMethodResponse)


class ReportedServerError(Failure, code="ST113", title="Server error", severity=Severity.CRITICAL):
    """The body reports an internal error of the server, whatever the status is."""


class DroppedConnection(Failure, code="ST115", title="Server error", severity=Severity.CRITICAL, needs_repetition=True):
    """The server closed the connection instead of sending a complete response."""


class UnansweredRequest(Failure, code="ST116", title="Server error", severity=Severity.CRITICAL, needs_repetition=True):
    """The server sends no response, although it responds to other requests."""


def missing_response(case: Case, outcome: NetworkFailure) -> Found:
    """Fail on a connection that the server closed or reset while it handled the request, and on a timeout without a response.

    A reused connection without any response may have been closed while it was idle, which is no failure.
    """
    if outcome.kind is FailureKind.TIMEOUT and outcome.partial is None:
        unanswered = UnansweredRequest("The server sends no response", unique_key=UNANSWERED)
        return unanswered.sharing(_common_reason(UNANSWERED, case))
    if outcome.kind is not FailureKind.DROPPED or outcome.may_be_late:
        return PASSED
    how = "in the middle of the response" if outcome.partial is not None else "without a response"
    dropped = DroppedConnection(f"The server closed the connection {how}", unique_key=DROPPED)
    return dropped.sharing(_common_reason(DROPPED, case))


def is_no_server_error(status: int, plan: ResponsePlan, config: Config) -> QuickLook | bool:
    """Return the quick test for a body without errors, if bodies can report errors; otherwise whether the status is no server error."""
    return _is_expected(status, config) if plan.answers is None else plan.answers.is_fine


def _is_expected(status: int, config: Config) -> bool:
    # Statuses below 200 are interim responses (RFC 9110, 15.2) and never a crash.
    return status < 200 or matches_status(status, config["expected-statuses"])


def not_a_server_error(context: CheckContext) -> Found:
    """Fail on a status that is not expected, and on a body that reports an internal error."""
    status, expected = context.response.status_code, context.config["expected-statuses"]
    if _is_expected(status, context.config):
        complaint = context.complaint
        if complaint is None or complaint.blame is not Blame.FAILED:
            return PASSED
        said = complaint.text.encode("utf-8", "replace")
        template = error_template(said, sent_texts(context.case), context.described)
        shared = _of_value(template, context.case) or (f"{complaint.part} {template}" if complaint.part else "")
        reported = ReportedServerError(complaint.message, unique_key=complaint.place, text=template)
        reported.passing_cause = _passing(template)
        return reported.sharing(shared)
    if is_unknown_method(context):
        return PASSED
    complaint = context.complaint
    if complaint is not None and complaint.blame is Blame.REFUSED:
        # All requests have one cause, because the server uses the wrong status for every refusal.
        return ServerError(_REFUSED_AS_FAILED, unique_key=rule_of_status(status), text=_REFUSED).sharing(
            f"{rule_of_status(status)} {_REFUSED}"
        )
    template = error_template(context.response.readable.content, sent_texts(context.case), context.described)
    shared = template if names_error(template) else _common_reason(template, context.case)
    is_busy = status == UNAVAILABLE or is_of_contention(
        context.response.readable.content[:_BEGINNING].decode("utf-8", "replace")
    )
    if is_busy:
        # Maintenance and overload are one state of the whole service.
        shared = template or "unavailable"
    matched, told = context.plan.matched_response or "", []
    if tuple(expected) != EXPECTED:
        told.append(f"Received: {status}\nExpected: {', '.join(expected)}")
    elif matched[:1] == "5":
        told.append(f"The description documents it as `{matched}`.")
    if status == UNAVAILABLE:
        told.append(_OF_STATE)
    failure = ServerError("\n".join(told), unique_key=rule_of_status(status), text=template)
    failure.sharing(requested_status(context) or (f"{rule_of_status(status)} {shared}" if shared else ""))
    failure.passing_cause = failure.shared_cause if is_busy else _passing(template)
    return failure


def _passing(template: str) -> str:
    """Return the cause of a server error that does not recur when its request is sent again; empty if the text distinguishes the error from others."""
    return _WITHOUT_REASON if says_nothing(template) else ""


def _common_reason(template: str, case: Case) -> str:
    """Return the common property of errors of several operations: the shape of the request, a kind of value, or one handler. Empty if there is none."""
    # Methods of one path with the same prose have one handler. `PUT` and `PATCH` with a body have one handler in most
    # frameworks (`update` of Django REST framework, Rails and Laravel). Terse definitions are equal by chance.
    if case.operation.method in _UPDATING and case.operation.bodies:
        handler = f"update of {case.operation.path}"
    else:
        said = {name: value for name, value in case.operation.definition.items() if name != "operationId"}
        if not (said.get("summary") or said.get("description")):
            handler = ""
        else:
            handler = f"{case.operation.path} {json.dumps(said, sort_keys=True, default=str)}"
    # A request of these shapes reaches no operation, because the server rejects it earlier.
    if case.meta is None:
        shape = ""
    else:
        data = case.meta.phase.data
        shape = data.description or "" if data.scenario in REQUEST_SHAPES else ""
    return shape or _of_value(template, case) or (f"{template} {handler}" if handler else "")


_LONG_INTEGER: Final = later_pattern(r"(-?)0*([1-9][0-9]{18,})")
_SURROGATE: Final = later_pattern("[\ud800-\udfff]")
_ENOUGH_DIGITS: Final = 20
"""Every integer with this many digits is beyond 64 bits. Python cannot convert more than 4,300 digits."""


def _of_value(template: str, case: Case) -> str:
    """Return the text of an error with the kind of sent value that crashes a server in any operation; empty if no such value was sent."""
    for value in (*case.path_parameters.values(), *values_of(case)):
        if isinstance(value, str) and ("\0" in value or (not value.isprintable() and _SURROGATE.search(value))):
            return f"{template} for characters that are no text"
        digits = _LONG_INTEGER.fullmatch(value) if isinstance(value, str) else None
        number = value if digits is None else int(digits[1] + digits[2][:_ENOUGH_DIGITS])
        if isinstance(number, int | float) and is_beyond_int64(number):
            return f"{template} for integers beyond 64 bits"
    if case.operation.has_status_in_body and says_nothing(template):
        given = case.body.get("arguments") if isinstance(case.body, dict) else None
        is_bound = case.meta is not None and case.meta.bindings
        if isinstance(given, dict) and not is_bound and any(words(name)[-1:] in (("id",), ("ids",)) for name in given):
            # Servers of GraphQL decode global identifiers in one place.
            return f"{case.operation.label.partition('.')[0]} {template} for an unknown identifier"
    return ""
