"""Values of earlier responses, as generation takes them and the corpus gives them."""

from dataclasses import dataclass
from typing import Protocol

from checker.core.operation import Label, Location


@dataclass(frozen=True, slots=True)
class PooledValue:
    """A scalar that a server said, and where."""

    value: object
    producer: Label
    pointer: str
    """JSON pointer in the producer's response body, array indices as `*`; or `header:NAME`."""
    index: int
    """Which of the values that fit was taken, best first."""


class ValuePool(Protocol):
    """Earlier values as one operation may use them."""

    def pick(self, location: Location, name: str, index: int) -> PooledValue | None:
        """A value for this parameter: the best one for index 0, less likely ones above; None when none fits."""
        ...
