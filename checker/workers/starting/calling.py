"""Sets up how a worker sends requests and judges responses: users, lanes and checks."""

import dataclasses
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from checker import __version__
from checker.checks.context import CheckTools
from checker.checks.custom import CUSTOM_CHECKS
from checker.config.auth import chosen_users, peers_of
from checker.config.operation_settings import HttpSettings, OperationResolver
from checker.config.settings import RunSettings, without_credentials
from checker.core.credentials import CREDENTIAL_SOURCES, CredentialSource
from checker.core.hooks import COMPONENTS
from checker.core.providers import GLOBAL_AUTH, AuthRegistry
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Outcome
from checker.core.send import Send, send_alone
from checker.corpus.inflight import Stage
from checker.corpus.layout import RunLayout
from checker.health import SafetyGate
from checker.phases.attempt import CallHooks, CallMaker, Tools
from checker.phases.bindings import renewed
from checker.transport.factories import NETWORK, TransportFactory, in_process, transport_factory, with_policies
from checker.transport.policies import RateLimits
from checker.transport.prepare import RequestMaker
from checker.transport.settings import reaching
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.logins import Identities, LoginTransport, TokenSource, UserSource
from checker.workers.authentication.oauth2 import OAuth2Source
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.authentication.signup import Accounts, SignUpSource
from checker.workers.context import Stages
from checker.workers.operation_tools import dispatching, judges
from checker.workers.subject import TestedDescription
from checker.workers.users import ALL_SCHEMAS, UsersCode

_MAKING_VERBS = ("before_generate", "filter", "map", "flatmap")


def stages_of(users: UsersCode, keeper: CredentialKeeper | None, checks: Iterable[str]) -> Stages:
    """Return the stages of cases that these checks judge."""
    named = users.hooks.named
    hooks = ("before_add_examples", *(f"{verb}_{part}" for verb in _MAKING_VERBS for part in (*COMPONENTS, "case")))
    # Sources of credentials and wrapped makers act on each request, even without hooks.
    is_watched = bool(keeper or users.told) or users.changes_requests
    judges = is_watched or named("after_call") or any(name in CUSTOM_CHECKS for name in checks)
    return Stages(
        making=Stage.HOOK if any(map(named, hooks)) else Stage.MAKE,
        calling=Stage.HOOK if is_watched or named("before_call") else Stage.MAKE,
        judging=Stage.HOOK if judges else Stage.JUDGE,
    )


def open_tools(subject: TestedDescription, users: UsersCode = ALL_SCHEMAS, gate: SafetyGate | None = None) -> Tools:
    """Return the tools that send a case and judge its response, with the settings of its operation."""
    settings, operations, keeper = subject.settings, subject.operations, subject.keeper
    origin, headers = subject.origin, operations.common.headers
    stranger = origin.with_userinfo("")
    make = partial(RequestMaker, version=__version__, own_servers=True)
    maker = users.maker(make(origin, headers, dispatch=dispatching(operations, subject.schemes)), origin)
    anonymous_headers = partial(without_credentials, settings.report.sanitization.redaction)
    anonymous = make(stranger, anonymous_headers(headers), dispatch=dispatching(operations, None, anonymous_headers))
    bare = make(stranger, (), dispatch=dispatching(operations, None, lambda headers: ()))
    hooks = replace(CallHooks.of(users.hooks), told=users.told)
    peers = None if keeper is None else keeper.peers
    calls, strangers = CallMaker(maker, hooks, keeper), CallMaker(users.maker(anonymous, origin), hooks)
    tools = CheckTools(calls, strangers, renewed, peers, bare)
    judge_of = judges(operations, settings.report.truncation, tools, subject.classes.checks, users.judges)
    return Tools(maker, judge_of, gate or SafetyGate(), hooks, keeper)


def schemeless_maker(operations: OperationResolver, origin: BaseUrl) -> RequestMaker:
    """Return a maker of requests with everything that is configured, except credentials of security schemes."""
    return RequestMaker(
        origin, operations.common.headers, version=__version__, own_servers=True, dispatch=dispatching(operations, None)
    )


def transport_of(settings: RunSettings) -> TransportFactory:
    """Return the factory of the transports of a run; all workers share its rate limits. Raises `ConfigError`."""
    rates = RateLimits(RunLayout(Path(settings.corpus.folder)).rates, sharers=settings.processes.sharers)
    named = settings.target.transport
    if settings.target.app is not None and named is None:
        return with_policies(in_process().application_transport(settings.target.app), rates)
    return with_policies(transport_factory(named), rates)


def keeper_of(
    subject: TestedDescription, wiring: LoginTransport, users: UsersCode = ALL_SCHEMAS, accounts: Accounts | None = None
) -> CredentialKeeper | None:
    """Return the keeper of fetched credentials; None if there are no sources.

    Configured sources replace sources that users registered in Python. `accounts`: automatic sign-up, if it is possible.
    Raises `ConfigError`.
    """
    keeper = CredentialKeeper({}, subject.secrets, reauth=users.reauth())
    equip(keeper, (subject.settings, subject.operations, subject.schemes), wiring, users.auth, accounts)
    first = users.applies
    if first is not None:
        keeper.first = first.name
        keeper.sources = {first.name: first, **keeper.sources}
    return keeper if keeper.sources or keeper.signers else None


def equip(
    keeper: CredentialKeeper,
    configured: tuple[RunSettings, OperationResolver, SchemeCredentials],
    wiring: LoginTransport,
    registered: Sequence[AuthRegistry],
    accounts: Accounts | None = None,
) -> None:
    """Give a keeper its sources and signers: the configured ones, otherwise those of the nearest registry that has any."""
    settings, operations, schemes = configured
    authentication = operations.common.authentication
    if authentication or schemes:
        keeper.sources = _token_sources(schemes, wiring)
        if authentication.wfc is not None:
            users = chosen_users(settings.auth.wfc, authentication.wfc.user)
            keeper.identities = Identities([user.name for user in users], authentication.wfc.peers)
            keeper.peer_names = authentication.wfc.peers
            # The chosen user calls all operations. Peers only access resources that this user created.
            known = {one.name: one for one in (*users, *peers_of(settings.auth.wfc, authentication.wfc))}
            user_source = partial(UserSource, keeper.identities, authentication.wfc.refresh_interval, wiring)
            keeper.sources = {one.name: one for one in map(user_source, known.values())}
    else:
        registry = next((one for one in registered if one), GLOBAL_AUTH)
        keeper.sources = CREDENTIAL_SOURCES | {one.name: one for one in registry.providers}
        if registry.signers:
            keeper.signers = _signing().signers_of(wiring.origin, registry.signers)
        if accounts is not None and not (keeper.sources or keeper.signers):
            made = SignUpSource(accounts, wiring.send)
            keeper.sources, keeper.trial = {made.name: made}, made
    if any(own.authentication.is_digest for own in operations.layers.everywhere()):
        keeper.signers = (*keeper.signers, _signing().digest_signer(wiring.origin, operations.of))


def _signing() -> Any:
    """Return the signer. It needs an HTTP client, whose import takes a tenth of the start of a worker."""
    return import_module("checker.workers.authentication.signing")


def _token_sources(schemes: SchemeCredentials, wiring: LoginTransport) -> dict[str, CredentialSource]:
    """Return the sources of tokens by name. Operations may have their own sources for the same scheme."""
    declared = schemes.declared
    tokens = dict.fromkeys(one for own in schemes.everywhere for one in own.dynamic if one.name in declared)
    clients = dict.fromkeys(one for own in schemes.everywhere for one in own.oauth2 if one.name in declared)
    found: dict[str, CredentialSource] = {}
    for source in (
        *(TokenSource(one, declared[one.name], schemes, wiring) for one in tokens),
        *(OAuth2Source(one, declared[one.name], schemes, wiring) for one in clients),
    ):
        number = sum(name.partition(" ")[0] == source.name for name in found)
        source.name += f" {number + 1}" if number else ""
        found[source.name] = source
    return found


def wiring_of(settings: RunSettings, origin: BaseUrl) -> LoginTransport:
    """Return the transport of logins: the tests' transport for the target, the network for other hosts."""
    http, own = settings.common.http, transport_of(settings)

    def send_to(url: str) -> Send:
        other = replace(BaseUrl.from_url(url), base_path="")
        if other.site == origin.plain.site:
            return sender(own, replace(origin, base_path=""), http)
        return sender(NETWORK, other, reaching(http, origin, other))

    return LoginTransport(origin, sender(own, origin, http), send_to)


def sender(connect: TransportFactory, origin: BaseUrl, settings: HttpSettings) -> Send:
    """Return a function that sends requests below the base path, each on a new connection."""

    def send(request: WireRequest) -> Outcome:
        lanes = connect(origin, settings, 1)
        try:
            target = origin.base_path.encode() + request.target
            return send_alone(lanes, dataclasses.replace(request, target=target))
        finally:
            lanes.close()

    return send
