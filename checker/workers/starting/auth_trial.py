"""Trials of configured credentials, each on one harmless operation (`checker auth check`), and credentials for replayed requests."""

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import suppress
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl

from msgspec import Struct
from msgspec.structs import replace

from checker.config.auth import chosen_users
from checker.config.settings import RunSettings, credentials_in
from checker.core.case import Case
from checker.core.credentials import CREDENTIAL_SOURCES, CredentialSource
from checker.core.errors import CheckerError, UsageError
from checker.core.operation import Label, Operation
from checker.core.providers import GLOBAL_AUTH, AuthContext
from checker.core.request import Location, WireRequest
from checker.core.response import Outcome, Response
from checker.core.security import UNAUTHORIZED, is_open
from checker.core.send import drive, send_alone
from checker.corpus.layout import RunLayout
from checker.phases.attempt import build_request, exchange
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.logins import Identities
from checker.workers.authentication.opening import is_harmless
from checker.workers.authentication.signup import SignUpSource, accounts_of
from checker.workers.starting.calling import keeper_of, open_tools, transport_of, wiring_of
from checker.workers.subject import TestedDescription, give_engine, read_subject


def keeper_alone(subject: TestedDescription, told: list[str]) -> CredentialKeeper | None:
    """Return a keeper that fetches credentials of all configured sources itself; None if there are no sources.

    `told` receives the result of a sign-up. Raises `ConfigError`.
    """
    settings = subject.settings
    give_engine(subject)
    accounts = accounts_of(settings, subject.description.schema, lambda note: told.append(note.text))
    subject.keeper = keeper = keeper_of(subject, wiring_of(settings, subject.origin), accounts=accounts)
    if keeper is not None:
        keeper.is_alone = True
    return keeper


class FetchedCredentials:
    """Replaces the credentials of recorded requests by current ones."""

    def __init__(self, subject: TestedDescription) -> None:
        self._operations = subject.selected
        self._keeper = keeper_alone(subject, [])

    def renew(self, label: Label, request: WireRequest) -> None:
        """Replace the credentials of a recorded request. Raises `CredentialError`.

        A request without the headers or parameters of the sources stays unchanged, because it was sent without
        credentials on purpose.
        """
        operation = self._operations.get(label)
        if self._keeper is None or operation is None:
            return
        renewed = dataclasses.replace(request, headers=list(request.headers))
        self._keeper.apply(Case(operation, "replay"), renewed)
        if _places(renewed) <= _places(request):
            request.target, request.headers, request.body = (renewed.target, renewed.headers, renewed.body)

    def headers(self) -> dict[str, str]:
        """Return the headers that the sources add to requests, by lower-case name, each for the first operation that gets it."""
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


class AuthTrial(Struct, frozen=True):
    """The result of one trial."""

    name: str  # Security scheme, user, provider or source.
    text: str  # The result in a sentence without secrets.
    is_let_in: bool


def trials(settings: RunSettings, layout: RunLayout) -> Iterator[AuthTrial]:
    """Yield a trial for each scheme, user, provider, signer, source and configured header. Raises `LoaderError`, `ConfigError`, `UsageError`."""
    subject = read_subject(settings, layout)
    caller = _Tried(subject)
    try:
        yield from caller.trials()
    finally:
        caller.close()


def examples(settings: RunSettings, layout: RunLayout) -> tuple[str, ...]:
    """Return lines of `checker.toml` for the declared schemes; none if authentication is configured. Raises as `trials`."""
    subject = read_subject(settings, layout)
    return subject.schemes.examples(subject.description.schema.described_login, subject.origin.plain)


def token_for(settings: RunSettings, layout: RunLayout, name: str) -> str:
    """Return the credentials that requests carry for a security scheme: the value of its place, without `Bearer`.

    Raises `UsageError` if the scheme is unknown or nothing is configured for it, and as `trials`.
    """
    subject = read_subject(settings, layout)
    scheme = subject.schemes.declared.get(name)
    if scheme is None:
        known = ", ".join(sorted(subject.schemes.declared)) or "none"
        raise UsageError(f"the description has no security scheme {name!r}; it declares: {known}")
    caller = _Tried(subject)
    try:
        operations = [
            one for one in subject.selected.values() if any(scheme in other.schemes for other in one.security or ())
        ]
        # A request to an operation that requires only this scheme carries no other credentials at the same place.
        operations.sort(key=lambda one: min(len(other.schemes) for other in one.security if scheme in other.schemes))
        found = next(filter(None, (caller.value_at(one, scheme.place) for one in operations)), "")
    finally:
        caller.close()
    if not found:
        raise UsageError(f"nothing is configured for the security scheme {name!r}: see `checker auth check`")
    return found.partition(" ")[2] or found if scheme.type != "apiKey" else found


class _Prepared(Exception):
    """Ends an attempt before its request is sent."""


class _Tried:
    """Sends the requests of trials."""

    def __init__(self, subject: TestedDescription) -> None:
        self._subject = subject
        self._told: list[str] = []
        self._keeper = keeper_alone(subject, self._told)
        self._tools = open_tools(subject)
        self._lanes = transport_of(subject.settings)(subject.origin, subject.operations.common.http, 1)
        self._operations: list[Operation] = [one for one in subject.selected.values() if is_harmless(one)]

    def close(self) -> None:
        self._lanes.close()

    def trials(self) -> Iterator[AuthTrial]:
        subject, authentication = self._subject, self._subject.operations.common.authentication
        unused, chosen = dict(subject.schemes.unused), subject.schemes.chosen
        for name, own in ((name, one) for one in subject.schemes.everywhere for name in one.schemes):
            if name in unused:
                yield AuthTrial(name, unused[name], False)
            else:
                scheme = subject.schemes.declared[name]
                # Operations that require only this scheme come first, because their refusals have no other cause.
                mine = [one for one in self._asking() if scheme in chosen(one) and subject.schemes.of(one) == own]
                mine.sort(key=lambda one: (is_open(one.security), len(chosen(one))))
                yield self._trial(name, mine)
        if authentication.basic is not None:
            yield self._trial(f"{authentication.basic.type} authentication", self._asking())
        if authentication.wfc is not None:
            for user in chosen_users(subject.settings.auth.wfc, authentication.wfc.user):
                assert self._keeper is not None
                self._keeper.identities = Identities([user.name])
                yield self._trial(f"user {user.name}", self._asking())
        for provider in () if authentication else GLOBAL_AUTH.providers:
            covers = provider.scope.covers
            covered = (one for one in self._asking() if covers(AuthContext.of(one)))
            yield self._trial(f"provider {provider.name}", covered)
        for signing in () if authentication else GLOBAL_AUTH.signers:
            signed = (one for one in self._asking() if signing.covers(AuthContext.of(one)))
            yield self._trial(f"signer {type(signing.signer).__name__}", signed)
        for name in () if authentication else credentials_in(subject.settings):
            yield self._trial(name, self._asking())
        for name, source in self._keeper.sources.items() if self._keeper else ():
            if isinstance(source, SignUpSource):
                trial = self._trial(name, self._needing(source))
                yield replace(trial, text="; ".join([*self._told, trial.text]))
            elif source is CREDENTIAL_SOURCES.get(name):
                yield self._trial(f"source {name}", self._needing(source))

    def _needing(self, source: CredentialSource) -> Iterator[Operation]:
        """Yield the operations whose requests carry the credentials of a source."""
        for one in self._asking():
            if source.key(Case(one, "auth-check")) is not None:
                yield one

    def _asking(self) -> list[Operation]:
        """Return the operations. Those that require credentials come first, because a public operation does not test credentials."""
        return sorted(self._operations, key=lambda one: is_open(one.security))

    def _trial(self, name: str, operations: Iterable[Operation]) -> AuthTrial:
        operation = next(iter(operations), None)
        if operation is None:
            text = "not tried: no GET without required inputs asks for it"
            return AuthTrial(name, text, True)
        try:
            case = Case(operation, "auth-check")
            tools = self._tools
            request = build_request(tools.maker, tools.hooks, case, tools.credentials)
            outcome: Outcome = drive(exchange(tools, case, request), lambda wanted: send_alone(self._lanes, wanted))
        except CheckerError as error:
            return AuthTrial(name, self._subject.secrets.store.hide(str(error), "[Filtered]"), False)
        if not isinstance(outcome, Response):
            return AuthTrial(name, f"{operation.label} was not answered: {outcome.message}", False)
        status = outcome.status_code
        if status in UNAUTHORIZED:
            return AuthTrial(name, f"{operation.label} answered {status}: it was refused", False)
        return AuthTrial(name, f"{operation.label} answered {status}", True)

    def value_at(self, operation: Operation, place: tuple[Location, str]) -> str:
        """Return the credentials at a place of a request to an operation; empty if there are none. The request is not sent."""
        requests: list[WireRequest] = []

        def keep(request: WireRequest) -> Outcome:
            requests.append(request)
            raise _Prepared

        case, tools = Case(operation, "auth-token"), self._tools
        with suppress(_Prepared):
            drive(exchange(tools, case, build_request(tools.maker, tools.hooks, case, tools.credentials)), keep)
        location, name = place
        for request in requests:
            if location is Location.HEADER:
                return (request.header(name.encode()) or b"").decode("latin-1")
            if location is Location.QUERY:
                return dict(parse_qsl(request.target.partition(b"?")[2].decode("latin-1"))).get(name, "")
            cookies = SimpleCookie((request.header(b"cookie") or b"").decode("latin-1"))
            return cookies[name].value if name in cookies else ""
        return ""
