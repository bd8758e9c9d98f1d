"""Values of users that generated cases take now and then in place of random ones."""

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from checker.core.meta import Binding
from checker.core.operation import Label
from checker.core.request import Location
from checker.kinds.protocol import ApiOperation


class ExtraDataSource(Protocol):
    """Knows values that an API accepts: identifiers of what it holds, names of its users."""

    def values_for(self, operation: ApiOperation, location: str, name: str) -> Sequence[Any]:
        """Values for one place, best first; empty for none. What its schema forbids is not taken.

        `location` is `path`, `query`, `header`, `cookie` or `body`; `name` is that of the parameter, in a body a JSON pointer.
        """
        ...


class ExtraValues(Struct, frozen=True):
    """A source as one operation asks it: implements `checker.core.pool.ValuePool`."""

    source: ExtraDataSource
    operation: ApiOperation

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """The value with this number; they begin again after the last."""
        values = self.source.values_for(self.operation, str(location), name)
        if not values:
            return None
        at = index % len(values)
        return Binding(location, name, Label(""), "", at, values[at])
