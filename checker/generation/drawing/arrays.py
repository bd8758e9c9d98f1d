"""Arrays: the items that a form requires and allows, and how many."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import copied
from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.generation.drawing.nodes import Nodes, Variety, refuse
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.drawing.scalars import few_integers
from checker.generation.normalization import forms
from checker.generation.normalization.forms import Canonical, Conjunction, identity
from checker.generation.sources.basic import either
from checker.generation.sources.choices import MOST_BYTES, RandomSource, Source, SourceSpent
from checker.generation.sources.context import ELEMENT, Draw, DrawContext, Rejected

_MORE_ITEMS, _MORE_OF_FEW = 0.55, 0.75  # Probability of one more item. A short range is used up now and then.
_MOST_OF_PREFIX: Final = 0.9  # Probability of one more item that `prefixItems` describes.
_UNBOUNDED: Final = 40  # Items beyond the minimum when there is no maximum.
_ATTEMPTS: Final = 20  # Attempts at one more distinct item. A required item gets four times as many.
_FILLED: Final = 0.8  # Share of arrays that get an item, if most draws are equal.
_SOME_ITEMS: Final = 3
_SMALL: Final = 3
_MOST_MEMBERS: Final = 8_192  # Distinct items that are listed.
_COUNTED: Final = frozenset({forms.BOOLEAN, forms.NULL, forms.INTEGER})


class ArrayPlan(Struct, frozen=True):
    """The parts from which arrays are drawn."""

    pointer: str
    low: int
    high: int
    prefix: tuple[Draw, ...]
    item: Draw | None  # None if no items may follow the prefix.
    unique: bool
    keeps_path: bool  # True if `context.path` contains the index of the item that is drawn.


def compile_items(nodes: Nodes, form: Canonical, place: TextPlace) -> Draw:
    """Draws arrays of a form. Raises `Unsatisfiable`."""
    arrays = form.arrays
    sizes = arrays.count
    refuse(sizes.conflict(), arrays.impossible)
    inner = item_of(place)
    wanted, needed = _first_items(nodes, form, inner)
    low, high = max(sizes.low, place.min_items, needed), sizes.high
    if low > MOST_ITEMS:
        raise Unsatisfiable(sizes.low_pointer, f"minItems {low} is more than the {MOST_ITEMS} that are sent")
    if high is not None and low > high:
        raise Unsatisfiable(sizes.high_pointer, f"maxItems {high}, but {low} items are needed")
    prefix, item = _items(nodes, form, wanted, inner, low)
    if nodes.is_minimal:
        high = low
    most = low + _UNBOUNDED if high is None else high
    if item is None:
        most = min(most, len(prefix))
    members = (
        _members(nodes, (*arrays.items, *arrays.uncontained), inner, low) if arrays.unique and not prefix else None
    )
    if members is not None:
        if len(members) < low:
            text = f"minItems {low} and uniqueItems, but only {len(members)} different items"
            raise Unsatisfiable(sizes.low_pointer, text)
        most = min(most, len(members))
    keeps_path = nodes.reuses and place.is_body
    plan = ArrayPlan(form.pointer, low, most, tuple(prefix), item, arrays.unique, keeps_path)
    if arrays.has_duplicates:
        return _with_duplicates(plan, nodes.context)
    # If most members of a small set are required, redrawing equal items would hardly end.
    if members is not None and 2 * low > len(members):
        return _compile_members(plan, members)
    draw = _compile_array(plan, nodes.context)
    variety = nodes.variety_of(form)
    if variety is Variety.USUAL or low > 0 or item is None or most == 0:
        return draw
    # Empty arrays are all equal, and would be a third of the values.
    least = min(_SOME_ITEMS if variety is Variety.MOST else 1, most)
    return either(_FILLED, _compile_array(replace(plan, low=least), nodes.context), draw)


def small_array(item: Draw, low: int) -> Draw:
    """Draws arrays of `low` to three items, for schemas without constraints on items."""
    return _compile_array(ArrayPlan("#", low, _SMALL, (), item, False, False), DrawContext())


def _compile_array(plan: ArrayPlan, context: DrawContext) -> Draw:
    """Draws arrays. If items must differ, equal items are drawn again."""
    low, high, unique, pointer = plan.low, plan.high, plan.unique, plan.pointer
    # Drawing each of 5,000 distinct items separately took 58 s, and each case recorded 15,000 choices.
    if low > (_MANY_DISTINCT if unique else _MANY):
        return _compile_seeded(plan, context)
    element, count = _element(plan, context), len(plan.prefix)
    more = _share(low, high)

    def draw(source: Source) -> list[Any]:
        values: list[Any] = []
        seen: set[str | bytes] = set()
        misses = 0
        # A random source uses spans only to forget the choices of a duplicate.
        has_spans = unique or source.__class__ is not RandomSource
        try:
            while (index := len(values)) < high:
                if has_spans:
                    source.start_span(ELEMENT)
                if index < low:
                    # The first choice of every item is a boolean, even if its value is fixed (see `ELEMENT`).
                    source.forced(True)
                elif not source.boolean(_MOST_OF_PREFIX if index < count else more):
                    if has_spans:
                        source.stop_span()
                    break
                bound = len(context.bindings)
                value = element(source, index)
                # A string is its own key. Other values need a key for which 1 and 1.0 are equal, but 1 and true are not.
                key = None if not unique else value if value.__class__ is str else identity(value)
                is_new = not unique or key not in seen
                if has_spans:
                    source.stop_span(not is_new)
                if is_new:
                    values.append(value)
                    if unique:
                        seen.add(key)  # type: ignore[arg-type]
                        misses = 0
                    continue
                del context.bindings[bound:]
                context.spend(pointer)
                misses += 1
                if misses < (4 * _ATTEMPTS if index < low else _ATTEMPTS):
                    continue
                if index < low:
                    raise Rejected(pointer)
                source.start_span(ELEMENT)
                source.forced(False)
                source.stop_span()
                break
        except SourceSpent as spent:
            spent.at(pointer)
            raise
        return values

    return draw


def _element(plan: ArrayPlan, context: DrawContext) -> Callable[[Source, int], Any]:
    prefix, item, count = plan.prefix, plan.item, len(plan.prefix)

    def element(source: Source, index: int) -> Any:
        make = prefix[index] if index < count else item
        assert make is not None
        return make(source)

    def element_in_path(source: Source, index: int) -> Any:
        context.path.append(str(index))
        value = element(source, index)
        context.path.pop()
        return value

    return element_in_path if plan.keeps_path else element


def _share(low: int, high: int) -> float:
    return _MORE_ITEMS if high - low > 4 or high == low else _MORE_OF_FEW


def _compile_members(plan: ArrayPlan, members: list[Any]) -> Draw:
    """Draws arrays of listed members without repetition. If most members are required, drawing at random would not find the last ones."""
    low, high, more = plan.low, plan.high, _share(plan.low, plan.high)
    own = RandomSource()

    def seeded(source: Source) -> list[Any]:
        own.reset(source.integer(0, _SEEDS - 1))
        count = source.integer(low, min(high, low + _ROOM)) if low < high else low
        urn = members.copy()
        return [copied(urn.pop(own.choice(len(urn)))) for _ in range(count)]

    def draw(source: Source) -> list[Any]:
        # Members are removed when they are drawn, so no draw repeats one.
        urn, values = members.copy(), []
        for index in range(high):
            source.start_span(ELEMENT)
            if index < low:
                source.forced(True)
            elif not source.boolean(more):
                source.stop_span()
                break
            # The simplest choice keeps their order.
            at = source.choice(len(urn)) if len(urn) > 1 else 0
            values.append(copied(urn.pop(at)))
            source.stop_span()
        return values

    return seeded if low > _MANY_DISTINCT else draw


def _with_duplicates(plan: ArrayPlan, context: DrawContext) -> Draw:
    """Draws arrays in which one item occurs twice."""
    if plan.unique or (plan.item is None and len(plan.prefix) < 2):
        raise Unsatisfiable(plan.pointer, "equal items are both wanted and forbidden")
    draw = _compile_array(replace(plan, low=max(plan.low - 1, 1), high=plan.high - 1, keeps_path=False), context)

    def drawn(source: Source) -> list[Any]:
        values: list[Any] = draw(source)
        again = copied(values[source.choice(len(values)) if len(values) > 1 else 0])
        return [*values, again]

    return drawn


MOST_ITEMS: Final = 100_000  # More items take some MB, even if each is as small as possible.
_MANY: Final = 8_000
"""From this number of required items on, a seed is drawn instead of the items: the choices of a very long array do not fit into a case."""
_MANY_DISTINCT: Final = 32
"""From this number of required unique items on, a seed is drawn instead: random choices repeat, especially in a large case."""
_SEEDS: Final = 1 << 32
_ROOM: Final = 8  # Items beyond the required number.
_MISSES, _MISSES_EACH = 1_000, 8
"""Consecutive duplicates that are redrawn: a base number, and an increment for each required item."""
_CHOICES: Final = 1_000_000  # Choices in all items of an array, nested arrays included.
_BYTES: Final = 1 << 20  # Approximate bytes of the texts in all items.


def _compile_seeded(plan: ArrayPlan, context: DrawContext) -> Draw:
    """Draw arrays of many items. Each item has its own source, whose seed is derived from one drawn seed."""
    low, high, unique = plan.low, min(plan.high, plan.low + _ROOM), plan.unique
    # Limit the bytes per item so that one text cannot use up the budget of the whole array.
    spent = max(0, MOST_BYTES - _BYTES // low)
    most_misses = _MISSES + _MISSES_EACH * low
    own, element = RandomSource(), _element(plan, context)

    def item(seed: int, index: int) -> Any:
        # Each item has its own seed, because the limits of a source apply to one item and not to the whole array.
        own.reset(seed)
        own.spent = spent
        value = element(own, index)
        assert context.seeded is not None
        context.seeded -= len(own.choices) + 1
        if context.seeded < 0:
            raise BudgetSpent(plan.pointer)
        return value

    def drawn(count: int, seed: int) -> list[Any]:
        values: list[Any] = []
        seen: set[bytes] = set()
        misses = 0
        while len(values) < count:
            bound = len(context.bindings)
            with suppress(*((Rejected,) if unique else ())):
                value = item(seed, len(values))
                key = identity(value) if unique else b""
                if not unique or key not in seen:
                    seen.add(key)
                    values.append(value)
                    misses = -1
            seed += 1
            misses += 1
            if misses:
                del context.bindings[bound:]
            if misses > most_misses:
                raise BudgetSpent(plan.pointer)
        return values

    def draw(source: Source) -> list[Any]:
        count = source.integer(low, high) if low < high else low
        seed = source.integer(0, _SEEDS - 1)
        if context.seeded is not None:
            return drawn(count, seed)
        context.seeded = _CHOICES
        try:
            return drawn(count, seed)
        finally:
            context.seeded = None

    return draw


def _items(
    nodes: Nodes, form: Canonical, wanted: list[Conjunction], place: TextPlace, low: int
) -> tuple[list[Draw], Draw | None]:
    """Return the draws of the first items, and the draw of all further items (None if there are none)."""
    count = min(low, len(wanted)) if nodes.is_minimal else len(wanted)
    prefix: list[Draw] = []
    item: Draw | None = None
    try:
        prefix.extend(nodes.compile(conjunction, place) for conjunction in wanted[:count])
        if not form.arrays.is_closed and not (nodes.is_minimal and low <= len(wanted)):
            item = nodes.compile((*form.arrays.items, *form.arrays.uncontained), place)
    except Unsatisfiable:
        if low > len(prefix):
            raise
    if item is None and low > len(prefix):
        raise Unsatisfiable(form.arrays.count.low_pointer, f"minItems {low} and no items beyond {len(prefix)}")
    return prefix, item


def _first_items(nodes: Nodes, form: Canonical, place: TextPlace) -> tuple[list[Conjunction], int]:
    """Return `prefixItems` combined with the items that `contains` requires, and the number of required ones."""
    found = list(form.arrays.prefix)
    taken: set[int] = set()
    for contained in form.arrays.contained:
        # Find the first index at which an item may satisfy `contains`.
        reason: Unsatisfiable | None = None
        for index in range(len(found) if form.arrays.is_closed else len(found) + 1):
            if index in taken:
                continue
            try:
                nodes.compile((*(found[index] if index < len(found) else form.arrays.items), contained), place)
            except Unsatisfiable as error:
                reason = reason or error
            else:
                break
        else:
            raise reason or Unsatisfiable(contained.pointer, "no item can satisfy `contains`")
        while len(found) <= index:
            found.append(form.arrays.items)
        found[index] = (*found[index], contained)
        taken.add(index)
    return found, max(taken, default=-1) + 1


def _members(nodes: Nodes, items: Conjunction, place: TextPlace, low: int) -> list[Any] | None:
    """Return the distinct items if there are few, validated if most of them are required; None if there are many."""
    form = nodes.canonical(items)
    values: list[Any] = []
    if form.enum is not None:
        values = form.enum
    elif form.branches or not form.types <= _COUNTED:
        return None
    else:
        if forms.INTEGER in form.types:
            few = few_integers(form.numbers, _MOST_MEMBERS)
            if few is None:
                return None
            values += few
        values += [False, True] if forms.BOOLEAN in form.types else []
        values += [None] if forms.NULL in form.types else []
    if len(values) > _MOST_MEMBERS:
        return None
    if 2 * low <= len(values):
        return values
    is_valid = nodes.validator(items)
    return list({identity(one): one for one in values if place.carries_listed(one) and is_valid(one)}.values())
