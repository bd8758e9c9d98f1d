"""All selected checks over one response."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import GeneratorType

from checker.checks.context import Check, CheckContext, CheckSettings
from checker.core.case import Case
from checker.core.failures import Failure
from checker.core.response import Response
from checker.core.send import Exchanging


@dataclass(frozen=True, slots=True)
class Judge:
    """The selected checks, ready to look at responses."""

    checks: Sequence[tuple[str, Check]]
    settings: CheckSettings = field(default_factory=CheckSettings)

    def judge(self, case: Case, response: Response) -> "Exchanging[Judgement]":
        """Failures of one response; yields what its checks need to send."""
        plan = case.operation.contract.plan(response.status_code, response.content_type)
        context = CheckContext(case, response, plan, self.settings)
        failures: list[Failure] = []
        for _, check in self.checks:
            found = check(context)
            if isinstance(found, GeneratorType):
                found = yield from found
            if found:
                failures.extend(found)  # type: ignore[arg-type]
        return Judgement(tuple(failures), tuple(context.disagreements))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the checks said."""

    failures: tuple[Failure, ...]
    disagreements: tuple[str, ...]
