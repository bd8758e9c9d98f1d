"""The budget of requests for investigations: a share of the run's requests, and a limit for each shrink.

Both limit the number of requests. The limit of a shrink also depends on the speed of the target.
"""

from collections import Counter
from math import inf

from msgspec import Struct, field

from checker.core.failures import Severity
from checker.workers.recording.defects import Defects
from checker.workers.recording.task_state import LeasedTask

# Without these two numbers, runs in which every operation fails spent 20.4 % on investigations instead of a fifth.
AROUND = 4  # Requests around a shrink: the case again, the simplest case, the smallest case, and its printed command.
LOOK = 3  # Requests for a failure that is not shrunk: the case again, the simplest case, and the printed command.
# Without a floor, one request for each failure, and six more if it did not show, had no limit. For a server of 120
# operations that fails randomly, 75 % of the requests were investigations; with the floor, 14 % are.
FLOOR = 100  # Requests that a run may spend before the share counts: a few failures of a small run are confirmed.
LEAST = 5  # Least part of the floor for each operation, or for a worker that replaces another.
LAST = 50  # Requests for a failure that ends its run, because no other test needs them.
ENOUGH = 20
"""If this many requests are left, a failure for which only the command was sent is investigated when it shows again."""
MOST = 500  # Requests for one finding.
# If a service's authentication is switched off, each operation fails.
OF_KNOWN_CAUSE = "before it began (other operations show the same cause)"
"""The reason why a place of a cause with many places is not shrunk."""
_MATTERS = (Severity.CRITICAL, Severity.HIGH)


class InvestigationBudget(Struct):
    """Requests that are left for investigations of failures.

    If too few are left for a failure, only its printed command is sent. If the guaranteed requests are spent as well,
    the failure is reported unconfirmed.

    In `run` each operation has the share of its own cases, so that the budget depends neither on the number of workers nor
    on the order of responses; unused requests are distributed at the end of the run. In `fuzz`, and with a time limit, the
    number of cases is unknown in advance, so the budget is a share of the requests that this worker has sent.
    """

    share: float
    defects: Defects
    is_open_ended: bool = False  # Whether the number of cases of the run is unknown.
    spares_known_causes: bool = False
    """Whether further places of a cause that several operations show get only their one request, because time is short."""
    floor: int = FLOOR
    """Requests for printed commands before the share counts: per operation, or for this worker if `is_open_ended`."""
    credit: int = 0  # Number of requests that may be spent before they are earned.
    spent: int = 0  # Requests that this worker spent.
    earned: int = 0  # Cases that this worker sent.

    def affords(self, running: LeasedTask, index: int, label: str) -> bool:
        """Whether a failure may get more than its one guaranteed request. `index`: of the case with the failure."""
        return self._left(running, index, label) >= LOOK

    def may_send(self, running: LeasedTask, index: int, label: str, sent: int) -> bool:
        """Whether a failure may get one more request; `sent`: requests that it had."""
        share = self._ratio * (self.earned if self.is_open_ended else running.known_cases(index))
        spent = self.spent if self.is_open_ended else self.defects.spent(label) + sent
        return spent < max(self.floor, self.credit, int(share))

    def reopens(self, fingerprint: str) -> bool:
        """Whether to investigate a failure again that got only one request, because the budget has grown."""
        is_unfinished = self.is_open_ended and fingerprint in self.defects.unfinished
        if not is_unfinished or self._left_of_earned() < ENOUGH:
            return False
        return not (self.spares_known_causes and self.defects.shows_known_cause(fingerprint))

    def is_spared(self, cause: str) -> bool:
        """Whether the cause of a failure is known well enough to send only its printed command."""
        return self.spares_known_causes and self.defects.knows_cause(cause)

    def allowance(self, running: LeasedTask, index: int, label: str, severity: Severity, check: str) -> int:
        """Return the number of candidates for the shrink of one failure: all remaining ones for the first severe failure of its check, half of them for others."""
        # Half of the rest is left for other failures, so that later failures of an operation get requests as well.
        left = max(0, self._left(running, index, label) - AROUND)
        is_first = severity in _MATTERS and self.defects.is_novel(label, check)
        return min(MOST, left if is_first else left // 2)

    def _left(self, running: LeasedTask, index: int, label: str) -> int:
        if running.lease.again:
            # Failures that are found in a second look are reported unshrunk.
            return 0
        if self.is_open_ended:
            return self._left_of_earned()
        return int(self._ratio * running.known_cases(index)) - self.defects.spent(label)

    def _left_of_earned(self) -> int:
        return self.credit + int(self._ratio * self.earned) - self.spent

    @property
    def _ratio(self) -> float:
        """Return the number of requests for each case."""
        return self.share / (1 - self.share)


_SLOW_S = 1.0
_FIRST_S = 2.0
_LATER_S = 0.6
_TIMES = 4.0
_MOST_SLOW = 2
_RARE = 8
"""If at most one candidate in this many is slow, the reason is a load peak, which must not decide how small a case becomes."""

_QUICK_S = 0.016
_REQUESTS_OF_QUICK = 500
_FEWEST = 15


class ShrinkBudget(Struct):
    """The limits of a shrink that follow from the speed of the target. One object for all shrinks of a worker, which run one at a time.

    The number of requests is limited instead of the time, because a busy machine needs more time, and only the seed may
    decide what is sent. A shrink may send 500 requests if the fastest response took up to 16 ms, 250 if it took up to 32 ms, and so on:
    load makes responses late, but hardly ever all of them.

    An operation that sleeps may reject invalid requests at once and be slow for all others. A shrink of its failure, and
    every later one of the same task, would wait for all its requests. So a shrink ends after two slow candidates, unless
    slow candidates are rare.
    """

    requests: int = 0  # Requests of the current shrink that got a response or were given up.
    is_over: bool = False  # Whether nothing is shrunk any more, because the run ends.
    _task: str = ""
    _failed_after_s: float = 0.0
    _fastest_s: float = inf
    _slow: Counter[str] = field(default_factory=Counter)  # Slow candidates of each task.
    _all: Counter[str] = field(default_factory=Counter)

    def begin(self, task: str, failed_after_s: float) -> None:
        """Begin the shrink of a failure whose response came after this many seconds."""
        self._task, self._failed_after_s = task, failed_after_s
        self.requests, self._fastest_s = 0, inf

    @property
    def patience_s(self) -> float:
        """Return the seconds after which a candidate is given up.

        The first slow candidate gets more time, because giving it up during a short load peak would change the requests
        after it.
        """
        return max(_LATER_S if self._is_sleepy else _FIRST_S, _TIMES * self._failed_after_s)

    def observe(self, took_s: float) -> None:
        """Count a request that was answered or given up."""
        self.requests += 1
        self._fastest_s = min(self._fastest_s, took_s)
        limit_s = _LATER_S if self._is_sleepy else _SLOW_S
        self._all[self._task] += 1
        if took_s >= max(limit_s, _TIMES * self._failed_after_s):
            self._slow[self._task] += 1

    @property
    def end_reason(self) -> str:
        """Return the reason why the shrink ends now; empty if it continues."""
        if self.is_over:
            return "with the run"
        if self.requests >= max(_FEWEST, self._allowed):
            return f"after {self.requests} requests to a slow target"
        if self._slow[self._task] >= _MOST_SLOW and self._is_sleepy:
            return "because of slow responses"
        return ""

    @property
    def _allowed(self) -> int:
        # In steps of two, so that the same target gives the same number in nearly all runs. A number that follows the
        # time smoothly would differ each time, and change what is sent.
        allowed, step_s = _REQUESTS_OF_QUICK, _QUICK_S
        while self._fastest_s > step_s and allowed > _FEWEST:
            allowed, step_s = allowed // 2, 2 * step_s
        return allowed

    @property
    def _is_sleepy(self) -> bool:
        """Whether slow candidates are frequent in the task."""
        slow = self._slow[self._task]
        return slow > 0 and slow * _RARE >= self._all[self._task]


def spent_after(requests: int) -> str:
    """Return the reason for the end of a shrink that spent its budget: `shrinking stopped after 20 requests`."""
    if requests:
        return f"after {requests} requests"
    return "before it began (`generation.shrink-share` of the requests was spent)"
