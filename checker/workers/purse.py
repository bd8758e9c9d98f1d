"""How many requests may go into looking into failures: a share of those of the run, counted, never timed."""

from dataclasses import dataclass

from checker.core.failures import Severity
from checker.workers.defects import Defects
from checker.workers.leased import LeasedTask

FEWEST = 25
"""For each operation that fails: with less nothing becomes small."""
AROUND = 4
"""Requests around a shrink: the case again, the simplest one, the smallest one, and that as printed."""
CREDIT = 500
"""What a worker may spend in `fuzz` before its cases have earned it: nights are long, and first findings matter. With 2,000
a run of half a minute sent three requests of four into failures."""
_MATTERS = (Severity.CRITICAL, Severity.HIGH)


@dataclass(slots=True)
class Purse:
    """Requests that are left for shrinks.

    In `run` each operation has the share of its own cases, so that neither workers nor the order of answers decide; what
    is left over goes round at the end of the run. In `fuzz` it is the share of what this worker did.
    """

    share: float
    defects: Defects
    spent: int = 0
    """By this worker."""
    earned: int = 0
    """Cases that this worker sent."""

    def allowance(self, running: LeasedTask, label: str, severity: Severity, check: str) -> int:
        """For one finding: all that is left for the first of its check if it matters, half of it for others."""
        left = self._left(running, label) - AROUND
        is_first = severity in _MATTERS and self.defects.is_novel(label, check)
        return max(0, left if is_first else left // 2)

    def _left(self, running: LeasedTask, label: str) -> int:
        ratio = self.share / (1 - self.share)
        if running.task.again:
            # What turns up then is told as it is.
            return 0
        if not running.is_endless:
            cases = running.row.expected_cases(running.task.stop)
            return max(FEWEST, int(ratio * cases)) - self.defects.spent(label)
        return CREDIT + int(ratio * self.earned) - self.spent
