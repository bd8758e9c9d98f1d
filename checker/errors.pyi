"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.checks.allow_header import AllowHeaderMismatch
from checker.checks.authentication import IgnoredAuth
from checker.checks.content_type import MalformedMediaType, MissingContentType, UndefinedContentType
from checker.checks.deletion import UseAfterFree
from checker.checks.missing_header import MissingHeaderNotRejected
from checker.checks.negative_data import AcceptedNegativeData
from checker.checks.object_authorization import ObjectLevelAuthorizationViolation
from checker.checks.positive_data import RejectedPositiveData
from checker.checks.resource_availability import EnsureResourceAvailability
from checker.checks.response_headers import HeaderSchemaError, MissingHeaders
from checker.checks.response_schema import (
    BrokenNonNull,
    ContentDecodingError,
    ContentDeserializationError,
    JsonSchemaError,
    MalformedJson,
)
from checker.checks.response_time import ResponseTimeExceeded
from checker.checks.server_error import DroppedConnection, ReportedServerError, ServerError
from checker.checks.status_code import UndefinedStatusCode
from checker.checks.undeclared_method import UnsupportedMethodResponse
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

def __getattr__(name: str) -> type[Failure]: ...

__all__ = [
    "AcceptedNegativeData",
    "AllowHeaderMismatch",
    "BrokenNonNull",
    "BudgetSpent",
    "CheckError",
    "CheckerError",
    "ConfigError",
    "ContentDecodingError",
    "ContentDeserializationError",
    "CredentialError",
    "DroppedConnection",
    "EnsureResourceAvailability",
    "Failure",
    "FailureGroup",
    "ForeignDescription",
    "HeaderSchemaError",
    "HookError",
    "HookExecutionError",
    "IgnoredAuth",
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
    "JsonSchemaError",
    "LoaderError",
    "LoaderErrorKind",
    "MalformedJson",
    "MalformedMediaType",
    "MetricError",
    "MissingContentType",
    "MissingHeaderNotRejected",
    "MissingHeaders",
    "NoLinksFound",
    "NothingToBreak",
    "ObjectLevelAuthorizationViolation",
    "OperationNotFound",
    "RejectedPositiveData",
    "ReportedServerError",
    "ResponseTimeExceeded",
    "SchemaLocation",
    "SerializationError",
    "SerializationNotPossible",
    "ServerError",
    "Severity",
    "UndefinedContentType",
    "UndefinedStatusCode",
    "UnknownScalar",
    "UnreadableFile",
    "UnresolvableBody",
    "UnresolvableReference",
    "Unsatisfiable",
    "UnsupportedMethodResponse",
    "UsageError",
    "UseAfterFree",
]
