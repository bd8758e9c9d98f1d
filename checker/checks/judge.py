"""All selected checks over one response."""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import isgeneratorfunction
from types import GeneratorType
from typing import cast

from checker.checks.context import Check, CheckContext, CheckSettings, Failures
from checker.core.case import Case
from checker.core.response import Response
from checker.core.send import Exchanging


class Judge:
    """The selected checks, ready to look at responses."""

    __slots__ = ("_checks", "_settings", "is_plain")

    def __init__(
        self, checks: Sequence[tuple[str, Check]], settings: CheckSettings | None = None
    ) -> None:
        self._checks = tuple(check for _, check in checks)
        self._settings = settings or CheckSettings()
        self.is_plain = not any(isgeneratorfunction(check) for check in self._checks)
        """Whether no check needs further requests, so that `verdict` can be asked directly."""

    def judge(self, case: Case, response: Response) -> "Exchanging[Judgement]":
        """What the checks say of a response; yields what they need to send."""
        context = self._context(case, response)
        failures: Failures = ()
        for check in self._checks:
            found = check(context)
            if isinstance(found, GeneratorType):
                found = yield from found
            if found:
                failures += cast("Failures", found)
        return _judgement(failures, context)

    def verdict(self, case: Case, response: Response) -> "Judgement":
        """The same without sending, for checks that are plain: the hot path."""
        context = self._context(case, response)
        failures: Failures = ()
        for check in self._checks:
            found = check(context)
            if found:
                failures += cast("Failures", found)
        return _judgement(failures, context)

    def _context(self, case: Case, response: Response) -> CheckContext:
        plan = case.operation.contract.plan(response.status_code, response.content_type)
        return CheckContext(case, response, plan, self._settings)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the checks said."""

    failures: Failures
    disagreements: tuple[str, ...]


CLEAN = Judgement((), ())
"""Nothing failed, nothing was in doubt."""


def _judgement(failures: Failures, context: CheckContext) -> Judgement:
    if not failures and not context.disagreements:
        return CLEAN
    return Judgement(failures, tuple(context.disagreements))
