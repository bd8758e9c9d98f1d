"""Cases in order with bindings; a single case is a sequence of length 1, everywhere."""

from dataclasses import dataclass

from checker.core.meta import Binding
from checker.core.operation import Label

Choice = bool | int | float | str | bytes
"""What a draw program asks its source for: the typed values that Hypothesis stores, too."""


@dataclass(frozen=True, slots=True)
class Step:
    """The recipe of one case: enough to make it again without its server."""

    label: Label
    choices: tuple[Choice, ...]
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True, slots=True)
class Sequence:
    """Steps in the order in which they are sent; the last one is judged."""

    steps: tuple[Step, ...]
