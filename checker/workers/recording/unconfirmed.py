"""Failures before their investigation, and the rules by which they are recognised again."""

from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.failures import Failure
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.response import Response
from checker.core.templates import ANYTHING, generalised, is_alike, matches
from checker.corpus.records import Finding
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase

_SEVERITIES = ("critical", "high", "medium", "low")

MOST_STRAYS = 3
"""Most other texts that a failure may have in one shrink. If there are more, the text depends on the input and proves nothing."""


class JudgedCase(Struct):
    """A case and its verdict. Not frozen, because one is created for each request."""

    made: GeneratedCase
    verdict: Verdict

    @property
    def status(self) -> int | None:
        """Return the status of the response; None if there was none."""
        outcome = self.verdict.outcome
        return outcome.status_code if isinstance(outcome, Response) else None

    @property
    def said_status(self) -> int:
        """Return the status that the body states; for APIs without such a status, the status of the response; 0 without a response."""
        outcome = self.verdict.outcome
        return self.made.case.operation.status_of(outcome) if isinstance(outcome, Response) else 0

    @property
    def is_served(self) -> bool:
        """Whether the request was accepted."""
        outcome = self.verdict.outcome
        return isinstance(outcome, Response) and 200 <= outcome.status_code < 400

    @property
    def may_have_created(self) -> bool:
        """Whether the target may have created something for the request."""
        status = self.said_status
        succeeded = 200 <= status < 300
        return status == 201 or (succeeded and self.made.case.operation.resource_method == "POST")


Chain = tuple[JudgedCase, ...]  # The cases of a sequence, oldest first.


def before_in(chain: Iterable[JudgedCase]) -> tuple[Verdict, ...]:
    """Return the verdicts of a sequence, as checks receive them."""
    return tuple([shot.verdict for shot in chain])


MOST_EVIDENCE = 64 << 10
"""Bytes of a response that a finding keeps: memory holds all findings of a run, and a response may have a mebibyte."""


def evidence(shot: JudgedCase) -> JudgedCase:
    """Return a case with the part of its response that a finding keeps."""
    outcome = shot.verdict.outcome
    if not isinstance(outcome, Response) or len(outcome.content) <= MOST_EVIDENCE:
        return shot
    return JudgedCase(shot.made, replace(shot.verdict, outcome=outcome.truncated(MOST_EVIDENCE)))


def as_checked(shot: JudgedCase, failure: Failure | None) -> JudgedCase:
    """Return a case with the request in which a check found a failure, and its response; otherwise the case unchanged."""
    if failure is None or failure.request is None:
        return shot
    for request, outcome, _ in reversed(shot.verdict.answers):
        if request == failure.request:
            return JudgedCase(shot.made, replace(shot.verdict, request=request, outcome=outcome))
    return shot


class UnconfirmedFailure(Struct, frozen=True):
    """A failure that was seen once and is on disk."""

    finding: Finding
    failure: Failure
    chain: Chain  # The requests of this sequence, oldest first; the last one failed.
    phase: PhaseInfo
    second: int | None = None  # Number of candidates for a second look at a settled finding; None at a first look.

    @property
    def label(self) -> Label:
        return Label(self.finding.label)

    @property
    def is_of_check(self) -> bool:
        """Whether the failed request was sent by a check, in addition to the request of the case or in place of it."""
        sent = self.chain[-1].verdict.request
        return self.failure.request is not None or (sent is not None and sent.is_of_check)

    def urgency(self) -> tuple[int, str, str, str]:
        """Return a key that sorts failures by severity, then by identity."""
        finding = self.finding
        return _SEVERITIES.index(finding.severity), finding.check, finding.unique_key, finding.text


class ExpectedFailure(Struct):
    """The failure that has to show again: operation, check, status, rule and title. Error texts only separate reports."""

    check: str
    rule: str
    title: str
    status: int | None
    text: str  # Template of the error texts so far.
    strays: dict[str, tuple[JudgedCase, Failure]] = field(default_factory=dict)
    """Text -> failure of the same rule that seems to be another defect."""

    @classmethod
    def of(cls, suspicion: UnconfirmedFailure) -> "ExpectedFailure":
        failure = suspicion.failure
        text = suspicion.finding.text
        return cls(failure.check, failure.unique_key, failure.title, suspicion.chain[-1].status, text)

    def is_same_rule(self, failure: Failure, status: int | None) -> bool:
        """Whether a failure breaks the same rule with the same status; its text may differ."""
        found = (failure.check, failure.unique_key, failure.title, _result(status))
        return found == (self.check, self.rule, self.title, _result(self.status))

    def again(self, shot: JudgedCase) -> Failure | None:
        """Return the failure in the response to the same request. Parts of its text that differ are volatile."""
        failure = self._in(shot)
        if failure is not None:
            self.text = generalised(self.text, failure.text)
        return failure

    def shown(self, shot: JudgedCase) -> Failure | None:
        """Return the failure in the response to another request, unless its text describes another failure."""
        failure = self._in(shot)
        return failure if failure is not None and self._is_meant(failure.text) else None

    def shown_by_candidate(self, shot: JudgedCase) -> bool:
        """Whether a candidate of a shrink shows the failure. Texts that differ each time are ignored."""
        failure = self._in(shot)
        if failure is None or self._is_meant(failure.text):
            return failure is not None
        self.strays.setdefault(failure.text, (shot, failure))
        if len(self.strays) <= MOST_STRAYS:
            return False
        # The texts depend on the input, so the different texts belong to the same defect.
        self.text = ANYTHING
        self.strays.clear()
        return True

    def _is_meant(self, text: str) -> bool:
        # Without a text, only the rule is compared.
        return not self.text or matches(self.text, text) or is_alike(self.text, text)

    def _in(self, shot: JudgedCase) -> Failure | None:
        outcome = shot.verdict.outcome
        sent = outcome.request if isinstance(outcome, Response) else None
        # A check may find the failure in the response to its own request.
        status = self.status if sent is not None and sent.is_of_check else shot.status
        for failure in shot.verdict.judgement.failures:
            if self.is_same_rule(failure, status):
                return failure
        return None


def _result(status: int | None) -> int | None:
    """Return the class of a status.

    All successes are one class, because a request that first creates a resource may find the resource the next time.
    """
    return 200 if status is not None and 200 <= status < 300 else status
