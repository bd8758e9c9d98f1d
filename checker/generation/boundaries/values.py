"""One boundary value, and how it is put into a larger one."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker.core.scenarios import Scenario as Scenario


class Boundary(Struct, frozen=True):
    """A value at an edge of a schema. Values share their parts: copy one before it is changed."""

    value: Any
    description: str
    """For people: `Object with valid 'b' value: Maximum length string`."""
    scenario: Scenario
    pointer: str
    """Of the keyword that the value is about, or of the schema."""
    keyword: str | None
    """None when it is about the schema as a whole."""
    is_valid: bool
    was: object = None
    """What the keyword says, when it is broken."""
    became: object = None
    """The part that breaks it."""

    def inside(self, put: Callable[[Any], Any], description: str) -> "Boundary":
        """This boundary inside a larger value. Of the scenario remains what is tested."""
        return replace(self, value=put(self.value), description=description + self.description)
