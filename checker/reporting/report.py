"""The result of a run, as every report shows it: values only, made from a fold of the records."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.known import Baseline, Compared, KnownFailures
from checker.core.phases import FUZZING, phase_names
from checker.core.security import named_ways
from checker.corpus.fold import PhaseView, RunView
from checker.corpus.records import AUTHENTICATION, UNBROKEN, Finding, Note, OperationError, Quarantined
from checker.reporting.described import DescriptionCoverage, covered, operation_coverage, shortfalls
from checker.reporting.warnings import told_of

ENDLESS = "killed"
"""Outcome of a run that has no end: it was killed, or still goes on."""
UNAVAILABLE = "target unavailable"
"""Outcome of a run that never reached its target."""
INCOMPLETE = "incomplete_report"
"""Kind of the note on a report for which the time of the run did not suffice."""


class PhaseTally(Struct, frozen=True):
    """Operations of one phase by how they ended; an operation counts once, at its worst."""

    passed: int = 0
    failed: int = 0
    errored: int = 0
    skipped: int = 0
    known: int = 0
    """Nothing failed in them but what is known."""
    unchecked: int = 0
    """They were answered, and no check was there to look at that."""


class PhaseOutcome(Struct, frozen=True):
    """One line of `Test Phases:`."""

    name: str
    icon: str
    """Name of a glyph."""
    note: str = ""
    """`disabled`, `interrupted`: why there is no verdict."""
    tally: PhaseTally = PhaseTally()
    elapsed_s: float = 0.0
    """From its first task to its last; 0 if unknown."""
    began_s: float = 0.0
    """Since the run began."""

    @property
    def title(self) -> str:
        """Name as people see it."""
        return self.name.capitalize()


class OperationOutcome(Struct, frozen=True):
    """The outcome of one operation."""

    label: str
    outcome: str
    """`passed`, `failed`, `errored`, or `skipped`: it was selected, and no case of it was answered."""
    statuses: tuple[tuple[int, int], ...] = ()
    """(status or 0 for none, count) of what requests with its own method were answered, by status."""
    seconds: float = 0.0
    """That workers spent on it alone."""
    note: str = ""
    """Why it was skipped."""
    tags: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    """`path id`, `query limit`, `body`."""
    documented: tuple[str, ...] = ()
    """Statuses as the description spells them."""
    is_tested: bool = False
    """Whether it had its turn in some phase, whatever came of it."""
    probes: int = 0
    """Cases with other methods: what was answered to them is no answer of the operation."""

    @property
    def cases(self) -> int:
        """Return the number of cases that got a response or were given up."""
        return self.own_cases + self.probes

    @property
    def own_cases(self) -> int:
        """Return the number of cases with the operation's own method."""
        return sum(count for _, count in self.statuses)

    @property
    def reach(self) -> str:
        """Best class of its answers: `2xx`, then `3xx`, `4xx`, `5xx`; `no answer`; empty when none was tried."""
        classes = {status // 100 for status, _ in self.statuses}
        best = min(classes - {0, 1}, default=None)
        return f"{best}xx" if best else "no answer" if classes else ""


class MergedRun(Struct, frozen=True):
    """One of several runs that a report tells as one."""

    name: str
    """Of its folder, as it was given."""
    seed: int
    outcome: str
    cases: int
    failures: int


class Report(Struct, frozen=True):
    """All that the end of a run is told from."""

    kind: str
    """`run` or `fuzz`."""
    seed: int
    workers: int
    elapsed_s: float
    outcome: str
    """Of `RunFinished`."""
    selected: int
    total: int
    tested: int
    succeeded: int
    """Operations that answered 2xx at least once."""
    cases: int
    requests: int
    failed_cases: int
    phases: tuple[PhaseOutcome, ...]
    findings: tuple[Finding, ...] = ()
    errors: tuple[OperationError, ...] = ()
    notes: tuple[Note, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    inquiries: int = 0
    """Those of the requests that looked into failures."""
    ledger: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)
    """Seconds of all workers: make, wait, judge, record, idle."""
    ways_in: str = ""
    """Options that give credentials to the API, to be shown."""
    unauthorized: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """(401 or 403, labels) of operations that hardly answered anything else."""
    added_lines: tuple[str, ...] = ()
    """Of the summary, by handlers of users."""
    failing_warnings: tuple[str, ...] = ()
    """Kinds of warnings that occurred and make the run fail."""
    operations: tuple[OperationOutcome, ...] = ()
    """Those that were to be tested, in document order."""
    reports: tuple[tuple[str, str], ...] = ()
    """(format, path) of files that were written."""
    compared: Compared = field(default_factory=lambda: Compared(Baseline(), {}))
    """Its failures held against what is known."""
    coverage: DescriptionCoverage = field(default_factory=DescriptionCoverage)
    """What of the description it has met."""
    shortfalls: tuple[str, ...] = ()
    """Which parts of the description it should have met and has not: they make the run fail."""
    runs: tuple[MergedRun, ...] = ()
    """Those that it tells as one; none for a report of a single run."""
    seen_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fingerprint -> names of the runs that have the failure; empty for a report of a single run."""
    is_dry: bool = False
    """Whether nothing was sent: what seems to be answered is made up."""
    is_unchecked: bool = False
    """Whether all checks were switched off: nothing that was answered has passed anything."""
    is_complete: bool = True
    """False of a run that has no end: it goes on, or was killed."""

    @property
    def failing(self) -> tuple[Finding, ...]:
        """Findings that fail the run: those that are not known."""
        return tuple(one for one in self.findings if self.compared.fails(one.fingerprint))

    @property
    def error_count(self) -> int:
        """Distinct errors, quarantined cases included."""
        return len(self.errors) + len(self.quarantined)

    @property
    def wall_s(self) -> float:
        """Seconds that the workers were there; longer than this process lived when it resumed a run."""
        return max(self.elapsed_s, sum(self.ledger) / max(self.workers, 1))


def phase_outcome(
    name: str, phase: PhaseView, known: Iterable[str] = (), *, is_unchecked: bool = False
) -> PhaseOutcome:
    """Line of a phase that ran; an error outweighs a failure, and anything outweighs a skip.

    `known`: labels of those that failed in which nothing fails the run.
    """
    errors = phase.errored
    expected = set(known) - errors
    failures = phase.failed - errors - expected
    passed = phase.tested - failures - errors - expected
    left_out = phase.skipped - passed - failures - errors - expected
    tally = PhaseTally(len(passed), len(failures), len(errors), len(left_out), len(expected))
    if is_unchecked:
        tally = replace(tally, passed=0, unchecked=len(passed))
    if errors:
        icon = "error"
    elif failures:
        icon = "failure"
    elif (passed and not is_unchecked) or expected:
        icon = "success"
    else:
        icon = "skip"
    is_empty = not (passed or failures or errors or left_out or expected)
    note = "nothing to test" if is_empty else "no checks ran" if tally.unchecked else ""
    return PhaseOutcome(name, icon, note, tally)


_NO_TIME = (0.0, 0.0, 0.0, 0.0, 0.0)


def report_of(view: RunView, settings: RunSettings, outcome: str, elapsed_s: float = 0.0) -> Report:
    """Report on a run; `elapsed_s` is used when the run has no last record yet."""
    if view.finished is not None:
        elapsed_s = view.finished.elapsed_s
    by_name = _settled_phases(view, settings)
    findings = tuple(view.findings.values())
    compared = _compared(view, findings, settings, outcome)
    phases = tuple(_Phases(view, findings, compared, settings, outcome).lines(by_name, settings))
    told = told_of(view, settings)
    coverage = _coverage(view)
    return Report(
        kind=settings.kind,
        seed=view.run.seed if view.run else settings.seed,
        workers=1 if settings.processes.inline else settings.processes.workers,
        elapsed_s=elapsed_s,
        outcome=outcome,
        selected=view.opened.selected if view.opened else 0,
        total=view.opened.total if view.opened else 0,
        tested=len(_tested(by_name)),
        succeeded=sum(any(status // 100 == 2 for status in statuses) for statuses in view.statuses.values()),
        cases=view.cases,
        requests=view.requests,
        inquiries=view.inquiries,
        failed_cases=view.failed_cases,
        phases=phases,
        findings=findings,
        errors=_distinct_errors(view),
        notes=told.notes,
        failing_warnings=told.failing,
        quarantined=tuple(sorted(view.quarantined.values(), key=lambda q: (q.label, q.index))),
        ledger=_ledger(view),
        ways_in=named_ways(view.opened.ways_in if view.opened else ()),
        unauthorized=_unauthorized(told.notes),
        operations=operation_outcomes(view, findings),
        is_dry=settings.is_dry,
        is_unchecked=_is_unchecked(settings),
        is_complete=view.finished is not None,
        coverage=coverage,
        shortfalls=tuple(shortfalls(coverage, settings.verdict.fail_under)),
        compared=compared,
    )


def _tested(phases: Mapping[str, PhaseView]) -> set[str]:
    """Labels of operations that had their turn in some phase."""
    return {label for phase in phases.values() for label in phase.tested}


def _is_unchecked(settings: RunSettings) -> bool:
    """Whether no check looks at any answer."""
    return not settings.operations.checks_somewhere()


def _compared(view: RunView, findings: Sequence[Finding], settings: RunSettings, outcome: str) -> Compared:
    opened = view.opened
    is_whole = outcome == "completed" and opened is not None and opened.is_whole
    known = KnownFailures(settings.verdict.baseline)
    return known.compared(findings, view.statuses, is_whole=is_whole)


def _coverage(view: RunView) -> DescriptionCoverage:
    found = []
    for label in view.labels:
        found.append(
            operation_coverage(
                label, view.described.get(label), view.statuses.get(label, {}), view.tried.get(label, {})
            )
        )
    return covered(tuple(found))


def operation_outcomes(view: RunView, findings: Sequence[Finding]) -> tuple[OperationOutcome, ...]:
    """Return the outcome of each operation: the description's in its order, then others that records name."""
    failed = {finding.label for finding in findings}
    errored = {error.label for error in view.errors.values()}
    errored |= {case.label for case in view.quarantined.values()}
    skipped = {note.label: note.text for note in view.notes.get(UNBROKEN, {}).values()}
    tested = _tested(view.phases)
    labels = dict.fromkeys([*view.labels, *view.statuses, *view.probes, *sorted(failed | errored)])
    found = []
    for label in labels:
        statuses = tuple(sorted(view.statuses.get(label, {}).items()))
        probes = view.probes.get(label, Counter()).total()
        if label in errored:
            outcome = "errored"
        elif label in failed:
            outcome = "failed"
        else:
            outcome = "passed" if statuses or probes else "skipped"
        said = view.described.get(label)
        one = OperationOutcome(
            label,
            outcome,
            statuses,
            view.seconds.get(label, 0.0),
            skipped.get(label, "not tested") if outcome == "skipped" else "",
            is_tested=label in tested,
            probes=probes,
        )
        if said is not None:
            one = replace(one, tags=said.tags, parameters=said.parameters, documented=said.statuses)
        found.append(one)
    return tuple(found)


def _unauthorized(notes: Iterable[Note]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """By status: operations that hardly answered anything else."""
    found: dict[int, list[str]] = {}
    for note in notes:
        # What would open them is no operation.
        if note.kind == "missing_auth" and note.label:
            found.setdefault(int(note.pointer), []).append(note.label)
    return tuple((status, tuple(labels)) for status, labels in sorted(found.items()))


def _settled_phases(view: RunView, settings: RunSettings) -> dict[str, PhaseView]:
    """Phases in which an operation with a quarantined case counts as an error."""
    phases = {
        name: replace(phase, tested=set(phase.tested), failed=set(phase.failed), errored=set(phase.errored))
        for name, phase in view.phases.items()
    }
    for case in view.quarantined.values():
        task = view.tasks.get(case.task)
        if task is not None:
            phases.setdefault(task.phase, PhaseView()).errored.add(case.label)
    skipped = {note.label for note in view.notes.get(UNBROKEN, {}).values()}
    for name in settings.phases if skipped else ():
        phases.setdefault(name, PhaseView()).skipped |= skipped
    return phases


def _whole_phases(view: RunView) -> frozenset[str]:
    """Phases that were over for every operation of the run before it ended."""
    ended: dict[str, set[str]] = {}
    for task in view.tasks.values():
        ended.setdefault(task.phase, set()).update(task.labels if task.finished else ())
    begun = {label for task in view.tasks.values() for label in task.labels}
    return frozenset(phase for phase, labels in ended.items() if labels == begun)


class _Phases:
    """Makes the line of each phase."""

    def __init__(
        self, view: RunView, findings: Sequence[Finding], compared: Compared, settings: RunSettings, outcome: str
    ) -> None:
        self._outcome = outcome
        self._began_at = view.run.at if view.run else 0.0
        self._failing: set[tuple[str, str]] = set()
        """(phase or empty for any, label)."""
        self._known: set[tuple[str, str]] = set()
        self._is_unchecked = _is_unchecked(settings)
        self._whole = _whole_phases(view)
        for one in findings:
            places = self._failing if compared.fails(one.fingerprint) else self._known
            places |= {(one.phase, one.label), ("", one.label)}

    def lines(self, phases: dict[str, PhaseView], settings: RunSettings) -> Iterator[PhaseOutcome]:
        """All phases in their order, those that are off included; `fuzz` is one."""
        if settings.kind == "fuzz":
            yield self._ran(FUZZING.name, _merged(phases.values()))
            return
        for name in phase_names():
            if name in phases or name in settings.phases:
                yield self._ran(name, phases.get(name, PhaseView()), name)
            else:
                yield PhaseOutcome(name, "skip", "disabled")

    def _ran(self, title: str, phase: PhaseView, name: str = "") -> PhaseOutcome:
        """`name`: of the phase in findings; empty: any."""
        known = {label for label in phase.failed if self._is_known(name, label)}
        came_to = phase_outcome(title, phase, known, is_unchecked=self._is_unchecked)
        began_s = max(0.0, phase.began_at - self._began_at) if phase.seconds else 0.0
        line = replace(came_to, elapsed_s=phase.seconds, began_s=began_s)
        if self._outcome in ("interrupted", ENDLESS):
            return replace(line, icon="interrupted", note=self._outcome)
        if self._outcome in ("failure limit", "time limit") and name not in self._whole:
            return replace(line, note=f"{self._outcome} reached")
        if self._outcome == UNAVAILABLE and not phase.tested:
            return replace(line, note="the API could not be reached")
        return line

    def _is_known(self, name: str, label: str) -> bool:
        """Whether nothing of what failed there fails the run."""
        if (name, label) not in self._failing | self._known:
            # What is told of another phase, as the first that saw it.
            name = ""
        return (name, label) in self._known - self._failing


def _merged(phases: Iterable[PhaseView]) -> PhaseView:
    """Phases as if they were one."""
    merged = PhaseView()
    for phase in phases:
        merged.tested |= phase.tested
        merged.failed |= phase.failed
        merged.errored |= phase.errored
        merged.skipped |= phase.skipped
        merged.began_at = min(merged.began_at, phase.began_at)
        merged.ended_at = max(merged.ended_at, phase.ended_at)
    return merged


def _distinct_errors(view: RunView) -> tuple[OperationError, ...]:
    """One for each text of an operation: the same error in two phases is one error."""
    kept: dict[tuple[str, str, str], OperationError] = {}
    for error in sorted(view.errors.values(), key=lambda e: (e.label, e.title, e.message, e.phase)):
        kept.setdefault((error.label, error.title, error.message), error)
    return tuple(_one_for_all(kept.values()))


def _one_for_all(errors: Iterable[OperationError]) -> Iterator[OperationError]:
    """A login that fails is one error, whatever number of operations it costs; the others as they are."""
    denied: dict[str, list[OperationError]] = {}
    for error in errors:
        if error.title == AUTHENTICATION:
            denied.setdefault(error.message, []).append(error)
        else:
            yield error
    for alike in denied.values():
        count = len(alike)
        yield alike[0] if count == 1 else replace(alike[0], label=f"{count} operations")


def _ledger(view: RunView) -> tuple[float, float, float, float, float]:
    if view.finished is not None and any(view.finished.ledger):
        return view.finished.ledger
    make, wait, judge, record, idle = view.ledger if view.ledgers else _NO_TIME
    return make, wait, judge, record, idle
