"""The number of requests for investigations: a share of those of the run, counted, never timed."""

from msgspec import Struct

from checker.core.failures import Severity
from checker.generation.sources.shrinking import ShrinkBudget
from checker.workers.recording.defects import Defects
from checker.workers.recording.task_state import LeasedTask

AROUND = 4
"""Requests around a shrink: the case again, the simplest one, the smallest one, and that as printed."""
LOOK = 3
"""Requests for a failure that nothing is tried on: the case again, the simplest one, and that as printed."""
FLOOR = 100
"""Requests that a run may spend before the share counts: a few failures of a small run are confirmed."""
LEAST = 5
"""The part of the floor that each operation, or a worker that takes the place of another, has at least."""
LAST = 50
"""What may go into a failure that ends its run: nothing else is tested with what is saved."""
ENOUGH = 20
"""With so many left, a failure that only its command was sent for is looked into after all when it shows again."""
MOST = 500
"""Requests for one finding."""
_MATTERS = (Severity.CRITICAL, Severity.HIGH)


class InvestigationBudget(Struct):
    """Requests that are left for investigations of failures.

    A failure that they do not suffice for is sent once, as it is printed. It is reported unconfirmed when the floor is spent.

    In `run` each operation has the share of its own cases, so that neither workers nor the order of answers decide; what
    is left over goes round at the end of the run. In `fuzz`, and with a limit of time, it is the share of what this worker
    did: how many cases there will be is not known.
    """

    share: float
    defects: Defects
    is_open_ended: bool = False
    """Whether nobody knows how many cases there will be."""
    spares_known_causes: bool = False
    """Whether further places of a mistake that some operations show have no more than their one request: time is short."""
    floor: int = FLOOR
    """Requests for commands as they are printed, before the share counts: of each operation; else of this worker."""
    credit: int = 0
    """What may be spent before it was earned."""
    spent: int = 0
    """By this worker."""
    earned: int = 0
    """Cases that this worker sent."""

    def affords(self, running: LeasedTask, index: int, label: str) -> bool:
        """Whether a failure may have more than the one request that each has. `index`: of the case that showed it."""
        return self._left(running, index, label) >= LOOK

    def may_send(self, running: LeasedTask, index: int, label: str, sent: int) -> bool:
        """Whether a failure may have one more request at all; `sent`: those that it had."""
        share = self._ratio * (self.earned if self.is_open_ended else running.known_cases(index))
        spent = self.spent if self.is_open_ended else self.defects.spent(label) + sent
        return spent < max(self.floor, self.credit, int(share))

    def reopens(self, fingerprint: str) -> bool:
        """Whether a failure that had one request is news again: by now there may be more for it."""
        is_unfinished = self.is_open_ended and fingerprint in self.defects.unfinished
        if not is_unfinished or self._left_of_earned() < ENOUGH:
            return False
        return not (self.spares_known_causes and self.defects.shows_known_cause(fingerprint))

    def is_spared(self, cause: str) -> bool:
        """Whether enough is known of the mistake behind a failure to send that once, as it is printed."""
        return self.spares_known_causes and self.defects.knows_cause(cause)

    def allowance(self, running: LeasedTask, index: int, label: str, severity: Severity, check: str) -> ShrinkBudget:
        """For the shrink of one failure: all that is left for the first of its check if it matters, half of it for others."""
        left = max(0, self._left(running, index, label) - AROUND)
        is_first = severity in _MATTERS and self.defects.is_novel(label, check)
        requests = min(MOST, left if is_first else left // 2)
        return ShrinkBudget(requests)

    def _left(self, running: LeasedTask, index: int, label: str) -> int:
        if running.task.again:
            # What turns up then is told as it is.
            return 0
        if self.is_open_ended:
            return self._left_of_earned()
        return int(self._ratio * running.known_cases(index)) - self.defects.spent(label)

    def _left_of_earned(self) -> int:
        return self.credit + int(self._ratio * self.earned) - self.spent

    @property
    def _ratio(self) -> float:
        """Requests for each case."""
        return self.share / (1 - self.share)
