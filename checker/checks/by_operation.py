"""Judges of operations that differ in their checks: one for each set of them."""

from collections.abc import Callable, Sequence

from checker.checks.context import Instead, JudgedInteraction
from checker.checks.judge import Judge, Judgement
from checker.core.case import Case
from checker.core.request import WireRequest
from checker.core.response import NetworkFailure, Response
from checker.core.send import Exchanging


class JudgeByOperation:
    """Asks the judge of the operation and the phase that a case is of; for runs in which all are alike there is `Judge`."""

    __slots__ = ("_judge_of",)

    def __init__(self, judge_of: Callable[[Case], Judge]) -> None:
        self._judge_of = judge_of

    def judge(
        self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()
    ) -> Exchanging[Judgement]:
        """Return the verdicts of the checks on a response; yields the requests that they need."""
        return self._judge_of(case).judge(case, response, sequence)

    def without_response(self, case: Case, outcome: NetworkFailure) -> Judgement:
        """Return what the checks say of a request that got no complete response."""
        return self._judge_of(case).without_response(case, outcome)

    def check_names(self, case: Case) -> Sequence[str]:
        """Names of the checks that are asked of answers to such a case."""
        return self._judge_of(case).check_names(case)

    def probes(
        self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()
    ) -> bool | None:
        """Whether a check that probes each operation once can do so for an interaction; None where no such check judges the operation."""
        return self._judge_of(case).probes(case, response, sequence)

    def asks_first(self, case: Case) -> bool:
        """Whether a check sends something before a case that follows others."""
        return self._judge_of(case).asks_first(case)

    def first(self, case: Case, request: WireRequest) -> Exchanging[Instead | None]:
        """Yield the requests that checks send before the request of a case; returns the outcome that replaces it if one of them fails."""
        return self._judge_of(case).first(case, request)

    def verdict(
        self, case: Case, response: Response, sequence: Sequence[JudgedInteraction] = ()
    ) -> Judgement | None:
        """Return the verdicts of the checks on a response; None if one of them needs further requests."""
        return self._judge_of(case).verdict(case, response, sequence)
