"""The errors and failures that users catch; each kind of failure is also available by its name: `errors.ServerError`."""

from checker.checks.table import FAILURES
from checker.core.errors import (
    BudgetSpent,
    CheckerError,
    CheckError,
    ConfigError,
    CredentialError,
    ForeignDescription,
    HookError,
    HookExecutionError,
    IncorrectUsage,
    InfiniteRecursiveReference,
    InternalError,
    InvalidHeadersExample,
    InvalidRateLimit,
    InvalidRegexPattern,
    InvalidRegexType,
    InvalidSchema,
    InvalidStateMachine,
    InvalidTransition,
    LoaderError,
    LoaderErrorKind,
    MetricError,
    NoLinksFound,
    NothingToBreak,
    OperationNotFound,
    SchemaLocation,
    SerializationError,
    SerializationNotPossible,
    UnknownScalar,
    UnreadableFile,
    UnresolvableBody,
    Unsatisfiable,
    UsageError,
)
from checker.core.failures import Failure, FailureGroup, Severity
from checker.core.schema import UnresolvableReference

__all__ = [
    "BudgetSpent",
    "CheckError",
    "CheckerError",
    "ConfigError",
    "CredentialError",
    "Failure",
    "FailureGroup",
    "ForeignDescription",
    "HookError",
    "HookExecutionError",
    "IncorrectUsage",
    "InfiniteRecursiveReference",
    "InternalError",
    "InvalidHeadersExample",
    "InvalidRateLimit",
    "InvalidRegexPattern",
    "InvalidRegexType",
    "InvalidSchema",
    "InvalidStateMachine",
    "InvalidTransition",
    "LoaderError",
    "LoaderErrorKind",
    "MetricError",
    "NoLinksFound",
    "NothingToBreak",
    "OperationNotFound",
    "SchemaLocation",
    "SerializationError",
    "SerializationNotPossible",
    "Severity",
    "UnknownScalar",
    "UnreadableFile",
    "UnresolvableBody",
    "UnresolvableReference",
    "Unsatisfiable",
    "UsageError",
]


def __getattr__(name: str) -> type[Failure]:
    """A kind of failure."""
    if name not in FAILURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return FAILURES[name]


def __dir__() -> list[str]:
    return [*__all__, *FAILURES]
