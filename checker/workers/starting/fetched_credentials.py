"""The credentials that the sources of a configuration give, outside of a run: for trials and for requests of an earlier run."""

from dataclasses import replace

from checker.core.case import Case
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.corpus.secrets import Secrets, secrets_of
from checker.workers.authentication.credentials import CredentialKeeper
from checker.workers.authentication.signup import accounts_of
from checker.workers.starting.configured_sources import Requested, keeper_of, wiring_of
from checker.workers.starting.subject import TestedDescription
from checker.workers.starting.users_engine import give_engine


def keeper_alone(subject: TestedDescription, secrets: Secrets, told: list[str]) -> CredentialKeeper | None:
    """Return what applies the credentials of all configured sources, and fetches them itself; None without any source.

    `told` receives what came of a sign-up. Raises `ConfigError`.
    """
    settings = subject.settings
    parts = give_engine(subject)
    accounts = accounts_of(settings, subject.description.schema, lambda note: told.append(note.text))
    asked = Requested(settings, subject.schemes, subject.operations, accounts)
    keeper = keeper_of(asked, wiring_of(settings, subject.origin), secrets)
    if keeper is not None:
        keeper.fetch_alone()
    parts.keeper, parts.secrets = keeper, secrets
    return keeper


class FetchedCredentials:
    """Gives recorded requests the credentials of today."""

    def __init__(self, subject: TestedDescription) -> None:
        self._operations = subject.selected
        self._keeper = keeper_alone(subject, secrets_of(subject.settings), [])

    def renew(self, label: Label, request: WireRequest) -> None:
        """Replace the credentials of a recorded request. Raises `CredentialError`.

        A request that lacks what the sources would add stays as it is: it was sent without credentials on purpose.
        """
        operation = self._operations.get(label)
        if self._keeper is None or operation is None:
            return
        renewed = replace(request, headers=list(request.headers))
        self._keeper.apply(Case(operation, "replay"), renewed)
        if _places(renewed) <= _places(request):
            request.target, request.headers, request.body = (renewed.target, renewed.headers, renewed.body)

    def headers(self) -> dict[str, str]:
        """Return the headers that the sources add to requests, by name in lower case, each from the first operation that gets it."""
        found: dict[str, str] = {}
        if self._keeper is None:
            return found
        for operation in self._operations.values():
            request = WireRequest("GET", b"/", [], None)
            self._keeper.apply(Case(operation, "replay"), request)
            for name, value in request.headers:
                found.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
        return found


def _places(request: WireRequest) -> set[tuple[str, bytes]]:
    """Return (kind, name) of each header, cookie and query parameter."""
    query = request.target.partition(b"?")[2]
    found = {("query", pair.partition(b"=")[0]) for pair in query.split(b"&") if pair}
    for name, value in request.headers:
        found.add(("header", name.lower()))
        if name.lower() == b"cookie":
            found |= {("cookie", pair.partition(b"=")[0].strip()) for pair in value.split(b";")}
    return found
