"""Checks of the status and the headers of a response."""

from checker.checks.check import Config, QuickLook
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import (
    METHOD_NOT_ALLOWED,
    OF_ANOTHER,
    excerpts,
    is_of_several,
    matches_status,
    requested_status,
    rule_of_status,
)
from checker.core.contract import MediaTypeVerdict, ResponsePlan
from checker.core.failures import CauseScope, Failure, Severity


class UndefinedStatusCode(Failure, code="ST103", title="Undocumented HTTP status code", cause_scope=CauseScope.API):
    """The description has neither this status nor a default."""


def is_documented(status: int, plan: ResponsePlan, config: Config) -> bool:
    """Whether every response with this status and plan passes."""
    return plan.status_documented or matches_status(status, config["expected-statuses"])


def status_code_conformance(context: CheckContext) -> Found:
    """Fail on a status that is neither documented (also by wildcards and `default`) nor expected by the settings."""
    status = context.response.status_code
    if is_documented(status, context.plan, context.config):
        return PASSED
    if status == METHOD_NOT_ALLOWED and is_of_several(context):
        context.unjudged.append(f"the status of a response is 405, and {OF_ANOTHER}")
        return PASSED
    documented = ", ".join(context.plan.documented_statuses)
    return UndefinedStatusCode(
        f"Received: {status}\nDocumented: {documented or 'none'}", unique_key=rule_of_status(status)
    ).sharing(requested_status(context))


class MissingContentType(Failure, code="ST104", title="Missing Content-Type header", cause_scope=CauseScope.API):
    """Media types are documented, but the response has none."""


class UndefinedContentType(Failure, code="ST105", title="Undocumented Content-Type", cause_scope=CauseScope.API):
    """The media type is not documented."""


class MalformedMediaType(Failure, code="ST106", title="Malformed media type", cause_scope=CauseScope.API):
    """`Content-Type` is not a media type."""


def has_documented_media_type(status: int, plan: ResponsePlan, config: Config) -> bool:
    """Whether every response with this plan passes."""
    return plan.media_type is MediaTypeVerdict.DOCUMENTED


def content_type_conformance(context: CheckContext) -> Found:
    """Fail on a `Content-Type` that is missing, malformed or not documented."""
    verdict = context.plan.media_type
    received = context.response.content_type or ""
    documented = context.plan.documented_media_types
    match verdict:
        case MediaTypeVerdict.DOCUMENTED:
            return PASSED
        case MediaTypeVerdict.MISSING:
            body = context.response.readable
            if context.plan.body is None and not (body.content or body.is_cut):
                # An empty response needs no media type if no body is promised.
                return PASSED
            listed = "\n".join(f"- `{name}`" for name in documented)
            return MissingContentType(
                f"The following media types are documented in the schema:\n{listed}", unique_key="missing"
            )
        case MediaTypeVerdict.MALFORMED:
            listed = ", ".join(documented)
            return MalformedMediaType(f"Received: {received}\nDocumented: {listed}", unique_key=received)
        case MediaTypeVerdict.UNDOCUMENTED:
            return UndefinedContentType(
                f"Received: {received}\nDocumented: {', '.join(documented)}",
                unique_key=received.partition(";")[0].strip().lower(),
            )


class MissingHeaders(Failure, code="ST107", title="Missing required headers", cause_scope=CauseScope.API):
    """Required headers are missing."""


class HeaderSchemaError(
    Failure,
    code="ST108",
    title="Response header does not conform to the schema",
    severity=Severity.HIGH,
    cause_scope=CauseScope.API,
):
    """A header violates its schema in every reading of its value."""


def promises_no_headers(status: int, plan: ResponsePlan, config: Config) -> bool:
    """Whether every response with this plan passes."""
    return plan.headers is None


def response_headers_conformance(context: CheckContext) -> Found:
    """Fail on missing required headers, and on values that both validators reject in every reading."""
    validator = context.plan.headers
    if validator is None or validator.is_valid(context.response.headers):
        return PASSED
    opinions = validator.opinions(context.response.headers)
    context.disagreements.extend(opinions.disagreements)
    context.unjudged.extend(f"the header {name} of a response is too long to be read" for name in opinions.unread)
    found: list[Failure] = []
    if opinions.missing:
        listed = "\n".join(f"- `{name}`" for name in opinions.missing)
        found.append(
            MissingHeaders(
                f"The following headers are required by the schema:\n{listed}",
                unique_key=", ".join(sorted(name.lower() for name in opinions.missing)),
            )
        )
    for name, violation in opinions.violations:
        found.append(
            HeaderSchemaError(
                f"{name}: {violation.message}\n\n{excerpts(violation, context.truncation)}",
                unique_key="/".join((name.lower(), *violation.schema_path)),
            )
        )
    return found


class ResponseTimeExceeded(Failure, code="ST112", title="Response time limit exceeded", severity=Severity.LOW):
    """The response took longer than the limit."""


def is_in_time(status: int, plan: ResponsePlan, config: Config) -> QuickLook | bool:
    """Return the quick test for a response within the limit; True without a limit."""
    limit_s: float | None = config["max_response_time"]
    return limit_s is None or (lambda response: response.elapsed <= limit_s)


def max_response_time(context: CheckContext) -> Found:
    """Fail on a response that took longer than the configured limit."""
    limit_s: float | None = context.config["max_response_time"]
    elapsed_s = context.response.elapsed
    if limit_s is None or elapsed_s <= limit_s:
        return PASSED
    return ResponseTimeExceeded(f"Actual: {elapsed_s * 1000:.2f}ms\nLimit: {limit_s * 1000:.2f}ms", unique_key="slow")
