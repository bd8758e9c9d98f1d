"""How many cases it takes to meet a defect that only some values trigger: median of ten seeds."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median_high

from checker.generation.sources.choices import RandomSource
from tests.measuring.defects import DEFECTS, Defect
from tests.measuring.sketches import drawn, program_of

SEEDS = 10
ENOUGH = 2_000
"""Cases in which a defect should be met."""
MOST = 10_000
"""Cases after which a seed gives up."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one defect."""

    defect: Defect
    cases: tuple[int, ...]
    """Until it was met, by seed; `MOST` + 1 when it never was."""

    @property
    def median(self) -> int:
        """The upper median of the seeds."""
        return median_high(self.cases)


def measured(defects: Iterable[Defect] = DEFECTS, *, seeds: int = SEEDS, most: int = MOST) -> list[Row]:
    """A row for each defect."""
    return [Row(defect, _cases(defect, seeds, most)) for defect in defects]


def _cases(defect: Defect, seeds: int, most: int) -> tuple[int, ...]:
    return tuple(cases_until_met(defect, seed, most) for seed in range(seeds))


def cases_until_met(defect: Defect, seed: int, most: int) -> int:
    """How many cases it took; `most` + 1 when they were not enough."""
    program = program_of(defect.operation, defect.mode)
    source = RandomSource()
    missing = list(defect.triggers)
    for index in range(most):
        source.reset(seed * 1_000_003 + index)
        case = drawn(program, source)
        missing = [trigger for trigger in missing if not trigger(case)]
        if not missing:
            return index + 1
    return most + 1
