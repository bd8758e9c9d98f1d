"""Pools of earlier values that answer in their own way."""

from collections.abc import Mapping

from msgspec import Struct

from checker.core.meta import Binding, ValuePool
from checker.core.request import Location


class BoundPool(Struct, frozen=True):
    """The values that a recorded case took while it was drawn: a pool that answers from its bindings.

    Not those that were set over what was drawn: to offer them would leave choices over that come next.
    """

    bindings: Mapping[tuple[Location, str], Binding]

    @classmethod
    def of(cls, bindings: tuple[Binding, ...]) -> "BoundPool":
        """Pool of these bindings."""
        drawn = (binding for binding in bindings if not binding.expression)
        return cls({(binding.location, binding.name): binding for binding in drawn})

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """What was taken there, whatever the index."""
        return self.bindings.get((location, name))


class NewestFirst(Struct, frozen=True):
    """A pool that answers with its latest value: what the step before has just shown."""

    pool: ValuePool

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """The best value, whatever the index."""
        return self.pool.pick(location, name, 0)
