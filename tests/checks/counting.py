"""Checks that count how often they are asked, and what they are asked about."""

from collections import Counter
from typing import Any

from checker.checks.check import Check
from checker.checks.context import PASSED, CheckContext, Failures
from checker.core.case import Case
from checker.core.meta import CaseMetadata, GenerationMode, PhaseData, PhaseInfo
from checker.core.operation import Operation
from checker.core.response import Response

ASKED: Counter[str] = Counter()
"""Name of a check -> how often it was asked since somebody cleared it."""


def counting(name: str, **fields: Any) -> Check:
    """A check that passes, and counts."""

    def run(context: CheckContext) -> Failures:
        ASKED[name] += 1
        return PASSED

    return Check(name, run, **fields)


def case_of(
    operation: Operation, *, mode: GenerationMode = GenerationMode.POSITIVE, phase: str = "fuzzing", **data: str | None
) -> Case:
    return Case(operation, "1", meta=CaseMetadata(mode, {}, PhaseInfo(phase, PhaseData(data))))


def ok(status: int = 200) -> Response:
    return Response(status, [("Content-Type", "application/json")], b"{}")
