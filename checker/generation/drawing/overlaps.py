"""Alternatives of which a value may satisfy one only: where chance hardly finds such values, they are kept apart."""

from typing import Final

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.generation.drawing.judging import IsValid
from checker.generation.drawing.nodes import Nodes
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.emptiness import may_be_alone
from checker.generation.normalization.forms import Conjunction
from checker.generation.sources.basic import one_of
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Draw, DrawContext, Rejected, Unfinished
from checker.generation.sources.simplest import SimplestSource

MOST: Final = 32
"""Alternatives that are looked at."""
_FRUITFUL: Final = 0.25
"""Share of values that has to be accepted for chance to find enough of them."""
_STEPS, _STEPS_EACH = 12_000, 500
"""Steps that keeping all alternatives apart may take, and what each may take of them at least."""
_TRIED: Final = 20
_SURE: Final = 2
"""Accepted values in a row that say enough."""
_DISCARDED: Final = 120
"""Attempts that all of the tries together may discard."""
_NOTHING: Final = "no value was found that satisfies this alternative alone"


def apart(
    nodes: Nodes, draw: Draw, whole: tuple[Conjunction, Conjunction, TextPlace], is_alone: IsValid
) -> Draw:
    """Draws of an alternative that no other one admits, from draws of it. Raises `Unsatisfiable` and `BudgetSpent`.

    `whole` is what holds for its values, what must not hold, and where they stand.
    """
    share = _share(draw, is_alone, nodes.context)
    is_fruitful = share is not None and share >= _FRUITFUL
    if is_fruitful and _is_simplest(draw, is_alone, nodes.context):
        return draw
    wanted, others, place = whole
    at = wanted[0].pointer
    try:
        with nodes.budget.lent(max(_STEPS // (1 + len(others)), _STEPS_EACH)):
            if not may_be_alone(nodes.canon, wanted, others):
                raise Unsatisfiable(at, _NOTHING)
            made = nodes.compile((*wanted, *others), place)
    except (BudgetSpent, Unsatisfiable) as error:
        if share == 0:
            raise Unsatisfiable(at, _NOTHING) from error
        return draw
    # In a large case nothing optional is drawn any more: chance alone would leave it without a value.
    return one_of([draw, made]) if is_fruitful else made


def _share(draw: Draw, accepts: IsValid, context: DrawContext) -> float | None:
    """Share of a few values that is accepted, of fewer where the first ones are; None where none can be drawn yet."""
    source = RandomSource()
    accepted = drawn = 0
    with context.aside(_DISCARDED):
        for seed in range(_TRIED):
            source.reset(seed)
            context.begin(None, context.work if seed else 0)
            try:
                accepted += accepts(draw(source))
            except Unfinished:
                continue
            except (Rejected, BudgetSpent):
                if context.work > context.allowance:
                    return accepted / (drawn + 1)
            drawn += 1
            if drawn == accepted == _SURE:
                break
    return accepted / drawn if drawn else None


def _is_simplest(draw: Draw, accepts: IsValid, context: DrawContext) -> bool:
    """True when the simplest value, with nothing optional, is accepted."""
    with context.aside(_DISCARDED):
        context.begin(None)
        try:
            return accepts(draw(SimplestSource()))
        except (Rejected, BudgetSpent):
            return False
