"""How many requests may go into looking into failures: a share of those of the run, counted, never timed."""

from dataclasses import dataclass

from checker.core.failures import Severity
from checker.generation.sources.shrinking import ShrinkBudget, ShrinkEffort
from checker.workers.defects import Defects
from checker.workers.leased import LeasedTask
from checker.workers.messages import Again

FEWEST = 25
"""For each operation that fails: with less nothing becomes small."""
AROUND = 4
"""Requests around a shrink: the case again, the simplest one, the smallest one, and that as printed."""
CREDIT = 50
"""What a worker may spend before its cases have earned it, where nobody knows how many they will be: first findings matter.
With 500 a run of half a minute against a slow target sent two requests of five into failures."""
MOST = 500
"""Requests for one finding."""
RICH = 200
"""With so many a shrink in `fuzz` does all that it can: it has one turn. `run` comes back to it at its end."""
_MATTERS = (Severity.CRITICAL, Severity.HIGH)


def second_budget(again: Again) -> ShrinkBudget:
    """What a second look at a finding may take, and what is left to do for it."""
    effort = ShrinkEffort.REST if again.is_lowered else ShrinkEffort.WHOLE
    return ShrinkBudget(again.allowed, effort=effort)


@dataclass(slots=True)
class Purse:
    """Requests that are left for shrinks.

    In `run` each operation has the share of its own cases, so that neither workers nor the order of answers decide; what
    is left over goes round at the end of the run. In `fuzz`, and with a limit of time, it is the share of what this worker
    did: how many cases there will be is not known.
    """

    share: float
    defects: Defects
    is_timed: bool = False
    spent: int = 0
    """By this worker."""
    earned: int = 0
    """Cases that this worker sent."""

    def allowance(
        self, running: LeasedTask, index: int, label: str, severity: Severity, check: str
    ) -> ShrinkBudget:
        """For one finding: all that is left for the first of its check if it matters, half of it for others.

        `index`: of the case that showed it. Less than none where more was spent than earned: then it is confirmed, no more.
        """
        left = self._left(running, index, label) - AROUND
        is_first = severity in _MATTERS and self.defects.is_novel(label, check)
        requests = min(MOST, left if is_first else left // 2)
        if not (self.is_timed or running.is_endless):
            requests = max(0, requests)
        is_whole = running.is_endless and requests >= RICH
        effort = ShrinkEffort.WHOLE if is_whole else ShrinkEffort.QUICK
        return ShrinkBudget(requests, effort=effort)

    def _left(self, running: LeasedTask, index: int, label: str) -> int:
        ratio = self.share / (1 - self.share)
        if running.task.again:
            # What turns up then is told as it is.
            return 0
        if self.is_timed or running.is_endless:
            return CREDIT + int(ratio * self.earned) - self.spent
        return max(FEWEST, int(ratio * running.known_cases(index))) - self.defects.spent(label)
