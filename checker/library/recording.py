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
    """One exception with a member for each distinct failure; its text is the numbered block of the console.

    `commands` send it again, oldest first.
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
    group.raised_for = _frames_of_user()
    return group


def _frames_of_user() -> TracebackType | None:
    """Return the traceback of the frames up to the test runner."""
    frame: FrameType | None = sys._getframe(1)
    found: TracebackType | None = None
    while frame is not None:
        if is_of_user(frame):
            found = TracebackType(found, frame, frame.f_lasti, frame.f_lineno)
        elif found is not None:
            break
        frame = frame.f_back
    return found


class Call(Struct, eq=False):
    """One case that was sent, what came back, and what checks said of that."""

    case: Case
    request: WireRequest
    outcome: Outcome
    at: float
    """Seconds since the epoch: when the outcome was there."""
    settings: RunSettings
    schema: ApiSchema
    base_url: str
    secrets: Secrets
    """What sources of credentials gave."""
    results: list[CheckResult] = field(default_factory=list)
    command: str = ""
    """That shows the failures, if there are some."""


class CallRecorder(Protocol):
    """Takes note of calls."""

    def seeded(self, seed: Any) -> None:
        """A test begins with a seed."""
        ...

    def called(self, call: Call) -> None:
        """A case was sent."""
        ...

    def judged(self, response: Response, results: Sequence[CheckResult], command: str) -> None:
        """Checks looked at a response; `command` shows what failed."""
        ...

    def judging(self, classes: KeptClassChecks) -> None:
        """Classes of users are at work on responses."""
        ...


RECORDERS: Final[list[CallRecorder]] = []
"""All that are at work in this process."""


def tell_of_seed(seed: Any) -> None:
    """Tell all recorders what a test begins with, where it is a seed."""
    if seed is not None:
        for recorder in RECORDERS:
            recorder.seeded(seed)


def tell_of_call(made: Callable[[], Call]) -> None:
    """Tell all recorders of a call, which is made where there is one."""
    if RECORDERS:
        call = made()
        for recorder in RECORDERS:
            recorder.called(call)


def tell_of_results(
    judged: tuple[Case, Response], results: list[CheckResult], command: str, own: CheckRecorder | None
) -> None:
    """Tell all recorders what checks said of a response to a case, and the one that the caller brought."""
    case, response = judged
    if own is not None:
        own.checked(case, response, results)
    for recorder in RECORDERS:
        recorder.judged(response, results, command)
