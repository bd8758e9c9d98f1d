"""Failed checks of one response as the exception that users see."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any

from checker.checks.custom import CUSTOM_CHECKS, ClassCheck, class_checks
from checker.core.blocks import Answer, FailedCase, Truncation, failure_block
from checker.core.case import Case
from checker.core.failures import Failure, FailureGroup
from checker.core.response import Response
from checker.core.user_code import is_of_user


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


class KeptClassChecks:
    """Instances of users' class checks: each is kept as long as its settings are what they were."""

    def __init__(self) -> None:
        self._kept: dict[str, ClassCheck] = {}
        self._made_of: object = None

    def at_work(self) -> Iterable[ClassCheck]:
        """Return the class checks that are active."""
        return self._kept.values()

    def of(self, settings: Mapping[str, Mapping[str, Any]]) -> Iterable[ClassCheck]:
        """Return the registered class checks; `settings` are by the name of the check."""
        made_of = (id(settings), *map(id, CUSTOM_CHECKS.values()))
        if made_of == self._made_of:
            return self._kept.values()
        self._made_of = made_of
        for check in class_checks(CUSTOM_CHECKS, settings):
            known = self._kept.get(check.name)
            if known is None or known.config != check.config:
                self._kept[check.name] = check
        return self._kept.values()
