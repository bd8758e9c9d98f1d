"""Recipes that make a case again without its server, and the steps of a sequence."""

from typing import Any

from msgspec import Struct

from checker.core.meta import Binding
from checker.core.operation import Label

Choice = bool | int | float | str | bytes
"""What a draw program asks its source for: the typed values that Hypothesis stores, too."""


class Drawn(Struct, frozen=True):
    """The case that the draw program of the operation makes of these choices."""

    choices: tuple[Choice, ...]
    learned: str = ""
    """Demands of the target that its program respected (`core.constraints.written`); empty for the description alone."""


class Listed(Struct, frozen=True):
    """One of the cases that a phase lists for the operation: an edge, an example."""

    phase: str
    number: int
    """Its place in the list, from 0."""
    likeness: str
    """Digest of what it was: another description may list something else there."""
    without: tuple[str, ...] = ()
    """Places that a shrink left out: `query limit`, `body /address/street`."""
    token: str = ""
    """What the values follow from by which its body differs from the usual one though it is not about them; empty for none."""


class Literal(Struct, frozen=True):
    """The parts themselves, for a case that nothing else makes."""

    path_parameters: dict[str, Any]
    query: dict[str, Any]
    headers: dict[str, Any]
    cookies: dict[str, Any]
    body: tuple[Any, ...]
    """Empty, or the one body."""
    media_type: str | None
    mode: str
    data: tuple[tuple[str, str | None], ...] = ()
    """What the phase says of it (`case.meta.phase.data`)."""
    method: str | None = None
    """When it is not the operation's."""
    alternative: int | None = None
    """Of what the operation asks of its callers, where the case meets another one than usual ones do."""


Recipe = Drawn | Listed | Literal
"""Every way to make a case again. In files a recipe is named by its place here: add at the end, and take nothing away."""


class Step(Struct, frozen=True):
    """One case of a sequence: how it is made, and which values of it come from earlier answers."""

    label: Label
    recipe: Recipe
    bindings: tuple[Binding, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    """(JSON pointer in the body, text) in place of what the recipe makes: names that the server was not told before."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices of a drawn step; empty for all others."""
        return self.recipe.choices if isinstance(self.recipe, Drawn) else ()


def told(recipe: Recipe) -> str:
    """A recipe in words, for people who have nothing else."""
    match recipe:
        case Drawn(choices=choices):
            return f"choices {list(choices)!r}"
        case Listed(phase, number):
            return f"number {number} of the {phase} phase"
        case Literal():
            return f"{recipe!r}"
