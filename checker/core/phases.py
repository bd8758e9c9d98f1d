"""The phases of a run: one row each. Settings, plans, workers and reports depend on these rows alone."""

from enum import StrEnum
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.errors import ConfigError
from checker.core.registry import LOWER_CASE, Registry
from checker.core.user_code import require


class CaseSource(StrEnum):
    """The source of the cases of a phase. It also determines their number."""

    DRAWN = "drawn"
    """`generation.max-examples` of each operation, drawn by its program."""
    LISTED = "listed"
    """The cases that the phase lists for the operation. The worker finds out their number."""
    CHAINED = "chained"
    """`generation.max-examples` sequences from each operation that can begin one; further cases follow from responses."""
    ENDLESS = "endless"
    """The programs of a cluster of operations draw cases in turn until the time is over."""


COVERAGE: Final = "coverage"  # Lists the smallest case of an operation first, if there is one.


class Phase(Struct, frozen=True):
    """The row of a phase. Rows are in the order in which phases run."""

    name: str
    source: CaseSource
    lists: Any = ""
    """For `LISTED`: the function that lists the cases of an operation, or its `module:attribute`."""
    extends: bool = False
    """Whether responses lead to further cases of the same sequence."""
    tries_saved: bool = False
    """Whether failing examples of earlier runs may come first, as they do in the first such phase of a run."""
    ends_at_failure: bool = False
    """Whether an operation ends at its first failed case, without `continue-on-failure`."""
    is_default: bool = True
    """Whether the phase runs by default; other phases run if they are named."""

    @property
    def first_listed(self) -> int:
        """Index of the first listed case of the phase in a task; 1 if the smallest case is sent before it, else 0."""
        return int(self.source is CaseSource.LISTED and self.name != COVERAGE)


MOST_LISTED: Final = 5_000  # Cases that a phase may list for one operation.
FUZZING: Final = Phase("fuzzing", CaseSource.DRAWN, tries_saved=True)
EXPLORATION: Final = Phase("exploration", CaseSource.ENDLESS, extends=True)
"""The phase of `fuzz`; it is not a phase of `run`."""
EXAMPLES: Final = Phase(
    "examples",
    CaseSource.LISTED,
    "checker.phases.listed_phases:declared_examples",
    tries_saved=True,
    ends_at_failure=True,
)
RUN_PHASES: Final = (
    EXAMPLES,
    Phase(
        COVERAGE, CaseSource.LISTED, "checker.phases.listed_phases:edge_cases", tries_saved=True, ends_at_failure=True
    ),
    FUZZING,
    Phase("stateful", CaseSource.CHAINED, extends=True, tries_saved=True),
)
_ROWS: Final[Registry[Phase]] = Registry(
    "phase", ((phase.name, phase) for phase in RUN_PHASES), built_in=(EXPLORATION.name,), names=LOWER_CASE
)
"""The phases of a run, in order; registered phases come after the built-in ones."""


def phases_of_runs() -> tuple[Phase, ...]:
    """Return the phases of a run that are registered now, in order."""
    return tuple(_ROWS.values())


def phase_names() -> tuple[str, ...]:
    """Return the names of the phases of a run, in order."""
    return tuple(_ROWS)


def phase_number(name: str) -> int:
    """Return the position of a phase in a run; -1 for other phases, which represent an earlier run."""
    names = phase_names()
    return names.index(name) if name in names else -1


def default_phases() -> tuple[str, ...]:
    """Return the names of the phases that run by default, in order."""
    return tuple(name for name, row in _ROWS.items() if row.is_default)


def phase_named(name: str) -> Phase:
    """Return the row of a phase. Raises `ConfigError` when there is none."""
    row = EXPLORATION if name == EXPLORATION.name else _ROWS.get(name)
    if row is None:
        raise ConfigError(f"no phase is called {name!r}; install or load what registers it")
    return row


def add_phase(row: Phase) -> Phase:
    """Add a phase that runs if it is named, and return its row. Raises `IncorrectUsage`."""
    require(isinstance(row, Phase), "row", "a `checker.phases.Phase`", row)
    return _ROWS.add(row.name, replace(row, is_default=False))
