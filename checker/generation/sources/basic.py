"""Basic draws, from which all others are composed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from checker.core.system import later
from checker.generation.sources.alphabets import Alphabet
from checker.generation.sources.choices import Draw, Source

if TYPE_CHECKING:
    from checker.generation.sources import hypothesis as hypothesis

    Strategy = hypothesis.SearchStrategy[Any]
else:
    # Importing Hypothesis takes 0.15 s of CPU, and runs without user strategies do not need it.
    hypothesis = later("checker.generation.sources.hypothesis", by_all=False)
    Strategy = Any

NULL: Draw = lambda source: None  # noqa: E731
"""Draws null."""
EMPTY: Draw = lambda source: {}  # noqa: E731
"""Draws objects without properties."""
BOOLEAN: Draw = lambda source: source.boolean()  # noqa: E731
"""Draws true or false."""


def constant(value: Any) -> Draw:
    """Return a draw that always gives the same value and makes no choice."""
    return lambda source: value


def integers(low: int, high: int, factor: int = 1) -> Draw:
    """Draws multiples of a factor, between `low` and `high` times the factor."""
    if low == high:
        return constant(low * factor)
    if factor == 1:
        return lambda source: source.integer(low, high)
    return lambda source: source.integer(low, high) * factor


def listed(values: Sequence[Any]) -> Draw:
    """Draws one of the values; callers must not change them."""
    count = len(values)
    if count == 1:
        return constant(values[0])
    return lambda source: values[source.choice(count)]


def texts(alphabet: Alphabet, low: int, high: int) -> Draw:
    """Draws strings of `low` to `high` characters."""
    return lambda source: source.string(alphabet, low, high)


def draw_strategy(strategy: Strategy, source: Source) -> Any:
    """Return a value of a user's strategy. The choices of the strategy become choices of the source."""
    return hypothesis.draw_strategy(strategy, source)


def finished(draw: Draw, finish: Callable[[Any], Any]) -> Draw:
    """Draws a value and returns the result of `finish` for it."""
    return lambda source: finish(draw(source))


def joined(*parts: Draw, places: tuple[int, ...] | None = None) -> Draw:
    """Draws texts in the order of `parts`, and joins them in the order of `places`."""
    order = places or tuple(range(len(parts)))

    def draw(source: Source) -> str:
        found = [part(source) for part in parts]
        return "".join([found[place] for place in order])

    return draw


def either(share: float, taken: Draw, other: Draw) -> Draw:
    """Draws from `taken` with a probability, else from `other`."""
    return lambda source: taken(source) if source.boolean(share) else other(source)


def one_of(draws: Sequence[Draw]) -> Draw:
    """Draws from one of the draws. A draw may be listed more than once."""
    count = len(draws)
    if count == 1:
        return draws[0]
    return lambda source: draws[source.choice(count)](source)


def together(*draws: Draw) -> Draw:
    """Draws a tuple of values, one after the other."""
    return lambda source: tuple([draw(source) for draw in draws])
