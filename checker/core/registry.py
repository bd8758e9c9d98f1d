"""What users add by name: string formats and checks."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from checker.core.errors import IncorrectUsage, NotAvailableYet

CheckFunction = TypeVar("CheckFunction", bound=Callable[..., Any])

BUILT_IN_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "positive_data_acceptance",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
    "ignored_auth",
    "max_response_time",
)
"""Names of all checks of spec 2.8, in the order in which they run."""

FORMATS: dict[str, object] = {}
"""Format name -> strategy of strings, as given by users."""

CUSTOM_CHECKS: dict[str, Callable[..., Any]] = {}
"""Check name -> function (context, response, case) that raises `AssertionError` on failure."""


def register_format(name: str, strategy: object) -> None:
    """Strings of `format: name` are drawn from `strategy`. A later one replaces an earlier one."""
    if not isinstance(name, str):
        raise IncorrectUsage(f"the name of a format must be a string, got {name!r}")
    if not hasattr(strategy, "example") or not hasattr(strategy, "map"):
        raise IncorrectUsage(
            f"format {name!r} must be a Hypothesis strategy of strings, got {strategy!r}"
        )
    FORMATS[name] = strategy


def check(function: CheckFunction) -> CheckFunction:
    """Add a check: `(context, response, case)`, raising `AssertionError` on failure. Gives the function back."""
    if inspect.isclass(function):
        raise NotAvailableYet(f"class check {function.__name__}")
    name = function.__name__
    if name in BUILT_IN_CHECKS or CUSTOM_CHECKS.get(name, function) is not function:
        raise IncorrectUsage(f"check {name!r} is already registered; choose another name")
    parameters = len(inspect.signature(function).parameters)
    if parameters != 3:
        raise TypeError(
            f"check {name!r} takes 3 arguments (context, response, case) but {parameters} is defined"
        )
    CUSTOM_CHECKS[name] = function
    return function
