"""The course of an outage of the target: all workers pause, examine the target one after the other, and continue together. Pure."""

from collections.abc import Iterable

from msgspec import Struct, field

from checker.core.operation import Label
from checker.workers.messages import (
    Death,
    OutageAction,
    OutageEvent,
    OutageOrder,
    OutageReport,
    ServedOperation,
    Trouble,
)

WorkerMessage = tuple[int, OutageOrder]  # (incarnation, message).


def suspects_of(served: Iterable[ServedOperation]) -> tuple[ServedOperation, ...]:
    """Return the operations that may have ended the service of the target, the likeliest first. `served` are the served operations of all workers.

    A served request proves that no response before it was sent ended the service. An operation is a suspect if its latest
    response is not cleared in this way. If some suspects have no cleared response at all, only these are returned.
    """
    # Requests with required credentials prove more, because a public operation is served after a logout, too. Times of
    # all workers are compared, not only those of one: blaming the last change of one worker that got a 2xx was wrong in
    # four of six losses of access, and could not find a logout that redirects.
    known = list(served)
    proofs = [one for one in known if one.asks] or known
    served_at = max((one.sent for one in proofs), default=0.0)
    suspects = [one for one in known if one.last >= served_at]
    cleared = {one.label for one in known if one.first < served_at}
    fresh = [one for one in suspects if one.label not in cleared]
    found: dict[Label, ServedOperation] = {}
    for one in sorted(fresh or suspects, key=lambda one: one.last, reverse=True):
        # Several workers may have sent the operation. Its latest response counts.
        found.setdefault(one.label, one)
    return tuple(found.values())


class Outages(Struct):
    """The outages of a run. There is at most one at a time."""

    count: int = 0
    held_back: dict[Label, None] = field(default_factory=dict)  # Operations that are deferred to the end of the run.
    serves: bool = True  # Whether the target served at the end of the last outage.
    is_rate_limited: bool = False  # Whether the target has limited the rate of requests.
    deaths: list[Death] = field(default_factory=list)  # Deaths of the target with a known cause.
    gone_at: float | None = None
    """Time of the first failed connection, in seconds since the epoch; None once a worker has examined the target."""
    _trouble: Trouble | None = None
    _at: float = 0.0  # Time of its detection, in seconds since the epoch.
    _doubted: Label | None = None
    """The operation that refuses one worker, until another worker finds that the target refuses all requests."""
    _told: list[int] = field(default_factory=list)  # Incarnations that were told to pause.
    _flying: set[int] = field(default_factory=set)  # Incarnations that may still have requests in flight.
    _line: list[int] = field(default_factory=list)
    """Incarnations that will examine the target, in order. The first begins when no request is in flight."""
    _is_looking: bool = False
    _served: list[ServedOperation] = field(default_factory=list)
    """Operations whose requests were served, as reported by the pausing workers."""

    @property
    def is_open(self) -> bool:
        return self._trouble is not None

    def hear(self, incarnation: int, message: OutageReport, workers: Iterable[int]) -> list[WorkerMessage]:
        """Return the messages that follow when a worker reports about an outage."""
        match message.event:
            case OutageEvent.NOTICED:
                # All workers notice the same outage. The first report opens an outage; later reports only add to it.
                if self.is_open:
                    return []
                self.count += 1
                self._trouble, self._doubted, self._at = message.trouble, message.doubted, message.at
                self.gone_at = message.at if message.trouble is Trouble.GONE else None
                self._flying = set(workers)
                # The worker that noticed the outage examines first, because the request that caused it is likely one of
                # its latest.
                self._line = sorted(self._flying, key=lambda one: (one != incarnation, one))
                self._told = list(self._line)
                self._is_looking = False
                self._served.clear()
                return [(one, OutageOrder(OutageAction.HOLD, self.count)) for one in self._line]
            case OutageEvent.HOLDING:
                if message.number == self.count and incarnation in self._flying:
                    self._flying.discard(incarnation)
                    self._served += message.served
                return self._next()
            case OutageEvent.EXAMINED:
                return self._examined(incarnation, message)

    def _examined(self, incarnation: int, found: OutageReport) -> list[WorkerMessage]:
        """Return the messages that follow when a worker has examined the target.

        If the worker found no cause and the target serves again, the next worker examines the target, because one of
        its own requests may be the cause.
        """
        # A late report concerns an earlier outage, or comes from a worker whose turn has passed to another.
        if not self.is_open or self._line[:1] != [incarnation] or found.number != self.count:
            return []
        self._is_looking = False
        self.gone_at = None
        self.serves = found.serves
        self.is_rate_limited |= found.is_rate
        # A second worker is refused as well, so the cause is not one operation.
        if not found.is_unfounded:
            self._doubted = None
        self._line = self._line[1:]
        if found.culprit is not None:
            self.held_back[found.culprit] = None
            if found.trouble is Trouble.GONE:
                self.deaths.append(Death(self._at, found.culprit))
        # No request is the cause of a rate limit or a busy target, so the suspects of other workers are not sent.
        if found.culprit is None and found.serves and self._line and not (found.is_rate or found.has_passed):
            return self._next()
        messages = self._closed()
        # If the target is gone for good, the run ends and no worker may continue.
        return messages if found.serves or found.trouble is Trouble.REFUSED else []

    def lose(self, incarnation: int) -> list[WorkerMessage]:
        """Return the messages that follow when a worker is gone."""
        if not self.is_open:
            return []
        self._flying.discard(incarnation)
        # The suspects of a dead worker are lost. The next worker in line examines its own suspects.
        if self._line[:1] == [incarnation]:
            self._is_looking = False
        self._line = [one for one in self._line if one != incarnation]
        self._told = [one for one in self._told if one != incarnation]
        return self._next() if self._line else self._closed()

    def join(self, incarnation: int) -> list[WorkerMessage]:
        """Return the messages to a new worker. During an outage it gets no lease, and is told when the outage ends."""
        if self.is_open:
            # A new worker has sent nothing yet, so it has no suspects and does not examine.
            self._told.append(incarnation)
        else:
            self.gone_at = None
        return [(incarnation, self._resume())] if self.held_back or self.is_rate_limited or not self.serves else []

    def _resume(self) -> OutageOrder:
        return OutageOrder(
            OutageAction.RESUME,
            self.count,
            self._doubted,
            held_back=tuple(self.held_back),
            serves=self.serves,
            is_rate_limited=self.is_rate_limited,
        )

    def _next(self) -> list[WorkerMessage]:
        # Suspects are sent alone: if a request of another worker were in flight, either could be the cause.
        if not self.is_open or self._flying or self._is_looking or not self._line:
            return []
        self._is_looking = True
        assert self._trouble is not None
        order = OutageOrder(
            OutageAction.EXAMINE,
            self.count,
            self._doubted,
            trouble=self._trouble,
            is_last=len(self._line) == 1,
            at=self._at,
            deaths=tuple(self.deaths),
            suspects=suspects_of(self._served),
            served=tuple(self._served),
        )
        return [(self._line[0], order)]

    def _closed(self) -> list[WorkerMessage]:
        order = self._resume()
        if self._told:
            # If nothing has changed, workers that continue will report it again.
            self.gone_at = None
        self._trouble, self._doubted, self._line = None, None, []
        return [(one, order) for one in self._told]
