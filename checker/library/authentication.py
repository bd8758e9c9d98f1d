"""Sending from the Python API: kept connections, and the configured or registered credentials, nearest first."""

import dataclasses
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

from msgspec.structs import replace

from checker.config.operation_settings import HttpSettings, OperationResolver
from checker.config.settings import RunSettings, Sanitization, credentials_in
from checker.core.credentials import CREDENTIAL_SOURCES
from checker.core.providers import GLOBAL_AUTH, AuthRegistry
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import NetworkFailure, Outcome, Response
from checker.core.send import Send, Transport, send_alone
from checker.corpus.secrets import Secrets
from checker.kinds.protocol import ApiSchema
from checker.transport.applications import Application
from checker.transport.factories import TransportFactory
from checker.transport.settings import time_limit_s
from checker.workers.authentication.keeper import CredentialKeeper, ReauthState
from checker.workers.authentication.logins import LoginTransport
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.starting.calling import equip

Asked = tuple[RunSettings, OperationResolver]  # (settings of the run, settings of operations).


class SendFrom(Protocol):
    """Sends a request to a host with these settings."""

    def __call__(
        self, origin: BaseUrl, http: HttpSettings, request: WireRequest, *, is_elsewhere: bool = False
    ) -> Outcome:
        """`is_elsewhere`: the host is not the target. Only the target may have a custom transport."""


class CallAuthentication:
    """The credentials of calls of one schema; rebuilt when the configuration, the target or the registered providers change."""

    def __init__(self, schema: ApiSchema, registries: Sequence[AuthRegistry]) -> None:
        """`registries` are those of a test and of the schema. These providers precede the global providers."""
        self.registries = tuple(registries)
        self.reauth: Callable[[], ReauthState] = ReauthState
        """Returns a new count of refusals; a loaded schema replaces it by its extension point."""
        self.secrets = Secrets()
        self._schema = schema
        self._configured: tuple[object, tuple[str, ...]] | None = None
        self._schemes: tuple[object, SchemeCredentials] | None = None
        self._keeper: tuple[tuple[object, ...], CredentialKeeper] | None = None

    def configured(self, settings: RunSettings) -> tuple[str, ...]:
        """Return the configured credentials by the names that messages use."""
        if self._configured is None or self._configured[0] is not settings:
            # Resolving all blocks of operations takes too long for each call.
            self._configured = settings, tuple(credentials_in(settings))
        return self._configured[1]

    def hidden(self, command: str, wanted: Sanitization) -> str:
        return self.secrets.store.hide(command, wanted.replacement) if wanted.enabled else command

    def schemes(self, asked: Asked) -> SchemeCredentials:
        """Return the configured credentials of security schemes. Raises `ConfigError`."""
        settings, operations = asked
        if self._schemes is None or self._schemes[0] is not settings:
            configured = operations.common.authentication
            found = SchemeCredentials(self._schema.security_schemes, configured, operations)
            self._schemes = settings, found
        return self._schemes[1]

    def keeper(self, asked: Asked, origin: BaseUrl, send: SendFrom) -> CredentialKeeper | None:
        """Return the keeper that adds credentials to requests to an origin; None without credentials. Raises `ConfigError`."""
        settings, operations = asked
        schemes, registries = self.schemes(asked), (*self.registries, GLOBAL_AUTH)
        registered = (one for registry in registries for one in (*registry.providers, *registry.signers))
        made_of = (settings, origin, *CREDENTIAL_SOURCES, *map(id, registered))
        if self._keeper is None or self._keeper[0] != made_of:
            keeper = CredentialKeeper({}, self.secrets, is_alone=True, reauth=self.reauth())
            http = operations.common.http

            def to_api(request: WireRequest) -> Outcome:
                below = origin.base_path.encode() + request.target
                return send(origin, http, dataclasses.replace(request, target=below))

            def elsewhere(url: str) -> Send:
                other = replace(BaseUrl.from_url(url), base_path="")
                if other.site == origin.plain.site:
                    return partial(send, replace(origin, base_path=""), http)
                return partial(send, other, http, is_elsewhere=True)

            wiring = LoginTransport(origin, to_api, elsewhere)
            equip(keeper, (settings, operations, schemes), wiring, registries)
            self._keeper = made_of, keeper
        keeper = self._keeper[1]
        return keeper if keeper.sources or keeper.signers else None


_MANY: Final = 16  # Targets with kept connections, for each thread.


class _Connections(threading.local):
    """The transports of one thread, in which each has one request in flight."""

    def __init__(self) -> None:
        self.lanes: dict[tuple[BaseUrl, HttpSettings], Transport] = {}


class RequestSender:
    """Sends requests one by one in each thread."""

    def __init__(self, application: Application | None, connect: TransportFactory) -> None:
        """Requests to the host of the application go to the application. `connect` makes the transports of all others."""
        self._application = application
        self._connections = _Connections()
        self._connect = connect

    def send(self, origin: BaseUrl, http: HttpSettings, request: WireRequest) -> Outcome:
        application = self._application
        if application is not None and origin.url == application.origin.url:
            return application.send(request, time_limit_s(request, http))
        known = self._connections.lanes
        lanes = known.get((origin, http))
        if lanes is None:
            while len(known) >= _MANY:
                known.pop(next(iter(known))).close()
            lanes = known[origin, http] = self._connect(origin, http, 1)
        outcome = send_alone(lanes, request)
        if isinstance(outcome, NetworkFailure) and outcome.may_be_late:
            outcome = send_alone(lanes, dataclasses.replace(request, fresh=True))
        if isinstance(outcome, Response):
            outcome.request = request
        return outcome
