"""Who fetches credentials, and who waits for them. Pure: messages in, messages out."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from checker.workers.messages import FetchCredentials, GivenCredentials, WantedCredentials

MOST_FAILURES = 3
"""In a row: then nobody fetches any more, since logins that fail may lock an account."""

Told = tuple[int, FetchCredentials | GivenCredentials]
"""(incarnation, message)."""


@dataclass(slots=True)
class _CredentialState:
    given: GivenCredentials
    """The last that came; number 0 when there were none."""
    fetching: int | None = None
    """Who fetches the next ones."""
    waiting: list[int] = field(default_factory=list)
    failures: int = 0


class CredentialExchange:
    """Credentials of a run: each fetched once, by one worker for all, and by another one if that worker dies."""

    def __init__(self) -> None:
        self._sources: dict[str, _CredentialState] = {}

    def want(self, incarnation: int, wanted: WantedCredentials) -> list[Told]:
        """What to tell when a worker cannot go on with what it has."""
        name = wanted.source
        source = self._sources.setdefault(name, _CredentialState(GivenCredentials(name, 0)))
        if source.given.number > wanted.refused:
            return [(incarnation, source.given)]
        if source.failures >= MOST_FAILURES:
            # Numbered as an answer: whoever waits goes on, and tells the reason.
            source.given = replace(source.given, number=wanted.refused + 1)
            return [(incarnation, source.given)]
        source.waiting.append(incarnation)
        return self._appoint(source)

    def receive(
        self, incarnation: int, given: GivenCredentials, alive: Iterable[int]
    ) -> list[Told]:
        """What to tell when a worker has fetched: everybody, since they have to know what to mask."""
        source = self._sources[given.source]
        if source.fetching != incarnation or given.number <= source.given.number:
            return []
        source.fetching = None
        source.waiting.clear()
        source.given = given
        source.failures = source.failures + 1 if given.error else 0
        return [(one, given) for one in alive]

    def join(self, incarnation: int) -> list[Told]:
        """What to tell a worker that has just begun."""
        return [(incarnation, one.given) for one in self._sources.values() if one.given.number]

    def lose(self, incarnation: int) -> list[Told]:
        """What to tell when a worker is gone: another one fetches what it was to fetch."""
        told: list[Told] = []
        for source in self._sources.values():
            source.waiting = [one for one in source.waiting if one != incarnation]
            if source.fetching == incarnation:
                source.fetching = None
                told += self._appoint(source)
        return told

    def _appoint(self, source: _CredentialState) -> list[Told]:
        """Have the one that waits longest fetch, if nobody does."""
        if source.fetching is not None or not source.waiting:
            return []
        source.fetching = source.waiting[0]
        return [(source.fetching, FetchCredentials(source.given.source, source.given.number + 1))]
