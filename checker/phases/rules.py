"""The generation rules of each operation."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from checker.config.overrides import NO_OVERRIDES, Overrides
from checker.core.meta import Binding
from checker.core.operation import Operation
from checker.generation.settings import GenerationSettings

WRONG_STEPS: Final = 0.1
"""Share of the steps of sequences with wrong data, where both modes are tested: little can follow what is refused."""


class GenerationRules(Struct, frozen=True):
    """The generation rules of each operation."""

    of: Callable[[Operation, str], GenerationSettings]
    """Settings of an operation in a phase, asked for when its cases are first made there."""
    by_phase: bool = False
    """Whether they differ from phase to phase."""
    some_unique: bool = False
    """Whether any operation has `unique_inputs`."""
    overrides: Overrides = NO_OVERRIDES
    """Those of all settings. To have the settings of an operation made takes as long as a step of a sequence may."""

    def unforced(self, operation: Operation, bindings: tuple[Binding, ...]) -> tuple[Binding, ...]:
        """Return the values of earlier responses at places without a forced value."""
        if not self.overrides.parameters:
            return bindings
        own = self.overrides.of(operation)
        return tuple(one for one in bindings if not own.is_forced(one.location, one.name))

    @classmethod
    def alike(cls, settings: GenerationSettings) -> "GenerationRules":
        """Rules that give all operations these settings."""
        return cls(lambda operation, phase: settings, some_unique=settings.unique_inputs, overrides=settings.overrides)
