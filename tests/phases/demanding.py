"""What a target demands, given."""

from collections.abc import Sequence
from dataclasses import dataclass

from checker.core.constraints import Constraint
from checker.core.operation import Label
from checker.core.phases import CaseSource
from checker.phases.case_factory import GeneratedCase, Learner


@dataclass
class Demanding(Learner):
    """Knows these demands on all operations, in one phase or in all."""

    demands: Sequence[Constraint] = ()
    phase: str = ""
    leaves_out: bool = False
    """Whether no valid case is worth sending."""

    def wanted(self, label: Label, phase: str, index: int = 0) -> Sequence[Constraint]:
        return self.demands if self.phase in ("", phase) else ()

    def is_left_out(self, made: GeneratedCase, phase: str, index: int, judged: int, source: CaseSource) -> bool:
        return self.leaves_out
