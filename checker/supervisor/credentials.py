"""The choice of the worker that fetches credentials while the others wait. Pure: messages in, messages out."""

import time
from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.system import Clock
from checker.workers.messages import CredentialAction, CredentialMessage

MOST_FAILURES = (
    3  # Failures in a row, after which no worker fetches for a while, because failed logins may lock an account.
)
COOLING_S = 30.0
"""Length of the pause after failures, in seconds. Credentials that were good once and cannot be renewed are not fetched again."""

WorkerMessage = tuple[int, CredentialMessage]  # (incarnation, message).


class _CredentialState(Struct):
    given: CredentialMessage  # The newest message; its number is 0 before the first.
    fetching: int | None = None  # Incarnation of the worker that fetches the next credentials.
    waiting: list[int] = field(default_factory=list)
    failures: int = 0
    failed_at: float = 0.0  # Time of the last failed fetch, on the clock of the exchange.
    was_good: bool = False  # Whether credentials were fetched at least once.


class CredentialExchange:
    """Credentials of a run. One worker fetches each of them for all workers. If that worker dies, another worker fetches them."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._kept: dict[tuple[str, str], _CredentialState] = {}
        """Keyed by source and key."""

    def hear(self, incarnation: int, message: CredentialMessage, alive: Iterable[int]) -> list[WorkerMessage]:
        """Return the messages that follow when a worker needs credentials, or has fetched some."""
        if message.action is CredentialAction.FETCHED:
            return self.receive(incarnation, message, alive)
        return self.want(incarnation, message)

    def want(self, incarnation: int, wanted: CredentialMessage) -> list[WorkerMessage]:
        """Return the messages that follow when a worker needs new credentials."""
        nothing = CredentialMessage(CredentialAction.FETCHED, wanted.source, 0, wanted.key)
        kept = self._kept.setdefault((wanted.source, wanted.key), _CredentialState(nothing))
        # Another worker has fetched newer credentials meanwhile, and the target has not refused them yet.
        if kept.given.number > wanted.number:
            return [(incarnation, kept.given)]
        is_recent = self._clock() - kept.failed_at < COOLING_S
        if kept.failures >= MOST_FAILURES and (kept.was_good or is_recent):
            # A failure gets the next number as well, so that the waiting worker continues and reports the reason.
            kept.given = replace(kept.given, number=wanted.number + 1)
            return [(incarnation, kept.given)]
        kept.waiting.append(incarnation)
        return self._appoint(kept)

    def receive(self, incarnation: int, given: CredentialMessage, alive: Iterable[int]) -> list[WorkerMessage]:
        """Return the messages that follow when a worker has fetched credentials: all workers learn which values to mask.

        After a failure another worker tries, until `MOST_FAILURES` in a row have failed.
        """
        kept = self._kept[given.source, given.key]
        if kept.fetching != incarnation or given.number <= kept.given.number:
            return []
        kept.fetching = None
        kept.failures = kept.failures + 1 if given.error else 0
        kept.failed_at = self._clock()
        if 0 < kept.failures < MOST_FAILURES:
            # Another attempt is made, because a login that fails now and then must not become an error of the operation
            # that needs it.
            return self._appoint(kept)
        kept.waiting.clear()
        kept.given = given
        kept.was_good = kept.was_good or not given.error
        return [(one, given) for one in alive]

    def join(self, incarnation: int) -> list[WorkerMessage]:
        return [(incarnation, one.given) for one in self._kept.values() if one.given.number]

    def lose(self, incarnation: int) -> list[WorkerMessage]:
        """Return the messages that follow when a worker is gone: another worker fetches in its place."""
        messages: list[WorkerMessage] = []
        for kept in self._kept.values():
            kept.waiting = [one for one in kept.waiting if one != incarnation]
            if kept.fetching == incarnation:
                kept.fetching = None
                messages += self._appoint(kept)
        return messages

    def _appoint(self, kept: _CredentialState) -> list[WorkerMessage]:
        """Let the worker that has waited longest fetch, unless a worker is fetching."""
        if kept.fetching is not None or not kept.waiting:
            return []
        kept.fetching = kept.waiting[0]
        given = kept.given
        order = CredentialMessage(CredentialAction.FETCH, given.source, given.number + 1, given.key)
        return [(kept.fetching, order)]
