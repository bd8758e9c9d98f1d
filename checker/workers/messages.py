"""The messages between the supervisor and its workers: few and small. Findings are records and never messages."""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from checker.core.credentials import Credentials
from checker.core.errors import LoaderErrorKind
from checker.core.meta import Step
from checker.core.operation import Label
from checker.core.resource_names import Resource
from checker.corpus.codec import pack
from checker.corpus.records import (
    CaseFared,
    DemandHeard,
    Finding,
    OperationProbed,
    OperationServed,
    PartsCounted,
    ResourceChanged,
    ValueGone,
    ValueSeen,
)


class LeavingKind(StrEnum):
    """The reason why a worker ends by itself."""

    DRAINED = "drained"  # The supervisor ordered it.
    MEMORY = "memory"  # The memory of the worker has grown too far. Another worker takes its place.
    CONCLUDED = "concluded"  # The class checks have reported about the whole run.
    ORPHANED = "the supervisor is gone"
    CANNOT_OPEN = "cannot open"  # The description cannot be read.
    USAGE = "usage"  # The settings leave nothing to test.
    CANNOT_START = "cannot start"
    LIMIT = "stopped by the system"
    """A limit of the system stopped it. Another worker may succeed, because this one's memory and files are free again."""
    DISK = "disk"  # The corpus cannot be written.
    BUG = "bug"  # An error of checker. The sentence is a traceback.

    @property
    def ends_run(self) -> bool:
        """Whether another worker would fail in the same way."""
        return self in _FATAL


_FATAL = frozenset(
    (LeavingKind.CANNOT_OPEN, LeavingKind.USAGE, LeavingKind.CANNOT_START, LeavingKind.DISK, LeavingKind.BUG)
)


class Leaving(Struct, frozen=True, tag=True):
    """The last message of a worker that ends by itself."""

    kind: LeavingKind
    sentence: str = ""
    details: tuple[str, ...] = ()  # Further lines.
    loading: LoaderErrorKind = LoaderErrorKind.UNCLASSIFIED
    """Kind of the error that prevented the description from being read."""
    url: str | None = None  # The URL of the description, if it has one.

    @property
    def reason(self) -> str:
        """Return the reason for people, and for the record of its end."""
        said = f"{self.kind}: {self.sentence}" if self.sentence else str(self.kind)
        return "\n".join((said, *self.details))


class Trouble(StrEnum):
    """The reason why a target does not serve requests."""

    GONE = "gone"  # The target responds to no request.
    REFUSED = "refused"  # The target refuses every request.
    CHANGES = "changes"  # The target refuses requests that change something and serves others.


class Death(Struct, frozen=True):
    """An outage whose cause is a known request."""

    at: float  # Seconds since the epoch.
    culprit: Label


class ServedOperation(Struct, frozen=True):
    """The successes and redirects of one operation in one worker. Times are seconds since the epoch."""

    label: Label
    text: str  # Method and path of the latest of these requests.
    first: float  # Arrival of the first of these responses.
    last: float  # Arrival of the latest of these responses.
    sent: float = 0.0  # Sending time of the latest request with a 2xx response: the target served then.
    asks: bool = False  # Whether the operation is declared to need credentials.

    def __str__(self) -> str:
        return self.text


class OutageAction(StrEnum):
    """The orders of the supervisor in an outage."""

    HOLD = "hold"  # Send no request of the run, and report when no request is in flight.
    EXAMINE = "examine"
    """While all workers pause: wait until the target serves, and search the requests of this worker for the cause."""
    RESUME = "resume"  # The outage is over, or no worker can do more to end it.


class OutageOrder(Struct, frozen=True, tag=True):
    """An order of the supervisor in an outage of the target."""

    action: OutageAction
    number: int  # The number of the outage in the run, from 1.
    doubted: Label | None = None
    """EXAMINE: the operation whose refusal started the examination, if no worker knows yet whether others are refused as well.
    RESUME: the same operation, if all others are served, so that it refuses for its own reasons.
    """
    trouble: Trouble = Trouble.GONE  # EXAMINE: the kind of outage.
    is_last: bool = False  # EXAMINE: whether this worker is the last to examine the outage, so that it records it.
    at: float = 0.0  # EXAMINE: when the outage was noticed, in seconds since the epoch.
    deaths: tuple[Death, ...] = ()  # EXAMINE: earlier outages of the run with a known cause.
    suspects: tuple[ServedOperation, ...] = ()
    """EXAMINE: operations of all workers whose last response was followed by no served request, the likeliest cause first."""
    served: tuple[ServedOperation, ...] = ()  # EXAMINE: all operations that were served or redirected for some worker.
    held_back: tuple[Label, ...] = ()  # RESUME: operations that are not sent before the end of the run.
    serves: bool = True  # RESUME: whether the target serves again. If not, its refusals are ignored.
    is_rate_limited: bool = False
    """RESUME: whether the target limits the rate of requests. Then status 429 is no sign of an outage."""


class OutageEvent(StrEnum):
    """The reports of a worker in an outage."""

    NOTICED = "noticed"  # The target may have stopped serving, and the worker pauses.
    HOLDING = "holding"  # No request of the worker is in flight.
    EXAMINED = "examined"  # The worker has examined the outage.


class OutageReport(Struct, frozen=True, tag=True):
    """A report of a worker about an outage of the target."""

    event: OutageEvent
    number: int = 0  # The number of the outage; 0 in a report that it was noticed.
    trouble: Trouble = Trouble.GONE
    doubted: Label | None = None
    """NOTICED: the refused operation, if the target has never served this worker. Such a worker cannot distinguish an outage from a refusal."""
    at: float = 0.0  # NOTICED: when, in seconds since the epoch.
    served: tuple[ServedOperation, ...] = ()  # HOLDING: all operations that were served or redirected for this worker.
    culprit: Label | None = None
    """EXAMINED: the operation that caused the outage; None if no request of this worker did."""
    serves: bool = True  # EXAMINED: whether the target serves again.
    is_rate: bool = False
    """EXAMINED: whether the target limits the rate of requests, so that no single request is the cause."""
    has_passed: bool = False
    """EXAMINED: whether the target was only busy for a moment, so that no cause is searched."""
    is_unfounded: bool = False
    """EXAMINED: whether all requests that were served before are still served, so that the operation refuses for its own reasons."""


MOST_TIMEOUTS = 3  # Timeouts in a row after which an operation is given up.
PATIENCE = 3  # Factor on the time limit of a request for the confirmation of a missing response.
EXTRA_INDEX = 1 << 32
"""First index of cases that extend a sequence. These indices are outside the task's own numbering."""
LONG_WAIT_S = 0.35  # Seconds from which a response counts as slow, however busy the machine is.


class ShrinkAgain(Struct, frozen=True):
    """A finding that may become smaller."""

    fingerprint: str
    step: Step  # The smallest case so far.
    task: str
    index: int  # Index of the case that showed it first.
    requests: int  # Requests sent for it so far.
    allowed: int  # Requests that may be sent for it now.


class Replay(Struct, frozen=True):
    """A finding of an earlier run that is sent again before new cases."""

    fingerprint: str
    check: str
    steps: tuple[Step, ...]
    statuses: tuple[int | None, ...]  # Statuses of its responses, oldest first.
    is_minimal: bool  # Whether the case need not be shrunk further.
    sent: tuple[bytes, bytes | None] | None = None
    """Target and body of a single request that stays the same as long as the description does; None for other requests."""
    shows_surely: bool = True  # Whether one of the tries would certainly show it if it still existed.


class FirstCases(Struct, frozen=True):
    """The cases of a task before the cases of its phase."""

    tries_saved: bool = False  # Whether failing examples of earlier runs are among them.
    sends_smallest: bool = False
    """Whether the smallest case of each operation comes first, because this is the operation's first task of the run."""
    left_out: tuple[tuple[str, int], ...] = ()
    """(phase, number of the first unsent case) of lists that ended when a case failed."""
    recalled: tuple[tuple[Step, ...], ...] = ()  # Sequences of earlier runs; only the smallest cases come before.


class Task(Struct, frozen=True):
    """A part of one phase over one operation, or over a cluster of operations that share resources."""

    id: str
    phase: str  # Name of the phase's row in `checker.core.phases`.
    labels: tuple[Label, ...]  # The case with an index is of operation `labels[index % len(labels)]`.
    seed: int
    start: int  # First index to make.
    stop: int  # One more than the last index.
    slice_s: float  # Seconds after which no further case is started. The remaining cases are leased again.
    skipped: tuple[int, ...] = ()  # Quarantined indices.
    redo: tuple[int, ...] = ()  # Indices below `start` that were in flight when their worker died.
    is_slow: bool = False  # Whether the responses of the task are slow, so that its requests have their own lanes.
    timeouts: int = 0  # Number of consecutive timeouts at the end of the previous lease.
    producers: tuple[Label, ...] = ()  # Operations of a cluster whose responses other operations need.
    pauses: tuple[tuple[Label, int], ...] = ()
    """(operation, rounds between two of its turns) for operations that showed nothing new in earlier tasks."""
    first: FirstCases = FirstCases()
    drawn_elsewhere: int = 0
    """Cases that other phases of the run draw. Listed cases are not included, because their number is unknown in advance."""
    again: tuple[ShrinkAgain, ...] = ()
    """Findings to be shrunk further. These findings replace the cases of the task and do not count as cases."""
    replay: Replay | None = None  # The finding to send again. Then the task has no other cases.
    known: frozenset[str] | None = None
    """Fingerprints of the grave failures that its operation showed before this phase.

    A case with another grave failure ends the task, so cases are sent one after the other. None: all cases are sent.
    """
    is_last: bool = False
    """Whether the task was deferred to the end of the run, because its operation makes the target refuse every request."""

    @property
    def ends_at_failure(self) -> bool:
        """Whether a case with a new grave failure ends the task."""
        return self.known is not None

    @property
    def first_recalled(self) -> int:
        """Return the index of the first recalled sequence."""
        return len(self.labels) if self.first.sends_smallest else 0

    def recalled_at(self, index: int) -> tuple[Step, ...]:
        """Return the steps of the recalled sequence with an index; empty for another case."""
        number = index - self.first_recalled
        recalled = self.first.recalled
        return recalled[number] if 0 <= number < len(recalled) else ()


KNOWN_PLACES = 3
"""Number of places of one cause that are shrunk. More are not needed to fix the cause, and every operation may have a place. If time is short, further places get only one guaranteed request.
"""


class Assign(Struct, frozen=True, tag=True):
    """Work for a worker, in this order."""

    tasks: tuple[Task, ...]


class SettledFindings(Struct, frozen=True, tag=True):
    """Settled findings: the worker need not report or shrink them again."""

    settled: tuple[Finding, ...]  # Each item is a `Finding.brief`.


class PeerJournals(Struct, frozen=True, tag=True):
    """Journals of other incarnations whose values this worker may read (only in `fuzz`)."""

    journals: tuple[str, ...]
    ended: tuple[str, ...] = ()  # Journals of these and earlier messages whose writers are dead.
    signals: tuple[int, ...] = ()  # Ids of the signals that workers of this run have recorded.


PEER_RECORDS = (
    ValueSeen,
    ValueGone,
    ResourceChanged,
    DemandHeard,
    PartsCounted,
    CaseFared,
    OperationProbed,
    OperationServed,
)
"""The kinds of records that workers read from each other (`observers/knowledge.py`, `observers/witnesses.py`)."""


class Drain(Struct, frozen=True, tag=True):
    """Start no new case and exit: after the requests in flight, at once, or after concluding the run."""

    is_replaced: bool = False
    """Whether another worker with free memory takes its place. Begun sequences are finished first."""
    shrinks: bool = True  # Whether failures may still be shrunk.
    immediate: bool = False  # Whether requests in flight are dropped.
    concludes: bool = False
    """Whether the worker concludes the run: it calls `after_run` of class checks and removes the resources that the run
    created. All other workers have exited.
    """
    first: int = 0
    """For a worker that concludes: the incarnation of the supervisor that began the run. Lower incarnations belong to earlier runs."""
    only_cleans: bool = False  # Whether a worker that concludes calls no checks, because the run was cut short.


class CredentialAction(StrEnum):
    """The meaning of a message about credentials."""

    WANTED = "wanted"  # From a worker: it cannot continue without newer credentials.
    FETCH = "fetch"  # To one worker: fetch credentials for all workers.
    FETCHED = "fetched"
    """From the worker that fetched credentials to the supervisor, and from there to all workers. Never written to disk."""


class CredentialMessage(Struct, frozen=True, tag=True):
    """A message about the credentials of one source, in both directions."""

    action: CredentialAction
    source: str
    number: int  # Number of the credentials. In WANTED the number of the refused credentials; 0 if there were none.
    key: str = ""  # The key of the credentials in their source.
    credentials: Credentials = Credentials()  # The credentials as the source returned them, without a case.
    error: str = ""  # Why there are no credentials. The `data` then belongs to the previous credentials.

    def fetched(self, found: Credentials) -> "CredentialMessage":
        """Return the reply to this order. Raises `TypeError` for data that cannot be sent to other workers."""
        pack(found.data)
        return replace(self, action=CredentialAction.FETCHED, credentials=replace(found, case=None))

    def failed(self, error: str, held: Credentials | None) -> "CredentialMessage":
        """Return the reply to this order if no credentials could be fetched to replace those held."""
        last = Credentials() if held is None else Credentials(data=held.data)
        return replace(self.fetched(last), error=error)


Down = Assign | SettledFindings | PeerJournals | OutageOrder | CredentialMessage | Drain
"""Messages from the supervisor to a worker."""


class OperationCard(Struct, frozen=True):
    """The knowledge of the supervisor about an operation: enough to schedule it."""

    label: str
    method: str
    resource: Resource = ()  # The collection of the operation. Operations on one collection are tested together.
    layer: int = 0  # It uses resources that operations of lower layers create.
    is_producer: bool = False  # Whether other operations need responses of the operation.
    begins: bool = False  # Whether sequences of the stateful phase begin with the operation.
    max_examples: tuple[tuple[str, int], ...] = ()
    """(phase, cases or sequences) if the numbers differ from the usual ones; only in `run`."""
    continue_on_failure: bool | None = None  # Whether it is tested further after a failure; None: as usual.
    phases: tuple[str, ...] = ()  # Phases of `run` that test it; empty: all phases of the run.
    weight: float = 1.0  # Share of the time of `fuzz`, relative to other operations; 0: the operation is not tested.
    is_ending: bool = False
    """Whether the name of the operation suggests that it ends sessions, empties stores or stops the target. Such operations come last."""
    is_helper: bool = False  # Whether this run does not test it and only needs the resources that it creates.


class Opened(Struct, frozen=True, tag=True):
    """The worker has opened the description and can work."""

    journal: str
    document: str  # Digest of the normalised document in the run directory.
    base_url: str
    operations: tuple[OperationCard, ...]  # Selected and testable, in document order.
    concludes: bool = False  # Whether users' checks have conclusions when the run is over.
    cleans: bool = False  # Whether the resources that the run creates are removed at its end.
    renews: bool = False  # Whether new credentials can be fetched if a request ends the access of the run.
    works_alone: bool = False  # Whether one of the users' checks needs all cases in one worker.
    unreachable: str = ""  # Sentence that tells why no request can arrive. Only the first worker of a run tests this.
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (phase, operations) of the orders that users configured.
    credentials: tuple[str, ...] = ()
    """Names of the user's credentials: configured, in the base URL, or registered by code, which only workers run."""
    auth_needs: tuple[tuple[str, str], ...] = ()
    """(operation, security scheme) if the description declares none. Only the first worker of a run tests this."""
    changed: tuple[str, ...] | None = None
    """Operations that have changed since an earlier version; None if all are tested."""


class OperationReport(Struct, frozen=True):
    """The result of one operation of a cluster in one lease."""

    label: str
    cases: int  # Cases that got a response or were given up.
    is_dead: bool  # Whether no case of the operation could be made or judged.
    has_news: bool = False  # Whether a case showed new behaviour.
    is_accepted: bool = False  # Whether at least one case was accepted.


class LeaseReport(Struct, frozen=True):
    """The result of one lease."""

    requests: int = 0  # Requests that got a response or were given up, including investigations.
    long: int = 0  # The number of requests that took `LONG_WAIT_S` or more.
    timeouts: int = 0  # Number of consecutive timeouts at the end of the lease.
    operations: tuple[OperationReport, ...] = ()  # The result of each operation of a cluster.
    ended_at_failure: bool = False  # Whether a failed case ended it.
    redo: tuple[int, ...] = ()  # Indices below the start of the lease that still have to be made again.


class TasksEnded(Struct, frozen=True, tag=True):
    """Leases that ended. The journal contains the progress of each task."""

    tasks: tuple[tuple[str, int, bool], ...]  # (task id, next index, whether the task is finished).
    reports: tuple[LeaseReport, ...]  # The result of each of these leases.
    deferred: tuple[str, ...] = ()
    """Tasks that turned out to be slow. The leases of these tasks continue, but no further case is begun, so that other tasks get time."""


class FindingsWritten(Struct, frozen=True, tag=True):
    """A hint to read the journal, because it contains new findings."""

    count: int


Up = Opened | TasksEnded | FindingsWritten | CredentialMessage | OutageReport | Leaving
"""Messages from a worker to the supervisor."""
