"""Hill climbing in `fuzz`: varies the case of an operation with the largest value of a metric (`generation.maximize`)."""

from random import Random
from typing import Final

from msgspec import Struct, field

from checker.config.operation_settings import OperationResolver
from checker.core.errors import CheckerError
from checker.core.hooks import observed
from checker.core.meta import Drawn, PhaseInfo, Step
from checker.core.operation import Label
from checker.core.response import Response
from checker.generation.sources.context import Rejected
from checker.generation.sources.replay import ReplaySource
from checker.phases.attempt import Verdict
from checker.phases.case_factory import CaseFactory, GeneratedCase
from checker.workers.recording.task_state import InFlight

_SHARE: Final = 0.5  # Share of the turns that vary the best case; the other turns draw new cases.


class HillClimber(Struct):
    """Remembers the best case of each operation and makes variants of that case."""

    operations: OperationResolver
    factory: CaseFactory
    random: Random
    _best: dict[tuple[Label, str], tuple[float, Step]] = field(default_factory=dict)
    """(operation, metric) -> (largest value, the step that produced it)."""

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Remember the case if it has the largest value of a metric so far. Raises `MetricError`."""
        made, outcome = flight.made, verdict.outcome
        if not isinstance(outcome, Response) or not isinstance(made.recipe, Drawn):
            return
        for name, value in observed(self.operations.of(made.case.operation).cases.maximize, made.case, outcome).items():
            best = self._best.get((made.label, name))
            if best is None or value > best[0]:
                self._best[made.label, name] = value, made.step

    def variant(self, label: Label, name: str, phase: PhaseInfo) -> GeneratedCase | None:
        """Return a variant of an operation's best case; None if a new case is due."""
        known = [step for (of, _), (_, step) in self._best.items() if of == label]
        if not known or self.random.random() > _SHARE:
            return None
        step = self.random.choice(known)
        # One to three choices get an invalid type, so that the source draws them again.
        count = self.random.randint(1, 3) if step.choices else 0
        gone = {self.random.randrange(len(step.choices)) for _ in range(count)}
        changed = [b"" if i in gone and one.__class__ is not bytes else one for i, one in enumerate(step.choices)]
        source = ReplaySource(tuple(changed), self.random.getrandbits(32))
        try:
            return self.factory.redraw(step, name=name, phase=phase)(source)
        except (CheckerError, Rejected):
            return None
