"""User code that acts in a run: what is registered for all APIs, and what a loaded schema of this process adds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from checker.checks.check import Check
from checker.checks.context import KnowingMaker
from checker.core.case import Case, Engine
from checker.core.credentials import CredentialSource
from checker.core.hooks import GLOBAL_HOOKS, HookSource
from checker.core.meta import Binding, GenerationMode, ValuePool
from checker.core.operation import Label, Operation
from checker.core.providers import GLOBAL_AUTH, AuthRegistry
from checker.core.registry import FORMATS
from checker.core.request import BaseUrl, Location, WireRequest
from checker.core.resources import Transition
from checker.core.response import Outcome
from checker.workers.authentication.keeper import ReauthState


class UsersCode(Struct, frozen=True):
    """User code that acts in a run. The default values cost a run nothing."""

    hooks: HookSource = field(default_factory=lambda: GLOBAL_HOOKS)
    auth: tuple[AuthRegistry, ...] = (GLOBAL_AUTH,)  # Providers, the nearest registry first.
    description: bytes | None = None  # As `kinds.table.packed` writes it; None: it is read from its location.
    app: object | None = None  # The application in this process that serves the API, if any.
    makes: Callable[[KnowingMaker, BaseUrl], KnowingMaker] = lambda maker, origin: maker
    """Returns the request maker for a base URL. Its first argument is the default maker."""
    told: tuple[Callable[[Case, WireRequest, Outcome], None], ...] = ()  # Called after each request of a case.
    applies: CredentialSource | None = None
    """Source of credentials before all others. If it has credentials, no other source is used."""
    reauth: Callable[[], ReauthState] = ReauthState
    formats: Callable[[GenerationMode | None], Mapping[str, Any]] = lambda mode: FORMATS
    """Mode (None for both) -> format -> strategy for its texts."""
    engine: Engine | None = None
    """The engine that operations offer to user code; None: an engine with the settings of the run."""
    values: Callable[[Operation], ValuePool] | None = None  # Values that cases use before those of earlier responses.
    judges: Mapping[str, Check] = field(default_factory=dict)  # Checks in place of those of the same names.
    transitions: Callable[[], Iterable[Transition]] = tuple
    """Returns transitions in addition to those of the description."""
    order: Callable[[str, Sequence[Label]], Sequence[Label]] | None = None
    """(phase, operations) -> the order in which the phase tests them; None: by their dependencies."""
    weights: Callable[[Sequence[Label]], Sequence[float]] | None = None
    """Shares of the time of `fuzz` that operations get, relative to each other; None: equal shares."""

    def pool(self, operation: Operation, usual: ValuePool | None) -> ValuePool:
        """Return the pool of values for one operation: first the user's values, then the usual ones."""
        assert self.values is not None
        return _UsersFirst(self.values(operation), usual)


ALL_SCHEMAS: Final = UsersCode()  # Only the user code that is registered for all APIs.


class _UsersFirst(Struct, frozen=True):
    """Implements `checker.core.pool.ValuePool`."""

    first: ValuePool
    rest: ValuePool | None

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """Return a value of the first pool, or of the second if the first has none."""
        found = self.first.pick(location, name, index)
        if found is None and self.rest is not None:
            return self.rest.pick(location, name, index)
        return found
