"""Conformance of the headers of a response to what the description promises."""

from checker.checks.conformance import excerpts
from checker.checks.context import PASSED, CheckContext, CheckSettings, Failures
from checker.core.blocks import Truncation
from checker.core.contract import ResponsePlan, SchemaViolation
from checker.core.failures import Failure, Severity

NAME = "response_headers_conformance"


def promises_no_headers(status: int, plan: ResponsePlan, settings: CheckSettings) -> bool:
    """Whether `response_headers_conformance` passes whatever the headers are."""
    return plan.headers is None


def response_headers_conformance(context: CheckContext) -> Failures:
    """Fail on required headers that are missing, and on values that both validators reject in every reading (spec 2.8)."""
    validator = context.plan.headers
    if validator is None or validator.is_valid(context.response.headers):
        return PASSED
    opinions = validator.opinions(context.response.headers)
    context.disagreements.extend(opinions.disagreements)
    context.unjudged.extend(
        f"the header {name} of an answer is too long to be read" for name in opinions.unread
    )
    truncation = context.settings.truncation
    found = [_violation(name, violation, truncation) for name, violation in opinions.violations]
    if opinions.missing:
        found.insert(0, _missing(opinions.missing))
    return tuple(found)


def _missing(names: tuple[str, ...]) -> Failure:
    listed = "\n".join(f"- `{name}`" for name in names)
    return Failure(
        check=NAME,
        title="Missing required headers",
        message=f"The following headers are required by the schema:\n{listed}",
        unique_key=", ".join(sorted(name.lower() for name in names)),
    )


def _violation(name: str, violation: SchemaViolation, truncation: Truncation) -> Failure:
    return Failure(
        check=NAME,
        title="Response header does not conform to the schema",
        message=f"{name}: {violation.message}\n\n{excerpts(violation, truncation)}",
        unique_key="/".join((name.lower(), *violation.schema_path)),
        severity=Severity.HIGH,
    )
