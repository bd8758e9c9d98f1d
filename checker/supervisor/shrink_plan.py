"""Further shrinks at the end of `run`, within the remaining requests, worst failures first. Pure."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from checker.core.digests import digest
from checker.core.operation import Label
from checker.corpus.records import Finding
from checker.supervisor.plans import NOTHING_DONE, Plan
from checker.workers.messages import KNOWN_PLACES, LeaseReport, ShrinkAgain, Task

MOST = 500  # Requests for one finding; a shrink without a limit needs about as many.
LEAST = 5  # Requests below which no shrink is tried.
FEWEST = 25  # Requests for shrinks in a small run, whose configured share would be too small for any shrink.
AROUND = 4  # Requests beside a shrink: the case so far, the simplest case, the smallest case, and the printed command.
SLICE_S = 3600.0  # A task of this plan ends when its requests are used up, not by time.
ROUNDS = 2  # The second round uses the requests that the first left over.
_WEIGHTS = {"critical": 8, "high": 6, "medium": 4, "low": 2}
_USUAL_TRIES = 2  # Requests of a failure that always reproduces: its case, and the printed command.
_KEPT = 0.05  # Part of the share that is reserved for confirming further failures that shrinking reveals.


def shrink_tasks(findings: Iterable[Finding], *, cases: int, share: float) -> list[Task]:
    """Return a task for each operation with findings that may become smaller. `share` is the share of all requests.

    A finding has half the weight if another operation breaks the same rule. At most `KNOWN_PLACES` places of one cause
    are shrunk.
    """
    # The order must not depend on which worker reported first: equal runs have to shrink the same findings.
    found = sorted(findings, key=lambda one: (one.label, one.index, one.fingerprint))
    whole_share = share / (1 - share) * cases
    # Repeated tries of flaky failures are not counted, because in a small run they would leave no requests for shrinks.
    spent = sum(one.investigation.requests - max(0, one.investigation.tries - _USUAL_TRIES) for one in found)
    left = max(FEWEST, int((1 - _KEPT) * whole_share)) - spent
    weights: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    places = Counter(one.cause for one in found if one.investigation.reproduced and not one.investigation.wants_more)
    # The same rule at another operation often has the same cause, so its shrink shows less.
    for one in found:
        rule = (one.check, one.unique_key)
        is_known = bool(one.cause) and places[one.cause] >= KNOWN_PLACES
        if one.investigation.wants_more and not (one.same_as or one.investigation.withdrawn or is_known):
            places[one.cause] += 1
            weight = _WEIGHTS.get(one.severity, 1) // (2 if rule in seen else 1)
            weights[one.fingerprint] = weight
        seen.add(rule)
    tasks: dict[str, list[tuple[Finding, int]]] = {}
    ranked = sorted((one for one in found if one.fingerprint in weights), key=lambda one: -weights[one.fingerprint])
    whole = sum(weights.values())
    for one in ranked:
        weight = weights[one.fingerprint]
        # The worst finding comes first, so that it gets a useful budget before milder ones get theirs.
        allowed = min(MOST, max(LEAST, left * weight // max(1, whole) - AROUND))
        whole -= weight
        if allowed + AROUND <= left:
            left -= allowed + AROUND
            tasks.setdefault(one.label, []).append((one, allowed))
    return [_task(label, again) for label, again in sorted(tasks.items())]


def _task(label: str, again: Sequence[tuple[Finding, int]]) -> Task:
    name = digest("again", *(f"{finding.fingerprint} {finding.investigation.requests}" for finding, _ in again))
    looks = tuple(
        ShrinkAgain(one.fingerprint, one.steps[-1], one.task, one.index, one.investigation.requests, allowed)
        for one, allowed in again
    )
    phase = again[0][0].phase
    return Task(name, phase, (Label(label),), 0, 0, len(looks), SLICE_S, again=looks)


class ShrinkPlan(Plan):
    """A round of shrinks after another plan. Each task is leased until it is finished."""

    def __init__(self, tasks: Iterable[Task], plan: Plan, number: int = 1) -> None:
        self.plan = plan
        """The plan that was finished before the first round."""
        self.number = number
        """Number of this round, from 1."""
        self._waiting = deque(tasks)
        self._leased: dict[str, Task] = {}

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def is_over(self) -> bool:
        return not self._waiting and not self._leased

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
        if not self._waiting:
            return None
        task = self._waiting.popleft()
        self._leased[task.id] = task
        return task

    def come_back(
        self, task: Task, next_index: int, *, finished: bool, spent_s: float, report: LeaseReport = NOTHING_DONE
    ) -> None:
        """Take a task back; a shrink that stopped early is not continued."""
        self._leased.pop(task.id, None)

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """Put the task of a dead worker in front of the others."""
        if self._leased.pop(task.id, None) is not None:
            self._waiting.appendleft(task)

    def drop(self, task: str) -> None:
        self._leased.pop(task, None)
        self._waiting = deque(waiting for waiting in self._waiting if waiting.id != task)

    def defer(self, label: Label) -> None:
        """Drop all shrinks of an operation, because nothing follows this plan."""
        self._waiting = deque(task for task in self._waiting if label not in task.labels)
        self.plan.defer(label)


def next_plan(plan: Plan, findings: Iterable[Finding], *, cases: int, share: float) -> Plan:
    """Return the plan that follows a finished one: a round of shrinks, and after the last round the original plan."""
    done = plan.number if isinstance(plan, ShrinkPlan) else 0
    first = plan.plan if isinstance(plan, ShrinkPlan) else plan
    tasks = shrink_tasks(findings, cases=cases, share=share) if done < ROUNDS else []
    return ShrinkPlan(tasks, first, done + 1) if tasks else first
