"""The recent requests of this worker, and the requests that the target served, among which the cause of an outage is searched."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from checker.checks.context import Maker
from checker.core.errors import CheckerError
from checker.core.operation import Label, Operation
from checker.core.request import WireRequest
from checker.core.resources import REMOVING, SAFE
from checker.core.response import Response
from checker.core.security import UNAUTHORIZED, is_open
from checker.corpus.journal import JournalReader
from checker.corpus.records import OperationServed, ResourceMade
from checker.corpus.secrets import NO_SECRETS, Secrets
from checker.health import REFUSALS
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase
from checker.phases.case_parts import literal_case, literal_of
from checker.workers.messages import ServedOperation
from checker.workers.recording.task_state import InFlight

MOST_RECENT = 50
_PHASE = "witness"
_CREATED = 201
_UNHANDLED = REFUSALS | {400, 415, 422}  # Statuses that services return before they read their data.


class Sent(NamedTuple):
    """A request and its status."""

    made: GeneratedCase
    request: WireRequest
    status: int  # 0 without a response.

    @property
    def label(self) -> Label:
        return self.made.label

    @property
    def operation(self) -> Operation:
        return self.made.case.operation

    @property
    def is_harmless(self) -> bool:
        """Whether its method only reads."""
        return self.request.method in SAFE

    @property
    def is_of_all(self) -> bool:
        """Whether the path names no resource that may have been removed."""
        return "{" not in self.operation.resource_path

    @property
    def is_served(self) -> bool:
        """Whether the status is 2xx or 3xx. 3xx counts, because a logout may redirect to the start page."""
        return 200 <= self.status < 400

    @property
    def may_have_acted(self) -> bool:
        """Whether the request may have changed the target."""
        return _may_have_acted(self.request.method, self.status)

    @property
    def copy(self) -> WireRequest:
        """The request, to be sent again on a new connection."""
        return replace(self.request, headers=list(self.request.headers), fresh=True)

    def __str__(self) -> str:
        return f"{self.request.method} {self.request.path.decode('ascii', 'replace')}"


def _may_have_acted(method: str, status: int) -> bool:
    """Whether a request may have changed the target. A removal may have happened despite a server error."""
    return 200 <= status < 400 or (method == REMOVING and status >= 500 and status not in REFUSALS)


class _ServedTimes(Struct):
    """Like `ServedOperation`, but updated with each response."""

    made: GeneratedCase
    request: WireRequest
    status: int
    first: float
    last: float = 0.0
    sent: float = 0.0

    @property
    def latest(self) -> Sent:
        return Sent(self.made, self.request, self.status)


class ServedRequests(Struct):
    """The last requests, and one served request for each operation."""

    secrets: Secrets = NO_SECRETS  # Values that must not be written.
    recent: deque[Sent] = field(default_factory=lambda: deque(maxlen=MOST_RECENT))
    served: dict[Label, Sent] = field(default_factory=dict)
    """Operation -> served request. A safe request replaces others."""
    blocked: dict[Label, tuple[float, Sent]] = field(default_factory=dict)
    """Operation that changes something -> (time of its first 503, latest request); without operations that were served since."""
    _times: dict[Label, "_ServedTimes"] = field(default_factory=dict)
    has_answered: bool = False  # Whether the target has sent any response.

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[OperationServed]:
        """Note a response that counts. Return the first request of an operation that other workers can send again at any time."""
        outcome, request = verdict.outcome, verdict.request
        if request is None or not isinstance(outcome, Response):
            return ()
        return self.answered(flight.made, request, outcome.status_code)

    def answered(self, made: GeneratedCase, request: WireRequest, status: int) -> Sequence[OperationServed]:
        """Note a response, and return records about it for other workers."""
        sent = self.note(made, request, status)
        # Other workers need the record if this worker dies.
        if sent is None or not (sent.is_harmless and sent.is_of_all):
            return ()
        values = literal_of(sent.made.case)
        if self.secrets.is_in([values.query, values.headers, values.cookies]):
            return ()
        return (OperationServed(sent.label, sent.status, values),)

    def note(self, made: GeneratedCase, request: WireRequest, status: int) -> Sent | None:
        """Record a response. Return the request if it is the first one of its operation that was served."""
        self.has_answered = True
        sent = Sent(made, request, status)
        self.recent.append(sent)
        if self.blocked and status not in _UNHANDLED:
            self.blocked.pop(made.label, None)
        if request.method == REMOVING and sent.may_have_acted:
            # A refused request below a removed resource is no sign of an outage.
            gone = request.path.rstrip(b"/")
            for label, other in list(self.served.items()):
                target = other.request.target
                if target.startswith(gone) and target[len(gone) : len(gone) + 1] in (b"", b"/", b"?"):
                    del self.served[label]
        if not 200 <= status < 300:
            return None
        if made.label in self.served:
            return None
        self.served[made.label] = sent
        return sent

    def arrived(self, made: GeneratedCase, request: WireRequest, response: Response) -> None:
        """Record when an operation was served. The arrival of the response counts, because it may be judged much later."""
        status, now = response.status_code, time.time()
        if response.redirects and status >= 400 and status not in REFUSALS:
            # A logout may redirect to a page that does not exist.
            status = 302
        if not _may_have_acted(request.method, status):
            return
        known = self._times.get(made.label)
        if known is None:
            known = self._times[made.label] = _ServedTimes(made, request, status, now)
        known.made, known.request, known.status, known.last = made, request, status, now
        if status < 300:
            known.sent = now - response.elapsed

    def latest(self, labels: Iterable[Label]) -> list[Sent]:
        """Return, for each of these operations, the latest request that was served or redirected."""
        return [self._times[label].latest for label in labels if label in self._times]

    def operations(self) -> tuple[ServedOperation, ...]:
        """Return the successes and redirects of all operations, from which workers find the cause of an outage together."""
        return tuple(
            ServedOperation(label, str(one.latest), one.first, one.last, one.sent, _asks(one.latest.operation))
            for label, one in self._times.items()
        )

    def recall(self, others: Iterable[Sent]) -> None:
        """Add served requests of other workers for operations without one here."""
        for sent in others:
            self.served.setdefault(sent.label, sent)

    def tells_of(self, refused: Sent) -> bool:
        """Whether some served request would also be refused by a target that refuses every caller."""
        is_of_credentials = refused.status in UNAUTHORIZED and _asks(refused.operation)
        return any(not is_of_credentials or _asks(one.operation) for one in self.served.values())

    def witnesses(self, of: Operation) -> list[Sent]:
        """Return served requests of several operations that show whether the target still serves, those most similar to `of` first."""
        kind = _kind(of)
        known = sorted(
            self.served.values(),
            key=lambda one: (not one.is_harmless, _kind(one.operation) != kind, one.label != of.label),
        )
        # Operations without credentials are served after the end of a session, too, so they prove nothing.
        asking = [one for one in known if _asks(one.operation)] if _asks(of) else []
        known = asking or known
        # Unsafe requests are repeated only if no safe one was served.
        known = [one for one in known if one.is_harmless] or known
        # Another worker, or a request for many resources, may have removed a resource, which some services answer with 403.
        return [one for one in known if one.is_of_all] or known

    def suspects(self) -> Iterator[Sent]:
        """Yield the served requests, the latest first, each once."""
        seen: set[tuple[str, bytes, bytes | None]] = set()
        for sent in reversed(self.recent):
            key = (sent.request.method, sent.request.target, sent.request.body)
            if key not in seen:
                seen.add(key)
                yield sent


class ServedByOthers(Struct):
    """Served requests of all workers of the run, including dead ones. Each is read once, when this worker needs them."""

    peers: Iterable[str]  # Paths of the journals of all workers.
    operations: Mapping[Label, Operation]
    maker: Maker
    made: list[ResourceMade] = field(default_factory=list)
    """Resources that the run created, according to the records read so far. Status 200 may also mean that a resource existed before the run."""
    _readers: dict[str, JournalReader] = field(default_factory=dict)

    def news(self) -> Iterator[Sent]:
        """Yield the requests that were served since the last call."""
        for path in self.peers:
            reader = self._readers.get(path)
            if reader is None:
                reader = self._readers[path] = JournalReader(Path(path), kinds=(OperationServed, ResourceMade))
            for record in reader.read_new():
                if isinstance(record, ResourceMade) and record.status == _CREATED and not record.is_gone:
                    self.made.append(record)
                if isinstance(record, OperationServed):
                    operation = self.operations.get(Label(record.label))
                    if operation is not None:
                        case = literal_case(operation, record.request, _PHASE, "")
                        with suppress(CheckerError):
                            request = self.maker.make(case)
                            made = GeneratedCase(case, operation.label, (), (), record.request)
                            yield Sent(made, request, record.status)


def _kind(operation: Operation) -> tuple[str, ...]:
    """Return the declared security of an operation, as a comparable value."""
    return tuple(repr(one) for one in operation.security)


def _asks(operation: Operation) -> bool:
    """Whether an operation is declared to refuse anonymous callers."""
    return not is_open(operation.security)
