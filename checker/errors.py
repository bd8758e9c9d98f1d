"""The errors and failures that users catch."""

from checker.core.errors import (
    CheckerError,
    ConfigError,
    HookError,
    IncorrectUsage,
    LoaderError,
    NotAvailableYet,
    UsageError,
)
from checker.core.failures import FailedCheck, Failure, FailureGroup

__all__ = [
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
