"""Results of calls: the exception that users see, and the recorders that write reports of a session of a test runner."""

import sys
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any, Final, Protocol

from msgspec import Struct, field

from checker.config.settings import RunSettings
from checker.core.blocks import Answer, FailedCase, Truncation, failure_block
from checker.core.case import Case
from checker.core.failures import Failure, FailureGroup
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.core.user_code import is_of_user
from checker.corpus.secrets import Secrets
from checker.kinds.protocol import ApiSchema
from checker.library.decorators import KeptClassChecks
from checker.library.options import CheckRecorder
from checker.phases.attempt import CheckResult


def failure_group(
    case: Case, response: Response, failures: Sequence[Failure], commands: tuple[str, ...], truncation: Truncation
) -> FailureGroup:
    """Return one exception with a member for each distinct failure. The text of the group is the numbered block of the console.

    `commands` send the sequence again, oldest request first.
    """
    label = case.operation.label
    distinct = list({failure.fingerprint(label): failure for failure in failures}.values())
    body = response.readable
    block = failure_block(
        1,
        FailedCase(
            case_id=case.id,
            about=label,
            failures=tuple((failure.title, failure.message) for failure in distinct),
            answer=Answer(
                status=response.status_code,
                reason=response.message,
                body=body.content,
                is_cut=body.is_cut,
                charset=response.encoding,
            ),
            commands=commands,
        ),
        truncation,
    )
    group = FailureGroup(block, distinct)
    frame: FrameType | None = sys._getframe(1)
    found: TracebackType | None = None
    while frame is not None:
        if is_of_user(frame):
            found = TracebackType(found, frame, frame.f_lasti, frame.f_lineno)
        elif found is not None:
            break
        frame = frame.f_back
    group.raised_for = found
    return group


class Call(Struct, eq=False):
    """A case that was sent, its outcome and the results of the checks."""

    case: Case
    request: WireRequest
    outcome: Outcome
    at: float  # Seconds since the epoch at which the outcome arrived.
    settings: RunSettings
    schema: ApiSchema
    base_url: str
    secrets: Secrets  # The values of fetched credentials.
    results: list[CheckResult] = field(default_factory=list)
    command: str = ""  # The command that reproduces the failures; empty without failures.


class CallRecorder(Protocol):
    """Records calls."""

    def began(self, label: str, seed: Any) -> None:
        """Record that a test of an operation begins; the label is empty for several operations. The seed is None without random cases."""
        ...

    def called(self, call: Call) -> None: ...

    def judged(self, response: Response, results: Sequence[CheckResult], command: str) -> None:
        """Record the results of checks; `command` reproduces the failures."""
        ...

    def judging(self, classes: KeptClassChecks) -> None:
        """Record that these user class checks are active."""
        ...


RECORDERS: Final[list[CallRecorder]] = []


def record_test(label: str, seed: Any) -> None:
    """Report the beginning of a test to all recorders."""
    for recorder in RECORDERS:
        recorder.began(label, seed)


def record_call(made: Callable[[], Call]) -> None:
    """Report a call to all recorders. It is built only if there is a recorder."""
    if RECORDERS:
        call = made()
        for recorder in RECORDERS:
            recorder.called(call)


def record_results(
    judged: tuple[Case, Response], results: list[CheckResult], command: str, own: CheckRecorder | None
) -> None:
    """Report the results of checks to all recorders, and to the recorder of the caller."""
    case, response = judged
    if own is not None:
        own.checked(case, response, results)
    for recorder in RECORDERS:
        recorder.judged(response, results, command)
