"""The errors and failures that users catch."""

from checker.core.errors import (
    CheckerError,
    CheckError,
    ConfigError,
    HookError,
    IncorrectUsage,
    LoaderError,
    NotAvailableYet,
    UsageError,
)
from checker.core.failures import FailedCheck, Failure, FailureGroup

__all__ = [
    "CheckError",
    "CheckerError",
    "ConfigError",
    "FailedCheck",
    "Failure",
    "FailureGroup",
    "HookError",
    "IncorrectUsage",
    "LoaderError",
    "NotAvailableYet",
    "UsageError",
]
