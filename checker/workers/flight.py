"""A task in work, and an attempt in the air."""

from collections import Counter
from dataclasses import dataclass, field

from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.send import Exchanging
from checker.phases.attempt import Verdict
from checker.phases.making import Made
from checker.workers.messages import LONG_WAIT_S, Again, Task, Waits
from checker.workers.suspicion import Shot, before_in

EXTRA_INDEX = 1 << 32
"""Indices of cases that extend a sequence start here: they have no place in the task's own numbering."""


SAVED_INDEX = 1 << 33
"""Indices of failing examples of earlier runs start here: they are tried, but not counted as cases."""


@dataclass(slots=True)
class Running:
    """A task in work."""

    task: Task
    next_index: int
    stop: int
    ends_at: float | None
    """None while it waits behind another task."""
    phase: PhaseInfo
    is_closed: bool
    """Whether nothing follows its answers: then a lane can be given away before the answer is judged."""
    redo: list[int] = field(default_factory=list)
    flying: int = 0
    requests: int = 0
    cases: int = 0
    failed_cases: int = 0
    failed_in_lease: int = 0
    succeeded: int = 0
    """Status of the first 2xx answer."""
    statuses: dict[tuple[str, int], int] = field(default_factory=dict)
    dead_labels: set[str] = field(default_factory=set)
    faults: Counter[str] = field(default_factory=Counter)
    """Cases that could not be judged or written down, by operation."""
    note: str = ""
    extras: int = 0
    answers: int = 0
    """Like the next three: of the whole lease, for `Waits`."""
    short_waits_s: float = 0.0
    long_waits: int = 0
    long_waits_s: float = 0.0

    @classmethod
    def of(cls, task: Task) -> "Running":
        """A leased task, not begun: its slice runs from its first case on."""
        return cls(
            task,
            next_index=task.start,
            stop=task.stop,
            ends_at=None,
            phase=PhaseInfo(task.phase),
            is_closed=task.phase == "fuzzing",
            redo=[index for index in task.redo if index not in task.skipped],
        )

    def label_of(self, index: int) -> Label:
        """Operation that a case index belongs to."""
        labels = self.task.labels
        return labels[index % len(labels)]

    def take_index(self, now: float) -> int | None:
        """The next index to make, quarantined ones left out; None when it has none, or no time. Its slice begins at the first."""
        if self.ends_at is None:
            self.ends_at = now + self.task.slice_s
        if now >= self.ends_at:
            return None
        if self.redo:
            return self.redo.pop(0)
        skipped = self.task.skipped
        while (index := self.next_index) < self.stop:
            self.next_index = index + 1
            if not skipped or index not in skipped:
                return index
        return None

    def extra_index(self) -> int:
        """An index for a case outside the task's numbering."""
        self.extras += 1
        return EXTRA_INDEX + self.extras

    def exhausted(self, label: Label) -> None:
        """Every further case of the operation would be the same bytes: stop after this one."""
        self.dead_labels.add(label)
        if len(self.dead_labels) == len(set(self.task.labels)):
            self.next_index = self.stop

    def stop_now(self) -> None:
        """Start nothing more."""
        self.ends_at = 0.0

    def count(self, label: Label, status: int, requests: int) -> None:
        """One case is answered, with a status or without one (0)."""
        self.cases += 1
        self.requests += requests
        kind = (label, status)
        self.statuses[kind] = self.statuses.get(kind, 0) + 1

    def is_news(self, status: int, *, has_failed: bool) -> bool:
        """Whether a case changes what a report says if its worker dies before it counts it."""
        is_first = not self.succeeded and 200 <= status < 300
        if is_first:
            self.succeeded = status
        if has_failed:
            self.failed_cases += 1
            self.failed_in_lease += 1
        return is_first or has_failed

    def waited(self, elapsed_s: float) -> None:
        """One of its requests was answered, or given up, after so long."""
        self.answers += 1
        if elapsed_s < LONG_WAIT_S:
            self.short_waits_s += elapsed_s
        else:
            self.long_waits += 1
            self.long_waits_s += elapsed_s

    @property
    def has_waited(self) -> bool:
        """Whether the one long wait is spent that a task has which is not known to be fast."""
        return self.long_waits > 0 and not self.task.makes_ahead

    @property
    def waits(self) -> Waits:
        """What it waited for since it was leased."""
        return Waits(self.answers, self.short_waits_s, self.long_waits, self.long_waits_s)

    def counted(self) -> None:
        """Begin new counts: the old ones are written down."""
        self.cases = self.requests = self.failed_cases = 0
        self.statuses.clear()

    @property
    def finished(self) -> bool:
        """Whether every index was made."""
        if self.redo:
            return False
        # Looked at each round when there is one lane: the set is made only for those that need it.
        return self.next_index >= self.stop or (
            bool(self.dead_labels) and len(self.dead_labels) == len(set(self.task.labels))
        )

    def is_over(self, now: float, leaving: bool) -> bool:
        """Whether nothing of it is left to wait for."""
        is_late = self.ends_at is not None and now >= self.ends_at
        return not self.flying and (self.finished or leaving or is_late)


@dataclass(slots=True)
class Flight:
    """An attempt in the air."""

    slot: int
    """Of the in-flight file: kept while the answer is judged, when the lane may be flying another."""
    running: Running
    index: int
    made: Made
    work: Exchanging[Verdict] | None
    """None with plain tools: then there is one answer to wait for, and nothing between."""
    chain: tuple[Shot, ...]
    """What was sent before it in the same sequence."""
    lane: int = 0
    """Where it was launched last."""
    wanted: WireRequest | None = None
    """What it wants to be sent; None before it was asked."""
    requests: int = 0
    pending: int = 0
    """Suspicions that keep its slot."""
    status: int = -1
    """Of its answer, once that is judged; 0 when none came."""
    has_failed: bool = False

    @property
    def before(self) -> tuple[Verdict, ...]:
        """What was sent before it in the same sequence, as checks see it."""
        chain = self.chain
        return before_in(chain) if chain else ()

    @property
    def is_counted(self) -> bool:
        """Whether it is one of the cases of the run; examples of earlier runs are tried beside them."""
        return self.index < SAVED_INDEX and not self.running.task.again

    @property
    def again(self) -> Again | None:
        """The finding that it looks at for a second time."""
        again = self.running.task.again
        return again[self.index] if again and self.index < len(again) else None
