"""The errors and failures that users catch; each kind of failure by its name, too: `errors.ServerError`."""

from checker.checks.table import FAILURES
from checker.core.errors import (
    CheckerError,
    CheckError,
    ConfigError,
    HookError,
    IncorrectUsage,
    LoaderError,
    NotAvailableYet,
    OperationNotFound,
    UsageError,
)
from checker.core.failures import Failure, FailureGroup, Severity

__all__ = [
    "CheckError",
    "CheckerError",
    "ConfigError",
    "Failure",
    "FailureGroup",
    "HookError",
    "IncorrectUsage",
    "LoaderError",
    "NotAvailableYet",
    "OperationNotFound",
    "Severity",
    "UsageError",
]


def __getattr__(name: str) -> type[Failure]:
    """A kind of failure."""
    if name not in FAILURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return FAILURES[name]


def __dir__() -> list[str]:
    return [*__all__, *FAILURES]
