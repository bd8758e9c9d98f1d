"""The phases of a run: one row each. Settings, plans, workers and reports go by these rows alone."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class CaseSource(StrEnum):
    """Where the cases of a phase come from, and so how many there are."""

    DRAWN = "drawn"
    """`generation.max-examples` of each operation, drawn by its program."""
    LISTED = "listed"
    """As many as the phase lists for the operation; its worker finds out."""
    CHAINED = "chained"
    """`generation.max-examples` sequences from each operation that can begin one; answers lead on."""
    ENDLESS = "endless"
    """Drawn by the programs of a cluster of operations in turn, until time is over."""


@dataclass(frozen=True, slots=True)
class Phase:
    """What everybody has to know of a phase. Rows stand in the order in which phases run."""

    name: str
    source: CaseSource | None = None
    """None: there is no such phase yet."""
    lists: str = ""
    """`module:attribute` of the function that lists the cases of an operation, for `LISTED`."""
    extends: bool = False
    """Whether answers lead on to further cases of the same sequence."""
    tries_saved: bool = False
    """Whether failing examples of earlier runs may come first; they do in the first such phase of a run."""

    def expected_cases(self, stop: int) -> int:
        """Cases of an operation that budgets are reckoned from; `stop` is what its task may have at most."""
        return min(stop, _EXPECTED) if self.source is CaseSource.LISTED else stop

    is_default: bool = True
    """Whether it runs unless it is switched off; what does not is asked for by name."""

    @property
    def is_available(self) -> bool:
        """Whether it does something today."""
        return self.source is not None


MOST_LISTED: Final = 5_000
"""Cases that a phase may list for one operation."""
_EXPECTED: Final = 100
"""Of a list of which nobody knows the length."""
FUZZING: Final = Phase("fuzzing", CaseSource.DRAWN, tries_saved=True)
EXPLORATION: Final = Phase("exploration", CaseSource.ENDLESS, extends=True, tries_saved=True)
"""What `fuzz` does: no phase of `run`."""
EXAMPLES: Final = Phase(
    "examples", CaseSource.LISTED, "checker.phases.examples:declared_examples", tries_saved=True
)
RUN_PHASES: Final = (
    EXAMPLES,
    Phase(
        "coverage",
        CaseSource.LISTED,
        "checker.phases.coverage:edge_cases",
        tries_saved=True,
    ),
    FUZZING,
    Phase("stateful", CaseSource.CHAINED, extends=True, tries_saved=True),
)
_BY_NAME = {phase.name: phase for phase in (*RUN_PHASES, EXPLORATION)}
NAMES: Final = tuple(phase.name for phase in RUN_PHASES)
DEFAULT: Final = tuple(row.name for row in RUN_PHASES if row.is_available and row.is_default)
AVAILABLE: Final = tuple(phase.name for phase in RUN_PHASES if phase.is_available)


def phase_named(name: str) -> Phase:
    """The row of a phase. `KeyError` when there is none."""
    return _BY_NAME[name]
