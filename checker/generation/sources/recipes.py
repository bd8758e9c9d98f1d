"""What a draw does, as data: so that it can be written out without the calls between its parts.

A recipe hangs on the draw that it describes (`described`), and says exactly the same: the same choices, in the same
order. Draws without one are called as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from checker.generation.sources.alphabets import Alphabet
from checker.generation.sources.choices import Source

Draw = Callable[[Source], Any]
"""A compiled schema: asks a source, gives a value."""
_NAME = "recipe"


class DrawContext(Protocol):
    """What lasts for one draw, as far as recipes speak of it."""

    bindings: list[Any]
    path: list[str]

    def spend(self, pointer: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Constant:
    """One value, without a choice."""

    value: Any


@dataclass(frozen=True, slots=True)
class Integers:
    """Multiples of `factor`, by an integer of the source."""

    low: int
    high: int
    factor: int = 1


@dataclass(frozen=True, slots=True)
class Floats:
    """Numbers of the source."""

    low: float
    high: float
    whole: Callable[[float], Any] | None = None
    """What is made of those without a fraction."""


@dataclass(frozen=True, slots=True)
class Booleans:
    """A boolean of the source, as likely true as false."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One of at least two values that nobody changes."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Texts:
    """A string of the source."""

    alphabet: Alphabet
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Binaries:
    """So many bytes of the source, at most 16."""

    size: int


@dataclass(frozen=True, slots=True)
class Finished:
    """What a function makes of a draw."""

    draw: Draw
    finish: Callable[[Any], Any]
    binds: bool = False
    """Whether it leaves a note among the bindings of the context."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts, drawn in the order of `parts` and put together in the order of `places`."""

    parts: tuple[Draw, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """A boolean that is true with probability `share` says which."""

    share: float
    taken: Draw
    other: Draw


@dataclass(frozen=True, slots=True)
class OneOf:
    """A choice says which; some may stand there more than once."""

    draws: tuple[Draw, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What has to pass, tried until it does."""

    draw: Draw
    accepts: Callable[[Any], bool]
    context: DrawContext
    again: Draw
    """Goes on after the first attempt, which was discarded and is not counted yet."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """A value of an earlier response, or what is drawn where there is none."""

    draw: Draw
    share: float
    """How likely one is asked for."""
    most: int
    """Which one is chosen: up to this."""
    name: str | None
    """Who asks; None for the place that the path of the context tells."""
    take: Callable[[str, int], Any]
    """The one for a name and an index; `NOT_SET` when there is none that fits."""


@dataclass(frozen=True, slots=True)
class Record:
    """An object: (name, draw, is it required), and how likely each optional property is."""

    steps: tuple[tuple[str, Draw, bool], ...]
    share: float
    skips_null: bool = False
    """Whether an optional property that is null is left out."""


@dataclass(frozen=True, slots=True)
class Extended:
    """An object with properties of which the names are drawn."""

    core: Draw
    most: int
    """Properties that there may be."""
    more: float
    """How likely each further one is."""
    kind: tuple[Draw, Draw, Callable[[str], bool]]
    """Draws of name and value, and which names may be used."""
    misses: int
    """Names that cannot be used before it is given up."""
    context: DrawContext


@dataclass(frozen=True, slots=True)
class Filled:
    """An object that has to have `low` properties."""

    core: Draw
    low: int
    fill: Callable[[dict[str, Any], Source], None]
    """Adds some, or raises because there are no more."""


@dataclass(frozen=True, slots=True)
class Items:
    """An array: at least `low` items, `more` is how likely each further one is."""

    item: Draw
    low: int
    high: int
    more: float
    context: DrawContext
    keeps_path: bool
    """Whether the path of the context says which item it is."""


@dataclass(frozen=True, slots=True)
class Different:
    """An array of items that differ: what is equal is drawn again."""

    item: Draw
    low: int
    high: int
    more: float
    identity: Callable[[Any], object]
    """Equal for equal values; texts stand for themselves."""
    attempts: int
    """In a row that may come to nothing; four times as many for an item that has to be there."""
    rejected: Callable[[str], Exception]
    pointer: str
    context: DrawContext
    keeps_path: bool
    """Whether the path of the context says which item it is."""


@dataclass(frozen=True, slots=True)
class Under:
    """A draw while the path of the context says where it stands."""

    token: str
    draw: Draw
    context: DrawContext


@dataclass(frozen=True, slots=True)
class Amended:
    """A value that another draw changes now and then."""

    draw: Draw
    share: float
    """How likely it is changed."""
    change: Draw
    amend: Callable[[Any, Any], Any]
    """The value as the other draw changes it."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """A body and its media type, or none."""

    draws: tuple[tuple[Draw, str], ...]
    share: float | None
    """How likely there is one; None for always."""
    nothing: Any
    """Stands for no body."""


@dataclass(frozen=True, slots=True)
class Together:
    """Values of several draws, in a tuple."""

    draws: tuple[Draw, ...]


Recipe = (
    Constant | Integers | Floats | Booleans | Listed | Texts | Binaries | Finished | Joined | Either | OneOf
    | Checked | Pooled | Record | Extended | Filled | Items | Different | Under | Amended | Bodies | Together
)  # fmt: skip


def described(draw: Draw, recipe: Recipe) -> Draw:
    """The draw, with its recipe."""
    vars(draw)[_NAME] = recipe
    return draw


def recipe_of(draw: Draw) -> Recipe | None:
    """What a draw does; None when only it knows."""
    return getattr(draw, _NAME, None)
