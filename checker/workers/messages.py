"""The control plane: few, one-way, small. Findings are records, never messages."""

from dataclasses import dataclass

from checker.core.operation import Label
from checker.core.sequence import Step
from checker.corpus.records import Finding

CONCLUDED = "concluded"
"""Why a worker left that had nothing to do but to conclude the run."""

LONG_WAIT_S = 0.35
"""From here on an answer is long in coming, whatever the machine does."""


@dataclass(frozen=True, slots=True)
class Again:
    """A finding that may become smaller."""

    fingerprint: str
    step: Step
    """The smallest case so far."""
    task: str
    index: int
    """Of the case that showed it first."""
    requests: int
    """That went into it so far."""
    allowed: int
    """That may go into it now."""


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of one phase over one operation, or over a cluster of operations that share resources."""

    id: str
    phase: str
    """`fuzzing` (bounded) or `exploration` (endless)."""
    labels: tuple[Label, ...]
    """Case `index` is of operation `labels[index % len(labels)]`."""
    seed: int
    start: int
    """First index to make."""
    stop: int
    """One past the last index."""
    slice_s: float
    """Seconds after which no further case is started; the rest is leased again."""
    skipped: tuple[int, ...] = ()
    """Quarantined indices."""
    redo: tuple[int, ...] = ()
    """Indices below `start` that were in flight when their worker died."""
    patience_s: float | None = None
    """Seconds after which a request is given up, without blame; None leaves it the time that the settings give."""
    again: tuple[Again, ...] = ()
    """Findings that are to become smaller: then they are its cases, and count as none."""
    makes_ahead: bool = True
    """Whether a case may be made while another one is awaited. It is sent then, even when the slice is over."""


@dataclass(frozen=True, slots=True)
class Assign:
    """Work for a worker, in order."""

    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """What has to be known of a settled finding by whoever finds more of its kind."""

    fingerprint: str
    label: str
    check: str
    rule: str
    text: str
    """Template of its error texts."""
    case: str
    index: int
    same_as: str
    requests: int
    """That went into it."""

    @classmethod
    def of(cls, finding: Finding) -> "Settled":
        """What counts of the last version of a finding."""
        return cls(
            fingerprint=finding.fingerprint,
            label=finding.label,
            check=finding.check,
            rule=finding.unique_key,
            text=finding.text,
            case=finding.case,
            index=finding.index,
            same_as=finding.same_as,
            requests=finding.requests,
        )


@dataclass(frozen=True, slots=True)
class Known:
    """Findings that are settled: the worker need not report or shrink them again."""

    settled: tuple[Settled, ...]


@dataclass(frozen=True, slots=True)
class Peers:
    """Journals of other incarnations whose values this worker may read (only in `fuzz`)."""

    journals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drain:
    """Start nothing new; finish what is in flight; leave."""

    hasten: bool = False
    """Drop what is in flight, too."""


@dataclass(frozen=True, slots=True)
class Conclude:
    """All others have left: call `after_run` of class checks with what they kept, then leave."""

    first: int
    """Incarnation of the supervisor that began the run: nothing below belongs to it."""


@dataclass(frozen=True, slots=True)
class FetchCredentials:
    """Fetch these for everybody."""

    source: str
    number: int
    """Of what is to be fetched."""


Pairs = tuple[tuple[str, str], ...]
"""(name, value)."""


@dataclass(frozen=True, slots=True)
class GivenCredentials:
    """What a source gave, from whoever fetched it to the supervisor and from there to all; of pipes, never of disk."""

    source: str
    number: int
    """One more than that of what was refused."""
    headers: Pairs = ()
    query: Pairs = ()
    cookies: Pairs = ()
    error: str = ""
    """Why there are none."""


Down = Assign | Known | Peers | Drain | Conclude | FetchCredentials | GivenCredentials
"""Supervisor to worker."""


@dataclass(frozen=True, slots=True)
class OperationCard:
    """What the supervisor knows of an operation: enough to schedule it."""

    label: str
    method: str
    resource_path: str
    """Where it stands among the resources: what is near each other is worked on together."""
    max_examples: int | None = None
    """Cases in `run`; None: as many as of all others."""
    continue_on_failure: bool | None = None
    """Whether `fuzz` goes on when it fails; None: as for all others."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The worker has the document and can work."""

    incarnation: int
    journal: str
    document: str
    """Digest of the normalised document in the run directory."""
    base_url: str
    operations: tuple[OperationCard, ...]
    """Selected and testable, in document order."""
    preloaded: bool
    """Whether the fork server had the worker's modules."""
    concludes: bool = False
    """Whether users' checks have something to say once the run is over."""
    works_alone: bool = False
    """Whether one of them needs all cases in one worker."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long requests of a task waited for their answers: what the API took, without what we did with them."""

    requests: int = 0
    """Those that looked into its failures included."""
    short_s: float = 0.0
    """Seconds in sum, without the long ones."""
    long: int = 0
    """How many waited for `LONG_WAIT_S` or more: a single one may be an accident."""
    long_s: float = 0.0
    """Seconds of these in sum."""

    def __add__(self, other: "Waits") -> "Waits":
        return Waits(
            self.requests + other.requests,
            self.short_s + other.short_s,
            self.long + other.long,
            self.long_s + other.long_s,
        )


@dataclass(frozen=True, slots=True)
class Idle:
    """These tasks are over (or their slice is); the journal says how far each came."""

    tasks: tuple[tuple[str, int, bool], ...]
    """(task id, next index, finished)."""
    waits: tuple[Waits, ...]
    """Of each of them, since it was leased."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hint that the journal holds new findings: read it now. Carries none of them."""

    count: int


@dataclass(frozen=True, slots=True)
class WantedCredentials:
    """Work stands still until there are newer ones."""

    source: str
    refused: int
    """Number of those that do not count any more; 0 when there were none."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """The last word of a worker that ends by itself."""

    reason: str
    """`drained`, `memory`, `cannot open: ...` (details on further lines), `usage: ...`, `cannot start: ...`, `disk: ...`, `bug: ...`."""
    exit_code: int
    """2 when the run must end with it."""


Up = Opened | Idle | Found | WantedCredentials | GivenCredentials | Leaving
"""Worker to supervisor."""
