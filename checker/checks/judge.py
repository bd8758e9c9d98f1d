"""All selected checks over one response."""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import isgeneratorfunction
from types import GeneratorType
from typing import cast

from checker.checks.context import Check, CheckContext, CheckSettings, Failures
from checker.checks.foregone import QuickLook, open_checks, quick_look
from checker.core.case import Case
from checker.core.contract import ResponsePlan
from checker.core.lexicon import Lexicon
from checker.core.operation import Operation
from checker.core.response import Response
from checker.core.send import Exchanging

_KINDS = 4096
_Kind = tuple[int, int, str | None]
"""`id` of the operation, status, `Content-Type`."""
_Opened = tuple[ResponsePlan, tuple[Check, ...], QuickLook | None, Operation]
"""The operation is kept alive as long as its `id` stands for it."""


class Judge:
    """The selected checks, ready to look at responses."""

    __slots__ = ("_checks", "_lexicon", "_open", "_settings", "is_plain")

    def __init__(
        self, checks: Sequence[tuple[str, Check]], settings: CheckSettings | None = None
    ) -> None:
        self._checks = tuple(check for _, check in checks)
        self._settings = settings or CheckSettings()
        self._lexicon = Lexicon()
        self._open: dict[_Kind, _Opened] = {}
        """What is promised of responses of one kind, and the checks that have to look at each of them."""
        self.is_plain = not any(isgeneratorfunction(check) for check in self._checks)
        """Whether no check needs further requests, so that `verdict` can be asked directly."""

    def judge(self, case: Case, response: Response) -> "Exchanging[Judgement]":
        """What the checks say of a response; yields what they need to send."""
        plan, checks, _, _ = self._opened(case, response)
        if not checks:
            return CLEAN
        context = CheckContext(case, response, plan, self._settings, lexicon=self._lexicon)
        failures: Failures = ()
        for check in checks:
            found = check(context)
            if isinstance(found, GeneratorType):
                found = yield from found
            if found:
                failures += cast("Failures", found)
        return _judgement(failures, context)

    def verdict(self, case: Case, response: Response) -> "Judgement":
        """The same without sending, for checks that are plain: the hot path."""
        plan, checks, passes, _ = self._opened(case, response)
        if not checks:
            return CLEAN
        if passes is not None and not response.is_truncated and passes(response.content):
            return CLEAN
        context = CheckContext(case, response, plan, self._settings, lexicon=self._lexicon)
        failures: Failures = ()
        for check in checks:
            found = check(context)
            if found:
                failures += cast("Failures", found)
        return _judgement(failures, context)

    def _opened(self, case: Case, response: Response) -> _Opened:
        operation, status = case.operation, response.status_code
        kind = (id(operation), status, response.content_type)
        found = self._open.get(kind)
        if found is None:
            plan = operation.contract.plan(status, response.content_type)
            # A server may invent a header value for each response.
            if len(self._open) >= _KINDS:
                self._open.clear()
            checks = open_checks(self._checks, status, plan, self._settings)
            found = plan, checks, quick_look(checks, plan), operation
            self._open[kind] = found
        return found


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the checks said."""

    failures: Failures
    disagreements: tuple[str, ...]
    unjudged: tuple[str, ...]


CLEAN = Judgement((), (), ())
"""Nothing failed, nothing was in doubt, all was looked at."""

UNJUDGED = Judgement((), (), ())
"""Nobody looked."""


def _judgement(failures: Failures, context: CheckContext) -> Judgement:
    if not failures and not context.disagreements and not context.unjudged:
        return CLEAN
    return Judgement(failures, tuple(context.disagreements), tuple(context.unjudged))
