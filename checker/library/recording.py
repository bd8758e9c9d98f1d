"""Recorders of every call of a process: reports of sessions of a test runner."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct, field

from checker.config.settings import RunSettings
from checker.core.case import Case
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.corpus.secrets import Secrets
from checker.kinds.protocol import ApiSchema
from checker.library.options import CheckRecorder
from checker.library.verdicts import KeptClassChecks
from checker.phases.attempt import CheckResult


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
