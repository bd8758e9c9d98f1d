"""Lays out how a worker sends requests and judges what comes back: who calls, on how many lanes, with which checks."""

from collections.abc import Iterable
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from checker import __version__
from checker.checks.custom import CUSTOM_CHECKS
from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings, without_credentials
from checker.core.request import BaseUrl
from checker.corpus.inflight import Stage
from checker.health import SafetyGate
from checker.phases.attempt import CallHooks, Tools, check_tools
from checker.transport.prepare import RequestMaker
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.schemes import SchemeCredentials
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
