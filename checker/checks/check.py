"""A row of the table of checks: the name of a check, its settings, the interactions to which it applies, and the inputs of its verdict."""

import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from inspect import isgeneratorfunction
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.context import CheckFunction, CheckTools, Found, Instead
from checker.checks.rules import matches_status
from checker.core.case import Case
from checker.core.contract import ResponsePlan
from checker.core.failures import Failure
from checker.core.meta import GenerationMode
from checker.core.operation import Operation
from checker.core.phases import EXPLORATION
from checker.core.request import WireRequest
from checker.core.response import NetworkFailure, Response
from checker.core.send import Exchanging


class SettingShape(Enum):
    """The type of the value of a setting."""

    FLAG = auto()
    SECONDS = auto()  # Above 0.
    STATUSES = auto()  # Numbers, or patterns such as `2XX`.


class CheckSetting(Struct, frozen=True):
    """One key of `[checks.<name>]`."""

    name: str
    shape: SettingShape
    default: Any = None
    about: str = ""  # The description of the key.
    example: Any = None


def expected_statuses(*default: str) -> CheckSetting:
    """Return the setting of the statuses that pass a check."""
    about = "Statuses with which the check passes."
    return CheckSetting("expected-statuses", SettingShape.STATUSES, list(default), about)


IN_RUN = CheckSetting(
    "in-run",
    SettingShape.FLAG,
    False,
    "Whether the check also acts in `run`: its requests may grant a role, or use something twice.",
)
"""The setting of an intrusive check that makes it run in `run` as well as in `fuzz`."""


class InteractionKind(Struct, frozen=True):
    """The facts of an interaction that are known before its content is read."""

    status: int
    method: str = ""  # Method of the operation.
    follows: bool = False  # Whether it is not the first of its sequence.
    mode: GenerationMode | None = None  # None for a case that was made by hand.
    phase: str | None = None
    scenario: str | None = None


RESOURCE = r"\{"  # Pattern of a path that names a resource, or something below one.
MEMBER = r"\}/*\Z"  # Pattern of a path that names a resource.


class Applies(Struct, frozen=True):
    """The interactions to which a check applies. A field that is None does not limit them."""

    phases: frozenset[str] | None = None
    modes: frozenset[GenerationMode] | None = None
    statuses: tuple[str, ...] | None = None  # Patterns such as `2XX`.
    scenarios: frozenset[str] | None = None
    but_scenarios: frozenset[str] = frozenset()
    follows: bool = False  # Whether the check only applies to interactions that are not the first of their sequence.
    methods: tuple[str, ...] | None = None
    """Methods of operations. If it is set, the check never applies to operations that state the status in the body (GraphQL),
    because all of them have one method.
    """
    path: str = ""  # Pattern for the paths of operations: `MEMBER` or `RESOURCE`; empty for any path.
    operations: Callable[[Operation], bool] | None = None  # A further condition on operations; called once for each.
    where: Callable[[InteractionKind], bool] | None = None  # A further condition.

    @property
    def asks_for_case(self) -> bool:
        """Whether more than the status and the media type of a response decides if the check applies."""
        are_limited = [one is not None for one in (self.phases, self.modes, self.scenarios, self.where)]
        return any((*are_limited, self.but_scenarios, self.follows))

    def to_operation(self, operation: Operation) -> bool:
        """Whether the check may apply to interactions of an operation."""
        if self.methods is not None and (operation.method not in self.methods or operation.has_status_in_body):
            return False
        if self.path and re.search(self.path, operation.resource_path) is None:
            return False
        return self.operations is None or self.operations(operation)

    def to_request(self, kind: InteractionKind) -> bool:
        """Whether the check may apply to responses to requests of a kind, in any phase and with any status."""
        return replace(self, phases=None, statuses=None, follows=False).to(kind)

    def to(self, kind: InteractionKind) -> bool:
        """Whether the check applies to interactions of this kind."""
        return (
            (self.phases is None or kind.phase in self.phases)
            and (self.modes is None or kind.mode in self.modes)
            and (self.statuses is None or matches_status(kind.status, self.statuses))
            and (self.scenarios is None or kind.scenario in self.scenarios)
            and kind.scenario not in self.but_scenarios
            and (kind.follows or not self.follows)
            and (self.where is None or self.where(kind))
        )


Config = Mapping[str, Any]  # Settings of one check, defaults included.
QuickLook = Callable[[Response], bool]  # A quick test. True means that the check passes; False decides nothing.


class PriorRequest(Struct, frozen=True):
    """A request that a check sends before a case, because it would be impossible afterwards."""

    asks: Callable[[Case, bool], bool]
    """Returns whether to send something before a case. The second argument is True if this confirms a failure."""
    run: Callable[[Case, WireRequest, CheckTools], Exchanging[Instead | None]]
    """Takes the request of the case. Returns the interaction to judge instead if the check fails, otherwise None."""


class Check(Struct, frozen=True):
    """A row of the table of checks."""

    name: str
    run: CheckFunction
    failures: tuple[type[Failure], ...] = ()  # Classes of its failures, each with title, severity and code.
    settings: tuple[CheckSetting, ...] = ()
    switch: CheckSetting | None = None
    """The setting `[checks] <name>` that switches the check on; None for a check that needs no value."""
    applies: Applies = field(default_factory=Applies)
    quick_look: Callable[[int, ResponsePlan, Config], QuickLook | bool] | None = None
    """Returns a quick test for interactions with this status and plan; True if all of them pass, False if there is no quick test."""
    has_needs: Callable[[CheckTools | None], bool] | None = None
    """Returns whether the check can judge anything with these tools; None if it always can."""
    may_send: Callable[[Case, Response], bool] | None = None
    """For a check that sends requests: returns whether the check may fail on an interaction or send requests for it.

    None: it may for every interaction.
    """
    probes: Callable[[Case, Response, CheckTools], bool] | None = None
    """For a check that sends requests for one interaction of each operation: returns whether this interaction qualifies.

    The first such interaction by index is chosen and marked (`WireRequest.is_probed`).
    """
    probes_refused: Callable[[Case, WireRequest, CheckTools], Exchanging[Instead | None]] | None = None
    """Sends probes for an operation that never accepted a case, derived from the request of a valid one.

    Returns the first probe that shows a failure, which is then judged; None if all probes are refused.
    """
    beforehand: PriorRequest | None = None  # None for a check that sends nothing beforehand.
    judges_request: bool = False  # Whether it judges the request, so that it needs the request of a response.
    wants_refusal: bool = False  # Whether a fixed service would refuse the failed request.
    no_response: Callable[[Case, NetworkFailure], Found] | None = None
    """Returns the verdict on a request without a complete response; None for a check that judges responses only."""
    sees_operation_settings: bool = False
    """Whether `CheckContext.config` also contains the settings of the operation, for users' checks."""

    @property
    def is_intrusive(self) -> bool:
        """Whether its requests may do more to a target than the other requests of `run`."""
        return IN_RUN in self.settings

    def acts_in_run(self, config: Config) -> bool:
        """Whether the check also runs outside `fuzz` with these settings. An intrusive check has to be switched on."""
        return not self.is_intrusive or bool(config.get(IN_RUN.name))

    def within(self, config: Config) -> "Check":
        """Return the check with these settings applied."""
        if self.acts_in_run(config):
            return self
        return replace(self, applies=replace(self.applies, phases=frozenset((EXPLORATION.name,))))

    @property
    def sends(self) -> bool:
        return isgeneratorfunction(self.run)

    @property
    def all_settings(self) -> tuple[CheckSetting, ...]:
        """Return the keys of its section, and its switch."""
        return self.settings if self.switch is None else (*self.settings, self.switch)

    def config(self, given: Config) -> Config:
        """Return its settings: the configured ones, and defaults for the rest."""
        found = {one.name: one.default for one in self.all_settings} | dict(given)
        for one in self.all_settings:
            if one.shape is SettingShape.STATUSES:
                found[one.name] = tuple(map(str, found[one.name]))
        return found
