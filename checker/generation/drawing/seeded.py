"""Arrays of so many items that a case has no room for their choices: a seed stands for all of them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from checker.core.errors import BudgetSpent
from checker.generation.drawing.distinct import Distinct, Element, identity
from checker.generation.sources.choices import MOST_BYTES, RandomSource, Source
from checker.generation.sources.context import Draw, DrawContext, Rejected

MOST_ITEMS: Final = 100_000
"""More of them are some MB, whatever they are."""
MANY: Final = 8_000
"""Items that have to be there: for more of them a seed is drawn."""
MANY_DISTINCT: Final = 32
"""Items that have to differ: for more of them a seed is drawn. Chance repeats itself, most of all in a case that is large already."""
_SEEDS: Final = 1 << 32
_ROOM: Final = 8
"""Items beyond those that have to be there."""
_MISSES: Final = 1_000
"""Items in a row that may be there already."""
_MISSES_EACH: Final = 8
"""And so many more for each that is wanted."""
_CHOICES: Final = 1_000_000
"""In all items of an array, the arrays in them included."""
_BYTES: Final = 1 << 20
"""Of texts in all items, roughly."""


def compile_seeded(plan: Distinct, element: Element, context: DrawContext, *, unique: bool) -> Draw:
    """Draws arrays of many items, each from a source of its own."""
    low, high = plan.low, min(plan.high, plan.low + _ROOM)
    found = _distinct(plan, element, context) if unique else _any(plan, element, context)

    def draw(source: Source) -> list[Any]:
        count = source.integer(low, high) if low < high else low
        seed = source.integer(0, _SEEDS - 1)
        if context.seeded is not None:
            return found(count, seed)
        context.seeded = _CHOICES
        try:
            return found(count, seed)
        finally:
            context.seeded = None

    return draw


Found = Callable[[int, int], list[Any]]
"""So many items, from a seed."""
_Next = Callable[[int, int], Any]
"""An item, from its seed and its index."""


def _any(plan: Distinct, element: Element, context: DrawContext) -> Found:
    item = _drawn_alone(plan, element, context)
    return lambda count, seed: [item(seed + index, index) for index in range(count)]


def _distinct(plan: Distinct, element: Element, context: DrawContext) -> Found:
    item = _drawn_alone(plan, element, context)
    most = _MISSES + _MISSES_EACH * plan.low

    def found(count: int, seed: int) -> list[Any]:
        values: dict[bytes, Any] = {}
        misses = 0
        while len(values) < count:
            bound, had = len(context.bindings), len(values)
            with suppress(Rejected):
                value = item(seed, had)
                values.setdefault(identity(value), value)
            seed += 1
            misses += 1
            if len(values) > had:
                misses = 0
                continue
            del context.bindings[bound:]
            if misses > most:
                raise BudgetSpent(plan.pointer)
        return list(values.values())

    return found


def _drawn_alone(plan: Distinct, element: Element, context: DrawContext) -> _Next:
    """Draws an item from a source of its own. Raises `BudgetSpent` when too much was drawn from all of them."""
    # One text may not take the room of all.
    spent = max(0, MOST_BYTES - _BYTES // plan.low)
    own = RandomSource()

    def item(seed: int, index: int) -> Any:
        own.reset(seed)
        own.spent = spent
        value = element(own, index)
        assert context.seeded is not None
        context.seeded -= len(own.choices) + 1
        if context.seeded < 0:
            raise BudgetSpent(plan.pointer)
        return value

    return item
