"""What is configured for a run and has to be fetched, as sources of credentials."""

from collections.abc import Mapping
from dataclasses import replace

from checker.config.auth import Authentication
from checker.config.settings import RunSettings
from checker.core.credentials import CredentialSource
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Outcome
from checker.corpus.secrets import Secrets
from checker.transport.factories import TransportFactory, transport_factory
from checker.transport.settings import HttpSettings
from checker.workers.credentials import CredentialKeeper
from checker.workers.schemes import SchemeCredentials
from checker.workers.tokens import Send, TokenSource


def keeper_of(
    settings: RunSettings, schemes: SchemeCredentials, origin: BaseUrl, secrets: Secrets
) -> CredentialKeeper | None:
    """What holds the credentials of one worker that have to be fetched; None for none. Raises `ConfigError`."""
    common = settings.common
    send = sender(transport_factory(settings.transport), origin, HttpSettings.of(common))
    found = sources(common.authentication, schemes, send)
    return CredentialKeeper.of_run(found, secrets, is_configured=bool(common.authentication))


def sources(
    authentication: Authentication, schemes: SchemeCredentials, send: Send
) -> Mapping[str, CredentialSource]:
    """Sources of what is configured and has to be fetched, by name."""
    found = [
        TokenSource(one, schemes.declared[one.name], schemes, send)
        for one in authentication.dynamic
        if one.name in schemes.declared
    ]
    return {one.name: one for one in found}


def sender(connect: TransportFactory, origin: BaseUrl, settings: HttpSettings) -> Send:
    """Sends a request below the base path, on a connection of its own."""

    def send(request: WireRequest) -> Outcome:
        lanes = connect(origin, settings, 1)
        try:
            target = origin.base_path.encode() + request.target
            return lanes.send(0, replace(request, target=target))
        finally:
            lanes.close()

    return send
