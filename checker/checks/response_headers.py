"""The headers of a response match the description."""

from checker.checks.check import Config
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import excerpts
from checker.core.blocks import Truncation
from checker.core.contract import ResponsePlan, SchemaViolation
from checker.core.failures import CauseScope, Failure, Severity


class MissingHeaders(Failure, code="ST107", title="Missing required headers", cause_scope=CauseScope.API):
    """Required headers are missing."""


class HeaderSchemaError(
    Failure,
    code="ST108",
    title="Response header does not conform to the schema",
    severity=Severity.HIGH,
    cause_scope=CauseScope.API,
):
    """A header breaks its schema in every reading of its value."""


def promises_no_headers(status: int, plan: ResponsePlan, config: Config) -> bool:
    """Whether every response of this plan passes."""
    return plan.headers is None


def response_headers_conformance(context: CheckContext) -> Found:
    """Fail on missing required headers, and on values that both validators reject in every reading."""
    validator = context.plan.headers
    if validator is None or validator.is_valid(context.response.headers):
        return PASSED
    opinions = validator.opinions(context.response.headers)
    context.disagreements.extend(opinions.disagreements)
    context.unjudged.extend(f"the header {name} of a response is too long to be read" for name in opinions.unread)
    found: list[Failure] = [_missing(opinions.missing)] if opinions.missing else []
    for name, violation in opinions.violations:
        found.append(_violation(name, violation, context.truncation))
    return found


def _missing(names: tuple[str, ...]) -> Failure:
    listed = "\n".join(f"- `{name}`" for name in names)
    return MissingHeaders(
        f"The following headers are required by the schema:\n{listed}",
        unique_key=", ".join(sorted(name.lower() for name in names)),
    )


def _violation(name: str, violation: SchemaViolation, truncation: Truncation) -> Failure:
    return HeaderSchemaError(
        f"{name}: {violation.message}\n\n{excerpts(violation, truncation)}",
        unique_key="/".join((name.lower(), *violation.schema_path)),
    )
