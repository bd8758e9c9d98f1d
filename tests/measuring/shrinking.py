"""How small failing cases become, and what that costs: executions of the predicate, and CPU time."""

from collections.abc import Iterable
from dataclasses import dataclass
from time import process_time

from checker.core.meta import Choice
from checker.generation.program import OperationProgram
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.shrinking import shrink
from tests.measuring.predicates import FAILING, ORDER, Failing, Smallest
from tests.measuring.sketches import drawn, program_of
from tests.searching import searched

STARTS = 5
"""Failing cases from which each is shrunk."""
_LARGE = 60
"""Choices of a case that is worth shrinking."""
_TRIES = 3_000
"""Cases looked through for a large one."""


@dataclass(frozen=True, slots=True)
class Shrinking:
    """One failing case, shrunk."""

    choices: int
    """Of the case as it was found."""
    found: Smallest
    executions: int
    cpu_ms: float
    finished: bool


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one failure; no shrinks where its mode does not exist yet."""

    failing: Failing
    shrinks: tuple[Shrinking, ...]

    @property
    def is_minimal(self) -> bool:
        """True when every case became the smallest one."""
        return all(repr(one.found) == repr(self.failing.smallest) for one in self.shrinks)


def measured(failures: Iterable[Failing] = FAILING, *, starts: int = STARTS) -> list[Row]:
    """A row for each failure."""
    return [Row(failing, tuple(_shrinks(failing, starts))) for failing in failures]


def _shrinks(failing: Failing, starts: int) -> list[Shrinking]:
    program = program_of(ORDER, failing.mode)
    return [_shrunk(program, failing, start) for start in range(starts)]


def _shrunk(program: OperationProgram, failing: Failing, start: int) -> Shrinking:
    choices = failing_choices(program, failing, start)
    began = process_time()
    found = searched(shrink(lambda source: drawn(program, source), choices), failing.fails)
    cpu_ms = (process_time() - began) * 1e3
    return Shrinking(len(choices), Smallest.of(found.value), found.executions, cpu_ms, found.finished)


def failing_choices(program: OperationProgram, failing: Failing, start: int) -> list[Choice]:
    """Of the first large case that fails, or of the largest one."""
    source = RandomSource()
    largest: list[Choice] = []
    for index in range(10 * _TRIES):
        source.reset(start * 1_000_003 + index)
        if failing.fails(drawn(program, source)) and len(source.choices) > len(largest):
            largest = source.choices
        if len(largest) > _LARGE or (largest and index > _TRIES):
            return largest
    raise ValueError(f"no case fails: {failing.name}")
