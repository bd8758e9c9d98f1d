"""Conformance of a response to what the description promises."""

from checker.checks.context import PASSED, CheckContext, CheckSettings, Failures
from checker.core.blocks import Truncation, excerpt, indented
from checker.core.codings import Undecoded
from checker.core.contract import (
    MediaTypeVerdict,
    ResponsePlan,
    SchemaViolation,
    UndecodableBody,
)
from checker.core.failures import Failure, Severity
from checker.core.media_types import is_json
from checker.core.response import Response

_LONGEST_NAME = 80
"""Characters that are shown of one that a server made up."""


def has_documented_status(status: int, plan: ResponsePlan, settings: CheckSettings) -> bool:
    """Whether `status_code_conformance` passes whatever else the response is."""
    return plan.status_documented


def has_documented_media_type(status: int, plan: ResponsePlan, settings: CheckSettings) -> bool:
    """Whether `content_type_conformance` passes whatever else the response is."""
    return plan.media_type is MediaTypeVerdict.DOCUMENTED


def promises_no_body(status: int, plan: ResponsePlan, settings: CheckSettings) -> bool:
    """Whether `response_schema_conformance` passes whatever the body is."""
    return plan.body is None


def status_code_conformance(context: CheckContext) -> Failures:
    """Fail on a status that is not documented, wildcards and `default` considered (spec 2.8)."""
    if has_documented_status(context.response.status_code, context.plan, context.settings):
        return PASSED
    status = context.response.status_code
    documented = ", ".join(context.plan.documented_statuses)
    return (
        Failure(
            check="status_code_conformance",
            title="Undocumented HTTP status code",
            message=f"Received: {status}\nDocumented: {documented or 'none'}",
            unique_key=str(status),
        ),
    )


def content_type_conformance(context: CheckContext) -> Failures:
    """Fail on a `Content-Type` that is missing, malformed or not documented (spec 2.8)."""
    if has_documented_media_type(context.response.status_code, context.plan, context.settings):
        return PASSED
    verdict = context.plan.media_type
    received = context.response.content_type or ""
    documented = context.plan.documented_media_types
    if verdict is MediaTypeVerdict.MISSING:
        if context.plan.body is None and _is_empty(context.response):
            # Nothing was sent, and nothing that could be read was promised.
            return PASSED
        listed = "\n".join(f"- `{name}`" for name in documented)
        return (
            _content_type(
                "Missing Content-Type header",
                f"The following media types are documented in the schema:\n{listed}",
                "missing",
            ),
        )
    if verdict is MediaTypeVerdict.MALFORMED:
        return (_content_type("Malformed media type", f"Received: {received}", received),)
    return (
        _content_type(
            "Undocumented Content-Type",
            f"Received: {received}\nDocumented: {', '.join(documented)}",
            received.partition(";")[0].strip().lower(),
        ),
    )


def response_schema_conformance(context: CheckContext) -> Failures:
    """Fail on a body that two validators that share no code both reject (spec 2.8, design section 4)."""
    validator = context.plan.body
    if validator is None:
        return PASSED
    if context.response.is_truncated and not validator.reads_prefix:
        context.unjudged.append(_too_long(context.response.content, "an answer"))
        return PASSED
    body = context.response.decoded
    if isinstance(body, Undecoded):
        if body.is_damaged:
            return (_damaged(body),)
        context.unjudged.append(f"an answer cannot be decoded ({_name(body.message)})")
        return PASSED
    if body.is_cut and not validator.reads_prefix:
        context.unjudged.append(_too_long(body.content, "an answer, once it is decompressed,"))
        return PASSED
    if validator.is_valid(body.content):
        return PASSED
    opinions = validator.opinions(body.content)
    if opinions.disagreement is not None:
        context.disagreements.append(opinions.disagreement)
    if opinions.unread is not None:
        context.unjudged.append(f"an answer {opinions.unread}")
    if opinions.undecodable is not None:
        return (
            Failure(
                check="response_schema_conformance",
                title=_undecodable(opinions.undecodable),
                message=opinions.undecodable.message,
                unique_key="undecodable",
            ),
        )
    return tuple(_violation(context, violation) for violation in opinions.violations)


def _too_long(kept: bytes, what: str) -> str:
    return f"{what} is longer than {len(kept)} bytes: no more of it is read"


def _is_empty(response: Response) -> bool:
    body = response.readable
    return not (body.content or body.is_cut)


def _content_type(title: str, message: str, unique_key: str) -> Failure:
    return Failure("content_type_conformance", title, message, unique_key)


def _violation(context: CheckContext, violation: SchemaViolation) -> Failure:
    place = "".join(
        f"[{part}]" if isinstance(part, int) else f".{_name(part)}"
        for part in violation.instance_path
    )
    matched = context.plan.matched_response
    event = "" if violation.event is None else f"Event #{violation.event}: "
    message = f"{event}body{place}: {violation.message}\n\n{excerpts(violation, context.settings.truncation)}"
    if matched is not None:
        message += f"\n\nValidated against the response `{matched}`."
    return Failure(
        check="response_schema_conformance",
        title=_title(violation),
        message=message,
        unique_key="/".join(violation.schema_path),
        severity=Severity.HIGH,
    )


def _name(part: str) -> str:
    return part if len(part) <= _LONGEST_NAME else f"{part[:_LONGEST_NAME]}..."


def _title(violation: SchemaViolation) -> str:
    if violation.is_payload:
        return "SSE event payload violates content schema"
    return "Response violates schema" if violation.event is None else "SSE event violates schema"


def _damaged(body: Undecoded) -> Failure:
    return Failure(
        check="response_schema_conformance",
        title="Content decoding error",
        message=body.message,
        unique_key="undecoded",
    )


def _undecodable(body: UndecodableBody) -> str:
    return f"{'JSON' if is_json(body.media_type) else 'Content'} deserialization error"


def excerpts(violation: SchemaViolation, truncation: Truncation) -> str:
    """The broken schema with its place, and the value, shortened."""
    lines = [
        f"Schema at {violation.schema_pointer}:",
        "",
        indented(excerpt(violation.schema, truncation)),
        "",
        "Value:",
        "",
        indented(excerpt(violation.value, truncation)),
    ]
    return "\n".join(lines)
