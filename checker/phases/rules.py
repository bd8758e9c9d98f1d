"""How cases are generated, operation by operation."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from checker.core.meta import Binding
from checker.core.operation import Operation
from checker.generation.settings import GenerationSettings

WRONG_STEPS: Final = 0.1
"""Share of the steps of sequences with wrong data, where both modes are tested: little can follow what is refused."""


class GenerationRules(Struct, frozen=True):
    """How cases are generated, operation by operation."""

    of: Callable[[Operation, str], GenerationSettings]
    """Settings of an operation in a phase, asked for when its cases are first made there."""
    by_phase: bool = False
    """Whether they differ from phase to phase."""
    some_unique: bool = False
    """Whether any operation has `unique_inputs`."""

    def unforced(
        self, operation: Operation, phase: str, bindings: tuple[Binding, ...]
    ) -> tuple[Binding, ...]:
        """Those of values of earlier answers that stand where the user forces no value."""
        overrides = self.of(operation, phase).overrides
        if not overrides.parameters:
            return bindings
        own = overrides.of(operation)
        return tuple(one for one in bindings if not own.is_forced(one.location, one.name))

    @classmethod
    def alike(cls, settings: GenerationSettings) -> "GenerationRules":
        """Rules that give all operations these settings."""
        return cls(lambda operation, phase: settings, some_unique=settings.unique_inputs)
