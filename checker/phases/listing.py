"""Lists of cases of a phase: each case can be made again by its number."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any, Protocol, cast

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.user_code import know_phases
from checker.core.case import Case
from checker.core.errors import CheckerError
from checker.core.operation import Operation
from checker.core.phases import COVERAGE, CaseSource, phase_named
from checker.core.scenarios import Scenario
from checker.core.schema import SchemaWarning
from checker.generation.boundaries.cases import BoundaryCase
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.settings import GenerationSettings

SMALLEST = "/smallest"
"""Suffix of a phase name for the list that contains only the smallest case, with the settings of the phase."""
_KEPT = 4  # Lists that a worker always keeps: those of its task, of the next one, of an investigation.
_MOST_LISTS = 32
_MOST_CASES = 2_000
"""Limit on the cases in all lists. Lists are kept because a later phase sends the cases that were skipped."""


class ListedCase(Protocol):
    """A listed case that is not made yet."""

    @property
    def key(self) -> Any:
        """Equal for equal requests; recipes store a digest of its `repr`."""
        ...

    def case(self, operation: Operation, case_id: str) -> Case:
        """Return a new case that shares no value with others."""
        ...


class ListingContext(Struct, frozen=True):
    """The inputs of a list."""

    settings: GenerationSettings
    hooks: ComponentHooks = NO_HOOKS
    """Hooks that users run while cases are made."""
    warn: Callable[[SchemaWarning], None] = lambda warning: None
    """Called for faults of the description that cost the list a case."""
    is_first_of_path: bool = True
    """Whether the operation is the first tested operation of its path."""


Lister = Callable[[Operation, ListingContext], Iterable[ListedCase | Case]]
"""Lists the cases of an operation. Finished cases are recorded by their values; all others must have the same number each time that they are listed."""


class _List(Struct):
    """A list as far as it was read."""

    rest: Iterator[ListedCase | Case]
    shapes_drawing: bool  # Whether hooks replace draws, which has no effect on listed cases.
    read: list[ListedCase | Case] = field(default_factory=list)
    fault: CheckerError | None = None
    """The error that ended the list, raised again for each phase that reads it; an iterator would raise it only once."""

    def at(self, number: int) -> ListedCase | Case | None:
        while len(self.read) <= number:
            if self.fault is not None:
                # The traceback would grow with each phase, and keeps the frames of the first alive.
                raise self.fault.with_traceback(None)
            try:
                found = next(self.rest, None)
            except CheckerError as error:
                self.fault = error
                raise
            if found is None:
                return None
            self.read.append(found)
        return self.read[number]


class CaseLists:
    """The lists of all phases, read as far as needed. Above the limits, the longest of the older lists is dropped."""

    def __init__(
        self,
        context: Callable[[Operation, str, str], ListingContext],
        lister: Callable[[str], Lister],
        *,
        by_phase: bool = False,
    ) -> None:
        """`context` returns the inputs of an operation in a phase under demands of the target; with `by_phase`, they differ between phases."""
        self._lister = lister
        self._context = context
        self._by_phase = by_phase
        self._lists: OrderedDict[tuple[str, str, str], _List] = OrderedDict()
        self._cases = 0
        """Number of cases in all lists."""

    def at(self, phase: str, operation: Operation, number: int, learned: str = "") -> ListedCase | Case | None:
        """Return a case by its number; None beyond the end. `LookupError` for a phase that lists nothing.

        Raises what listing raises: `Unsatisfiable`, `BudgetSpent`.
        """
        of_phase = phase.removesuffix(SMALLEST)
        if of_phase == phase:
            return self._read(self._list(phase, phase, operation, learned), number)
        # The rest of the list is read in its own phase.
        edges = self._list(phase if self._by_phase else COVERAGE, of_phase, operation, learned)
        # Hooks that replace draws want their own values. A smallest case of listed values would bypass these hooks.
        first = None if number or edges.shapes_drawing else self._read(edges, 0)
        if not isinstance(first, BoundaryCase) or first.scenario is not Scenario.SMALLEST:
            return None
        return replace(first, phase=of_phase)

    def _list(self, listing: str, phase: str, operation: Operation, learned: str) -> _List:
        """Return the list that is made with the inputs of a phase."""
        key = listing, str(operation.label), learned
        found = self._lists.get(key)
        if found is None:
            context = self._context(operation, phase, learned)
            cases = self._lister(COVERAGE if listing.endswith(SMALLEST) else listing)(operation, context)
            found = self._lists[key] = _List(iter(cases), context.hooks.shapes_drawing)
        else:
            self._lists.move_to_end(key)
        return found

    def _read(self, found: _List, number: int) -> ListedCase | Case | None:
        before = len(found.read)
        try:
            return found.at(number)
        finally:
            self._cases += len(found.read) - before
            lists = self._lists
            while len(lists) > _KEPT and (len(lists) > _MOST_LISTS or self._cases > _MOST_CASES):
                old = islice(lists, len(lists) - _KEPT)
                # A list that was read to its end was usually also sent to its end.
                longest = max(old, key=lambda key: len(lists[key].read))
                self._cases -= len(lists.pop(longest).read)


def topic_of(listed: ListedCase | Case | None) -> Hashable:
    """Return the topic of a case: its scenario and the part of the request; None if its phase has no scenarios."""
    if isinstance(listed, BoundaryCase):
        return listed.scenario, listed.location, listed.parameter
    return None


@cache
def lister_of(phase: str) -> Lister:
    """Return the lister of a phase. Raises `LookupError` for an unknown phase, or one without a list."""
    # Recipes outlive runs: a later run may have other phases.
    if phase not in know_phases((phase,)):
        raise LookupError(f"no phase is called {phase!r}")
    row = phase_named(phase)
    if row.source is not CaseSource.LISTED:
        raise LookupError(f"the phase {phase} lists no cases")
    lister: Any = row.lists
    if not callable(lister):
        module, _, attribute = lister.partition(":")
        lister = getattr(import_module(module), attribute)
    return cast("Lister", lister)
