"""Values of earlier responses, as generation takes them and the corpus gives them."""

from typing import Protocol

from checker.core.meta import Binding
from checker.core.operation import Location


class ValuePool(Protocol):
    """Earlier values as one operation may use them."""

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """Return the binding of a value to this parameter: the best one for index 0, less likely ones above; None if none fits."""
        ...
