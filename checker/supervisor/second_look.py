"""The second round of shrinks at the end of `run`, within the requests that are left, worst failures first. Pure."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from checker.core.digests import digest
from checker.core.operation import Label
from checker.corpus.records import Finding
from checker.supervisor.plans import NOTHING_DONE, Plan
from checker.workers.messages import KNOWN_PLACES, LeaseReport, ShrinkAgain, Task

MOST = 500
"""Requests for one finding: what a shrink by itself would take."""
LEAST = 5
"""With fewer nothing is tried."""
FEWEST = 25
"""For the findings of a run that is so small that the share of it comes to nothing: with less nothing becomes small."""
AROUND = 4
"""Requests around a shrink: the case so far, the simplest one, the smallest one, and that as printed."""
SLICE_S = 3600.0
"""Requests are what ends a task of this plan."""
ROUNDS = 2
"""What the first round was given and did not need is for a second one."""
_WEIGHTS = {"critical": 8, "high": 6, "medium": 4, "low": 2}
_KEPT = 0.05
"""Of the share: for other failures that turn up on the way, which are confirmed as all are."""


def second_looks(findings: Iterable[Finding], *, cases: int, share: float) -> list[Task]:
    """A task for each operation with findings that may become smaller; `share` is that of all requests.

    Findings that break a rule that another operation breaks as well weigh half of what the first one does. Of one cause some
    places have to do.
    """
    found = sorted(findings, key=lambda one: (one.label, one.index, one.fingerprint))
    whole_share = share / (1 - share) * cases
    left = max(FEWEST, int((1 - _KEPT) * whole_share)) - sum(one.requests for one in found)
    weights: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    places = Counter(one.cause for one in found if one.reproduced and not one.wants_more)
    for one in found:
        rule = (one.check, one.unique_key)
        is_known = bool(one.cause) and places[one.cause] >= KNOWN_PLACES
        if one.wants_more and not (one.same_as or one.withdrawn or is_known):
            places[one.cause] += 1
            weight = _WEIGHTS.get(one.severity, 1) // (2 if rule in seen else 1)
            weights[one.fingerprint] = weight
        seen.add(rule)
    tasks: dict[str, list[tuple[Finding, int]]] = {}
    ranked = sorted((one for one in found if one.fingerprint in weights), key=lambda one: -weights[one.fingerprint])
    whole = sum(weights.values())
    for one in ranked:
        weight = weights[one.fingerprint]
        # The worst have what is of any use before others have their part.
        allowed = min(MOST, max(LEAST, left * weight // max(1, whole) - AROUND))
        whole -= weight
        if allowed + AROUND <= left:
            left -= allowed + AROUND
            tasks.setdefault(one.label, []).append((one, allowed))
    return [_task(label, again) for label, again in sorted(tasks.items())]


def _task(label: str, again: Sequence[tuple[Finding, int]]) -> Task:
    name = digest("again", *(f"{finding.fingerprint} {finding.requests}" for finding, _ in again))
    looks = tuple(
        ShrinkAgain(one.fingerprint, one.steps[-1], one.task, one.index, one.requests, allowed)
        for one, allowed in again
    )
    phase = again[0][0].phase
    return Task(name, phase, (Label(label),), 0, 0, len(looks), SLICE_S, again=looks)


class SecondLooks:
    """The plan of these tasks: each is leased until it is finished."""

    tasks: Sequence[Task] = ()
    """Empty: shrinks that the time limit prevents are not reported as untried."""

    def __init__(self, tasks: Iterable[Task], plan: Plan, number: int = 1) -> None:
        self.plan = plan
        """What was done before."""
        self.number = number
        """Of this round, from 1 on."""
        self._waiting = deque(tasks)
        self._leased: dict[str, Task] = {}

    @property
    def waiting(self) -> int:
        """Tasks that wait for a worker."""
        return len(self._waiting)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return not self._waiting and not self._leased

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
        """The next one."""
        if not self._waiting:
            return None
        task = self._waiting.popleft()
        self._leased[task.id] = task
        return task

    def come_back(
        self, task: Task, next_index: int, *, finished: bool, spent_s: float, report: LeaseReport = NOTHING_DONE
    ) -> None:
        """Leave a shrink that stopped early as it is."""
        self._leased.pop(task.id, None)

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """To the front."""
        if self._leased.pop(task.id, None) is not None:
            self._waiting.appendleft(task)

    def drop(self, task: str) -> None:
        """Forget it, wherever it is."""
        self._leased.pop(task, None)
        self._waiting = deque(waiting for waiting in self._waiting if waiting.id != task)

    def defer(self, label: Label) -> None:
        """Look at nothing of it any more: nothing comes later."""
        self._waiting = deque(task for task in self._waiting if label not in task.labels)
        self.plan.defer(label)

    def release_deferred(self) -> bool:
        """False: nothing is held."""
        return False

    def lease_slow(self, elapsed_s: float, held: int) -> Task | None:
        """None: few requests are not worth lanes of their own."""
        return None


def following(plan: Plan, findings: Iterable[Finding], *, cases: int, share: float) -> Plan:
    """Return the plan that follows one that is over: a round of looks, and in the end the interrupted plan."""
    done = plan.number if isinstance(plan, SecondLooks) else 0
    first = plan.plan if isinstance(plan, SecondLooks) else plan
    tasks = second_looks(findings, cases=cases, share=share) if done < ROUNDS else []
    return SecondLooks(tasks, first, done + 1) if tasks else first
