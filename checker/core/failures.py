"""Failed checks: exceptions with all details for the reader, and the identity under which they are stored for years."""

from collections.abc import Sequence
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from checker.core.digests import digest
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.response import Outcome
from checker.core.terminal import printable


class Severity(StrEnum):
    """The severity of a failure, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def is_grave(self) -> bool:
        """Whether a list of cases ends at a new failure of this severity."""
        return self in (Severity.CRITICAL, Severity.HIGH)


class CauseScope(StrEnum):
    """The scope of a cause: within it, failures of one kind that break the same rule have the same cause."""

    OPERATION = "operation"
    PATH = "path"
    API = "api"


Exchange = tuple[WireRequest, Outcome]  # (request of a check as it was sent, its outcome).


class Failure(AssertionError):
    """The failure of one check on one interaction. Each kind is a subclass; checks may raise or return failures.

    class WrongTotal(Failure, title="Wrong total", severity=Severity.HIGH): ...

    raise WrongTotal("the total is not the sum of the items", unique_key="total")
    """

    code: ClassVar[str] = ""  # Stable code of the kind, such as `ST101`; empty if it has none.
    title: str = "Check failed"  # Title of the kind, unless a failure has its own title.
    severity: Severity = Severity.MEDIUM
    check = ""  # Name of the check, such as `not_a_server_error`. The caller of the check sets it.
    needs_repetition = False
    """Whether the failure is reported only if it happens again, because a concurrent request may be its cause."""
    is_repeated = False
    """Whether the check has seen the failure happen again. It is then reported even if the state of the target cannot be restored."""
    shown_by: Exchange | None = None
    """A request of the check that shows it by its status, and shows it again unless it disappears with time (`lasts`)."""
    cause_scope: ClassVar[CauseScope] = CauseScope.OPERATION
    """Scope of one mistake of the target: a missing `Allow` is missing everywhere."""
    shared_cause = ""  # Text that failures of this kind share in all places of the API; empty if unknown.
    passing_cause = ""
    """Text that replaces `shared_cause` if the requests of the failure also pass, because other requests in flight may be the reason; empty for none."""
    covers: tuple[type["Failure"], ...] = ()
    """Kinds of failures that are part of this one, so that they are not reported beside it for the same response."""
    request: WireRequest | None = None
    """The request that reproduces the failure, if a check sent it in addition to the request of the case."""
    exchanges: Sequence[Exchange] = ()
    """Further requests of the check that show the failure together with the request of the case or of the check, in order."""
    operation = ""  # Label of the operation that caused it, if it is not the operation of the response.
    second_look_s = 0.0
    """Seconds after which the last request has to show the failure again, because it may disappear with time; 0: no second look."""

    def __init_subclass__(
        cls,
        *,
        code: str = "",
        title: str = "",
        severity: Severity | None = None,
        needs_repetition: bool | None = None,
        cause_scope: CauseScope | None = None,
        **others: Any,
    ) -> None:
        """Take the attributes that are not given from the parent class, or from the body of the class."""
        super().__init_subclass__(**others)
        if needs_repetition is not None:
            cls.needs_repetition = needs_repetition
        cls.cause_scope = cause_scope or cls.cause_scope
        cls.code = code or cls.code
        cls.title = title or cls.title
        cls.severity = severity or cls.severity

    def __init__(
        self,
        message: str = "",
        *,
        title: str | None = None,
        unique_key: str = "",
        severity: Severity | str | None = None,
        text: str = "",
    ) -> None:
        """`unique_key` is the rule that was broken: a status, the path of a keyword; never values, seeds or times."""
        # Checks of users pass any object, but files hold texts.
        self.message = str(message)
        """Details for people, several lines allowed."""
        self.unique_key = str(unique_key)
        self.text = str(text)
        """Template of the error text (`core.templates`), if the rule alone does not distinguish defects."""
        if title is not None:
            self.title = str(title)
        if severity is not None:
            self.severity = Severity(severity)
        told = f"{self.title}\n\n{message}" if message else self.title
        # Tracebacks of a test run are written to the log of its CI job.
        super().__init__(printable(told))

    def blamed(self, label: str) -> Label:
        """Return the label of the operation that caused this failure. `label` is the operation of the response."""
        return Label(self.operation or label)

    def fingerprint(self, label: str) -> str:
        """Return the fingerprint, version 1, of this failure. `label` is the operation of the response."""
        broken = f"{self.unique_key} {self.text}".strip()
        return digest("v1", self.blamed(label), self.check, broken)

    def sharing(self, cause: str) -> Self:
        """Set the cause that this failure shares with failures of other operations; return the failure itself."""
        self.shared_cause = cause
        return self

    def showing_with(self, exchanges: Sequence[Exchange]) -> Self:
        """Set a copy of the further requests that show this failure; return the failure itself."""
        self.exchanges = tuple(exchanges)
        return self

    def cause_if_passing(self) -> str:
        """Return the fingerprint of the cause if the requests of the failure also pass; empty if that cannot be a cause of its own."""
        return digest("cause v1", self.check, type(self).__name__, self.passing_cause) if self.passing_cause else ""

    def cause(self, label: str) -> str:
        """Return the fingerprint, version 1, of the mistake behind this failure: all places of one cause share it."""
        kind = (self.check, type(self).__name__)
        if self.shared_cause:
            return digest("cause v1", *kind, self.shared_cause)
        match self.cause_scope:
            case CauseScope.API:
                return digest("cause v1", *kind, self.unique_key)
            case CauseScope.PATH:
                _, _, path = self.blamed(label).partition(" ")
                return digest("cause v1", *kind, self.unique_key, path)
            case CauseScope.OPERATION:
                return digest("cause v1", self.fingerprint(label))


class FailureGroup(ExceptionGroup[Failure], AssertionError):
    """All distinct failures of one response; its text is the block that the console prints.

    It is an `AssertionError`, by which `unittest` and Allure distinguish failed assertions from broken tests.
    """

    def __new__(cls, text: str, failures: list[Failure]) -> "FailureGroup":
        """Keep the text unchanged; `ExceptionGroup` would append a count."""
        group = super().__new__(cls, text, failures)
        group.text = text
        group.raised_for = None
        return group

    if TYPE_CHECKING:

        @property
        def exceptions(self) -> tuple[Failure, ...]:
            """The exceptions, one for each distinct failure. There are no groups among them."""
            ...

    text: str
    raised_for: TracebackType | None
    """Frames of the user code that asked for the verdict, if they were recorded. Hypothesis takes tracebacks from groups."""

    def __str__(self) -> str:
        return self.text

    def derive(self, excs: "list[Failure]") -> "FailureGroup":  # type: ignore[override]
        """Keep the class when an `except*` splits the group."""
        group = FailureGroup(self.text, excs)
        group.raised_for = self.raised_for
        return group
