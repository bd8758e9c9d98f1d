"""How large a draw can be: what never fills a case need not be asked whether there is room in it."""

from collections.abc import Callable
from math import inf
from typing import Any, Final, NamedTuple

from checker.generation.sources import recipes
from checker.generation.sources.chance import FEWEST
from checker.generation.sources.choices import SHORT_TEXT
from checker.generation.sources.recipes import Draw, recipe_of


class Size(NamedTuple):
    """The most that a draw can come to. Rough: alternatives are added up."""

    choices: float
    """Recorded at a time."""
    spent: float = 0
    """Bytes of strings that are counted, discarded ones as well."""
    takes: bool = False
    """Whether values may be taken that were not drawn. What has no recipe asks the context where it is, too."""

    def plus(self, other: "Size") -> "Size":
        """One after the other."""
        return Size(
            self.choices + other.choices, self.spent + other.spent, self.takes or other.takes
        )

    def times(self, count: int) -> "Size":
        """So many in a row."""
        count = min(count, FEWEST + 1)  # more is too much as well
        return Size(self.choices * count, self.spent * count, self.takes)

    def tried(self) -> "Size":
        """Until one is accepted."""
        return self._replace(spent=inf if self.spent else 0)


_NOTHING: Final = Size(0)
ONE: Final = Size(1)
UNKNOWN: Final = Size(inf, inf, takes=True)


def rounds_of(recipe: recipes.Extended) -> int:
    """How often a name is drawn at most."""
    return recipe.most * (recipe.misses + 1) + 1


def is_never_null(draw: Draw) -> bool:
    """Whether a draw surely gives something else."""
    match recipe_of(draw):
        case None | recipes.Finished() | recipes.Checked() | recipes.Pooled():
            return False
        case recipes.Constant(value=value):
            return value is not None
        case recipes.Listed(values=values):
            return None not in values
        case recipes.Either(taken=taken, other=other):
            return is_never_null(taken) and is_never_null(other)
        case recipes.OneOf(draws=draws):
            return all(map(is_never_null, set(draws)))
        case recipes.Under(draw=inner):
            return is_never_null(inner)
        case _:
            return True


class Sizes:
    """Sizes of draws that have parts in common: each is looked at once."""

    def __init__(self) -> None:
        self._known: dict[Draw, Size] = {}

    def of(self, draw: Draw) -> Size:
        """The most that one of them can come to."""
        known = self._known.get(draw)
        if known is None:
            recipe = recipe_of(draw)
            known = UNKNOWN if recipe is None else _READERS[recipe.__class__](self, recipe)
            self._known[draw] = known
        return known

    def all(self, *draws: Draw, start: Size = _NOTHING) -> Size:
        """The same for several in a row."""
        for draw in draws:
            start = start.plus(self.of(draw))
        return start


def _size_of_text(sizes: Sizes, recipe: recipes.Texts) -> Size:
    return Size(1, recipe.high * recipe.alphabet.width if recipe.high > SHORT_TEXT else 0)


def _size_of_pooled(sizes: Sizes, recipe: recipes.Pooled) -> Size:
    return sizes.all(recipe.draw, start=Size(2, takes=True))


def _size_of_record(sizes: Sizes, recipe: recipes.Record) -> Size:
    return sizes.all(*(draw for _, draw, _ in recipe.steps), start=Size(len(recipe.steps)))


def _size_of_bodies(sizes: Sizes, recipe: recipes.Bodies) -> Size:
    return sizes.all(*(draw for draw, _ in recipe.draws), start=Size(2))


def _size_of_items(sizes: Sizes, recipe: recipes.Items) -> Size:
    return sizes.all(recipe.item, start=ONE).times(recipe.high)


def _size_of_different(sizes: Sizes, recipe: recipes.Different) -> Size:
    return sizes.all(recipe.item, start=ONE).tried().times(recipe.high).plus(ONE)


def _size_of_extended(sizes: Sizes, recipe: recipes.Extended) -> Size:
    name, item, _ = recipe.kind
    return sizes.all(name, item, start=ONE).times(rounds_of(recipe)).plus(sizes.of(recipe.core))


_READERS: Final[dict[type, Callable[[Sizes, Any], Size]]] = {
    recipes.Constant: lambda sizes, recipe: _NOTHING,
    recipes.Integers: lambda sizes, recipe: ONE,
    recipes.Floats: lambda sizes, recipe: ONE,
    recipes.Booleans: lambda sizes, recipe: ONE,
    recipes.Listed: lambda sizes, recipe: ONE,
    recipes.Binaries: lambda sizes, recipe: ONE,
    recipes.Texts: _size_of_text,
    recipes.Finished: lambda sizes, recipe: sizes.all(
        recipe.draw, start=Size(0, takes=recipe.binds)
    ),
    recipes.Joined: lambda sizes, recipe: sizes.all(*recipe.parts),
    recipes.Either: lambda sizes, recipe: sizes.all(recipe.taken, recipe.other, start=ONE),
    recipes.OneOf: lambda sizes, recipe: sizes.all(*set(recipe.draws), start=ONE),
    recipes.Checked: lambda sizes, recipe: sizes.of(recipe.draw).tried(),
    recipes.Pooled: _size_of_pooled,
    recipes.Record: _size_of_record,
    recipes.Extended: _size_of_extended,
    recipes.Filled: lambda sizes, recipe: UNKNOWN,
    recipes.Items: _size_of_items,
    recipes.Different: _size_of_different,
    recipes.Under: lambda sizes, recipe: sizes.of(recipe.draw),
    recipes.Amended: lambda sizes, recipe: sizes.all(recipe.draw, recipe.change, start=ONE),
    recipes.Bodies: _size_of_bodies,
    recipes.Together: lambda sizes, recipe: sizes.all(*recipe.draws),
}
