"""Every error that leaves the house.

CheckerError
├── ConfigError            the configuration is wrong                    exit code 2
├── LoaderError            the API description cannot be read             exit code 2
│   ├── InvalidSchema      it breaks the rules of its kind; a part of it cannot be read
│   └── ForeignDescription what is there is of another kind               exit code 2, if no kind reads it
├── UnreadableFile         a file that the user named cannot be read     exit code 2
├── UsageError             a call or command cannot mean anything         exit code 2
├── HookError              a user's code around cases went wrong          an error of its operation
│   ├── HookExecutionError a user's hook raised
│   ├── CheckError         a user's check raised, and not that it failed
│   └── MetricError        a user's metric raised, or gave no number
├── Unsatisfiable          no value satisfies a schema                    an error of its operation
│   ├── NothingToBreak     every value satisfies all of its schemas       skipped, where only wrong data is wanted
│   └── UnresolvableBody   a required body refers to nothing              a warning, no valid request is made
├── Unserialisable         a case cannot be written as its media type      an error of its operation
├── BudgetSpent            work or size ran out                           an error of its operation
├── Unresponsive           no answer came in time, again and again         an error of its operation
├── CredentialError        a source of credentials gave none              an error of its operation
├── StorageError           the corpus cannot be written                   exit code 2
└── MissingSecret          a recorded secret is not available             exit code 2
NoLinksFound               no answer leads on to another request (also a UsageError)
OperationNotFound          a schema has no such operation (also a KeyError)
IncorrectUsage             a Python call that cannot mean anything (also a UsageError)

Failed checks are not here: they are `checker.core.failures`.
"""


class CheckerError(Exception):
    """The message is one sentence: what was found, where, what to do."""


class ConfigError(CheckerError):
    """The configuration is wrong."""


class LoaderError(CheckerError):
    """The API description cannot be read."""

    def __init__(self, message: str, extras: list[str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.extras = extras or []


class InvalidSchema(LoaderError):
    """A description, or the part of it that was asked for, breaks the rules of its kind."""


class ForeignDescription(LoaderError):
    """What is there is no description of this kind; another kind may know it."""


class UnreadableFile(CheckerError):
    """A file that the user named cannot be read."""


class UsageError(CheckerError):
    """A call or command cannot mean anything."""


class IncorrectUsage(UsageError):
    """A Python call that cannot mean anything."""


class NoLinksFound(UsageError):
    """A schema has no links between its operations: there are no sequences."""


class OperationNotFound(UsageError, KeyError):
    """A schema has no such operation; the message names the nearest one."""

    def __str__(self) -> str:
        # A `KeyError` would quote it.
        return str(self.args[0])


class HookError(CheckerError):
    """Code of a user that stands around cases went wrong."""

    kind = "hook"

    def __init__(self, hook: str, cause: BaseException) -> None:
        super().__init__(f"{self.kind} {hook} raised {type(cause).__name__}: {cause}")
        self.hook = hook


class HookExecutionError(HookError):
    """A user's hook raised."""


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


class NothingToBreak(Unsatisfiable):
    """An operation takes everything: there are no negative cases."""


class UnresolvableBody(Unsatisfiable):
    """A required body refers to nothing: what can be tested is what happens without it."""


class Unserialisable(CheckerError):
    """A case cannot be written as its media type."""


class BudgetSpent(CheckerError):
    """Work or size ran out while making a value."""

    def __init__(self, pointer: str) -> None:
        super().__init__(f"generation budget spent at {pointer}")
        self.pointer = pointer


class Unresponsive(CheckerError):
    """No answer came in time, again and again."""


class StorageError(CheckerError):
    """The corpus cannot be written."""


class CredentialError(CheckerError):
    """A source of credentials gave none."""


class MissingSecret(CheckerError):
    """A recorded secret is not available: the message names it."""
