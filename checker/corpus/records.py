"""The records of a run. Journals contain all records except plain interactions, which are in the traffic.

Records are facts. Those of one incarnation are in the order in which they happened. Everything that is shown or resumed
is a fold of records (`checker.corpus.fold`), and every output is written here first.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker.core.constraints import Constraint
from checker.core.failures import Failure
from checker.core.meta import ANYTHING, Literal, Step
from checker.core.response import headers_of
from checker.core.send import Purpose

Above = tuple[tuple[str, str], ...]
"""(collection, member) pairs of the resources around a value, outermost first: `(("owners", "5"),)` for pet 7 at `/owners/5/pets`."""


def agree(one: Above, other: Above) -> bool:
    """Whether two contexts may belong to the same resource: they name the same member of each collection that both name."""
    if one == other or not one or not other:
        return True
    names = dict(other)
    return all(names.get(collection, name) == name for collection, name in one)


class ValueSeen(Struct, frozen=True, array_like=True, tag=7):
    """A scalar in a successful response that some parameter could use."""

    producer: str
    """Label."""
    pointer: str
    """JSON pointer in the body, array indices as `*`; or `header:NAME`."""
    value: str | int | float | bool
    case: str
    phase: str = ""
    index: int = -1
    """Index of the case in its task; set only if later layers use the values."""
    above: tuple[tuple[str, str], ...] = ()


class ValueGone(Struct, frozen=True, array_like=True, tag=8):
    """A value that a DELETE removed, or tried to remove."""

    value: str | int | float | bool
    case: str
    label: str = ""
    """Label of the DELETE operation. The value is removed from the resources to which the path of the operation belongs."""
    phase: str = ""
    index: int = -1
    above: tuple[tuple[str, str], ...] = ()
    succeeded: bool = True
    """False: the DELETE failed, and the resource may still exist."""


class ResourceChanged(Struct, frozen=True, array_like=True, tag=29):
    """The first success of an operation on a resource. The operation may have changed the state of the resource."""

    label: str
    value: str | int | float | bool
    """Name of the resource: the value of the last variable of the path."""
    above: tuple[tuple[str, str], ...]
    producer: str
    """Label of the operation whose response showed the value, at `pointer`."""
    pointer: str


class DemandHeard(Struct, frozen=True, array_like=True, tag=20):
    """A demand of the target beyond the description, read from a refusal of valid data; or the discovery that a demand does not hold."""

    label: str
    demand: Constraint
    phase: str
    """Phase; empty for a demand of an earlier run that this run met again."""
    is_refuted: bool = False
    """Whether the target no longer makes this demand: it accepts values that break it, or refuses values that respect it for the same reason."""
    refused: tuple[Literal, ...] = ()
    """The case that was refused, if there was one."""
    part: str = ""
    """Key of a part of the request that other operations may share; empty if there is none."""
    depth: int = 0
    """Number of names at the start of the demand's path that lead to that part."""
    index: int = 0
    """Index of the case whose response states the demand, if the cases of its task are sent one after the other."""


class PartsCounted(Struct, frozen=True, array_like=True, tag=25):
    """A valid case that shows something new about optional parts: earlier accepted cases lacked some that it has, or had some that it lacks.

    A worker that continues the task counts this case, too.
    """

    label: str
    phase: str
    index: int
    is_accepted: bool
    places: tuple[tuple[str, str], ...]
    """(location, name) of the parts of the case that no earlier accepted case had."""
    absent: tuple[tuple[str, str], ...] = ()
    """(location, name) of the parts that every earlier accepted case had and this case lacks."""


class CaseFared(Struct, frozen=True, array_like=True, tag=30):
    """The result of a valid case. An operation gets fewer valid cases while they are refused for the same reasons."""

    label: str
    phase: str
    index: int
    reason: str
    """Key of the refusal's reason; empty if the case was not refused."""
    parts: int
    """Bits for its optional parts, and for the variables of its path that are no integers, in the order of the description."""
    status: int
    """Status; 404 for every refusal that says that the resource in the path does not exist."""
    taken: tuple[str, str] = ("", "")
    """(last variable of the path with a value from an earlier response, field of that response); empty if there is none."""
    names: int = 0
    """A digest of the names in its path; 0 if it has none."""
    place: int = 0
    """Digest of the parameter or property that a list of cases varies in this case; 0 for none."""


class RefusalCounted(Struct, frozen=True, array_like=True, tag=24):
    """The count of one refusal of valid requests to an operation without a 2xx response; written at each power of two."""

    label: str
    status: int
    text: str
    """The message without numbers and quoted parts; empty if the response has no message."""
    count: int


class OperationServed(Struct, frozen=True, array_like=True, tag=22):
    """A safe request was served, the first of its operation in a worker. Workers send it again to find out whether the target serves requests."""

    label: str
    status: int
    request: Literal


class OperationProbed(Struct, frozen=True, array_like=True, tag=23):
    """A check that probes each operation once has probed the first accepted case of a task."""

    label: str
    task: str
    phase: str
    index: int
    """Index of the case."""
    is_judged: bool
    """Whether the check came to a verdict."""


class SignalsSeen(Struct, frozen=True, array_like=True, tag=9):
    """Ids of features that this incarnation saw for the first time, with their classes."""

    label: str
    ids: tuple[tuple[int, str], ...]
    """(64-bit id, class: `status`, `media_type`, `header`, `leaf`, `error`, `latency`, `finding`, `input`, ...)."""


class Exchange(Struct, frozen=True, array_like=True):
    """A request and its response, byte for byte, with references in place of secrets."""

    method: str
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes | None
    status: int | None
    """None when no response arrived."""
    reason: str
    response_head: bytes
    """Header lines as received."""
    response_body: bytes
    response_size: int
    """Bytes that the server sent; more than `response_body` holds when it was cut."""
    elapsed_s: float
    failure: str | None = None
    """The failure when no complete response arrived, such as `timed out: ...`."""
    body_size: int | None = None
    """Bytes of the body that was sent, when `body` was cut."""
    body_at: int | None = None
    """Offset of the frame with the body, in the same file. Readers of traffic insert the body."""
    response_body_at: int | None = None
    """Offset of the frame that holds the body of the response."""

    @property
    def response_headers(self) -> list[tuple[str, str]]:
        return headers_of(self.response_head)


class RunStarted(Struct, frozen=True, array_like=True, tag=1):
    """The first record of a run, by its supervisor."""

    run: str
    kind: str
    """`run` or `fuzz`."""
    at: float
    """Seconds since the epoch."""
    version: str
    location: str
    seed: int
    settings: str
    """Digest of the settings that must be equal to resume a run: generation, filters, checks."""
    command: str
    workers: int
    app: str = ""  # The application in the process of the run, as `module:variable`; empty for an API behind a URL.


class SchemaOpened(Struct, frozen=True, array_like=True, tag=2):
    """A worker read the API description; the first one of a run also stored the document."""

    title: str
    specification: str
    base_url: str
    document: str
    """Digest under which the normalised bytes stand in the run directory."""
    total: int
    selected: int
    """Operations that the filters select, including unreadable ones."""
    fetched_from: str = ""
    """Host of the description, if requests go to another host that only the description names."""
    credentials: tuple[str, ...] = ()
    """Places that security schemes name, lower case: `header authorization`, `query appid`."""
    declared_path: str = ""
    """Path of the server URL that the description declares, whatever base URL was given: `/v1`."""
    ways_in: tuple[str, ...] = ()
    """Options that set the credentials of its security schemes, as messages name them."""
    auth_examples: tuple[str, ...] = ()
    """Lines of `checker.toml` that would configure its security schemes; empty if some authentication is configured."""
    unreadable: int = 0
    """Number of selected operations that are unreadable. Each has an error in place of tests."""
    tokens: tuple[tuple[str, str, str], ...] = ()
    """(header, security scheme, text before the credentials) of configured schemes: `("Authorization", "B", "Bearer ")`."""
    shard: str = ""
    """The tested part of the operations, such as `3/8`; empty for all."""
    partition: str = ""
    """Digest of the partition to which the shard belongs; empty without a shard, and for a partition without operations."""
    changed_since: str = ""
    """The earlier version of the description; only operations that have changed since are tested."""

    @property
    def is_unchanged(self) -> bool:
        return bool(self.changed_since and self.total and not self.selected)

    @property
    def is_whole(self) -> bool:
        """Whether all operations can be tested."""
        return self.selected == self.total and not self.unreadable


class OperationsSelected(Struct, frozen=True, array_like=True, tag=18):
    """The operations that a run is to test, in document order; its supervisor writes this record before anything is tested."""

    labels: tuple[str, ...]


class OperationDescribed(Struct, frozen=True, array_like=True, tag=19):
    """Facts about an operation for readers of the results. The record is written when the operation is compiled."""

    label: str
    tags: tuple[str, ...]
    statuses: tuple[str, ...]
    """Documented statuses as spelled, `4XX` and `default` included."""
    parameters: tuple[str, ...]
    """`path id`, `query limit`; `body` when there is one."""
    needs_credentials: bool
    members: tuple[tuple[str, str], ...] = ()
    """(place such as `query status` or `body pet.kind`, member of its enumeration as JSON)."""
    media_types: tuple[tuple[str, str], ...] = ()
    """(`body`, or `answer` and a documented status, media type as spelled)."""


class TaskProgress(Struct, frozen=True, array_like=True, tag=4):
    """All cases of a task below `next_index` are done. Counts are of this piece of work only."""

    task: str
    """Empty for requests that are counted only in the slots of a killed worker."""
    phase: str
    labels: tuple[str, ...]
    next_index: int
    finished: bool
    cases: int
    requests: int
    """All requests, those of investigations and checks included."""
    failed_cases: int
    statuses: tuple[tuple[str, int, int], ...]
    """(label, status or 0 for none, count) of responses to requests with the operation's own method."""
    ledger: tuple[float, float, float, float, float]
    """Wall seconds of this worker since its last such record: make, wait, judge, record, idle."""
    inquiries: int = 0
    """The number of requests that investigated failures."""
    wrong: tuple[tuple[str, int, int], ...] = ()
    """The part of `statuses` for cases that are meant to be refused."""
    tried: tuple[tuple[str, str, str, int, int], ...] = ()
    """(label, place such as `query limit`, `what`, class of the status or 0, count).

    `what` is the keyword that is broken there, or `EDGE`, `VALID`, `MEMBER` or `MEDIA_TYPE`.
    """
    at: float = 0.0
    """Seconds since the epoch; 0 in old files, and if the supervisor wrote the record for a dead worker."""
    probes: tuple[tuple[str, int, int], ...] = ()
    """Like `statuses`, for cases with other methods, whose responses are not those of the operation."""
    turned_away: tuple[tuple[str, int, int], ...] = ()
    """The part of `statuses` that was counted while the target served no request."""


def requests_alone(count: int) -> TaskProgress:
    """Return the record of requests that a killed worker sent and did not count itself."""
    return TaskProgress("", "", (), 0, False, 0, count, 0, (), (0.0,) * 5)


class CheckOutcome(Struct, frozen=True, array_like=True):
    """One check of one interaction."""

    name: str
    status: str
    """`SUCCESS`, `FAILURE`, or `ERROR` if the check raised another exception."""
    message: str | None = None


class Component(Struct, frozen=True, array_like=True):
    """A part of a request that was generated."""

    location: str
    mode: str
    outside: tuple[str, ...] = (ANYTHING,)
    """Names of the values from outside: parameters, paths in the body, or `*` for any value."""


class Interaction(Struct, frozen=True, array_like=True, tag=5):
    """A case and its response, with the verdicts: one line of a cassette."""

    case: str
    label: str
    phase: str
    phase_data: tuple[tuple[str, str | None], ...]
    mode: str
    components: tuple[Component, ...]
    """The source of parts without a component is unknown."""
    status: str
    """`SUCCESS`, `FAILURE`, `ERROR` or `SKIP`."""
    at: float
    generation_s: float
    exchange: Exchange
    checks: tuple[CheckOutcome, ...]
    worker: int
    """Incarnation number, for people."""
    purpose: Purpose = Purpose.TEST


class StoredBody(Struct, frozen=True, array_like=True, tag=16):
    """A body that later interactions of the same file refer to, so that it is stored once."""

    content: bytes


class ResourceMade(Struct, frozen=True, array_like=True, tag=21):
    """A request that created or removed a resource whose name is so short that other cases may use it by chance."""

    path: str
    """Path of the resource, encoded as in a request, with the base path."""
    label: str
    phase: str
    at: float
    """Time of the verdict on its response, in seconds since the epoch."""
    status: int
    command: str
    components: tuple[Component, ...] = ()
    is_gone: bool = False
    """Whether the request removed it."""
    pointer: str = ""
    """Place of its name in the response: a JSON pointer, or `header:Location`; empty if the request chose the name."""


class Investigation(Struct, frozen=True, array_like=True):
    """The progress of the investigation of a finding, and its results."""

    stage: str = "found"
    """`found`, then `minimised`: shrunk (or not shrinkable), sent again as printed, final."""
    reproduction: str = ""
    """The command as printed."""
    reproduced: bool | None = None
    """Whether the command failed again in the same way; None if it has not been sent yet."""
    hits: int = 0
    """The number of failures of these requests, the first one included."""
    tries: int = 0
    """The number of times that these requests were sent."""
    spent: bool = False
    """Whether its requests cannot fail again on this target: the resource that they create exists, or the one that they remove is gone."""
    is_anew: bool = False
    """Whether the requests failed with resources that they created themselves, or without any: they need nothing of the run."""
    withdrawn: bool = False
    """Whether reports omit the finding, because other requests of the run may have caused it and it has not happened again so far."""
    requests: int = 0
    """Number of requests of its investigation, the shrink included."""
    shrink_executions: int = 0
    stopped: str = ""
    """The reason why the shrink ended early; empty if the case is minimal."""
    wants_more: bool = False
    """Whether only a larger budget of requests could make the case smaller."""
    takes_filled: bool = False
    """Whether the finding uses a name from a list that was empty earlier in the run: a fresh server has no such resource."""
    needs_state: bool = False
    """Whether it did not show with new resources: other requests of the run had changed the resource that it is about."""


class Finding(Struct, frozen=True, array_like=True, tag=6):
    """One version of one defect. A later, better version of the same fingerprint replaces it in every report."""

    fingerprint: str
    label: str
    check: str
    title: str
    message: str
    severity: str
    unique_key: str
    """The rule that was broken."""
    phase: str
    case: str
    task: str
    index: int
    steps: tuple[Step, ...]
    interactions: tuple[Interaction, ...]
    """Interactions of the sequence, oldest first; the last one failed."""
    investigation: Investigation = Investigation()
    at: float = 0.0
    """Time of this version, in seconds since the epoch."""
    text: str = ""
    """Template of the error text. `*` stands for words that differ between two responses."""
    same_as: str = ""
    """Fingerprint of the finding that reports show instead, because both show the same defect."""
    code: str = ""
    """Stable code of the kind of failure, such as `ST101`; empty if it has none."""
    cause: str = ""
    """Fingerprint of the cause that findings of several operations share; empty in old files."""
    needs: tuple[ResourceMade, ...] = ()
    """Requests that created the resources in the path of the finding, outermost first. The fold sets this field; it is not stored in files."""
    further: tuple[Interaction, ...] = ()
    """Requests that a check sent, which show the failure together with the last interaction, in order."""

    @classmethod
    def of(cls, failure: Failure, label: str, **others: Any) -> "Finding":
        """Return the finding of a failure. `label` is the operation that was requested, `others` are the fields about its case."""
        return cls(
            fingerprint=failure.fingerprint(label),
            label=failure.blamed(label),
            check=failure.check,
            title=failure.title,
            message=failure.message,
            severity=failure.severity.value,
            unique_key=failure.unique_key,
            text=failure.text,
            code=failure.code,
            cause=failure.cause(label),
            **others,
        )

    @property
    def sent(self) -> tuple[Interaction, ...]:
        """Return all requests that show the failure, in order: those of the sequence, then those of the check."""
        return (*self.interactions, *self.further)

    @property
    def brief(self) -> "Finding":
        """Return the finding without requests and texts, as other workers need it to recognise the failure."""
        investigation = replace(self.investigation, reproduction="")
        return replace(self, steps=(), interactions=(), message="", investigation=investigation, needs=(), further=())

    def __repr__(self) -> str:
        """Return one line for assertions of users: the whole finding would fill a screen."""
        return f"<Finding {self.check} of {self.label}: {self.title}; {self.investigation.reproduction}>"


class OpenFindings(Struct, frozen=True, array_like=True, tag=27):
    """The findings of earlier runs that nothing has shown to be fixed. The supervisor of `fuzz` writes this record before anything is tested."""

    findings: tuple[tuple[str, str, str], ...]
    """(fingerprint, label, title)."""


REPLAY_RESULTS = CONFIRMED, FLAKY, FIXED, NOT_REPRODUCED, GONE = (
    "confirmed", "flaky", "fixed", "not reproduced", "gone",
)  # fmt: skip
"""Results of a replay, in this order: failed at the first try; at a later try; not at all; not at all, but an earlier step had
another result than in the original run; the operation is no longer described.
"""


class FindingReplayed(Struct, frozen=True, array_like=True, tag=28):
    """The result of a replay of a finding of an earlier run."""

    fingerprint: str
    result: str
    at: float


class CorpusEntry(Struct, frozen=True, array_like=True, tag=10):
    """A sequence that is kept because it showed something new."""

    label: str
    steps: tuple[Step, ...]
    ids: tuple[int, ...]
    cost_s: float


class OperationError(Struct, frozen=True, array_like=True, tag=11):
    """An operation that could not be tested, or not completely. The run continued."""

    label: str
    phase: str
    title: str
    """`Schema Error`, `Network Error`, `Runtime Error`, `Hook Error`, ..."""
    message: str
    trace: str = ""
    request: str = ""
    components: tuple[Component, ...] = ()


UNREACHED = "Network Error"
"""Title of errors of operations that no request reached."""
AUTHENTICATION = "Authentication Error"
"""Title of errors of operations for which no credentials can be obtained."""
WHOLE_TASK = -1
"""Index of a quarantined task."""
UNBROKEN = "unbroken"
"""Kind of the note on an operation for which every request is valid."""


OWN_WARNINGS = "own_warnings"
"""Kind of the note with the warnings that are shown for an operation (JSON of a `config.value_kinds.WarningSettings`)."""


class Note(Struct, frozen=True, array_like=True, tag=12):
    """A fact that the summary counts or names: opaque nodes, unusable bodies, disagreements of the validators."""

    kind: str
    """`opaque`, `unusable_body`, `disagreement`, `unjudged`, `slow`, `unproved`, `unbroken`, `damaged_file`, `killed`."""
    label: str
    pointer: str
    text: str


class CheckState(Struct, frozen=True, array_like=True, tag=17):
    """The state of a class check of a user in this incarnation. A later record replaces it."""

    check: str
    state: bytes
    """Packed."""
    lost: str = ""
    """The reason why the check has no state."""


class Quarantined(Struct, frozen=True, array_like=True, tag=13):
    """A case (or a task) that killed or hung its workers."""

    task: str
    label: str
    index: int
    case: str
    stage: str
    strikes: int
    steps: tuple[Step, ...]
    request: str
    """Reproduction for people: a curl command, or the choices if no request was made yet."""
    reason: str
    components: tuple[Component, ...] = ()


class WorkerGone(Struct, frozen=True, array_like=True, tag=14):
    """The supervisor saw an incarnation end."""

    incarnation: int
    reason: str


class RunFinished(Struct, frozen=True, array_like=True, tag=15):
    """The last record of a run. A run of `fuzz` without it can be resumed."""

    run: str
    at: float
    outcome: str
    """`completed`, `time limit`, `failure limit`, `first failure`, `target unavailable`, `interrupted`, `error`."""
    elapsed_s: float
    ledger: tuple[float, float, float, float, float]


class SnapshotHeader(Struct, frozen=True, array_like=True, tag=26):
    """The first record of a snapshot, in its own frame."""

    highest: int = 0
    """Highest incarnation that was ever compacted. The next number must be above it."""
    covered: tuple[int, ...] = ()
    """Sorted incarnations whose journals are in the snapshot and must not be read any more."""


Record = (
    RunStarted | SchemaOpened | OperationsSelected | OperationDescribed | TaskProgress | Interaction |
    StoredBody | Finding | OpenFindings | FindingReplayed | ResourceMade | ValueSeen | ValueGone | ResourceChanged | SignalsSeen | DemandHeard | PartsCounted | CaseFared |
    RefusalCounted | OperationServed | OperationProbed | CorpusEntry | OperationError | Note | CheckState |
    Quarantined | WorkerGone | RunFinished | SnapshotHeader
)  # fmt: skip
"""Everything that a frame can hold.

In files a record is the list of its tag and its fields. The format begins with version 0.1.0: from then on a tag is never
reused, and new fields are added at the end with defaults, because files outlive versions. Frames of other formats are read
as damaged.
"""


EDGE = "edge"
"""Used in place of a broken keyword for valid data at a boundary."""
VALID = "valid"
"""Used for any other valid data."""
MEMBER = "= "
"""Prefix of the JSON of an enumeration member that valid data contains."""
MEDIA_TYPE = "as "
"""Prefix of the media type of a valid body, or of a documented response."""
