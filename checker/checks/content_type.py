"""The `Content-Type` of a response is documented."""

from checker.checks.check import Config
from checker.checks.context import PASSED, CheckContext, Found
from checker.core.contract import MediaTypeVerdict, ResponsePlan
from checker.core.failures import CauseScope, Failure
from checker.core.response import Response


class MissingContentType(Failure, code="ST104", title="Missing Content-Type header", cause_scope=CauseScope.API):
    """Media types are documented, and the response has none."""


class UndefinedContentType(Failure, code="ST105", title="Undocumented Content-Type", cause_scope=CauseScope.API):
    """The media type is not documented."""


class MalformedMediaType(Failure, code="ST106", title="Malformed media type", cause_scope=CauseScope.API):
    """`Content-Type` is not a media type."""


def has_documented_media_type(status: int, plan: ResponsePlan, config: Config) -> bool:
    """Whether every response of this plan passes."""
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
            if context.plan.body is None and _is_empty(context.response):
                # An empty response without a promised body needs no media type.
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


def _is_empty(response: Response) -> bool:
    body = response.readable
    return not (body.content or body.is_cut)
