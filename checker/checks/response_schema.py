"""Checks that the body of a response conforms to the schema that the description promises."""

import json
import re

from checker.checks.check import Config, QuickLook
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.response_head import MissingContentType
from checker.checks.rules import NAMED_SCHEMA, OF_ANOTHER, excerpts, is_of_several, number_format
from checker.core.contract import Blame, BodyOpinions, ResponsePlan, SchemaViolation
from checker.core.failures import Failure, Severity
from checker.core.media_types import is_json
from checker.core.response import Response, Undecoded
from checker.core.system import later_pattern

_MAY_BE_NULL = later_pattern(
    r"\bnullable\b|\bnull (?:as long as|before|for|if|indicates|means|otherwise|unless|until|when|while)\b"
    r"|\b(?:may|can|could|might|will|is|are|or|otherwise|else)\b[^.;]{0,20}\bnull\b",
    re.IGNORECASE,
)
_IS_NEVER_NULL = later_pattern(r"\b(?:not|never|non|cannot|can't|without)\b[^.;]{0,12}\bnull", re.IGNORECASE)
_LONGEST_NAME = 80  # Characters that are shown of a name from the server.


class JsonSchemaError(Failure, code="ST108", title="Response violates schema", severity=Severity.HIGH):
    """A body, an event of a stream, or the payload of an event violates its schema."""

    violation: SchemaViolation | None = None

    def cause(self, label: str) -> str:
        """Compute the cause from the violated schema. This happens on first use, only for failures that are kept, because a schema may be long."""
        if self.violation is not None and not self.shared_cause:
            # Named schemas are violated wherever they are used. Short schemas without properties at the root of a body
            # are equal by chance.
            if of_format := number_format(self.violation):
                broken = of_format
            else:
                pointer, schema = self.violation.schema_pointer, self.violation.schema
                if NAMED_SCHEMA.search(pointer) is not None:
                    broken = f"{pointer} {self.violation.keyword}"
                else:
                    names = [part for part in self.violation.instance_path if isinstance(part, str)]
                    if not names and not (isinstance(schema, dict) and "properties" in schema):
                        broken = ""
                    else:
                        broken = f"{'.'.join(names[-1:])} {self.violation.keyword} {type(self.violation.value).__name__} {json.dumps(schema, sort_keys=True, default=str)}"
            self.sharing(broken)
        return super().cause(label)


class MalformedJson(Failure, code="ST109", title="JSON deserialization error"):
    """The body is declared as JSON but cannot be parsed as JSON."""


class ContentDeserializationError(Failure, code="ST110", title="Content deserialization error"):
    """The body does not have its declared media type."""


class ContentDecodingError(Failure, title="Content decoding error"):
    """The body is not compressed as its `Content-Encoding` declares."""


class BrokenNonNull(Failure, code="ST114", title="Response violates schema", severity=Severity.HIGH):
    """The server reports null where its schema promises a value."""


def has_valid_body(status: int, plan: ResponsePlan, config: Config) -> QuickLook | bool:
    """Return the quick test for a valid body; True if the plan promises no body."""
    if plan.answers is not None:
        return plan.answers.is_fine
    validator = plan.body
    if validator is None or not validator.refuses_compressed:
        return validator is None
    is_valid = validator.is_valid

    def look(response: Response) -> bool:
        return not response.is_truncated and is_valid(response.content)

    return look


def response_schema_conformance(context: CheckContext) -> Found:
    """Fail on a body that two validators reject. The two validators share no code."""
    if context.plan.answers is not None:
        complaint = context.plan.answers.complaint(context.response)
        if complaint is not None and complaint.blame is Blame.BROKEN_PROMISE:
            return BrokenNonNull(complaint.message, unique_key=complaint.place)
        return _told(context, context.plan.answers.opinions(context.response, context.case))
    validator = context.plan.body
    if validator is None:
        return PASSED
    if context.response.is_truncated and not validator.reads_prefix:
        context.unjudged.append(_too_long(context.response.content, "a response"))
        return PASSED
    body = context.response.decoded
    if isinstance(body, Undecoded):
        if body.is_damaged:
            return ContentDecodingError(body.message, unique_key="undecoded")
        context.unjudged.append(f"a response cannot be decoded ({_name(body.message)})")
        return PASSED
    if body.is_cut and not validator.reads_prefix:
        context.unjudged.append(_too_long(body.content, "a decompressed response"))
        return PASSED
    if validator.is_valid(body.content):
        return PASSED
    if is_of_several(context):
        context.unjudged.append(f"a response violates its schema, and {OF_ANOTHER}")
        return PASSED
    return _told(context, validator.opinions(body.content))


def _told(context: CheckContext, opinions: BodyOpinions) -> Found:
    if opinions.disagreement is not None:
        context.disagreements.append(opinions.disagreement)
    if opinions.unread is not None:
        context.unjudged.append(f"a response {opinions.unread}")
    if opinions.undecodable is not None:
        kind = MalformedJson if is_json(opinions.undecodable.media_type) else ContentDeserializationError
        found = kind(opinions.undecodable.message, unique_key="undecodable")
        if context.response.content:
            return found
        found.covers = (MissingContentType,)
        return found.sharing("empty")
    told = [violation for violation in opinions.violations if not _is_null_in_prose(violation)]
    for violation in opinions.violations:
        if violation not in told:
            place = violation.schema_pointer
            context.unjudged.append(
                f"the description says that the value may be null, and its schema does not ({place})"
            )
    return [_violation(context, violation) for violation in told]


def _is_null_in_prose(violation: SchemaViolation) -> bool:
    """Whether a value is null, and the prose of its own schema says that it may be null."""
    schema = violation.schema
    prose = schema.get("description") if violation.value is None and isinstance(schema, dict) else None
    return isinstance(prose, str) and bool(_MAY_BE_NULL.search(prose)) and not _IS_NEVER_NULL.search(prose)


def _too_long(kept: bytes, what: str) -> str:
    return f"{what} is longer than the limit of {len(kept)} bytes"


def _violation(context: CheckContext, violation: SchemaViolation) -> Failure:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{_name(part)}" for part in violation.instance_path)
    matched = context.plan.matched_response
    event = "" if violation.event is None else f"Event #{violation.event}: "
    message = f"{event}body{place}: {violation.message}\n\n{excerpts(violation, context.truncation)}"
    if matched is not None:
        message += f"\n\nValidated against the response `{matched}`."
    found = JsonSchemaError(
        message,
        title="SSE event payload violates content schema"
        if violation.is_payload
        else None
        if violation.event is None
        else "SSE event violates schema",
        unique_key="/".join(violation.schema_path),
    )
    found.violation = violation
    return found


def _name(part: str) -> str:
    return part if len(part) <= _LONGEST_NAME else f"{part[:_LONGEST_NAME]}..."
