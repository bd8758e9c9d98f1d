"""One check as the table has it: what it is called, when it applies, and what its verdict depends on."""

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
from checker.core.request import WireRequest
from checker.core.response import NetworkFailure, Response
from checker.core.send import Exchanging


class SettingShape(Enum):
    """The type of the value of a setting."""

    FLAG = auto()
    SECONDS = auto()
    """Above 0."""
    STATUSES = auto()
    """Numbers, or patterns such as `2XX`."""


class CheckSetting(Struct, frozen=True):
    """One key of `[checks.<name>]`."""

    name: str
    shape: SettingShape
    default: Any = None


def expected_statuses(*default: str) -> CheckSetting:
    """Statuses with which the check passes."""
    return CheckSetting("expected-statuses", SettingShape.STATUSES, list(default))


class Fact(Enum):
    """A fact on which the verdict of a check can depend, beside operation and settings."""

    STATUS = auto()
    MEDIA_TYPE = auto()
    """`Content-Type` of the response."""
    MODE = auto()
    """Whether the case is meant to be valid."""
    PHASE = auto()
    SCENARIO = auto()
    """What a boundary case is there for."""
    HEADERS = auto()
    BODY = auto()
    REQUEST = auto()
    """What was sent."""
    TIME = auto()
    SEQUENCE = auto()
    """What was sent before."""


_OF_RESPONSE = frozenset((Fact.STATUS, Fact.MEDIA_TYPE))
_OF_KIND = _OF_RESPONSE | {Fact.MODE, Fact.PHASE, Fact.SCENARIO}


class InteractionKind(Struct, frozen=True):
    """The facts of an interaction that are known before its content is read."""

    status: int
    method: str = ""
    """Of the operation."""
    follows: bool = False
    """Whether something was sent before in the same sequence."""
    mode: GenerationMode | None = None
    """None for a case that was made by hand."""
    phase: str | None = None
    scenario: str | None = None


class Applies(Struct, frozen=True):
    """The interactions that a check applies to; None: all."""

    phases: frozenset[str] | None = None
    modes: frozenset[GenerationMode] | None = None
    statuses: tuple[str, ...] | None = None
    """Patterns such as `2XX`."""
    scenarios: frozenset[str] | None = None
    but_scenarios: frozenset[str] = frozenset()
    follows: bool = False
    """Only what was sent after something else in the same sequence."""
    operations: Callable[[Operation], bool] | None = None
    """Operations that it may concern; asked once for each."""
    where: Callable[[InteractionKind], bool] | None = None
    """What else an interaction has to be."""

    @property
    def facts(self) -> frozenset[Fact]:
        """Return the facts that it uses."""
        asked = {
            Fact.PHASE: self.phases is not None,
            Fact.MODE: self.modes is not None,
            Fact.STATUS: self.statuses is not None,
            Fact.SCENARIO: self.scenarios is not None or bool(self.but_scenarios) or self.where is not None,
            Fact.SEQUENCE: self.follows,
        }
        return frozenset(fact for fact, is_asked in asked.items() if is_asked)

    def to_operation(self, operation: Operation) -> bool:
        """Whether any interaction of an operation can be among them."""
        return self.operations is None or self.operations(operation)

    def to_request(self, kind: InteractionKind) -> bool:
        """Whether any answer to a request of a kind can be among them; its phase and its status do not count."""
        return replace(self, phases=None, statuses=None, follows=False).to(kind)

    def to(self, kind: InteractionKind) -> bool:
        """Whether interactions of a kind are among them."""
        return (
            (self.phases is None or kind.phase in self.phases)
            and (self.modes is None or kind.mode in self.modes)
            and (self.statuses is None or matches_status(kind.status, self.statuses))
            and (self.scenarios is None or kind.scenario in self.scenarios)
            and kind.scenario not in self.but_scenarios
            and (kind.follows or not self.follows)
            and (self.where is None or self.where(kind))
        )


Config = Mapping[str, Any]
"""Settings of one check, defaults included."""
QuickLook = Callable[[Response], bool]
"""True for a response with which the check passes; anything may be true of the others."""


class PriorRequest(Struct, frozen=True):
    """A request that a check sends before a case that follows others: afterwards it would be too late."""

    asks: Callable[[Case, bool], bool]
    """Whether it sends anything before a case; the second argument says whether that confirms a failure."""
    run: Callable[[Case, WireRequest, CheckTools], Exchanging[Instead | None]]
    """Given the request of the case. What takes its place, and is judged, when it fails the check; else None."""


class Check(Struct, frozen=True):
    """A row of the table of checks."""

    name: str
    run: CheckFunction
    depends_on: frozenset[Fact] = frozenset(Fact)
    """What makes the difference between passing and failing."""
    failures: tuple[type[Failure], ...] = ()
    """Kinds of failures that it finds, each with a title, a severity and a code."""
    settings: tuple[CheckSetting, ...] = ()
    switch: CheckSetting | None = None
    """Set when it is off until `[checks] <name>` has this value, whatever checks are selected."""
    help: str = ""
    """Of the option that sets the switch."""
    applies: Applies = field(default_factory=Applies)
    passes: Callable[[int, ResponsePlan, Config], bool] | None = None
    """Whether every interaction with this status and plan passes, whatever else it is."""
    quick_look: Callable[[ResponsePlan, Config], QuickLook | None] | None = None
    """What lets most interactions with this plan pass before anything is made ready for the check."""
    has_needs: Callable[[CheckTools | None], bool] | None = None
    """Whether it can judge anything with these tools; None: with any."""
    may_send: Callable[[Case, Response], bool] | None = None
    """Of a check that sends: whether it may fail on one interaction, or send anything for it. None: on each, for each."""
    probes: Callable[[Case, Response, CheckTools], bool] | None = None
    """Of a check that sends for one interaction of each operation: whether an interaction can be the one. The first by the index
    of its case is chosen, and its request says so (`WireRequest.is_probed`)."""
    beforehand: PriorRequest | None = None
    """None for a check that only looks at answers."""
    wants_refusal: bool = False
    """Whether a service that is mended refuses what failed."""
    no_response: Callable[[NetworkFailure], Found] | None = None
    """The verdict on a request without a complete response; None for a check that judges responses only."""
    sees_operation_settings: bool = False
    """Whether `config` of its context holds the settings of the operation beside its own: for checks of users."""

    @property
    def sends(self) -> bool:
        """Whether it needs further requests."""
        return isgeneratorfunction(self.run)

    @property
    def follows_from_kind(self) -> bool:
        """Whether all interactions of a kind pass if one of them does."""
        return self.depends_on <= _OF_KIND and not self.sends

    @property
    def asks_for_case(self) -> bool:
        """Whether the status and the media type of a response do not tell if it has to be asked."""
        told = self.applies.facts | (self.depends_on if self.follows_from_kind else frozenset())
        return not told <= _OF_RESPONSE

    @property
    def all_settings(self) -> tuple[CheckSetting, ...]:
        """Keys of its section, and its switch."""
        return self.settings if self.switch is None else (*self.settings, self.switch)

    def config(self, given: Config) -> Config:
        """Its settings: what is given, and defaults of the rest."""
        found = {one.name: one.default for one in self.all_settings} | dict(given)
        for one in self.all_settings:
            if one.shape is SettingShape.STATUSES:
                found[one.name] = tuple(map(str, found[one.name]))
        return found
