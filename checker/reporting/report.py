"""What a run came to, as every report shows it: values only, made from a fold of the records."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.known import Baseline, Compared
from checker.corpus.fold import PhaseView
from checker.corpus.records import Finding, Note, OperationError, Quarantined
from checker.reporting.described import DescriptionCoverage

ENDLESS = "killed"
"""Outcome of a run that has no end: it was killed, or still goes on."""
UNAVAILABLE = "target unavailable"
"""Outcome of a run whose target nobody reached."""
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
    """From its first task to its last; 0 when nobody knows."""
    began_s: float = 0.0
    """Since the run began."""

    @property
    def title(self) -> str:
        """Name as people see it."""
        return self.name.capitalize()


class OperationOutcome(Struct, frozen=True):
    """What came of one operation."""

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
        """That were answered or given up."""
        return self.own_cases + self.probes

    @property
    def own_cases(self) -> int:
        """Those with its own method."""
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
