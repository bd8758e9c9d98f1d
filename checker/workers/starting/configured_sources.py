"""The configured sources of credentials, given to a keeper."""

import dataclasses
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker.config.auth import Authentication, chosen_users, peers_of
from checker.config.operation_settings import HttpSettings, OperationResolver
from checker.config.settings import RunSettings
from checker.core.credentials import CREDENTIAL_SOURCES, CredentialSource
from checker.core.providers import GLOBAL_AUTH, AuthRegistry
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Outcome
from checker.corpus.secrets import Secrets
from checker.transport.factories import NETWORK, TransportFactory
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.logins import Identities, LoginTransport, Send, TokenSource, UserSource
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.authentication.signup import Accounts, SignUpSource
from checker.workers.starting.transports import transport_of
from checker.workers.users import ALL_SCHEMAS, UsersCode


class Requested(Struct, frozen=True):
    """The configured authentication."""

    settings: RunSettings
    schemes: SchemeCredentials
    operations: OperationResolver
    accounts: Accounts | None = None
    """Automatic sign-up; None if it does not apply."""
    users: UsersCode = ALL_SCHEMAS


def keeper_of(asked: Requested, wiring: LoginTransport, secrets: Secrets) -> CredentialKeeper | None:
    """Return the keeper of fetched credentials; None if there are no sources.

    Configured sources replace those that users registered in Python. Raises `ConfigError`.
    """
    keeper = CredentialKeeper({}, secrets, reauth=asked.users.reauth())
    equip(keeper, asked, wiring, asked.users.auth)
    first = asked.users.applies
    if first is not None:
        keeper.first = first.name
        keeper.sources = {first.name: first, **keeper.sources}
    return keeper if keeper.sources or keeper.signers else None


def equip(
    keeper: CredentialKeeper, asked: Requested, wiring: LoginTransport, registered: Sequence[AuthRegistry]
) -> None:
    """Give a keeper its sources and signers: those configured, or else those of the nearest registry that has any."""
    operations = asked.operations
    authentication = operations.common.authentication
    if authentication:
        keeper.sources = _tokens(authentication, asked.schemes, wiring.send)
        if authentication.wfc is not None:
            users = chosen_users(asked.settings.auth.wfc, authentication.wfc.user)
            keeper.identities = Identities([user.name for user in users], authentication.wfc.peers)
            keeper.peer_names = authentication.wfc.peers
            # The chosen user calls all operations. Peers are only tried on the resources that this user created.
            known = {one.name: one for one in (*users, *peers_of(asked.settings.auth.wfc, authentication.wfc))}
            user_source = partial(UserSource, keeper.identities, authentication.wfc.refresh_interval, wiring)
            keeper.sources = {one.name: one for one in map(user_source, known.values())}
    else:
        registry = next((one for one in registered if one), GLOBAL_AUTH)
        keeper.sources = CREDENTIAL_SOURCES | {one.name: one for one in registry.providers}
        if registry.signers:
            keeper.signers = _signing().signers_of(wiring.origin, registry.signers)
        if asked.accounts is not None and not (keeper.sources or keeper.signers):
            made = SignUpSource(asked.accounts, wiring.send)
            keeper.sources, keeper.trial = {made.name: made}, made
    if any(own.authentication.is_digest for own in operations.layers.everywhere()):
        keeper.signers = (*keeper.signers, _signing().digest_signer(wiring.origin, operations.of))


def _signing() -> Any:
    """Return the signer. It needs an HTTP client, whose import takes a tenth of the start of a worker."""
    return import_module("checker.workers.authentication.signing")


def _tokens(authentication: Authentication, schemes: SchemeCredentials, send: Send) -> dict[str, CredentialSource]:
    """Return the configured sources of tokens by name."""
    found = [
        TokenSource(one, schemes.declared[one.name], schemes, send)
        for one in authentication.dynamic
        if one.name in schemes.declared
    ]
    return {one.name: one for one in found}


def wiring_of(settings: RunSettings, origin: BaseUrl) -> LoginTransport:
    """Return the transport of logins: that of tests for the target, the network for other hosts."""
    http = settings.common.http

    def send_to(url: str) -> Send:
        other = BaseUrl.from_url(url)
        return sender(NETWORK, replace(other, base_path=""), http)

    return LoginTransport(origin, sender(transport_of(settings), origin, http), send_to)


def sender(connect: TransportFactory, origin: BaseUrl, settings: HttpSettings) -> Send:
    """Return a sender of requests below the base path, each on a connection of its own."""

    def send(request: WireRequest) -> Outcome:
        lanes = connect(origin, settings, 1)
        try:
            target = origin.base_path.encode() + request.target
            return lanes.send(0, dataclasses.replace(request, target=target))
        finally:
            lanes.close()

    return send
