"""The result of a run as values, made from the fold of its records. Every format is a function of the report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.graphs import grouped
from checker.core.known import Baseline
from checker.core.phases import FUZZING, phase_names
from checker.core.security import named_ways
from checker.core.terminal import one_line
from checker.corpus.fold import PhaseView, RunCounts, RunView
from checker.corpus.known import Compared, KnownFailures
from checker.corpus.records import (
    AUTHENTICATION,
    CONFIRMED,
    FIXED,
    FLAKY,
    GONE,
    REPLAY_RESULTS,
    UNBROKEN,
    UNREACHED,
    Finding,
    Note,
    OperationError,
    Quarantined,
)
from checker.reporting.described import DescriptionCoverage, covered, operation_coverage, shortfalls
from checker.reporting.findings import cause_of
from checker.reporting.text import MOST_PLACES, counted, cut_list
from checker.reporting.warnings import is_tip, notes_of

ENDLESS = "killed"
"""Outcome of a run on disk without a last record: it was killed, or another process is still working on it."""
GOES_ON = "goes on"  # Outcome of the run of a live page.
UNAVAILABLE = "target unavailable"  # Outcome of a run whose target was unreachable, or went away for good.
INCOMPLETE = "incomplete_report"  # Kind of the note on a report that exceeds its limit.


class PhaseTally(Struct, frozen=True):
    """The operations of a phase by result. Each operation counts once, with its worst result."""

    passed: int = 0
    failed: int = 0
    errored: int = 0
    skipped: int = 0
    known: int = 0  # Operations in which only known failures occurred.
    unchecked: int = 0  # Operations that responded while no check was selected.


class PhaseOutcome(Struct, frozen=True):
    """One line of `Test Phases:`."""

    name: str
    icon: str  # Name of a glyph.
    note: str = ""  # The reason why there is no verdict: `disabled`, `interrupted`.
    tally: PhaseTally = PhaseTally()
    elapsed_s: float = 0.0
    """Seconds spent on the tasks of the phase, divided by the number of workers; 0 if unknown.

    The sum over all phases is at most the time of the run.
    """
    span_s: float = 0.0  # Seconds from its first task to its last. Phases may overlap.
    began_s: float = 0.0  # Seconds since the beginning of the run.

    @property
    def title(self) -> str:
        return self.name.capitalize()


class OperationOutcome(Struct, frozen=True):
    """The outcome of one operation."""

    label: str
    outcome: str  # `passed`, `failed`, `errored`, or `skipped` if no case of it got a response.
    statuses: tuple[tuple[int, int], ...] = ()
    """(status or 0 for no response, count) of requests with the operation's own method, by status."""
    seconds: float = 0.0  # Working time on tasks with this operation alone.
    note: str = ""
    tags: tuple[str, ...] = ()
    is_tested: bool = False  # Whether some phase has tested it.
    refusal: tuple[int, str] = (0, "")
    """(status, text) of the most frequent refusal of valid requests, if none had a 2xx response."""
    probes: int = 0  # Number of cases with other methods, whose responses do not count as responses of the operation.

    @property
    def cases(self) -> int:
        """Return the number of cases that got a response or timed out."""
        return self.own_cases + self.probes

    @property
    def own_cases(self) -> int:
        return sum(count for _, count in self.statuses)

    @property
    def reach(self) -> str:
        """Return the best class of the responses (`2xx`, `3xx`, `4xx`, `5xx`), `no answer` without a response, empty without a case."""
        classes = {status // 100 for status, _ in self.statuses}
        best = min(classes - {0, 1}, default=None)
        return f"{best}xx" if best else "no answer" if classes else ""


class RunTime(Struct, frozen=True):
    """The time of a run."""

    elapsed_s: float
    workers: int
    ledger: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0)  # Seconds of all workers: make, wait, judge, record, idle.

    @property
    def wall_s(self) -> float:
        """Return the seconds that workers existed. For a resumed run this is more than `elapsed_s`."""
        return max(self.elapsed_s, sum(self.ledger) / max(self.workers, 1))


class MergedRun(Struct, frozen=True):
    """One of several runs in a common report."""

    name: str  # The folder, as the user wrote it.
    seed: int
    outcome: str
    cases: int
    failures: int
    fingerprints: frozenset[str] = frozenset()


NEW, NOT_TRIED = "new", "not tried"


class Changes(Struct, frozen=True):
    """The findings of this run and of earlier runs, by their present result."""

    found: Mapping[str, Sequence[tuple[str, str, str]]] = {}
    """`new`, `not tried`, or the result of a replay -> (fingerprint, label, title); empty without an earlier run."""

    @classmethod
    def of(cls, view: RunView, findings: Iterable[Finding]) -> "Changes":
        if view.earlier is None:
            return cls()
        found: dict[str, list[tuple[str, str, str]]] = {name: [] for name in (NEW, *REPLAY_RESULTS, NOT_TRIED)}
        found[NEW] += (
            (one.fingerprint, one.label, one.title) for one in findings if one.fingerprint not in view.earlier
        )
        for name, (label, title) in view.earlier.items():
            replayed, seen = view.replayed.get(name), view.sights.best.get(name)
            result = NOT_TRIED if replayed is None else replayed.result
            if seen is not None and not seen.investigation.withdrawn and result not in (CONFIRMED, FLAKY):
                # Another case of this run showed it.
                result = CONFIRMED if replayed is None else FLAKY
            found[result].append((name, label, title))
        return cls(found)

    @property
    def sentence(self) -> str:
        """Return `3 new, 28 confirmed, 1 fixed since the last run`; empty without an earlier run."""
        counts = ", ".join(f"{len(places)} {name}" for name, places in self.found.items() if places)
        return f"{counts or 'No failures'} since the last run" if self.found else ""

    @property
    def ended(self) -> list[str]:
        """Return lines such as `fixed: GET /rooms: Server error` for the findings that need no more attention."""
        return [f"{name}: {label}: {title}" for name in (FIXED, GONE) for _, label, title in self.found.get(name, ())]


_POINTS, _HOUR_S = 10, 3600.0
_SHOWN_FROM_S = 60.0  # Length of a run from which its curve is printed, in seconds. Programs always get the curve.


class Discovery(Struct, frozen=True):
    """The discoveries of `fuzz` over time. A behaviour is a status of an operation."""

    points: tuple[tuple[float, int, int], ...] = ()
    """(seconds since the start, causes of failures so far, behaviours so far), at equal intervals; empty for `run`."""
    further_s: float = 0.0
    """Seconds of the estimate: an hour, or the time of a shorter run, because the estimate does not reach further."""
    expected: float = 0.0
    """Number of new behaviours expected in `further_s`, by the Good-Turing estimate: a new behaviour is as likely as one that was seen once."""

    @classmethod
    def of(cls, view: RunView, findings: Iterable[Finding], elapsed_s: float) -> "Discovery":
        if view.run is None or view.run.kind != "fuzz" or not view.counts.cases or elapsed_s <= 0:
            return cls()
        causes: dict[str, float] = {}
        for one in findings:
            (at, *_), _ = view.sights.first_seen(one.fingerprint)
            causes[cause_of(one)] = min(at, causes.get(cause_of(one), at))
        first_seen = [at for one in view.operations.values() for at in one.first_seen.values()]
        points = []
        for number in range(1, _POINTS + 1):
            seconds = elapsed_s * number / _POINTS
            until = inf if number == _POINTS else view.run.at + seconds
            found, seen = (sum(at <= until for at in times) for times in (causes.values(), first_seen))
            points.append((round(seconds, 3), found, seen))
        once = sum(count == 1 for one in view.operations.values() for count in one.statuses.values())
        further_s = min(_HOUR_S, elapsed_s)
        return cls(tuple(points), further_s, once * further_s / elapsed_s)

    @property
    def lines(self) -> list[str]:
        if not self.points or self.points[-1][0] < _SHOWN_FROM_S:
            return []
        shown = [self.points[one] for one in (0, 1, 4, 9)]
        curve = ", ".join(f"{causes}/{seen} after {seconds:,.0f} s" for seconds, causes, seen in shown)
        time = "hour" if self.further_s == _HOUR_S else "run of this length"
        return [
            f"Causes of failures/statuses of operations: {curve}",
            f"A further {time} may show about {self.expected:.1f} new statuses.",
        ]


class Report(Struct, frozen=True):
    """The result of a run. All formats and the console are functions of a report."""

    settings: RunSettings
    seed: int
    outcome: str  # `RunFinished.outcome`, or `ENDLESS`, or `GOES_ON`.
    counts: RunCounts
    time: RunTime
    phases: tuple[PhaseOutcome, ...]
    findings: tuple[Finding, ...] = ()
    errors: tuple[OperationError, ...] = ()  # Errors of operations, each once.
    notes: tuple[Note, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    ways_in: str = ""  # The options that set credentials for the API, as text.
    failing_warnings: tuple[str, ...] = ()  # Kinds of warnings that make the run fail.
    operations: tuple[OperationOutcome, ...] = ()
    """The selected operations in document order, then others that records name."""
    compared: Compared = field(default_factory=lambda: Compared(Baseline(), {}))
    coverage: DescriptionCoverage = field(default_factory=DescriptionCoverage)
    runs: tuple[MergedRun, ...] = ()  # The runs of a common report; empty for a single run.
    changes: Changes = Changes()
    discovery: Discovery = Discovery()  # Numbers of causes and behaviours over the time of `fuzz`.
    unchanged_since: str = ""
    """The earlier version of the description, if nothing was tested because nothing has changed since."""

    @property
    def is_dry(self) -> bool:
        return self.settings.is_dry

    @property
    def is_unchecked(self) -> bool:
        return not self.settings.acting_checks

    @property
    def is_complete(self) -> bool:
        """Whether the run ended normally or as requested."""
        return self.outcome not in (ENDLESS, GOES_ON)

    @property
    def failing(self) -> tuple[Finding, ...]:
        """Return the findings that fail the run: those that are not known."""
        return tuple(one for one in self.findings if self.compared.fails(one.fingerprint))

    @property
    def exit_code(self) -> int:
        """Return the exit code of a run with this outcome: 1 for failures, 130 for an interrupt, 2 if it broke or tested nothing."""
        if self.failing or self.errors or self.quarantined:
            return 1
        if self.outcome == "interrupted":
            return 130
        if not self.is_complete or self.outcome == "error" or not (self.counts.cases or self.unchanged_since):
            return 2
        return int(self.falls_short)

    @property
    def falls_short(self) -> bool:
        """Whether warnings or low coverage fail a run that has no failures."""
        return bool(self.failing_warnings or self.coverage.shortfalls)

    @property
    def joined_errors(self) -> tuple[OperationError, ...]:
        """Return the errors for people: one error for each cause."""
        return tuple(joined_errors(self.errors))

    @property
    def error_count(self) -> int:
        """Return the number of distinct errors, including quarantined cases."""
        return len(self.joined_errors) + len(self.quarantined)

    @property
    def tested(self) -> int:
        return sum(one.is_tested for one in self.operations)

    @property
    def succeeded(self) -> int:
        """Return the number of operations that returned 2xx at least once."""
        return sum(one.reach == "2xx" for one in self.operations)

    @property
    def unauthorized(self) -> dict[int, list[str]]:
        """Return 401 or 403 -> labels of operations with hardly any other response."""
        found = grouped(
            (int(note.pointer), note.label) for note in self.notes if note.kind == "missing_auth" and not is_tip(note)
        )
        return dict(sorted(found.items()))

    def seen_in(self, fingerprint: str) -> list[str]:
        """Return the names of the runs that have a failure; empty for a single run."""
        return [one.name for one in self.runs if fingerprint in one.fingerprints]


def joined_errors(errors: Iterable[OperationError]) -> Iterator[OperationError]:
    """Yield each error that is not about one request once, for all operations that it affects; other errors unchanged.

    For an unreachable target and a failed login, the error gives the number of affected operations. Other joined
    errors, such as those of a hook, list the operations.
    """
    alike = grouped(
        ((str(number),) if error.request else (error.title, error.message, error.trace), error)
        for number, error in enumerate(errors)
    )
    for error, *others in alike.values():
        labels = list(dict.fromkeys(one.label for one in (error, *others)))
        if len(labels) == 1:
            yield error
        elif error.title in (UNREACHED, AUTHENTICATION):
            yield replace(error, label=f"{len(labels)} operations")
        else:
            places = cut_list([f"- {one_line(label)}" for label in labels], MOST_PLACES)
            listed = "\n".join([f"In {len(labels)} operations:", *places])
            label = f"{labels[0]} and {counted(len(labels) - 1, 'more operation')}"
            yield replace(error, label=label, message=f"{error.message}\n\n{listed}")


def report_of(view: RunView, settings: RunSettings, outcome: str, elapsed_s: float = 0.0) -> Report:
    """Return the report of a run. `elapsed_s` is used while the run has no last record."""
    if view.finished is not None:
        elapsed_s = view.finished.elapsed_s
    by_name = {
        name: replace(phase, tested=set(phase.tested), failed=set(phase.failed), errored=set(phase.errored))
        for name, phase in view.phases.items()
    }
    # An operation with a quarantined case counts as an error, one that cannot be broken as skipped.
    for case in view.quarantined.values():
        task = view.tasks.get(case.task)
        if task is not None:
            by_name.setdefault(task.phase, PhaseView()).errored.add(case.label)
    skipped = {note.label for note in view.notes.get(UNBROKEN, {}).values()}
    for name in settings.phases if skipped else ():
        by_name.setdefault(name, PhaseView()).skipped |= skipped
    findings = tuple(view.findings.values())
    opened = view.opened
    is_whole = outcome == "completed" and opened is not None and opened.is_whole
    compared = KnownFailures(settings.verdict.baseline).compared(findings, view.statuses, is_whole=is_whole)
    notes, failing_warnings = notes_of(view, settings)
    coverage = covered(
        tuple(
            operation_coverage(label, one.described, one.statuses, one.tried)
            for label, one in ((label, view.of(label)) for label in view.labels)
        )
    )
    # Several phases may record the same error of an operation.
    kept: dict[tuple[str, str, str], OperationError] = {}
    for error in sorted(view.errors.values(), key=lambda e: (e.label, e.title, e.message, e.phase)):
        kept.setdefault((error.label, error.title, error.message), error)
    ledger = view.finished.ledger if view.finished is not None and any(view.finished.ledger) else view.ledger
    return Report(
        settings=settings,
        seed=view.run.seed if view.run else settings.seed,
        outcome=outcome,
        counts=replace(view.counts, selected=opened.selected, total=opened.total) if opened else replace(view.counts),
        time=RunTime(elapsed_s, _workers(settings, view), ledger),
        phases=tuple(_Phases(view, findings, compared, settings, outcome).lines(by_name, settings)),
        findings=findings,
        errors=tuple(kept.values()),
        notes=notes,
        failing_warnings=failing_warnings,
        quarantined=tuple(sorted(view.quarantined.values(), key=lambda q: (q.label, q.index))),
        ways_in=named_ways(opened.ways_in if opened else ()),
        operations=operation_outcomes(view, findings),
        unchanged_since=opened.changed_since if opened and opened.is_unchanged else "",
        coverage=replace(coverage, shortfalls=tuple(shortfalls(coverage, settings.verdict.fail_under))),
        compared=compared,
        changes=Changes.of(view, findings),
        discovery=Discovery.of(view, findings, elapsed_s),
    )


def _workers(settings: RunSettings, view: RunView) -> int:
    processes = settings.processes
    if processes.follows_cluster:
        # On a cluster, the setting is only a limit, far above the number of processors of a small cluster.
        return max(1, min(processes.workers, sum(any(one.ledger) for one in view.incarnations.values())))
    return 1 if processes.inline else processes.workers


def operation_outcomes(view: RunView, findings: Sequence[Finding]) -> tuple[OperationOutcome, ...]:
    """Return the outcome of each operation: first those of the description in its order, then others that records name."""
    failed = {finding.label for finding in findings}
    errored = {error.label for error in view.errors.values()}
    errored |= {case.label for case in view.quarantined.values()}
    skipped = {note.label: note.text for note in view.notes.get(UNBROKEN, {}).values()}
    tested = {label for phase in view.phases.values() for label in phase.tested}
    answered = (label for label, one in view.operations.items() if one.statuses or one.probes)
    labels = dict.fromkeys([*view.labels, *answered, *sorted(failed | errored | tested)])
    found = []
    for label in labels:
        seen = view.of(label)
        statuses, probes = tuple(sorted(seen.statuses.items())), seen.probes.total()
        if label in errored:
            outcome = "errored"
        elif label in failed:
            outcome = "failed"
        else:
            outcome = "passed" if statuses or probes else "skipped"
        found.append(
            OperationOutcome(
                label,
                outcome,
                statuses,
                seen.seconds,
                skipped.get(label, "not tested") if outcome == "skipped" else "",
                () if seen.described is None else seen.described.tags,
                label in tested,
                max(sorted(seen.refusals), key=seen.refusals.__getitem__) if seen.refusals else (0, ""),
                probes,
            )
        )
    return tuple(found)


class _Phases:
    def __init__(
        self, view: RunView, findings: Sequence[Finding], compared: Compared, settings: RunSettings, outcome: str
    ) -> None:
        self._outcome = outcome
        self._began_at = view.run.at if view.run else 0.0
        self._failing: set[tuple[str, str]] = set()
        """(phase or empty for any, label)."""
        self._known: set[tuple[str, str]] = set()
        self._is_unchecked = not settings.acting_checks
        self._workers = _workers(settings, view)
        ended: dict[str, set[str]] = {}
        for task in view.tasks.values():
            ended.setdefault(task.phase, set()).update(task.labels if task.finished else ())
        begun = {label for task in view.tasks.values() for label in task.labels}
        self._whole = frozenset(phase for phase, labels in ended.items() if labels == begun)
        for one in findings:
            places = self._failing if compared.fails(one.fingerprint) else self._known
            places |= {(one.phase, one.label), ("", one.label)}

    def lines(self, phases: dict[str, PhaseView], settings: RunSettings) -> Iterator[PhaseOutcome]:
        """Yield the line of each phase, including disabled ones; `fuzz` has one line."""
        if settings.kind == "fuzz":
            merged = PhaseView()
            for phase in phases.values():
                merged.tested |= phase.tested
                merged.failed |= phase.failed
                merged.errored |= phase.errored
                merged.skipped |= phase.skipped
                merged.began_at = min(merged.began_at, phase.began_at)
                merged.ended_at = max(merged.ended_at, phase.ended_at)
                merged.worked_s += phase.worked_s
            yield self._ran(FUZZING.name, merged)
            return
        for name in phase_names():
            if name in phases or name in settings.phases:
                yield self._ran(name, phases.get(name, PhaseView()), name)
            else:
                yield PhaseOutcome(name, "skip", "disabled")

    def _ran(self, title: str, phase: PhaseView, name: str = "") -> PhaseOutcome:
        """Return the line of a phase that ran. `name` is the name of the phase in findings; empty for all phases."""
        # A failure is recorded in the phase that found it first. It also fails later phases.
        phase = replace(
            phase, failed=phase.failed | phase.failing & {label for _, label in self._failing | self._known}
        )
        errors = phase.errored
        # If a finding was recorded in another phase, it counts here under the empty phase.
        recorded, only_known = self._failing | self._known, self._known - self._failing
        places = ((name if (name, label) in recorded else "", label) for label in phase.failed - errors)
        expected = {label for phase_name, label in places if (phase_name, label) in only_known}
        failures = phase.failed - errors - expected
        passed = phase.tested - failures - errors - expected
        left_out = phase.skipped - passed - failures - errors - expected
        tally = PhaseTally(len(passed), len(failures), len(errors), len(left_out), len(expected))
        if self._is_unchecked:
            tally = replace(tally, passed=0, unchecked=len(passed))
        if errors:
            icon = "error"
        elif failures:
            icon = "failure"
        elif (passed and not self._is_unchecked) or expected:
            icon = "success"
        else:
            icon = "skip"
        is_empty = not (passed or failures or errors or left_out or expected)
        note = "nothing to test" if is_empty else "no checks ran" if tally.unchecked else ""
        began_s = max(0.0, phase.began_at - self._began_at) if phase.span_s else 0.0
        line = PhaseOutcome(title, icon, note, tally, phase.worked_s / self._workers, phase.span_s, began_s)
        if self._outcome in ("interrupted", ENDLESS):
            return replace(line, icon="interrupted", note=self._outcome)
        if self._outcome in ("failure limit", "time limit") and name not in self._whole:
            return replace(line, note=f"{self._outcome} reached")
        if self._outcome == UNAVAILABLE and not phase.tested:
            return replace(line, note="the API could not be reached")
        return line
