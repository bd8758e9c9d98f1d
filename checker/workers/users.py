"""User code that acts in a run: code that is registered for all APIs, and code that a loaded schema of this process adds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from checker.checks.check import Check
from checker.checks.context import KnowingMaker
from checker.core.case import Case, Engine
from checker.core.credentials import CredentialSource
from checker.core.hooks import GLOBAL_HOOKS, HookSource
from checker.core.meta import GenerationMode, ValuePool
from checker.core.operation import Label, Operation
from checker.core.providers import GLOBAL_AUTH, AuthRegistry
from checker.core.registry import FORMATS
from checker.core.request import BaseUrl, WireRequest
from checker.core.resources import Transition
from checker.core.response import Outcome
from checker.workers.authentication.keeper import ReauthState


class UsersCode(Struct, frozen=True):
    """User code that acts in a run. The default values and methods do nothing. A loaded schema has a subclass."""

    hooks: HookSource = field(default_factory=lambda: GLOBAL_HOOKS)
    auth: tuple[AuthRegistry, ...] = (GLOBAL_AUTH,)  # Providers, the nearest registry first.
    description: bytes | None = None  # As written by `kinds.table.packed`; None: it is read from its location.
    app: object | None = None  # The application in this process that serves the API, if any.
    changes_requests: bool = False  # Whether `maker` returns another maker.
    told: tuple[Callable[[Case, WireRequest, Outcome], None], ...] = ()  # Called after each request of a case.
    applies: CredentialSource | None = None
    """Source of credentials before all others. If it has credentials, no other source is used."""
    engine: Engine | None = None
    """The engine that operations offer to user code; None: an engine with the settings of the run."""
    has_values: bool = False  # Whether `pool` returns other values than the usual ones.
    judges: Mapping[str, Check] = field(default_factory=dict)  # Checks in place of those of the same names.

    def maker(self, usual: KnowingMaker, origin: BaseUrl) -> KnowingMaker:
        """Return the request maker for a base URL, given the usual one."""
        return usual

    def reauth(self) -> ReauthState:
        return ReauthState()

    def formats(self, mode: GenerationMode | None) -> Mapping[str, Any]:
        """Return format -> strategy for its texts in cases of a mode; None: of both modes."""
        return FORMATS

    def pool(self, operation: Operation, usual: ValuePool | None) -> ValuePool | None:
        """Return the values for cases of an operation, given those of earlier responses."""
        return usual

    def transitions(self) -> Iterable[Transition]:
        """Return transitions in addition to those of the description."""
        return ()

    def order(self, phase: str, labels: Sequence[Label]) -> Sequence[Label] | None:
        """Return the order in which a phase tests operations; None: by their dependencies."""
        return None

    def weights(self, labels: Sequence[Label]) -> Sequence[float] | None:
        """Return the shares of the time of `fuzz` that operations get, relative to each other; None: equal shares."""
        return None


ALL_SCHEMAS: Final = UsersCode()  # Only the user code that is registered for all APIs.
