"""The control plane: few, one-way, small. Findings are records, never messages."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of one phase over one operation, or over a cluster of operations that share resources."""

    id: str
    phase: str
    """`fuzzing` (bounded) or `exploration` (endless)."""
    labels: tuple[str, ...]
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


@dataclass(frozen=True, slots=True)
class Assign:
    """Work for a worker, in order."""

    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """Fingerprints that are settled: the worker need not report or shrink them again."""

    fingerprints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Peers:
    """Journals of other incarnations whose values this worker may read (only in `fuzz`)."""

    journals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drain:
    """Start nothing new; finish what is in flight; leave."""

    hasten: bool = False
    """Drop what is in flight, too."""


Down = Assign | Known | Peers | Drain
"""Supervisor to worker."""


@dataclass(frozen=True, slots=True)
class OperationCard:
    """What the supervisor knows of an operation: enough to schedule it."""

    label: str
    method: str
    path: str


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


@dataclass(frozen=True, slots=True)
class Idle:
    """These tasks are over (or their slice is); the journal says how far each came."""

    tasks: tuple[tuple[str, int, bool], ...]
    """(task id, next index, finished)."""
    waited_s: float
    """Seconds until their cases were answered, in sum: what the API took, without what we did with the answers."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hint that the journal holds new findings: read it now. Carries none of them."""

    count: int


@dataclass(frozen=True, slots=True)
class Leaving:
    """The last word of a worker that ends by itself."""

    reason: str
    """`drained`, `memory`, `cannot open: ...` (details on further lines), `usage: ...`, `cannot start: ...`, `disk: ...`, `bug: ...`."""
    exit_code: int
    """2 when the run must end with it."""


Up = Opened | Idle | Found | Leaving
"""Worker to supervisor."""
