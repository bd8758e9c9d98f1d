"""Lays out how a worker sends requests and judges what comes back: who calls, on how many lanes, with which checks."""

import dataclasses
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker import __version__
from checker.checks.custom import CUSTOM_CHECKS
from checker.config.auth import Authentication, chosen_users, peers_of
from checker.config.operation_settings import HttpSettings, OperationResolver
from checker.config.settings import RunSettings, without_credentials
from checker.core.credentials import CREDENTIAL_SOURCES, CredentialSource
from checker.core.providers import GLOBAL_AUTH, AuthRegistry
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Outcome
from checker.corpus.inflight import Stage
from checker.corpus.layout import RunLayout
from checker.corpus.secrets import Secrets
from checker.health import SafetyGate
from checker.phases.attempt import CallHooks, Tools, check_tools
from checker.transport.factories import NETWORK, TransportFactory, in_process, transport_factory, with_policies
from checker.transport.policies import RateLimits
from checker.transport.prepare import RequestMaker
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.logins import Identities, LoginTransport, Send, TokenSource, UserSource
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.authentication.signup import Accounts, SignUpSource
from checker.workers.class_checks import ClassChecks
from checker.workers.observers.pacing import Concurrency, SlowLanes
from checker.workers.operation_tools import CheckChoice, dispatching, judges
from checker.workers.users import ALL_SCHEMAS, UsersCode

MOST_LANES = 8
"""In flight at one target by all workers together, unless told otherwise."""


class Caller(Struct, frozen=True):
    """The target of requests, and their credentials."""

    origin: BaseUrl
    schemes: SchemeCredentials
    keeper: CredentialKeeper | None
    users: UsersCode = ALL_SCHEMAS

    @property
    def is_watched(self) -> bool:
        """Whether users' code has to do with each request, whatever hooks there are."""
        return bool(self.keeper or self.users.told) or self.users.makes is not ALL_SCHEMAS.makes

    def judging_stage(self, checks: Iterable[str]) -> Stage:
        """Return `HOOK` where user code runs while a response is judged: one of these checks, or an `after_call` hook."""
        if any(name in CUSTOM_CHECKS for name in checks):
            return Stage.HOOK
        return self.stage("after_call", Stage.JUDGE)

    def stage(self, hook: str, otherwise: Stage) -> Stage:
        """`HOOK` where users' code may run: hooks of this name, or sources of credentials."""
        return Stage.HOOK if self.is_watched or self.users.hooks.named(hook) else otherwise


def open_tools(
    settings: RunSettings,
    operations: OperationResolver,
    caller: Caller,
    classes: ClassChecks,
    gate: SafetyGate | None = None,
) -> Tools:
    """Return the tools that send a case and judge its response, with the settings of its operation."""
    common, origin, keeper = operations.common, caller.origin, caller.keeper
    users = caller.users
    usual = RequestMaker(
        origin, common.headers, version=__version__, own_servers=True, dispatch=dispatching(operations, caller.schemes)
    )
    maker = users.makes(usual, origin)
    nobody = partial(without_credentials, settings.report.sanitization.redaction)
    anonymous = RequestMaker(
        origin.with_userinfo(""),
        nobody(common.headers),
        version=__version__,
        own_servers=True,
        dispatch=dispatching(operations, None, nobody),
    )
    bare = RequestMaker(
        origin.with_userinfo(""),
        (),
        version=__version__,
        own_servers=True,
        dispatch=dispatching(operations, None, lambda headers: ()),
    )
    hooks = replace(CallHooks.of(users.hooks), told=users.told)
    peers = None if keeper is None else keeper.peers
    tools = check_tools(maker, users.makes(anonymous, origin), hooks, keeper, peers)
    tools = replace(tools, make_bare=bare.make)
    judge_of = judges(operations, settings.report.truncation, CheckChoice(classes.checks, users.judges), tools)
    return Tools(maker, judge_of, gate or SafetyGate(), hooks, keeper)


def schemeless_maker(operations: OperationResolver, origin: BaseUrl) -> RequestMaker:
    """Makes requests with all that is configured but credentials of security schemes."""
    return RequestMaker(
        origin, operations.common.headers, version=__version__, own_servers=True, dispatch=dispatching(operations, None)
    )


class Lanes(Struct, frozen=True):
    """The number of requests that one worker has in flight."""

    pacing: Concurrency
    slow: SlowLanes
    """Lanes for what is slow."""

    @classmethod
    def of(cls, settings: RunSettings, users: UsersCode = ALL_SCHEMAS) -> "Lanes":
        """As the settings say, or a share of what one target may get."""
        return cls(_pacing(settings), _slow_lanes(settings, users))

    @property
    def count(self) -> int:
        """One more than can be in flight: to look into a failure while what is slow is waited for."""
        return self.pacing.most + self.slow.most + bool(self.slow.most)

    @property
    def slots(self) -> int:
        """In-flight slots: two for each lane, and two."""
        return 2 * self.count + 2


def _pacing(settings: RunSettings) -> Concurrency:
    if settings.processes.lanes is not None:
        return Concurrency(most=settings.processes.lanes, lanes=settings.processes.lanes, fixed=True)
    return Concurrency(most=max(1, MOST_LANES // settings.processes.workers))


def _slow_lanes(settings: RunSettings, users: UsersCode) -> SlowLanes:
    """Lanes for what is slow. Hooks around calls see one after the other, if there is one lane."""
    is_watched = CallHooks.of(users.hooks) or users.told
    return SlowLanes(0 if is_watched else max(1, MOST_LANES // settings.processes.workers))


def transport_of(settings: RunSettings) -> TransportFactory:
    """Return the factory of the transports of a run; all workers share its rate limits. Raises `ConfigError`."""
    rates = RateLimits(RunLayout(Path(settings.corpus.folder)).rates)
    named = settings.target.transport
    if settings.target.app is not None and named is None:
        return with_policies(in_process().application_transport(settings.target.app), rates)
    return with_policies(transport_factory(named), rates)


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
