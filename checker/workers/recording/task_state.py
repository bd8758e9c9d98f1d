"""The state of a task, and of a case in flight."""

from bisect import insort
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from checker.core.meta import CaseMetadata, PhaseInfo, Step
from checker.core.operation import Label
from checker.core.phases import CaseSource, Phase, phase_named
from checker.core.request import WireRequest
from checker.core.send import Exchanging, Purpose
from checker.corpus.inflight import InflightWriter
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase, block_start
from checker.workers.messages import (
    EXTRA_INDEX,
    LONG_WAIT_S,
    MOST_TIMEOUTS,
    LeaseReport,
    OperationReport,
    ShrinkAgain,
    Task,
    TasksEnded,
)
from checker.workers.recording.coverage import Shown, tried_by
from checker.workers.recording.traffic import Answered
from checker.workers.recording.unconfirmed import JudgedCase, before_in

DULL_CASES = 16  # Cases of one operation in one lease, all with the same refusal, after which it is dull.
_NEVER = 1 << 62
# Without these pauses, a cluster that only answers 404 got as much time as the cluster in which everything happens.
DULL, CONSTANT = 8, 16  # Rounds between two turns of a dull operation, and of an operation with a single case.
DULL_PRODUCER, CONSTANT_PRODUCER = 2, 4
"""Rounds between two turns of a dull operation, and of an operation with a single case, whose responses other operations need."""


class ClusterRotation(Struct):
    """The turns of a cluster's operations during one lease, and the results of each operation."""

    labels: Sequence[Label]  # The case with an index is of operation `labels[index % len(labels)]`.
    producers: Collection[Label] = ()
    quiet: Mapping[Label, int] = field(default_factory=dict)
    """Operation -> its pause until it shows something new, because it showed nothing new in earlier leases."""
    pauses: dict[Label, int] = field(default_factory=dict)
    """Operation -> rounds from one of its turns to the next; 1 if missing."""
    _answered: dict[str, Counter[int]] = field(default_factory=dict)
    """Operation -> status -> cases; status 0 if there was no response."""
    _fresh: Counter[Label] = field(default_factory=Counter)  # Operation -> cases that showed something new.
    _lively: set[Label] = field(default_factory=set)  # Operations that showed something new since the last count.
    _constant: set[Label] = field(default_factory=set)
    _waiting: set[Label] = field(default_factory=set)

    def __post_init__(self) -> None:
        for label in self.quiet:
            self._settle(label)

    def passes(self, label: Label, index: int) -> bool:
        """Whether an operation is skipped at this index, because it has fewer turns."""
        return index // len(self.labels) % self.pauses.get(label, 1) > 0

    def showed(self, label: Label) -> None:
        """Note that a case of an operation showed something new."""
        self._fresh[label] += 1
        self._lively.add(label)
        self._settle(label)

    def is_constant(self, label: Label) -> bool:
        """Note that all cases of an operation are equal; return whether this is true for all operations of the cluster."""
        self._constant.add(label)
        self._settle(label)
        return len(self._constant) == len(set(self.labels))

    def wait(self, label: Label) -> None:
        """Make no further case of an operation while one of its requests is slow."""
        self._waiting.add(label)
        self._settle(label)

    def landed(self, label: Label) -> None:
        """Note that the request which was waited for has ended."""
        self._waiting.discard(label)
        self._settle(label)

    def count(self, statuses: Mapping[tuple[str, int], int]) -> bool:
        """Add responses; return whether all operations are dull or have a single case."""
        for (label, status), count in statuses.items():
            self._answered.setdefault(label, Counter())[status] += count
        for label in self.labels:
            self._settle(label)
        self._lively.clear()
        return all(label in self._constant or self._is_dull(label) for label in self.labels)

    def reports(self, given_up: Collection[Label]) -> tuple[OperationReport, ...]:
        """Return the result of each operation. `given_up` operations may have no case at all."""
        found = []
        for label in dict.fromkeys(self.labels):
            statuses = self._answered.get(label, Counter())
            cases, has_news = statuses.total(), self._fresh[label] > 0
            is_dead, is_accepted = label in given_up and not cases, any(0 < one < 400 for one in statuses)
            found.append(OperationReport(label, cases, is_dead, has_news=has_news, is_accepted=is_accepted))
        return tuple(found)

    def _settle(self, label: Label) -> None:
        """Set how often the operation gets a turn from now on."""
        # The strongest reason decides: a request in flight, a single case, equal refusals, nothing new. Producers pause
        # less, because an operation with a single case is often the only source of an identifier.
        is_producer = label in self.producers
        pause = 1 if self._fresh[label] else self.quiet.get(label, 1)
        if label in self._waiting:
            pause = _NEVER
        elif label in self._constant:
            pause = CONSTANT
        elif self._is_dull(label):
            pause = DULL
        if is_producer and pause < _NEVER:
            pause = min(pause, CONSTANT_PRODUCER if label in self._constant else DULL_PRODUCER)
        if pause > 1:
            self.pauses[label] = pause
        else:
            self.pauses.pop(label, None)

    def _is_dull(self, label: Label) -> bool:
        """Whether an operation has many responses, all of them the same refusal (0: no response)."""
        statuses = self._answered.get(label, Counter())
        if len(statuses) != 1 or label in self._lively:
            return False
        ((only, count),) = statuses.items()
        return not 0 < only < 400 and count >= DULL_CASES


SAVED_INDEX = 1 << 33
"""First index of failing examples from earlier runs. These examples are tried, but do not count as cases."""
PROBE_INDEX = 1 << 34  # First index of probes for operations that accepted no case.


class TaskTally(Struct, kw_only=True):
    """The counts of a leased task until they are recorded, and the waiting times of the whole lease."""

    lease: Task
    rounds: ClusterRotation | None = None  # The turns of a cluster; None if each operation has its own cases.
    ends_at: float | None = None  # From then on no case begins; None while the task waits behind another.
    requests: int = 0
    inquiries: int = 0  # The number of requests that investigated failures.
    cases: int = 0
    failed_cases: int = 0
    statuses: dict[tuple[str, int], int] = field(default_factory=dict)
    wrong: dict[tuple[str, int], int] = field(default_factory=dict)
    """The part of `statuses` that belongs to negative cases."""
    probes: dict[tuple[str, int], int] = field(default_factory=dict)
    """Like `statuses`, for cases with another method than the operation's."""
    tried: dict[tuple[str, str, str, int], int] = field(default_factory=dict)
    """(label, place, keyword or `EDGE`, class of the status) -> cases that tested it."""
    shown: Shown = field(default_factory=Shown)
    """The parts of the description that cases covered, whatever they tested."""
    firsts: set[tuple[int | str, ...]] = field(default_factory=set)
    """Entries that are new since the last report: (label, status) of responses, (label, place, keyword) of cases."""
    looked_at: dict[tuple[str, int], int] = field(default_factory=dict)  # `statuses` when they were read last.
    looks_at: int = 0  # Number of cases after which a cluster is examined again.
    answers: int = 0  # Number of responses in the whole lease.
    long_waits: int = 0
    timeouts: dict[Label, tuple[int, int]] = field(default_factory=dict)
    """Operation -> (timeouts in a row, index from which the next one counts)."""

    def count(self, label: Label, status: int, *, is_wrong: bool = False) -> None:
        """Count a case by its status, 0 if there was no response. `is_wrong` is true for a negative case."""
        self.cases += 1
        kind = (label, status)
        if is_wrong:
            self.wrong[kind] = self.wrong.get(kind, 0) + 1
        count = self.statuses.get(kind)
        if count is None:
            self.firsts.add(kind)
        self.statuses[kind] = (count or 0) + 1
        if self.rounds is not None and self.cases >= self.looks_at:
            self._look()

    def count_probe(self, label: Label, status: int) -> int:
        """Count a case with another operation's method; return 0, because the operation itself did not respond."""
        self.cases += 1
        self.probes[label, status] = self.probes.get((label, status), 0) + 1
        return 0

    def note_tried(self, label: Label, meta: CaseMetadata, status: int) -> None:
        """Count the places and keywords that a case was about."""
        for place, what in tried_by(meta):
            kind = (label, place, what, status // 100)
            count = self.tried.get(kind)
            if count is None:
                self.firsts.add((label, place, what))
            self.tried[kind] = (count or 0) + 1

    @property
    def coverage(self) -> tuple[tuple[str, str, str, int, int], ...]:
        """Return the parts of the description that were met, in the terms of `TaskProgress.tried`."""
        about = ((*kind, count) for kind, count in self.tried.items())
        return (*about, *self.shown.counts())

    def charge(self, requests: int) -> None:
        self.requests += requests
        if self.lease.again:
            self.inquiries += requests

    def counted(self) -> None:
        """Reset the counts after they were recorded."""
        self._look()
        self.cases = self.requests = self.inquiries = self.failed_cases = 0
        self.statuses.clear()
        self.wrong.clear()
        self.probes.clear()
        self.tried.clear()
        self.shown.clear()
        self.firsts.clear()
        self.looked_at.clear()
        self.looks_at = len(self.lease.labels) * DULL_CASES

    def waited(self, elapsed_s: float) -> None:
        """Count a request that got a response or was given up after this many seconds."""
        self.answers += 1
        if elapsed_s >= LONG_WAIT_S:
            self.long_waits += 1

    def _look(self) -> None:
        """Read the latest responses of a cluster's operations, and end its turn if all of them are dull.

        This is due when each operation may have had enough cases to be dull. If it were due by time, a fast target would get
        more useless requests.
        """
        if self.rounds is None:
            return
        seen, now = self.looked_at, dict(self.statuses)
        self.looked_at, self.looks_at = now, self.cases + len(self.lease.labels) * DULL_CASES
        if self.rounds.count({kind: count - seen.get(kind, 0) for kind, count in now.items()}):
            # The remaining time is better spent on other clusters.
            self.ends_at = 0.0


class LeasedTask(TaskTally, kw_only=True):
    """The state of a task that is leased to this worker."""

    row: Phase
    next_index: int
    stop: int
    phase: PhaseInfo
    is_chained: bool  # Whether each index of the task is a whole sequence.
    is_closed: bool  # Whether no case depends on its responses. Then its lane is free before the response is judged.
    redo: list[int] = field(default_factory=list)
    redone: int = 0  # Number of cases of `redo` that were begun.
    flying: int = 0
    failed_in_lease: int = 0
    unmade: int = 0  # Indices of the lease without a case.
    succeeded: int = 0  # Status of the first 2xx response.
    dead_labels: set[str] = field(default_factory=set)
    faults: Counter[str] = field(default_factory=Counter)
    """Operation -> cases that could not be judged or recorded."""
    raised: Counter[Label] = field(default_factory=Counter)
    extras: int = 0
    given_up: set[Label] = field(default_factory=set)
    ended_at_failure: bool = False
    is_slow: bool = False  # Whether a request of the operation waited for long, in this lease or before.

    @classmethod
    def of(cls, task: Task) -> "LeasedTask":
        """Return the state of a leased task. The time of the task begins with its first case."""
        row, rotation = phase_named(task.phase), ClusterRotation(task.labels, task.producers, dict(task.pauses))
        return cls(
            lease=task,
            row=row,
            next_index=task.start,
            stop=task.stop,
            phase=PhaseInfo(task.phase),
            is_chained=row.source is CaseSource.CHAINED,
            is_closed=not row.extends,
            redo=[index for index in task.redo if index not in task.skipped],
            rounds=rotation if row.source is CaseSource.ENDLESS else None,
            looks_at=len(task.labels) * DULL_CASES,
            is_slow=task.is_slow,
            timeouts={task.labels[0]: (task.timeouts, task.start)} if task.timeouts else {},
        )

    @property
    def is_endless(self) -> bool:
        """Whether it is not guaranteed that the same requests are sent again."""
        return self.rounds is not None

    def known_cases(self, index: int) -> int:
        """Return the number of cases of the operation that are made before this one at any pace."""
        drawn, stop = self.lease.drawn_elsewhere, self.lease.stop
        if self.row.source is not CaseSource.LISTED:
            return drawn + stop
        return drawn + (index + 1 if index < stop else 0)

    def label_of(self, index: int) -> Label:
        labels = self.lease.labels
        return labels[index % len(labels)]

    def take_index(self, now: float) -> int | None:
        """Return the next index to make, without quarantined ones; None if there is no index or no time left.

        The time of the task begins with the first index.
        """
        if self.ends_at is None:
            self.ends_at = now + self.lease.slice_s
        if now >= self.ends_at:
            return None
        if self.redo:
            # Cases that were in flight at a death come first, because a case that kills workers then shows soon.
            self.redone += 1
            return self.redo.pop(0)
        while (index := self.next_index) < self.stop:
            self.next_index = index + 1
            if index not in self.lease.skipped:
                return index
        return None

    @property
    def waits_for_verdicts(self) -> bool:
        """Whether the next case respects demands that the cases in flight may show."""
        if self.row.source is not CaseSource.DRAWN or not self.flying or self.redo:
            return False
        # Cases are drawn in blocks (0, 24, 48, 96, ...), and a block uses what all earlier cases have taught. Waiting for
        # each case would prevent parallel requests; waiting for each phase would mean that a run of the fuzzing phase alone
        # never learns that an optional header is always refused (13 of 20 planted errors found, 20 with blocks).
        begun = index = self.next_index
        while index in self.lease.skipped:
            index += 1
        return 0 < begun <= block_start(index)

    def make_again(self, index: int) -> None:
        """Make a begun case once more: now, or when the task is leased again."""
        if index < self.lease.start:
            insort(self.redo, index)
        elif index < EXTRA_INDEX:
            self.next_index = min(self.next_index, index)

    def constant(self, label: Label) -> None:
        """Note that all cases of the operation have the same bytes, so only the state of the target may differ."""
        if self.rounds is None:
            self.exhausted(label)
        elif self.rounds.is_constant(label):
            self.next_index = self.stop

    def exhausted(self, label: Label) -> None:
        """Make no further case of the operation."""
        self.dead_labels.add(label)
        if len(self.dead_labels) == len(set(self.lease.labels)):
            self.next_index = self.stop

    def stop_now(self) -> None:
        """Start nothing more."""
        self.ends_at = 0.0

    def tally(self, slots: InflightWriter) -> None:
        """Write its counts into the in-flight file, which outlives this worker."""
        slots.tally(self.lease.id, self.failed_in_lease, self.succeeded, self.unmade)

    def is_news(self, status: int, *, has_failed: bool) -> bool:
        """Whether a case would change the report if the worker died before it is counted."""
        is_first = not self.succeeded and 200 <= status < 300
        if is_first:
            self.succeeded = status
        if has_failed:
            self.failed_cases += 1
            self.failed_in_lease += 1
        return is_first or has_failed

    def timed_out(self, label: Label, index: int) -> bool:
        """Note a timeout; return whether it was the last that an operation may have in a row.

        Timeouts of requests that were in flight together count as one, because the target may not be able to handle them
        together.
        """
        count, since = self.timeouts.get(label, (0, 0))
        if index >= since:
            self.timeouts[label] = count + 1, self.next_index
            return count + 1 == MOST_TIMEOUTS
        return False

    @property
    def report(self) -> LeaseReport:
        """Return the result since the last lease."""
        count, _ = self.timeouts.get(self.lease.labels[0], (0, 0))
        operations = () if self.rounds is None else self.rounds.reports(self.given_up)
        ended, redo = self.ended_at_failure, tuple(self.redo)
        return LeaseReport(self.answers, self.long_waits, count, operations, ended, redo)

    @property
    def finished(self) -> bool:
        if self.redo:
            return False
        # With one lane this runs in every round, so the set is only created if it is needed.
        return self.next_index >= self.stop or (
            bool(self.dead_labels) and self.dead_labels.issuperset(self.lease.labels)
        )

    def ends(self) -> bool:
        """Whether every index was made and judged."""
        return not self.flying and self.finished

    def is_over(self, now: float, leaving: bool) -> bool:
        """Whether the task has nothing left to wait for."""
        is_late = self.ends_at is not None and now >= self.ends_at
        return not self.flying and (self.finished or leaving or is_late)


class InFlight(Struct):
    """The state of a case in flight."""

    slot: int
    """The slot in the in-flight file. It is kept while the response is judged and the lane may carry another request."""
    task: LeasedTask
    index: int
    made: GeneratedCase
    work: Exchanging[Verdict] | None
    """None with plain tools: then the attempt has one request, and no user code runs."""
    chain: tuple[JudgedCase, ...]  # The earlier steps of its sequence.
    wanted: WireRequest | None = None  # The next request; None before the attempt begins.
    requests: int = 0
    rest: tuple[Step, ...] = ()  # The further steps of a sequence that is sent again.
    goes_on: bool = False  # Whether the next step of its sequence takes its slot, and is counted with it.
    pending: int = 0  # Number of failures that await investigation. The slot is kept until it is 0.
    is_slow: bool = False  # Whether the case has a lane for slow operations in place of a shared lane.
    status: int = -1  # Status of the judged response; 0 without a response.
    has_news: bool = False  # Whether the response showed new behaviour.
    is_notable: bool = False  # Whether an observer wants the interaction to be kept.
    verdict: Verdict | None = None  # None until it is judged and counts.
    is_looked_at: bool = False  # Whether it was tested for being the first accepted case of its operation.
    is_doubtful: bool = False  # Whether it was sent during an outage.
    answers: tuple[Answered, ...] = ()  # The outcomes of its requests so far, if a check may send more than one.
    is_counted: bool = False
    """Whether this is one of the run's cases, and not a failing example of an earlier run or a second look."""

    def __post_init__(self) -> None:
        # Not a property, because several observers ask each case.
        self.is_counted = self.index < SAVED_INDEX and not self.task.lease.again

    @property
    def before(self) -> tuple[Verdict, ...]:
        """Return the earlier steps of its sequence, as checks see them."""
        chain = self.chain
        return before_in(chain) if chain else ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The sequence as a recipe, with the step of this case last."""
        return (*(shot.made.step for shot in self.chain), self.made.step)

    @property
    def purpose(self) -> Purpose:
        if self.is_counted:
            return Purpose.TEST
        if self.index >= PROBE_INDEX:
            return Purpose.PROBE
        return Purpose.CONFIRM if self.task.lease.again else Purpose.SAVED

    @property
    def again(self) -> ShrinkAgain | None:
        """The finding at which this case is a second look."""
        again = self.task.lease.again
        return again[self.index] if again and self.index < len(again) else None


def given_back(over: Sequence[LeasedTask]) -> TasksEnded:
    """Return the message about finished tasks."""
    return TasksEnded(
        tuple((one.lease.id, one.next_index, one.finished) for one in over), tuple(one.report for one in over)
    )
