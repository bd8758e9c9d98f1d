"""Draws that others are put together from. Each has a recipe."""

from collections.abc import Callable, Sequence
from typing import Any

from checker.generation.sources.alphabets import Alphabet
from checker.generation.sources.choices import Source
from checker.generation.sources.recipes import (
    Binaries,
    Booleans,
    Constant,
    Draw,
    Either,
    Finished,
    Integers,
    Joined,
    Listed,
    OneOf,
    Record,
    Texts,
    Together,
    described,
)


def _null(source: Source) -> None:
    pass


def _boolean(source: Source) -> bool:
    return source.boolean()


def _empty(source: Source) -> dict[str, Any]:
    return {}


NULL = described(_null, Constant(None))
"""Draws null."""
EMPTY = described(_empty, Record((), 0.0))
"""Draws objects without properties."""
BOOLEAN = described(_boolean, Booleans())
"""Draws true or false."""


def constant(value: Any) -> Draw:
    """Gives the one value, without a choice."""
    return described(lambda source: value, Constant(value))


def integers(low: int, high: int, factor: int = 1) -> Draw:
    """Draws multiples of a factor, from `low` to `high` times."""
    if low == high:
        return constant(low * factor)
    recipe = Integers(low, high, factor)
    if factor == 1:
        return described(lambda source: source.integer(low, high), recipe)
    return described(lambda source: source.integer(low, high) * factor, recipe)


def listed(values: Sequence[Any]) -> Draw:
    """Draws one of the values, which nobody changes."""
    count = len(values)
    if count == 1:
        return constant(values[0])
    return described(lambda source: values[source.choice(count)], Listed(tuple(values)))


def texts(alphabet: Alphabet, low: int, high: int) -> Draw:
    """Draws strings of so many characters."""
    return described(lambda source: source.string(alphabet, low, high), Texts(alphabet, low, high))


def binaries(size: int) -> Draw:
    """Draws so many bytes, at most 16."""
    return described(lambda source: source.binary(size, size), Binaries(size))


def finished(draw: Draw, finish: Callable[[Any], Any]) -> Draw:
    """Draws what a function makes of a value."""
    return described(lambda source: finish(draw(source)), Finished(draw, finish))


def joined(*parts: Draw, places: tuple[int, ...] | None = None) -> Draw:
    """Draws texts in the order of `parts`, and puts them together in the order of `places`."""
    order = places or tuple(range(len(parts)))

    def draw(source: Source) -> str:
        found = [part(source) for part in parts]
        return "".join([found[place] for place in order])

    return described(draw, Joined(parts, order))


def either(share: float, taken: Draw, other: Draw) -> Draw:
    """Draws the first with a probability, else the other."""
    return described(
        lambda source: taken(source) if source.boolean(share) else other(source),
        Either(share, taken, other),
    )


def one_of(draws: Sequence[Draw]) -> Draw:
    """Draws one of the draws; a draw may stand there more than once."""
    count = len(draws)
    if count == 1:
        return draws[0]
    return described(lambda source: draws[source.choice(count)](source), OneOf(tuple(draws)))


def together(*draws: Draw) -> Draw:
    """Draws a tuple of values, one after the other."""
    return described(lambda source: tuple([draw(source) for draw in draws]), Together(draws))
