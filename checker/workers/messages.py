"""The control plane: few, one-way, small. Findings are records, never messages."""

from enum import StrEnum

from msgspec import Struct

from checker.core.credentials import Credentials
from checker.core.meta import Step
from checker.core.operation import Label
from checker.core.resource_names import Resource
from checker.corpus.packing import pack, unpack
from checker.corpus.records import Finding
from checker.workers.leaving import Leaving


class Trouble(StrEnum):
    """The reason why a target does not serve."""

    GONE = "gone"
    """Nobody answers."""
    REFUSED = "refused"
    """Everybody is turned away."""


class Death(Struct, frozen=True):
    """An outage of which the request that did it is known."""

    at: float
    """Seconds since the epoch."""
    culprit: Label


class Hold(Struct, frozen=True):
    """The target is in trouble: send nothing of the run, and say so when nothing is in flight."""

    number: int
    """Of the outage, from 1."""


class Examine(Struct, frozen=True):
    """All hold: wait until the target serves, and look among what was sent here for what did it."""

    number: int
    trouble: Trouble
    is_last: bool
    """Whether nobody is left to look after this one: then it tells what happened."""
    doubted: Label | None = None
    """The operation whose refusal raised the question, as long as nobody has seen that others are refused, too."""
    at: float = 0.0
    """When it was noticed, in seconds since the epoch."""
    deaths: tuple[Death, ...] = ()
    """Earlier ones of the run."""


class GoOn(Struct, frozen=True):
    """The outage is over, or as over as it becomes."""

    number: int
    held_back: tuple[Label, ...]
    """Operations of the whole run that wait for its end."""
    serves: bool = True
    """Whether the target serves again: else what it refuses says nothing."""
    is_rate_limited: bool = False
    """Whether an answer with 429 is no sign of an outage: the target counts requests."""
    refuses: Label | None = None
    """The operation that was doubted, where everybody else is served: its refusals are its own."""


class Troubled(Struct, frozen=True):
    """The target has stopped serving: nothing more is sent from here."""

    trouble: Trouble
    doubted: Label | None = None
    """The operation that was refused to a worker which was never served anything: only others know whether that is new."""
    at: float = 0.0
    """When, in seconds since the epoch."""


class Held(Struct, frozen=True):
    """Nothing of this worker is in flight."""

    number: int


class Examined(Struct, frozen=True):
    """The result of one worker's examination of an outage."""

    number: int
    culprit: Label | None
    """The operation whose request did it; None where none of this worker did."""
    trouble: Trouble
    serves: bool
    """Whether the target serves again."""
    is_rate: bool = False
    """Whether the target counts requests, and refuses any with 429 that are too many: no request is guilty of that."""
    is_unfounded: bool = False
    """Whether nothing that was served here is refused: what was doubted may be the operation's own refusal."""


MOST_TIMEOUTS = 3
"""In a row, of one operation: then it is given up."""
EXTRA_INDEX = 1 << 32
"""Indices of cases that extend a sequence start here: they have no place in the task's own numbering."""
LONG_WAIT_S = 0.35
"""From here on an answer is long in coming, whatever the machine does."""


class ShrinkAgain(Struct, frozen=True):
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


class Task(Struct, frozen=True):
    """A piece of one phase over one operation, or over a cluster of operations that share resources."""

    id: str
    phase: str
    """Name of its row in `checker.core.phases`."""
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
    is_slow: bool = False
    """Whether its answers are long in coming: then its requests wait on lanes beside those of other tasks."""
    timeouts: int = 0
    """Time-outs in a row that the lease before ended with."""
    producers: tuple[Label, ...] = ()
    """Operations of a cluster whose answers others need."""
    drawn: int = 0
    """Cases of earlier phases of the run that are drawn, not listed: their number is known before."""
    to_draw: int = 0
    """Those of later phases."""
    again: tuple[ShrinkAgain, ...] = ()
    """Findings that are to become smaller: then they are its cases, and count as none."""
    tries_saved: bool = False
    """Whether failing examples of earlier runs come first."""
    sends_smallest: bool = False
    """Whether the smallest case of each of its operations comes before all others: it is their first task of the run."""
    ends_at_failure: bool = False
    """Whether its first case that fails is its last: then its cases are sent one after the other."""
    left_out: tuple[tuple[str, int], ...] = ()
    """(phase, number of its first case) of what lists left out when a case of theirs failed: it comes first."""
    is_last: bool = False
    """Whether it waited for the end of the run: its operation is one after which the target serves nobody."""


KNOWN_PLACES = 3
"""Of one cause that show it, each made small: whoever mends it needs no more, and there may be one in each operation. Where time is
short, further ones are shown by what was sent alone."""


class Assign(Struct, frozen=True):
    """Work for a worker, in order."""

    tasks: tuple[Task, ...]


class SettledFinding(Struct, frozen=True):
    """The facts about a settled finding for workers that meet more of its kind."""

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
    cause: str = ""
    """What its places have in common, if it shows; empty otherwise."""

    @classmethod
    def of(cls, finding: Finding) -> "SettledFinding":
        """Return the facts about the last version of a finding."""
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
            cause=finding.cause if finding.reproduced else "",
        )


class SettledFindings(Struct, frozen=True):
    """Findings that are settled: the worker need not report or shrink them again."""

    settled: tuple[SettledFinding, ...]


class PeerJournals(Struct, frozen=True):
    """Journals of other incarnations whose values this worker may read (only in `fuzz`)."""

    journals: tuple[str, ...]


class Drain(Struct, frozen=True):
    """Start nothing new; finish what is in flight; leave."""

    shrinks: bool = True
    """Whether what failed may still be made smaller."""
    hasten: bool = False
    """Drop what is in flight, too."""


class Conclude(Struct, frozen=True):
    """All others have left: call `after_run` of class checks with what they kept, then leave."""

    first: int
    """Incarnation of the supervisor that began the run: nothing below belongs to it."""
    only_cleans: bool = False
    """Whether checks have nothing to say, since the run was cut short."""


class FetchCredentials(Struct, frozen=True):
    """An order to fetch these credentials for all workers."""

    source: str
    number: int
    """Of what is to be fetched."""
    key: str = ""
    """Which of those that the source gives."""


Pairs = tuple[tuple[str, str], ...]
"""(name, value)."""


class GivenCredentials(Struct, frozen=True):
    """Fetched credentials, from the worker that fetched them to the supervisor and to all others; never on disk."""

    source: str
    number: int
    """One more than that of what was refused."""
    headers: Pairs = ()
    query: Pairs = ()
    cookies: Pairs = ()
    data: bytes = b""
    """Packed: what the source alone understands."""
    error: str = ""
    """Why there are none."""
    key: str = ""
    """Which of those that the source gives."""

    @property
    def credentials(self) -> Credentials:
        """As a source gives them."""
        data = unpack(self.data, lambda value: value) if self.data else None
        return Credentials(dict(self.headers), dict(self.query), dict(self.cookies), data)

    @classmethod
    def of(cls, order: FetchCredentials, found: Credentials) -> "GivenCredentials":
        """Return fetched credentials as a message. Raises `TypeError` for data that cannot be sent to other workers."""
        return cls(
            order.source,
            order.number,
            tuple(found.headers.items()),
            tuple(found.query.items()),
            tuple(found.cookies.items()),
            b"" if found.data is None else pack(found.data),
            key=order.key,
        )


Down = (
    Assign
    | SettledFindings
    | PeerJournals
    | Drain
    | Conclude
    | FetchCredentials
    | GivenCredentials
    | Hold
    | Examine
    | GoOn
)
"""Supervisor to worker."""


class OperationCard(Struct, frozen=True):
    """The supervisor's knowledge of an operation: enough to schedule it."""

    label: str
    method: str
    resource: Resource = ()
    """The collection that it works on: what is near each other is worked on together."""
    layer: int = 0
    """It needs what operations of lower layers make."""
    is_producer: bool = False
    """Whether others need its answers."""
    begins: bool = False
    """Whether sequences of the stateful phase begin with it."""
    max_examples: tuple[tuple[str, int], ...] = ()
    """(phase, cases or sequences) where they are not as many as those of all operations in all phases; only in `run`."""
    continue_on_failure: bool | None = None
    """Whether it is tested further when it failed; None: as all others."""
    phases: tuple[str, ...] = ()
    """Those of `run` that it takes part in; empty: all of the run."""
    weight: float = 1.0
    """How much of the time of `fuzz` it gets, relative to others; 0: it is left out."""
    is_ending: bool = False
    """Whether it sounds as if it ended sessions, emptied stores or stopped the target: then it comes last."""


class PhaseOrder(Struct, frozen=True):
    """The order in which a phase takes operations."""

    phase: str
    labels: tuple[str, ...]


class Opened(Struct, frozen=True):
    """The worker has the document and can work."""

    incarnation: int
    journal: str
    document: str
    """Digest of the normalised document in the run directory."""
    base_url: str
    operations: tuple[OperationCard, ...]
    """Selected and testable, in document order."""
    concludes: bool = False
    """Whether users' checks have something to say once the run is over."""
    cleans: bool = False
    """Whether what the run has made is to be removed once it is over."""
    works_alone: bool = False
    """Whether one of them needs all cases in one worker."""
    unreachable: str = ""
    """Why no request can arrive anywhere, in one sentence; only the first worker of a run looks."""
    orders: tuple[PhaseOrder, ...] = ()
    """Of phases whose order users say."""
    auth_needs: tuple[tuple[str, str], ...] = ()
    """(operation, security scheme) where the description declares none; only the first worker of a run looks."""


class OperationReport(Struct, frozen=True):
    """The result of one operation of a cluster in one lease."""

    label: str
    cases: int
    """That were answered, or given up."""
    is_refused: bool
    """Whether all answers were the same refusal, and none showed anything new."""
    is_dead: bool
    """Whether no case could be made of it, or judged."""


class LeaseReport(Struct, frozen=True):
    """The result of one lease."""

    requests: int = 0
    """That were answered or given up, those that look into failures included."""
    long: int = 0
    """How many waited for `LONG_WAIT_S` or more."""
    timeouts: int = 0
    """In a row, at its end."""
    operations: tuple[OperationReport, ...] = ()
    """Of a cluster, each."""
    ended_at_failure: bool = False
    """Whether a case failed that was its last for that."""
    redo: tuple[int, ...] = ()
    """Those of the indices below its start that are still to be made again."""


class TaskDeferred(Struct, frozen=True):
    """This task turned out to be slow: nothing of it is begun, and there is time for another one."""

    task: str


class TasksEnded(Struct, frozen=True):
    """These tasks are over (or their slice is); the journal says how far each came."""

    tasks: tuple[tuple[str, int, bool], ...]
    """(task id, next index, finished)."""
    reports: tuple[LeaseReport, ...]
    """Of each of them, since it was leased."""


class FindingsWritten(Struct, frozen=True):
    """A hint that the journal holds new findings: read it now. Carries none of them."""

    count: int


class WantedCredentials(Struct, frozen=True):
    """Work stands still until there are newer ones."""

    source: str
    refused: int
    """Number of those that do not count any more; 0 when there were none."""
    key: str = ""
    """Which of those that the source gives."""


Up = (
    Opened
    | TasksEnded
    | TaskDeferred
    | FindingsWritten
    | WantedCredentials
    | GivenCredentials
    | Troubled
    | Held
    | Examined
    | Leaving
)
"""Worker to supervisor."""
