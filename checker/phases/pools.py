"""Pools of earlier values that answer in their own way."""

from collections.abc import Mapping

from msgspec import Struct

from checker.core.locations import Location
from checker.core.meta import Binding
from checker.core.pool import ValuePool


class BoundPool(Struct, frozen=True):
    """The values that a recorded case took: a pool that answers from its bindings."""

    bindings: Mapping[tuple[Location, str], Binding]

    @classmethod
    def of(cls, bindings: tuple[Binding, ...]) -> "BoundPool":
        """Pool of these bindings."""
        return cls({(binding.location, binding.name): binding for binding in bindings})

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """What was taken there, whatever the index."""
        return self.bindings.get((location, name))


class NewestFirst(Struct, frozen=True):
    """A pool that answers with its latest value: what the step before has just shown."""

    pool: ValuePool

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """The best value, whatever the index."""
        return self.pool.pick(location, name, 0)
