"""Arrays: which items a canonical form asks for, each compiled."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from checker.core.copies import copied
from checker.core.errors import Unsatisfiable
from checker.generation.drawing.containers import ArrayPlan, compile_array
from checker.generation.drawing.distinct import identity
from checker.generation.drawing.nodes import Nodes
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.drawing.seeded import MOST_ITEMS
from checker.generation.drawing.variety import Variety
from checker.generation.normalization import forms
from checker.generation.normalization.forms import Canonical, Conjunction, Facet
from checker.generation.sources.basic import either
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext

_COUNTED = frozenset({forms.BOOLEAN, forms.NULL, forms.INTEGER})
_SOME_ITEMS = 3
_FILLED = 0.8
"""Share of arrays with an item, where arrays are too much alike."""
_MOST_MEMBERS = 4096
"""Different items that are listed."""


def compile_items(nodes: Nodes, form: Canonical, place: TextPlace) -> Draw:
    """Draws arrays of a form. Raises `Unsatisfiable`."""
    sizes = form.item_count
    conflict = sizes.conflict()
    if conflict is not None:
        raise Unsatisfiable(*conflict)
    if form.no_array is not None:
        raise Unsatisfiable(form.no_array.pointer, form.no_array.text)
    inner = item_of(place)
    wanted, needed = _first_items(nodes, form, inner)
    low, high = max(sizes.low, place.min_items, needed), sizes.high
    if low > MOST_ITEMS:
        raise Unsatisfiable(
            sizes.low_pointer, f"minItems {low} is more than the {MOST_ITEMS} that are sent"
        )
    if high is not None and low > high:
        raise Unsatisfiable(sizes.high_pointer, f"maxItems {high}, but {low} items are needed")
    prefix, item = _items(nodes, form, wanted, (inner, low))
    if nodes.is_minimal:
        high = low
    finite, members = None, None
    if form.unique and not prefix:
        finite, members = _different(nodes, (*form.items, *form.uncontained), inner, low)
    if finite is not None and finite < low:
        raise Unsatisfiable(
            sizes.low_pointer,
            f"minItems {low} and uniqueItems, but only {finite} different items",
        )
    plan = ArrayPlan(form.pointer, low, high, tuple(prefix), item, form.unique, members, finite)
    if form.has_duplicates:
        return _with_duplicates(plan, nodes.context)
    keeps_path = nodes.reuses and place.is_body
    draw = compile_array(plan, nodes.context, keeps_path=keeps_path)
    variety = nodes.variety_of(form)
    if variety is Variety.USUAL or low > 0 or item is None or high == 0:
        return draw
    # There is one empty array, and it is a third of all.
    least = _SOME_ITEMS if variety is Variety.MOST else 1
    least = min([least, *(most for most in (high, finite) if most is not None)])
    filled = compile_array(replace(plan, low=least), nodes.context, keeps_path=keeps_path)
    return either(_FILLED, filled, draw)


def _with_duplicates(plan: ArrayPlan, context: DrawContext) -> Draw:
    """Arrays in which one item stands twice."""
    if plan.unique or (plan.item is None and len(plan.prefix) < 2):
        raise Unsatisfiable(plan.pointer, "equal items are both wanted and forbidden")
    shorter = replace(
        plan, low=max(plan.low - 1, 1), high=None if plan.high is None else plan.high - 1
    )
    draw = compile_array(shorter, context, keeps_path=False)

    def drawn(source: Source) -> list[Any]:
        values: list[Any] = draw(source)
        again = copied(values[source.choice(len(values)) if len(values) > 1 else 0])
        return [*values, again]

    return drawn


def _items(
    nodes: Nodes, form: Canonical, wanted: list[Conjunction], where: tuple[TextPlace, int]
) -> tuple[list[Draw], Draw | None]:
    """Draws of the first items and of the others; None when there are no others."""
    place, low = where
    count = min(low, len(wanted)) if nodes.is_minimal else len(wanted)
    prefix: list[Draw] = []
    item: Draw | None = None
    try:
        prefix.extend(nodes.compile(conjunction, place) for conjunction in wanted[:count])
        if not form.no_items and not (nodes.is_minimal and low <= len(wanted)):
            item = nodes.compile((*form.items, *form.uncontained), place)
    except Unsatisfiable:
        if low > len(prefix):
            raise
    if item is None and low > len(prefix):
        raise Unsatisfiable(
            form.item_count.low_pointer, f"minItems {low} and no items beyond {len(prefix)}"
        )
    return prefix, item


def _first_items(nodes: Nodes, form: Canonical, place: TextPlace) -> tuple[list[Conjunction], int]:
    """`prefixItems` together with what the array has to contain, and how many of them there have to be."""
    found = list(form.prefix)
    taken: set[int] = set()
    for contained in form.contained:
        index = _index_for(nodes, form, (found, taken), (contained, place))
        while len(found) <= index:
            found.append(form.items)
        found[index] = (*found[index], contained)
        taken.add(index)
    return found, max(taken, default=-1) + 1


def _index_for(
    nodes: Nodes,
    form: Canonical,
    known: tuple[list[Conjunction], set[int]],
    wanted: tuple[Facet, TextPlace],
) -> int:
    """The first place at which an item may be what the array has to contain. Raises `Unsatisfiable`."""
    (found, taken), (contained, place) = known, wanted
    last = len(found) if form.no_items else len(found) + 1
    reason: Unsatisfiable | None = None
    for index in range(last):
        if index in taken:
            continue
        try:
            nodes.compile((*(found[index] if index < len(found) else form.items), contained), place)
        except Unsatisfiable as error:
            reason = reason or error
        else:
            return index
    raise reason or Unsatisfiable(contained.pointer, "no item may be what the array has to contain")


def _different(
    nodes: Nodes, items: Conjunction, place: TextPlace, low: int
) -> tuple[int | None, list[Any] | None]:
    """How many different items there are, when they are few; and which, when most of them are wanted."""
    form = nodes.canonical(items)
    finite = _finite(form)
    if finite is None or not finite <= _MOST_MEMBERS or 2 * low <= finite:
        return finite, None
    is_valid = nodes.validator(items)
    members = {
        identity(value): value
        for value in _possible(form)
        if place.carries_listed(value) and is_valid(value)
    }
    return len(members), list(members.values())


def _finite(form: Canonical) -> int | None:
    if form.enum is not None:
        return len(form.enum)
    if form.branches or not form.types <= _COUNTED:
        return None
    count = 2 * (forms.BOOLEAN in form.types) + (forms.NULL in form.types)
    numbers = form.numbers
    if forms.INTEGER in form.types:
        if numbers.low is None or numbers.high is None or numbers.step is not None:
            return None
        count += max(int(numbers.high) - int(numbers.low) + 1, 0)
    return count


def _possible(form: Canonical) -> Iterator[Any]:
    """Values of a form of which `_finite` knows the number, and some beside them."""
    if form.enum is not None:
        yield from form.enum
        return
    if (
        forms.INTEGER in form.types
        and form.numbers.low is not None
        and form.numbers.high is not None
    ):
        yield from range(int(form.numbers.low), int(form.numbers.high) + 1)
    if forms.BOOLEAN in form.types:
        yield from (False, True)
    if forms.NULL in form.types:
        yield None
