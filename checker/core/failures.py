"""Failed checks: values that carry what a reader needs, and the identity under which they are stored for years."""

from dataclasses import dataclass
from enum import StrEnum

from checker.core.digests import digest


class Severity(StrEnum):
    """How much it matters, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Failure:
    """One check that failed on one interaction."""

    check: str
    """Name of the check: `not_a_server_error`."""
    title: str
    """Word for word as in spec 7: `Undocumented HTTP status code`."""
    message: str
    """Details for people, several lines allowed."""
    unique_key: str
    """The rule that was broken: a status, the path of a keyword; never values, seeds or times."""
    severity: Severity = Severity.MEDIUM
    text: str = ""
    """Template of the error text, if the rule alone does not tell one defect from another (`core.templates`)."""

    def fingerprint(self, label: str) -> str:
        """Fingerprint, version 1, of this failure of the operation `label`."""
        return digest("v1", label, self.check, f"{self.unique_key} {self.text}".strip())


class FailedCheck(AssertionError):
    """A failure as an exception, for the Python API."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(
            f"{failure.title}\n\n{failure.message}" if failure.message else failure.title
        )
        self.failure = failure


class FailureGroup(ExceptionGroup[FailedCheck]):
    """All distinct failures of one response; its text is the block that the console prints."""

    def __new__(cls, text: str, failures: list[FailedCheck]) -> "FailureGroup":
        """Keep the text whole: `ExceptionGroup` would append a count."""
        group = super().__new__(cls, text, failures)
        group.text = text
        return group

    text: str

    def __str__(self) -> str:
        return self.text

    def derive(self, excs: "list[FailedCheck]") -> "FailureGroup":  # type: ignore[override]
        """Keep the class when an `except*` splits the group."""
        return FailureGroup(self.text, excs)
