"""Judges of operations that differ in their checks: one for each set of them."""

from collections.abc import Callable

from checker.checks.judge import Judge, Judgement
from checker.core.case import Case
from checker.core.response import Response
from checker.core.send import Exchanging


class JudgeByOperation:
    """Asks the judge of the operation and the phase that a case is of; for runs in which all are alike there is `Judge`."""

    __slots__ = ("_judge_of", "is_plain")

    def __init__(self, judge_of: Callable[[Case], Judge], *, is_plain: bool) -> None:
        """`is_plain`: whether no judge has a check that needs further requests."""
        self._judge_of = judge_of
        self.is_plain = is_plain

    def judge(self, case: Case, response: Response) -> Exchanging[Judgement]:
        """What the checks say of a response; yields what they need to send."""
        return self._judge_of(case).judge(case, response)

    def verdict(self, case: Case, response: Response) -> Judgement:
        """What the checks say of a response, for checks that send nothing."""
        return self._judge_of(case).verdict(case, response)
