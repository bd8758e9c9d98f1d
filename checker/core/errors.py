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
    """A rate is no number of requests per time, such as `10/s`."""


class LoaderErrorKind(StrEnum):
    """The reason why a description could not be read."""

    CONNECTION_SSL = "connection_ssl"  # A certificate of the server, or the hand-shake of TLS.
    CONNECTION_OTHER = "connection_other"  # The connection was refused, or the host is unknown.
    NETWORK_OTHER = "network_other"
    """No whole response came: a time limit, a connection that broke, too many redirects."""
    INVALID_CERTIFICATE = "invalid_certificate"  # A file of certificates that the user named cannot be used.
    HTTP_SERVER_ERROR = "http_server_error"
    HTTP_CLIENT_ERROR = "http_client_error"  # A status of 400 to 499 other than the next two.
    HTTP_NOT_FOUND = "http_not_found"
    HTTP_FORBIDDEN = "http_forbidden"
    SYNTAX_ERROR = "syntax_error"  # It is neither JSON nor YAML.
    UNEXPECTED_CONTENT_TYPE = "unexpected_content_type"  # It is a page for people.
    OPEN_API_INVALID_SCHEMA = "open_api_invalid_schema"
    OPEN_API_UNSPECIFIED_VERSION = "open_api_unspecified_version"
    OPEN_API_UNSUPPORTED_VERSION = "open_api_unsupported_version"
    GRAPHQL_INVALID_SCHEMA = "graphql_invalid_schema"
    UNCLASSIFIED = "unclassified"

    @classmethod
    def of_status(cls, status: int) -> "LoaderErrorKind":
        """Return the kind of error that a response of this status means for the fetching of a description."""
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
        """Details, a line each."""
        self.url = url
        """Where it was asked for, passwords masked; None where it did not come from the network."""
        if kind is not None:
            self.kind = kind

    @classmethod
    def of(cls, error: "LoaderError") -> Self:
        """Return a copy of another error as an instance of this class."""
        found = cls(error.message, error.extras)
        found.kind, found.url = error.kind, error.url
        return found


# No struct: every command imports this file, and msgspec takes a tenth of the time that `--help` takes.
class SchemaLocation(NamedTuple):
    """The place of a mistake in a description."""

    label: str  # Label of the operation that is affected: `GET /users`.
    pointer: str
    """JSON pointer into the description (RFC 6901): `#/paths/~1users/get/parameters/0`; empty if unknown."""


class InvalidSchema(LoaderError):
    """A description, or the part of it that was asked for, breaks the rules of its kind."""

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
        """The faults, where it stands for several."""


class InvalidRegexPattern(InvalidSchema):
    """A pattern is no regular expression of ECMA-262, or uses a feature that is not supported: no value is checked by it."""


class InvalidRegexType(InvalidSchema):
    """The value of a `pattern` is no text, such as a number."""


class InvalidHeadersExample(InvalidSchema):
    """An example of a header is no value that its schema admits."""


class InvalidTransition(InvalidSchema):
    """A link cannot be followed: no such operation, parameter or expression."""


class UnknownScalar(InvalidSchema):
    """A custom scalar of GraphQL has no strategy: register one with `checker.graphql.scalar`."""

    kind = LoaderErrorKind.GRAPHQL_INVALID_SCHEMA


class ForeignDescription(LoaderError):
    """The document is no description of this kind; another kind may know it."""


class UnreadableFile(CheckerError):
    """A file that the user named cannot be read."""


class UsageError(CheckerError):
    """A call or command cannot mean anything."""


class IncorrectUsage(UsageError):
    """A Python call that cannot mean anything."""


class NoLinksFound(UsageError):
    """A schema has no links between its operations: there are no sequences."""


class InvalidStateMachine(NoLinksFound):
    """A schema declares links, and none of them can be followed."""

    def __init__(self, message: str, errors: Sequence[InvalidTransition]) -> None:
        super().__init__(message)
        self.errors = tuple(errors)
        """One error for each broken transition."""


class OperationNotFound(UsageError, KeyError):
    """A schema has no such operation; the message names the nearest one."""

    def __str__(self) -> str:
        # A `KeyError` would quote it.
        return str(self.args[0])


class HookError(CheckerError):
    """Code of a user that stands around cases went wrong."""

    kind = "hook"

    def __init__(self, hook: str, cause: BaseException | str) -> None:
        """`cause` is what it raised, or what else it did wrong: "gave None; ..."."""
        said = cause if isinstance(cause, str) else f"raised {type(cause).__name__}: {cause}"
        super().__init__(f"{self.kind} {hook} {said}")
        self.hook = hook


class HookExecutionError(HookError):
    """A user's hook raised, or gave what is of no use."""


class CheckError(HookError):
    """A user's check raised what is no failure."""

    kind = "check"


class MetricError(HookError):
    """A user's metric raised, or gave what is no number."""

    kind = "metric"


class Unsatisfiable(CheckerError):
    """No value satisfies a schema."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer}: {reason}")
        self.pointer = pointer
        self.reason = reason

    def again(self) -> Self:
        """Return an equal error, to be kept or raised: a raised one holds the objects of its traceback, more each time."""
        found = type(self).__new__(type(self), *self.args)
        found.__dict__.update(self.__dict__)
        return found

    def at(self, pointer: str) -> Self:
        """Return an equal error about an equal schema at another place."""
        found = self.again()
        found.pointer, found.args = pointer, (f"{pointer}: {self.reason}",)
        return found


class InfiniteRecursiveReference(Unsatisfiable):
    """A schema requires itself as its own part: every value would contain itself."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer, "every value contains itself: the recursion never ends")


class NothingToBreak(Unsatisfiable):
    """An operation takes everything: there are no negative cases."""


class UnresolvableBody(Unsatisfiable):
    """A required body refers to nothing: what can be tested is what happens without it."""


class SerializationError(CheckerError):
    """A case cannot be written as its media type."""


class SerializationNotPossible(SerializationError):
    """Nothing writes that media type: `checker.serializer` registers what does."""


class BudgetSpent(CheckerError):
    """Work or size ran out while making a value."""

    def __init__(self, pointer: str) -> None:
        super().__init__(f"generation budget spent at {pointer}")
        self.pointer = pointer


class Unresponsive(CheckerError):
    """No response came in time, several times in a row."""


class StorageError(CheckerError):
    """The corpus cannot be written."""


class CredentialError(CheckerError):
    """A source of credentials gave none."""


class MissingSecret(CheckerError):
    """A recorded secret is not available: the message names it."""


class InternalError(CheckerError):
    """We made a mistake: the message is the traceback to report."""


def did_you_mean(name: str, known: Iterable[str], *, alike: float = 0.6) -> str:
    """Return `. Did you mean 'seed'?`, or nothing if no known name is alike (0 to 1)."""
    near = get_close_matches(name, list(known), n=1, cutoff=alike)
    return f". Did you mean {near[0]!r}?" if near else ""
