"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.checks.authentication import IgnoredAuth
from checker.checks.collections import (
    ExceededLimit,
    IgnoredFilter,
    OverlappingPages,
    SkippedItems,
    UnsortedItems,
    WrongTotal,
)
from checker.checks.concurrency import RaceCondition, RepeatedKey
from checker.checks.deletion import UseAfterFree
from checker.checks.disclosure import DisclosedInternals
from checker.checks.effects import Injection
from checker.checks.location import DanglingLocation
from checker.checks.methods import AllowHeaderMismatch, UnsupportedMethodResponse
from checker.checks.missing_header import MissingHeaderNotRejected
from checker.checks.negative_data import AcceptedNegativeData
from checker.checks.object_authorization import ForeignWrite, ObjectLevelAuthorizationViolation
from checker.checks.positive_data import RejectedPositiveData
from checker.checks.read_only import MassAssignment
from checker.checks.reads import HeadDiffers, UnsafeRead
from checker.checks.resource_availability import EnsureResourceAvailability
from checker.checks.response_head import (
    HeaderSchemaError,
    MalformedMediaType,
    MissingContentType,
    MissingHeaders,
    ResponseTimeExceeded,
    UndefinedContentType,
    UndefinedStatusCode,
)
from checker.checks.response_schema import (
    BrokenNonNull,
    ContentDecodingError,
    ContentDeserializationError,
    JsonSchemaError,
    MalformedJson,
)
from checker.checks.server_error import DroppedConnection, ReportedServerError, ServerError, UnansweredRequest
from checker.checks.sessions import TokenAfterLogout
from checker.checks.updates import EmptiedField, IgnoredCondition, PartialReplacement, RepeatedUpdate
from checker.checks.writes import LostWrite, RefusedWriteStored
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
    "DanglingLocation",
    "DisclosedInternals",
    "DroppedConnection",
    "EmptiedField",
    "EnsureResourceAvailability",
    "ExceededLimit",
    "Failure",
    "FailureGroup",
    "ForeignDescription",
    "ForeignWrite",
    "HeadDiffers",
    "HeaderSchemaError",
    "HookError",
    "HookExecutionError",
    "IgnoredAuth",
    "IgnoredCondition",
    "IgnoredFilter",
    "IncorrectUsage",
    "InfiniteRecursiveReference",
    "Injection",
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
    "LostWrite",
    "MalformedJson",
    "MalformedMediaType",
    "MassAssignment",
    "MetricError",
    "MissingContentType",
    "MissingHeaderNotRejected",
    "MissingHeaders",
    "NoLinksFound",
    "NothingToBreak",
    "ObjectLevelAuthorizationViolation",
    "OperationNotFound",
    "OverlappingPages",
    "PartialReplacement",
    "RaceCondition",
    "RefusedWriteStored",
    "RejectedPositiveData",
    "RepeatedKey",
    "RepeatedUpdate",
    "ReportedServerError",
    "ResponseTimeExceeded",
    "SchemaLocation",
    "SerializationError",
    "SerializationNotPossible",
    "ServerError",
    "Severity",
    "SkippedItems",
    "TokenAfterLogout",
    "UnansweredRequest",
    "UndefinedContentType",
    "UndefinedStatusCode",
    "UnknownScalar",
    "UnreadableFile",
    "UnresolvableBody",
    "UnresolvableReference",
    "UnsafeRead",
    "Unsatisfiable",
    "UnsortedItems",
    "UnsupportedMethodResponse",
    "UsageError",
    "UseAfterFree",
    "WrongTotal",
]
