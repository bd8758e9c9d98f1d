"""What the status and the media type of a response already say: most checks need not look at most responses."""

from collections.abc import Callable, Mapping

from checker.checks.conformance import (
    content_type_conformance,
    has_documented_media_type,
    has_documented_status,
    promises_no_body,
    response_schema_conformance,
    status_code_conformance,
)
from checker.checks.context import Check, CheckSettings
from checker.checks.headers import promises_no_headers, response_headers_conformance
from checker.checks.server_error import is_no_server_error, not_a_server_error
from checker.core.contract import ResponsePlan

Foregone = Callable[[int, ResponsePlan, CheckSettings], bool]
"""Whether every response with this status and plan passes."""

QuickLook = Callable[[bytes], bool]
"""True for the content of a response that passes if it is all there; anything may be true of the others."""

FOREGONE: Mapping[Check, Foregone] = {
    not_a_server_error: is_no_server_error,
    status_code_conformance: has_documented_status,
    content_type_conformance: has_documented_media_type,
    response_headers_conformance: promises_no_headers,
    response_schema_conformance: promises_no_body,
}


def open_checks(
    checks: tuple[Check, ...], status: int, plan: ResponsePlan, settings: CheckSettings
) -> tuple[Check, ...]:
    """The checks that have to look at a response with this status and plan."""
    return tuple(
        check
        for check in checks
        if check not in FOREGONE or not FOREGONE[check](status, plan, settings)
    )


def quick_look(checks: tuple[Check, ...], plan: ResponsePlan) -> QuickLook | None:
    """What lets most responses pass these checks before anything is made ready for them; None when nothing does."""
    validator = plan.body
    if checks != (response_schema_conformance,) or validator is None:
        return None
    return validator.is_valid if validator.refuses_compressed else None
