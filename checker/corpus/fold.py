"""The state of a run as a fold of its records, for display and resumption. Pure: no files, no clock.

Records of one incarnation arrive in order, those of several incarnations in any interleaving. The view must not depend on
the interleaving.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from math import inf
from sys import intern
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from checker.core.constraints import Constraint
from checker.core.failures import Severity
from checker.core.security import UNAUTHORIZED
from checker.corpus.needs import ResourceHistory, needed_by
from checker.corpus.records import (
    DemandHeard,
    Finding,
    FindingReplayed,
    Note,
    OpenFindings,
    OperationDescribed,
    OperationError,
    OperationsSelected,
    Quarantined,
    Record,
    RefusalCounted,
    ResourceMade,
    RunFinished,
    RunStarted,
    SchemaOpened,
    TaskProgress,
    WorkerGone,
)

Rank = tuple[bool, int, float, int, int]
"""(not withdrawn, stage, time, incarnation, ordinal) of a version of a finding. A version that one worker withdrew never hides a version that another worker confirmed.
"""
FirstSeen = tuple[float, int, int]  # Time, incarnation, ordinal.


class _Sight(Struct):
    best: Finding
    rank: Rank
    first: FirstSeen
    last_at: float = 0.0  # Time of the last version that was not withdrawn.


class Sights(Struct):
    """The best version of each finding, grouped by defect. A record updates only the findings of its own defect."""

    # Readers get a list of changes, because comparing all findings at every turn of the supervisor took 29 % of the CPU
    # time of a run with 990 findings: 9.3 ms per turn instead of 0.16 ms.
    changes: list[str] = field(default_factory=list)
    """Fingerprints with a new version, or with a change of whether reports show them, in the order of the records.

    A reader remembers the number of entries that it has read and continues from there.
    """
    _sights: dict[str, _Sight] = field(default_factory=dict)
    _defects: dict[str, str] = field(default_factory=dict)
    """Fingerprint -> the defect: the fingerprint at the end of its chain of `same_as`."""
    _members: dict[str, set[str]] = field(default_factory=dict)  # The reverse of `_defects`.
    _shown: dict[str, str] = field(default_factory=dict)  # Defect -> the fingerprint under which reports show it.

    @property
    def best(self) -> Mapping[str, Finding]:
        """Fingerprint -> best version of every finding."""
        return {name: sight.best for name, sight in self._sights.items()}

    @property
    def shown(self) -> Collection[str]:
        """Return the fingerprints that reports show, one for each defect."""
        return self._shown.values()

    def version(self, name: str) -> Finding:
        return self._sights[name].best

    def is_shown(self, name: str) -> bool:
        return self._shown.get(self._defects[name]) == name

    def first_seen(self, name: str) -> tuple[FirstSeen, str]:
        """Return the sort key of findings."""
        return self._sights[name].first, name

    def last_seen_at(self, name: str) -> float:
        """Return the time of the last version of a finding that was not withdrawn; 0 if all were."""
        return self._sights[name].last_at

    def absorb(self, record: Finding, rank: Rank, first: FirstSeen) -> None:
        name = record.fingerprint
        known = self._sights.get(name)
        if known is None:
            known = self._sights[name] = _Sight(record, rank, first)
            self._sort(name)
        else:
            before = known.first, known.best.same_as, known.best.investigation.withdrawn
            known.first = min(known.first, first)
            # Records of several incarnations arrive in any interleaving, so the rank decides and not the order of arrival.
            if rank > known.rank:
                known.best, known.rank = record, rank
            if (known.first, known.best.same_as, known.best.investigation.withdrawn) != before:
                self._sort(name)
        if not record.investigation.withdrawn:
            known.last_at = max(known.last_at, record.at)
        self.changes.append(name)

    def _sort(self, name: str) -> None:
        """Recompute the defects of a finding and of the findings that had the same defect, because they may refer to it."""
        before = self._defects.get(name, name)
        defects = {before}
        # Only one defect is recomputed: the supervisor folds each record, and a run may have thousands of findings.
        for one in {name, *self._members.pop(before, ())}:
            defect = self._defects[one] = self._end(one)
            self._members.setdefault(defect, set()).add(one)
            defects.add(defect)
        for defect in defects:
            known = self._sights.get(defect)
            if known is not None and not (known.best.investigation.withdrawn or known.best.same_as):
                teller: str | None = defect
            else:
                # The last finding of the chain is missing or withdrawn, for example because its worker died, or two
                # findings refer to each other.
                names = self._members.get(defect, ())
                teller = min(
                    (one for one in names if not self._sights[one].best.investigation.withdrawn),
                    key=self.first_seen,
                    default=None,
                )
            was, is_now = self._shown.pop(defect, None), teller
            if is_now is not None:
                self._shown[defect] = is_now
            if was != is_now:
                self.changes += [one for one in (was, is_now) if one not in (None, name)]

    def _end(self, name: str) -> str:
        """Return the end of a finding's chain of `same_as`; of a cycle, its least member."""
        way: dict[str, None] = {}
        while name not in way:
            way[name] = None
            known = self._sights.get(name)
            if known is None or not known.best.same_as:
                return name
            name = known.best.same_as
        # Two workers may each decide that their finding is the same as the other's. Without a common end, reports
        # showed neither of the two.
        circle = list(way)
        return min(circle[circle.index(name) :])


UNDECLARED_AUTH = "undeclared_auth"
"""Kind of notes about operations that need credentials without declaring it. The pointer names the scheme."""
_STAGES = {"found": 0, "minimised": 1}
_STREAK = 10  # Number of responses, all of them 405, after which an operation counts as not offered.

Said = TypeVar("Said", SchemaOpened, OperationDescribed)


class PhaseView(Struct):
    """The progress of a phase. Sets contain labels."""

    tested: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)  # Operations with a failure that was first found in this phase.
    failing: set[str] = field(default_factory=set)
    """Operations with cases that failed a check, whether the failures are new or known. Only tasks with one operation count."""
    errored: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    began_at: float = inf  # Start of its first task, in seconds since the epoch; infinite if unknown.
    ended_at: float = 0.0  # Time of the last record of its tasks, in seconds since the epoch.

    worked_s: float = 0.0
    """Seconds that workers spent on its tasks. Phases may overlap, and these seconds add up to the run."""

    @property
    def span_s(self) -> float:
        """Return the time from its first task to its last; 0 if that is unknown."""
        return max(0.0, self.ended_at - self.began_at) if self.ended_at else 0.0


class TaskView(Struct):
    """The progress of a task."""

    phase: str
    labels: tuple[str, ...]
    next_index: int = 0
    finished: bool = False
    cases: int = 0
    failed_cases: int = 0


class LostAccess(Struct):
    """Responses of a target that has stopped serving requests."""

    since: float = inf  # Time of the first such record, in seconds since the epoch; infinite if there is none.
    until: float = 0.0
    others_until: float = 0.0
    """Time of the last record with responses of a serving target, in seconds since the epoch."""
    requests: int = 0
    statuses: dict[str, Counter[int]] = field(default_factory=dict)  # Label -> status (0: no response) -> count.

    @property
    def is_final(self) -> bool:
        """Whether the target served no request until the end."""
        return 0.0 < self.until >= self.others_until

    def absorb(self, record: TaskProgress) -> None:
        if not record.turned_away:
            if record.statuses:
                self.others_until = max(self.others_until, record.at)
            return
        self.since, self.until = min(self.since, record.at), max(self.until, record.at)
        self.requests += record.requests
        for label, status, count in record.turned_away:
            self.statuses.setdefault(label, Counter())[status] += count


class RunCounts(Struct):
    """The counts of a run."""

    selected: int = 0
    total: int = 0
    cases: int = 0
    requests: int = 0
    inquiries: int = 0  # Requests that investigated failures; `requests` includes them.
    failed_cases: int = 0


class OperationView(Struct):
    """The responses of one operation."""

    described: OperationDescribed | None = None  # None until a worker has compiled it.
    statuses: Counter[int] = field(default_factory=Counter)
    """Status (0: no response) -> count, of requests with the operation's own method."""
    wrong: Counter[int] = field(default_factory=Counter)
    """The part of `statuses` for cases that are meant to be refused."""
    first_seen: dict[int, float] = field(default_factory=dict)
    """Status -> time of the first record, in seconds since the epoch; 0 if unknown."""
    probes: Counter[int] = field(default_factory=Counter)  # Like `statuses`, of cases with other methods.
    tried: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """(place, keyword that is broken there or `edge`, class of the status or 0) -> count."""
    refusals: Counter[tuple[int, str]] = field(default_factory=Counter)
    """(status, text) -> approximate number of valid requests that were refused with it."""
    seconds: float = 0.0  # Working time, in seconds, of tasks that contain only this operation.

    @property
    def positive_statuses(self) -> Counter[int]:
        """Return status -> count of the responses to cases that are meant to be accepted."""
        return self.statuses - self.wrong


class IncarnationView(Struct):
    """The work of one incarnation of a worker."""

    records: int = 0
    requests: int = 0
    ledger: list[float] = field(default_factory=lambda: [0.0] * 5)  # Seconds of make, wait, judge, record, idle.


class RunView(Struct):
    """The state of a run, folded from its records."""

    run: RunStarted | None = None
    opened: SchemaOpened | None = None
    finished: RunFinished | None = None
    errors: dict[tuple[str, str, str, str], OperationError] = field(default_factory=dict)
    """By (label, phase, title, message)."""
    notes: dict[str, dict[tuple[str, str, str], Note]] = field(default_factory=dict)
    """By kind, then by (label, pointer, text)."""
    quarantined: dict[tuple[str, int], Quarantined] = field(default_factory=dict)  # Keyed by (task, index).
    phases: defaultdict[str, PhaseView] = field(default_factory=lambda: defaultdict(PhaseView))
    tasks: dict[str, TaskView] = field(default_factory=dict)
    _labels: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)  # Labels of tasks, each kept once.
    gone: dict[int, str] = field(default_factory=dict)  # Incarnation -> reason.
    counts: RunCounts = field(default_factory=RunCounts)
    operations: defaultdict[str, OperationView] = field(default_factory=lambda: defaultdict(OperationView))
    """By label: every operation that a record names."""
    lost_access: LostAccess = field(default_factory=LostAccess)
    labels: dict[str, None] = field(default_factory=dict)  # Operations that the run is to test, in document order.
    demands: dict[tuple[str, Constraint], DemandHeard] = field(default_factory=dict)
    """Demands of the target beyond the description, including refuted ones."""
    resources: ResourceHistory = field(default_factory=ResourceHistory)
    incarnations: defaultdict[int, IncarnationView] = field(default_factory=lambda: defaultdict(IncarnationView))
    sights: Sights = field(default_factory=Sights)
    earlier: dict[str, tuple[str, str]] | None = None
    """Fingerprint -> (label, title) of findings of earlier runs; None if there was no earlier run, or if the run ignores them."""
    replayed: dict[str, FindingReplayed] = field(default_factory=dict)
    """Fingerprint -> last replay of a finding of earlier runs."""

    def of(self, label: str) -> OperationView:
        """Return the view of an operation, empty for one that no record names."""
        return self.operations.get(label) or OperationView()

    @property
    def statuses(self) -> dict[str, Counter[int]]:
        """Return label -> status (0: no response) -> count, of operations with requests of their own method."""
        return {label: one.statuses for label, one in self.operations.items() if one.statuses}

    @property
    def findings(self) -> dict[str, Finding]:
        """Fingerprint -> best version, in the order in which the findings were first seen.

        Without findings that turned out to be the same defect as another.
        """
        names = sorted(self.sights.shown, key=self.sights.first_seen)
        return {name: self._with_needs(self.sights.version(name)) for name in names}

    @property
    def settled(self) -> dict[str, Finding]:
        """Fingerprint -> last version of every finding whose investigation has ended, duplicates of a defect included."""
        return {name: one for name, one in self.sights.best.items() if one.investigation.stage == "minimised"}

    def grave_failures(self, phase: str) -> dict[str, frozenset[str]]:
        """Return operation -> fingerprints of the grave failures that were found in phases other than this one."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for one in self.sights.best.values():
            if one.phase != phase and Severity(one.severity).is_grave:
                found[one.label].add(one.fingerprint)
        return {label: frozenset(names) for label, names in found.items()}

    @property
    def ledger(self) -> tuple[float, ...]:
        """Return the seconds of make, wait, judge, record, idle over all workers."""
        return tuple(map(sum, zip(*(one.ledger for one in self.incarnations.values()), strict=True))) or (0.0,) * 5

    def is_never_allowed(self, label: str) -> bool:
        """Whether an operation had enough responses, all of them 405, and its description does not document 405."""
        if any(known == label for known, *_ in self.notes.get("method_not_allowed", ())):
            # An earlier run saw the same responses, and this run has confirmed them.
            return True
        view = self.operations.get(label)
        if view is None or 405 not in view.statuses:
            return False
        statuses, described = view.positive_statuses, view.described
        documented = () if described is None else described.statuses
        is_documented = any(status.upper() in ("405", "4XX", "DEFAULT") for status in documented)
        return set(statuses) == {405} and statuses[405] >= _STREAK and not is_documented

    def undeclared_needs(self) -> dict[str, str]:
        """Return label -> security scheme (empty if none is known to work) of operations that refuse every caller and declare no scheme."""
        found = {
            label: ""
            for label, one in self.operations.items()
            if one.described is not None
            and not one.described.needs_credentials
            and (statuses := one.positive_statuses)
            and set(statuses) <= UNAUTHORIZED
        }
        return found | {label: scheme for label, scheme, _ in self.notes.get(UNDECLARED_AUTH, ())}

    def finding_count(self) -> int:
        return len(self.sights.shown)

    def _with_needs(self, finding: Finding) -> Finding:
        needs = needed_by(finding, self.resources)
        return replace(finding, needs=needs) if needs else finding

    def absorb(self, incarnation: int, record: Record) -> None:
        worker = self.incarnations[incarnation]
        worker.records += 1
        # Each kind of record is merged by an operation that gives the same result in any order: sum, union, minimum or
        # maximum. If the last record won, the console and a restart that reads the same files could show different states.
        match record:
            case TaskProgress():
                self._absorb_progress(worker, record)
            case Finding():
                # The ordinal within the incarnation breaks ties of time, so that the order of arrival never decides.
                stage = _STAGES.get(record.investigation.stage, 0)
                rank = (not record.investigation.withdrawn, stage, record.at, incarnation, worker.records)
                self.sights.absorb(record, rank, (record.at, incarnation, worker.records))
                if record.phase:
                    # A finding without a phase belongs to the run as a whole.
                    phase = self.phases[record.phase]
                    phase.tested.add(record.label)
                    # A failure that needs repetitions is withdrawn from its first version on, so nothing is undone here.
                    if not record.investigation.withdrawn:
                        phase.failed.add(record.label)
            case OpenFindings():
                found_before = {name: (label, title) for name, label, title in record.findings}
                self.earlier = (self.earlier or {}) | found_before
            case FindingReplayed():
                known_replay = self.replayed.get(record.fingerprint, record)
                self.replayed[record.fingerprint] = max(known_replay, record, key=lambda one: (one.at, one.result))
            case ResourceMade():
                self.resources.absorb(record)
            case OperationError():
                self._absorb_error(record)
            case Note():
                found = self.notes.setdefault(record.kind, {})
                found[record.label, record.pointer, record.text] = record
            case Quarantined():
                known = self.quarantined.get((record.task, record.index))
                if known is None or record.strikes >= known.strikes:
                    self.quarantined[record.task, record.index] = record
            case OperationsSelected():
                self.labels |= dict.fromkeys(record.labels)
            case OperationDescribed():
                operation = self.operations[record.label]
                operation.described = _least(operation.described, record)
            case _:
                self._absorb_life(record)

    def forget_finished(self, name: str) -> None:
        """Drop a finished task, because no further record refers to it. Readers use this in a long run with many thousands of tasks."""
        task = self.tasks.get(name)
        if task is not None and task.finished:
            del self.tasks[name]

    def _absorb_life(self, record: Record) -> None:
        match record:
            case RunStarted():
                # A resumed run has several of these records. The first one has the start of the run.
                self.run = record if self.run is None or record.at < self.run.at else self.run
            case SchemaOpened():
                self.opened = _least(self.opened, record)
            case WorkerGone():
                self.gone[record.incarnation] = record.reason
            case RunFinished():
                self.finished = record
            case RefusalCounted():
                counts = self.operations[record.label].refusals
                # The records contain cumulative counts, so the greatest is the latest.
                counts[record.status, record.text] = max(counts[record.status, record.text], record.count)
            case DemandHeard():
                heard = self.demands.get((record.label, record.demand))
                if heard is None or record.is_refuted > heard.is_refuted:
                    self.demands[record.label, record.demand] = record
            case _:
                pass  # Values, signals and entries feed workers, not this view.

    def _absorb_progress(self, worker: IncarnationView, record: TaskProgress) -> None:
        self.counts.requests += record.requests
        worker.requests += record.requests
        if not record.task:
            # These requests appear only in the slots of a dead worker and belong to no task.
            return
        task = self.tasks.get(record.task)
        if task is None:
            # A night has one task for every seven requests. With its own tuple of labels, each took 330 bytes.
            labels = self._labels.setdefault(record.labels, record.labels)
            task = self.tasks[record.task] = TaskView(intern(record.phase), labels)
        # A task that was leased again has records of several incarnations, in any interleaving.
        task.next_index = max(task.next_index, record.next_index)
        task.finished |= record.finished
        task.cases += record.cases
        task.failed_cases += record.failed_cases
        self.counts.cases += record.cases
        self.counts.inquiries += record.inquiries
        self.counts.failed_cases += record.failed_cases
        phase = self.phases[record.phase]
        worked_s = sum(record.ledger[:4])
        phase.worked_s += worked_s
        if record.failed_cases and len(record.labels) == 1:
            phase.failing.update(record.labels)
        if record.at:
            # The idle seconds of the ledger are left out, because most of them passed before this task began.
            phase.began_at = min(phase.began_at, record.at - worked_s)
            phase.ended_at = max(phase.ended_at, record.at)
        self.lost_access.absorb(record)
        tested = phase.tested
        answered = bool(record.statuses or record.probes)
        if not answered and record.cases >= len(record.labels):
            # Only a record that the supervisor wrote for a dead worker has cases without statuses. The operations were
            # tested anyway.
            tested.update(record.labels)
        for label, status, count in record.statuses:
            # A status with a count of zero would mark the operation as tested, and would count as a 2xx.
            if not count:
                continue
            operation = self.operations[label]
            operation.statuses[status] += count
            operation.first_seen[status] = min(operation.first_seen.get(status, inf), record.at)
            tested.add(label)
        for label, status, count in record.probes:
            self.operations[label].probes[status] += count
            tested.add(label)
        for label, status, count in record.wrong:
            self.operations[label].wrong[status] += count
        for label, place, what, status, count in record.tried:
            self.operations[label].tried[place, what, status] += count
        if len(record.labels) == 1:
            self.operations[record.labels[0]].seconds += worked_s
        for column, seconds in enumerate(record.ledger):
            worker.ledger[column] += seconds

    def _absorb_error(self, record: OperationError) -> None:
        key = (record.label, record.phase, record.title, record.message)
        known = self.errors.get(key)
        self.errors[key] = (
            record
            if known is None
            else min(known, record, key=lambda one: (one.trace, one.request, repr(one.components)))
        )
        if record.phase:
            self.phases[record.phase].errored.add(record.label)


def fold(records: Iterable[tuple[int, Record]]) -> RunView:
    """Return the view of (incarnation, record) pairs."""
    view = RunView()
    for incarnation, record in records:
        view.absorb(incarnation, record)
    return view


def _least(one: Said | None, other: Said) -> Said:
    """Return the lesser record. Workers that open the same document write equal records; if they differ, the order of arrival must not decide."""
    return other if one is None else min(one, other, key=astuple)
