"""May this case be sent? Stands before every send."""

from dataclasses import dataclass
from enum import StrEnum

from checker.core.case import Case

_READING = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "TRACE"})


class Level(StrEnum):
    """How much harm a run may do."""

    READ_ONLY = "read-only"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class SafetyGate:
    """Refuses what the level forbids."""

    level: Level = Level.FULL

    def refuses(self, case: Case) -> bool:
        """True when the case must not leave the house."""
        return self.level is Level.READ_ONLY and case.operation.resource_method not in _READING
