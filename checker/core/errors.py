"""The tree of the errors that callers see.

CheckerError
├── ConfigError            the configuration is wrong                    exit code 2
│   └── InvalidRateLimit   a rate is no number of requests per time       exit code 2
├── LoaderError            the API description cannot be read             exit code 2
│   ├── InvalidSchema      it breaks the rules of its kind; a part of it cannot be read
│   │   ├── InvalidRegexPattern    it is no regular expression, or an unsupported one
│   │   ├── InvalidRegexType       the value of `pattern` is no text
│   │   ├── InvalidHeadersExample  an example of a header is no value of it
│   │   ├── InvalidTransition      a link cannot be followed
│   │   └── UnknownScalar          a custom scalar of GraphQL has no strategy
│   └── ForeignDescription the document is of another kind               exit code 2, if no kind reads it
├── UnreadableFile         a file that the user named cannot be read     exit code 2
├── UsageError             a call or command makes no sense              exit code 2
├── HookError              a user's code around cases went wrong          an error of its operation
│   ├── HookExecutionError a user's hook raised
│   ├── CheckError         a user's check raised, and not that it failed
│   └── MetricError        a user's metric raised, or gave no number
├── Unsatisfiable          no value satisfies a schema                    an error of its operation
│   ├── InfiniteRecursiveReference  every value would contain itself
│   ├── NothingToBreak     every value satisfies all of its schemas       skipped, where only wrong data is wanted
│   └── UnresolvableBody   a required body refers to nothing              a warning, no valid request is made
├── SerializationError     a case cannot be written as its media type      an error of its operation
│   └── SerializationNotPossible    nothing writes that media type
├── BudgetSpent            work or size ran out                           an error of its operation
├── Unresponsive           no response came in time, several times        an error of its operation
├── CredentialError        a source of credentials gave none              an error of its operation
├── StorageError           the corpus cannot be written                   exit code 2
├── MissingSecret          a recorded secret is not available             exit code 2
└── InternalError          we made a mistake: please report it            exit code 2
NoLinksFound               no response leads on to another request (also a UsageError)
└── InvalidStateMachine    links are declared, and none can be followed
OperationNotFound          a schema has no such operation (also a KeyError)
IncorrectUsage             a Python call makes no sense (also a UsageError)

Failed checks are not here: they are `checker.core.failures`.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import NamedTuple, Self


class CheckerError(Exception):
    """The message is one sentence: what was found, where, what to do."""


class ConfigError(CheckerError):
    """The configuration is wrong."""


class InvalidRateLimit(ConfigError):
    """A rate is not a number of requests per time, such as `10/s`."""


class LoaderErrorKind(StrEnum):
    """The reason why a description could not be read."""

    CONNECTION_SSL = "connection_ssl"  # The certificate of the server, or the TLS handshake.
    CONNECTION_OTHER = "connection_other"  # The connection was refused, or the host is unknown.
    NETWORK_OTHER = "network_other"
    """No complete response arrived: a time limit, a broken connection, too many redirects."""
    INVALID_CERTIFICATE = "invalid_certificate"  # A file of certificates that the user named cannot be used.
    HTTP_SERVER_ERROR = "http_server_error"
    HTTP_CLIENT_ERROR = "http_client_error"  # A status of 400 to 499 other than the next two.
    HTTP_NOT_FOUND = "http_not_found"
    HTTP_FORBIDDEN = "http_forbidden"
    SYNTAX_ERROR = "syntax_error"  # The document is neither JSON nor YAML.
    UNEXPECTED_CONTENT_TYPE = "unexpected_content_type"  # The document is an HTML page.
    OPEN_API_INVALID_SCHEMA = "open_api_invalid_schema"
    OPEN_API_UNSPECIFIED_VERSION = "open_api_unspecified_version"
    OPEN_API_UNSUPPORTED_VERSION = "open_api_unsupported_version"
    GRAPHQL_INVALID_SCHEMA = "graphql_invalid_schema"
    UNCLASSIFIED = "unclassified"

    @classmethod
    def of_status(cls, status: int) -> "LoaderErrorKind":
        """Return the kind of error if a request for a description has a response of this status."""
        special = {403: cls.HTTP_FORBIDDEN, 404: cls.HTTP_NOT_FOUND}
        usual = cls.HTTP_SERVER_ERROR if status >= 500 else cls.HTTP_CLIENT_ERROR
        return special.get(status, usual)


class LoaderError(CheckerError):
    """The API description cannot be read."""

    kind: LoaderErrorKind = LoaderErrorKind.UNCLASSIFIED
    """The reason in a form for programs; the message is for people."""

    def __init__(
        self,
        message: str,
        extras: list[str] | None = None,
        *,
        kind: LoaderErrorKind | None = None,
        url: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.extras = extras or []
        """Details, one on each line."""
        self.url = url
        """The URL of the description, with masked passwords; None if it did not come from the network."""
        if kind is not None:
            self.kind = kind

    @classmethod
    def of(cls, error: "LoaderError") -> Self:
        """Return a copy of another error as an instance of this class."""
        found = cls(error.message, error.extras)
        found.kind, found.url = error.kind, error.url
        return found


# Not a struct, because every command imports this file, and msgspec would take a tenth of the time of `--help`.
class SchemaLocation(NamedTuple):
    """The place of a mistake in a description."""

    label: str  # Label of the operation that is affected: `GET /users`.
    pointer: str
    """JSON pointer into the description (RFC 6901): `#/paths/~1users/get/parameters/0`; empty if unknown."""


class InvalidSchema(LoaderError):
    """A description, or the requested part of it, violates the rules of its kind."""

    kind = LoaderErrorKind.OPEN_API_INVALID_SCHEMA

    def __init__(
        self,
        message: str,
        extras: list[str] | None = None,
        *,
        kind: LoaderErrorKind | None = None,
        location: SchemaLocation | None = None,
        errors: "Sequence[InvalidSchema]" = (),
    ) -> None:
        super().__init__(message, extras, kind=kind)
        self.location = location
        """Location of the fault; None for a fault of the whole description."""
        self.errors = tuple(errors)
        """The single faults, if this error combines several."""


class InvalidRegexPattern(InvalidSchema):
    """A pattern is not a regular expression of ECMA-262, or uses an unsupported feature. No value is checked against it."""


class InvalidRegexType(InvalidSchema):
    """The value of a `pattern` is not a text, but for example a number."""


class InvalidHeadersExample(InvalidSchema):
    """The schema of a header does not admit its example."""


class InvalidTransition(InvalidSchema):
    """A link cannot be followed: no such operation, parameter or expression."""


class UnknownScalar(InvalidSchema):
    """A custom scalar of GraphQL has no strategy: register one with `checker.graphql.scalar`."""

    kind = LoaderErrorKind.GRAPHQL_INVALID_SCHEMA


class ForeignDescription(LoaderError):
    """The document is not a description of this kind. It may be of another kind."""


class UnreadableFile(CheckerError):
    """A file that the user named cannot be read."""


class UsageError(CheckerError):
    """A call or command makes no sense."""


class IncorrectUsage(UsageError):
    """A Python call makes no sense."""


class NoLinksFound(UsageError):
    """A schema has no links between its operations, so there are no sequences."""


class InvalidStateMachine(NoLinksFound):
    """A schema declares links, and none of them can be followed."""

    def __init__(self, message: str, errors: Sequence[InvalidTransition]) -> None:
        super().__init__(message)
        self.errors = tuple(errors)
        """One error for each broken transition."""


class OperationNotFound(UsageError, KeyError):
    """A schema has no such operation; the message names the nearest one."""

    def __str__(self) -> str:
        # A `KeyError` would put the message in quotes.
        return str(self.args[0])


class HookError(CheckerError):
    """User code that is called for cases failed."""

    kind = "hook"

    def __init__(self, hook: str, cause: BaseException | str) -> None:
        """`cause` is the exception of the hook, or a text about another mistake: "gave None; ..."."""
        said = cause if isinstance(cause, str) else f"raised {type(cause).__name__}: {cause}"
        super().__init__(f"{self.kind} {hook} {said}")
        self.hook = hook


class HookExecutionError(HookError):
    """A user's hook raised an exception, or returned an unusable value."""


class CheckError(HookError):
    """A user's check raised an exception that is not a failure."""

    kind = "check"


class MetricError(HookError):
    """A user's metric raised an exception, or did not return a number."""

    kind = "metric"


class Unsatisfiable(CheckerError):
    """No value satisfies a schema."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer}: {reason}")
        self.pointer = pointer
        self.reason = reason

    def again(self) -> Self:
        """Return an equal error, to be kept or raised. An error that is raised keeps the objects of its traceback alive, and more of them each time."""
        found = type(self).__new__(type(self), *self.args)
        found.__dict__.update(self.__dict__)
        return found

    def at(self, pointer: str) -> Self:
        """Return an equal error about an equal schema at another place."""
        found = self.again()
        found.pointer, found.args = pointer, (f"{pointer}: {self.reason}",)
        return found


class InfiniteRecursiveReference(Unsatisfiable):
    """A schema requires itself as a part, so every value would contain itself."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer, "every value contains itself: the recursion never ends")


class NothingToBreak(Unsatisfiable):
    """An operation accepts everything, so there are no negative cases."""


class UnresolvableBody(Unsatisfiable):
    """The reference of a required body leads nowhere, so only requests without the body can be tested."""


class SerializationError(CheckerError):
    """A case cannot be written as its media type."""


class SerializationNotPossible(SerializationError):
    """There is no serializer for that media type; `checker.serializer` registers one."""


class BudgetSpent(CheckerError):
    """The limit on work or size was reached while a value was made."""

    def __init__(self, pointer: str) -> None:
        super().__init__(f"generation budget spent at {pointer}")
        self.pointer = pointer


class Unresponsive(CheckerError):
    """No response came in time, several times in a row."""


class StorageError(CheckerError):
    """The corpus cannot be written."""


class CredentialError(CheckerError):
    """A source of credentials returned none."""


class MissingSecret(CheckerError):
    """A recorded secret is not available: the message names it."""


class InternalError(CheckerError):
    """A bug of checker; the message is the traceback to report."""


def did_you_mean(name: str, known: Iterable[str], *, alike: float = 0.6, mark: str = "") -> str:
    """Return a sentence such as `. Did you mean 'seed'?`, or an empty text if no known name is similar.

    `alike` is the least similarity, 0 to 1, without regard to case. `mark` replaces the quotes around the name.
    """
    names = {one.casefold(): one for one in known}
    near = get_close_matches(name.casefold(), names, n=1, cutoff=alike)
    if not near:
        return ""
    found = names[near[0]]
    return f". Did you mean {mark}{found}{mark}?" if mark else f". Did you mean {found!r}?"
