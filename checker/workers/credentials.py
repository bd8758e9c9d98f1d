"""Credentials in one worker: put into requests, found to be refused, waited for, fetched when it is its turn."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from checker.core.case import Case
from checker.core.credentials import CREDENTIAL_SOURCES, CredentialSource
from checker.core.errors import CredentialError
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.corpus.secrets import Secrets
from checker.transport.proofs import put
from checker.workers.messages import FetchCredentials, GivenCredentials, WantedCredentials

MOST_IN_VAIN = 3
"""Times in a row that newer credentials are fetched for an operation and refused."""


@dataclass(slots=True)
class CredentialKeeper:
    """What the sources of credentials have given so far, and the way to newer ones."""

    sources: Mapping[str, CredentialSource]
    secrets: Secrets
    """Told of every value before anything can carry it."""
    ask: Callable[[WantedCredentials], None] = lambda wanted: None
    """Says that they are wanted; set by whoever has a supervisor."""
    listen: Callable[[], bool] = lambda: True
    """Waits for messages, which come back through `take` and `fetch`; whether there is no time for more."""
    _given: dict[str, GivenCredentials] = field(default_factory=dict)
    _in_vain: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(operation, source): how often in a row newer credentials were refused as well."""

    @classmethod
    def of_registered(cls, secrets: Secrets) -> "CredentialKeeper | None":
        """One for the sources that users registered; None when there are none."""
        return cls(dict(CREDENTIAL_SOURCES), secrets) if CREDENTIAL_SOURCES else None

    @classmethod
    def alone(cls, sources: Mapping[str, CredentialSource], secrets: Secrets) -> "CredentialKeeper":
        """One that has no supervisor, and fetches for itself."""

        def fetch(wanted: WantedCredentials) -> None:
            keeper.take(keeper.fetch(FetchCredentials(wanted.source, wanted.refused + 1)))

        keeper = cls(sources, secrets, ask=fetch)
        return keeper

    def apply(self, case: Case, request: WireRequest) -> None:
        """Have the request of a case carry what its sources hold now. Raises `CredentialError`."""
        for name, source in self.sources.items():
            given = self._given.get(name)
            if given is None or given.error:
                given = self._newer(name, 0 if given is None else given.number)
            if given is None:
                continue
            carried = source.carried(given.credentials, case)
            if carried is not None:
                self.secrets.add_credentials(carried)
                put(request, carried)
                others = (one for one in request.proofs if one[0] != name)
                request.proofs = (*others, (name, given.number))

    def is_refused(self, case: Case, request: WireRequest, outcome: Outcome) -> bool:
        """Whether to send again with newer credentials, which are there then. Raises `CredentialError`.

        Operations that refuse whatever is fetched are left alone after a while.
        """
        if not isinstance(outcome, Response):
            return False
        is_hopeful = False
        for name, number in request.proofs:
            place = (case.operation.label, name)
            if not self.sources[name].is_refused(outcome):
                self._in_vain.pop(place, None)
            elif self._in_vain[place] < MOST_IN_VAIN:
                self._in_vain[place] += 1
                is_hopeful = True
                if self._given[name].number <= number:
                    self._newer(name, number)
        return is_hopeful

    def observe(self, case: Case, request: WireRequest, outcome: Outcome) -> None:
        """Take note of the answer to what was sent again."""
        for name, _ in request.proofs:
            if isinstance(outcome, Response) and not self.sources[name].is_refused(outcome):
                self._in_vain.pop((case.operation.label, name), None)

    def take(self, given: GivenCredentials) -> None:
        """Newer credentials, or the reason why there are none."""
        self.secrets.add_credentials(given.credentials)
        self._given[given.source] = given

    def fetch(self, order: FetchCredentials) -> GivenCredentials:
        """Credentials for everybody, as they are told."""
        try:
            found = self.sources[order.source].fetch()
            self.secrets.add_credentials(found)
            return GivenCredentials(
                order.source,
                order.number,
                tuple(found.headers.items()),
                tuple(found.query.items()),
                tuple(found.cookies.items()),
            )
        except Exception as error:  # noqa: BLE001 - the wall: users' code; it costs the operations that need it
            text = f"{type(error).__name__}: {error}"
            return GivenCredentials(order.source, order.number, error=text)

    def _newer(self, name: str, refused: int) -> GivenCredentials | None:
        """What comes after those with that number; None when there is no time left to wait for them."""
        self.ask(WantedCredentials(name, refused))
        while (given := self._given.get(name)) is None or given.number <= refused:
            if self.listen():
                return given
        if given.error:
            raise CredentialError(f"credentials of {name!r} cannot be fetched: {given.error}")
        return given
