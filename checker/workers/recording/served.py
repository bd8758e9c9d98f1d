"""What this worker sent lately, and what its target served: where to look for what ended that."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from msgspec import Struct, field

from checker.core.operation import Label, Operation
from checker.core.request import WireRequest
from checker.core.resources import REMOVING, SAFE
from checker.core.security import UNAUTHORIZED, is_open
from checker.phases.making import GeneratedCase

MOST_RECENT = 50


class Sent(NamedTuple):
    """A request and how it was answered."""

    made: GeneratedCase
    request: WireRequest
    status: int
    """0: not at all."""

    @property
    def label(self) -> Label:
        """Of its operation."""
        return self.made.label

    @property
    def operation(self) -> Operation:
        """What was asked for."""
        return self.made.case.operation

    @property
    def is_harmless(self) -> bool:
        """Whether its method only reads."""
        return self.request.method in SAFE

    @property
    def is_served(self) -> bool:
        """Whether it was answered with 2xx."""
        return 200 <= self.status < 300

    @property
    def copy(self) -> WireRequest:
        """The request, to be sent again on a connection of its own."""
        return replace(self.request, headers=list(self.request.headers), fresh=True)

    def __str__(self) -> str:
        return f"{self.request.method} {self.request.path.decode('ascii', 'replace')}"


class ServedRequests(Struct):
    """The last requests, and one of each operation that was served."""

    recent: deque[Sent] = field(default_factory=lambda: deque(maxlen=MOST_RECENT))
    served: dict[Label, Sent] = field(default_factory=dict)
    """By operation; a request that only reads stays, others make way for it."""
    has_answered: bool = False
    """Whether the target has ever answered anything."""

    def _forget_below(self, removed: Sent) -> None:
        """What was deleted, and what was in it, is refused for that reason: it tells nothing of the target."""
        gone = removed.request.path.rstrip(b"/")
        for label, sent in list(self.served.items()):
            path = sent.request.path
            if path == gone or path.startswith(gone + b"/"):
                del self.served[label]

    def note(self, made: GeneratedCase, request: WireRequest, status: int) -> Sent | None:
        """One more was answered; comes back when it is the first one of its operation that was served."""
        self.has_answered = True
        sent = Sent(made, request, status)
        self.recent.append(sent)
        if sent.is_served and request.method == REMOVING:
            self._forget_below(sent)
        if 200 <= status < 300 and made.label not in self.served:
            self.served[made.label] = sent
            return sent
        return None

    def recall(self, others: Iterable[Sent]) -> None:
        """Take in what others were served, where nothing was served here."""
        for sent in others:
            self.served.setdefault(sent.label, sent)

    def tells_of(self, refused: Sent) -> bool:
        """Whether anything was served that a target which refuses this would refuse as well, if it refuses everybody."""
        is_of_credentials = refused.status in UNAUTHORIZED and _asks(refused.operation)
        return any(not is_of_credentials or _asks(one.operation) for one in self.served.values())

    def witnesses(self, of: Operation) -> list[Sent]:
        """Served requests of several operations that tell whether a target still serves: those most like `of` first."""
        kind = _kind(of)
        known = sorted(
            self.served.values(),
            key=lambda one: (
                not one.is_harmless,
                _kind(one.operation) != kind,
                one.label != of.label,
            ),
        )
        # Whoever needs no credentials is served after the end of a session, too.
        asking = [one for one in known if _asks(one.operation)] if _asks(of) else []
        known = asking or known
        harmless = [one for one in known if one.is_harmless]
        # What changes something is sent once more only where nothing else was served.
        return harmless or known

    def suspects(self) -> Iterator[Sent]:
        """Served requests, the latest first; none twice."""
        seen: set[tuple[str, bytes, bytes | None]] = set()
        for sent in reversed(self.recent):
            key = (sent.request.method, sent.request.target, sent.request.body)
            if key not in seen:
                seen.add(key)
                yield sent


def is_lasting(sent: Sent) -> bool:
    """Whether a request can be sent again at any time: it only reads, and what no other request takes away."""
    return sent.is_harmless and "{" not in sent.operation.resource_path


def _kind(operation: Operation) -> tuple[str, ...]:
    """Whose permission it needs, as far as the description tells."""
    return tuple(repr(one) for one in operation.security)


def _asks(operation: Operation) -> bool:
    """Whether it serves nobody without credentials, as far as the description tells."""
    return not is_open(operation.security)
