"""Arrays and objects: the items and properties that a form asks for, and how many.

A case has no room for the choices of a very long array: its items are drawn from one seed.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import copied
from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.generation.drawing.distinct import Distinct, Element, compile_distinct, compile_drawn_out, identity
from checker.generation.drawing.nodes import Nodes, Variety
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.normalization import forms
from checker.generation.normalization.forms import Canonical, Conjunction, Facet
from checker.generation.sources.basic import either
from checker.generation.sources.chance import SourceSpent
from checker.generation.sources.choices import MOST_BYTES, RandomSource, Source
from checker.generation.sources.context import ELEMENT, OPTIONAL, Draw, DrawContext, Rejected

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


_MORE_ITEMS = 0.55
_UNBOUNDED = 40
"""Items beyond the minimum when there is no maximum: that many are never reached but by chance."""
_MOST_OF_PREFIX = 0.9
_NAME_ATTEMPTS = 12


class ArrayPlan(Struct, frozen=True):
    """The parts of an array that is drawn."""

    pointer: str
    low: int
    high: int | None
    prefix: tuple[Draw, ...]
    item: Draw | None
    """None when nothing may come after the prefix."""
    unique: bool
    members: list[Any] | None = None
    """All the different items, where they are few and most of them are wanted."""
    finite: int | None = None
    """How many different items there are, if that is known."""


def compile_array(plan: ArrayPlan, context: DrawContext, *, keeps_path: bool) -> Draw:
    """Draws arrays."""
    low = plan.low
    high = low + _UNBOUNDED if plan.high is None else plan.high
    if plan.unique and plan.finite is not None:
        high = min(high, plan.finite)
    if plan.item is None:
        high = min(high, len(plan.prefix))
    plan = replace(plan, low=low, high=high)
    distinct = Distinct(plan.pointer, low, high, _more(low, high))
    if plan.unique and plan.members is not None:
        return compile_drawn_out(distinct, plan.members)
    if low > (MANY_DISTINCT if plan.unique else MANY):
        element = _element(plan, context, keeps_path=keeps_path)
        return compile_seeded(distinct, element, context, unique=plan.unique)
    if plan.unique:
        return compile_distinct(distinct, _element(plan, context, keeps_path=keeps_path), context)
    if plan.prefix or plan.item is None or keeps_path:
        return _tuple(plan, _element(plan, context, keeps_path=keeps_path))
    return _list(plan.item, distinct)


def _list(item: Draw, plan: Distinct) -> Draw:
    low, high, more, pointer = plan.low, plan.high, plan.more, plan.pointer

    def draw(source: Source) -> list[Any]:
        values: list[Any] = []
        if source.__class__ is RandomSource:
            try:
                for index in range(high):
                    if index < low:
                        source.forced(True)
                    elif not source.boolean(more):
                        break
                    values.append(item(source))
            except SourceSpent as spent:
                spent.at(pointer)
                raise
            return values
        for index in range(high):
            source.start_span(ELEMENT)
            if index < low:
                source.forced(True)
            elif not source.boolean(more):
                source.stop_span()
                break
            values.append(item(source))
            source.stop_span()
        return values

    return draw


def _more(low: int, high: int) -> float:
    """Probability of one more item: a short range is gone through to its end now and then."""
    return _MORE_ITEMS if high - low > 4 or high == low else 0.75


def _element(plan: ArrayPlan, context: DrawContext, *, keeps_path: bool) -> Element:
    """Draws of items, by index; with `keeps_path` the path says where we are."""
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

    return element_in_path if keeps_path else element


def _tuple(plan: ArrayPlan, element: Element) -> Draw:
    low, high, count = plan.low, plan.high or 0, len(plan.prefix)
    more = _more(low, high)

    def draw(source: Source) -> list[Any]:
        values: list[Any] = []
        for index in range(high):
            source.start_span(ELEMENT)
            if index < low:
                source.forced(True)
            elif not source.boolean(_MOST_OF_PREFIX if index < count else more):
                source.stop_span()
                break
            values.append(element(source, index))
            source.stop_span()
        return values

    return draw


class Property(Struct, frozen=True):
    """One property that may be drawn."""

    name: str
    draw: Draw
    required: bool
    likely: float = 1
    """The share of objects that have it at most, where it is optional."""


class ObjectPlan(Struct, frozen=True):
    """The parts of an object that is drawn."""

    pointer: str
    properties: tuple[Property, ...]
    low: int
    high: int | None
    additional: tuple["Named", ...]
    """Kinds of others; none when there are no others."""
    more: float
    """Probability of one more additional property."""


class Named(Struct, frozen=True):
    """Properties whose names are drawn."""

    name: Draw
    draw: Draw
    is_name: Callable[[str], bool]
    """True for names that such properties may have."""


def compile_object(plan: ObjectPlan, context: DrawContext) -> Draw:
    """Draws objects: the required properties, some of the optional ones, some additional ones."""
    required = sum(item.required for item in plan.properties)
    optional = len(plan.properties) - required
    share = 0.5 if optional <= 24 else max(0.3, 12 / optional)
    steps = [(item.name, item.draw, 1.0 if item.required else min(share, item.likely)) for item in plan.properties]
    if plan.high is not None and plan.high < len(plan.properties):
        core = _bounded(steps, plan.high - required)
    else:
        core = _properties(steps, plan.pointer)
    if not plan.additional and plan.low <= required:
        return core
    return _with_additional(plan, core, context)


Step = tuple[str, Draw, float]
"""Name, draw, how likely it is there: 1 for always."""


def _properties(steps: list[Step], pointer: str) -> Draw:
    def draw(source: Source) -> dict[str, Any]:
        value: dict[str, Any] = {}
        if source.__class__ is RandomSource:
            # The spans of a random source are never asked for.
            try:
                for name, make, share in steps:
                    if share == 1 or source.boolean(share):
                        value[name] = make(source)
            except SourceSpent as spent:
                spent.at(pointer)
                raise
            return value
        for name, make, share in steps:
            if share == 1:
                value[name] = make(source)
            elif source.boolean(share):
                source.start_span(OPTIONAL)
                value[name] = make(source)
                source.stop_span()
        return value

    return draw


def _bounded(steps: list[Step], room: int) -> Draw:
    """At most `room` optional ones."""

    def draw(source: Source) -> dict[str, Any]:
        value: dict[str, Any] = {}
        left = room
        for name, make, share in steps:
            if share == 1:
                value[name] = make(source)
            elif left > 0 and source.boolean(share):
                source.start_span(OPTIONAL)
                value[name] = make(source)
                source.stop_span()
                left -= 1
        return value

    return draw


def _with_additional(plan: ObjectPlan, core: Draw, context: DrawContext) -> Draw:
    low = plan.low
    most = low + _UNBOUNDED if plan.high is None else plan.high

    def draw(source: Source) -> dict[str, Any]:
        value: dict[str, Any] = core(source)
        if plan.additional or len(value) < low:
            _fill(value, plan, source)
            if plan.additional:
                _add(value, plan, most, (source, context))
            if len(value) < low:
                raise Rejected(plan.pointer)
        return value

    return draw


def _fill(value: dict[str, Any], plan: ObjectPlan, source: Source) -> None:
    """Optional properties that were refused, until there are enough."""
    for item in plan.properties:
        if item.name not in value and len(value) < plan.low:
            value[item.name] = item.draw(source)


def _add(value: dict[str, Any], plan: ObjectPlan, most: int, where: tuple[Source, DrawContext]) -> None:
    """Additional properties. A name that cannot be used still costs its choices, so that there is no rule to it."""
    (source, context), kinds = where, plan.additional
    # The spans of a random source are never asked for.
    has_spans = source.__class__ is not RandomSource
    misses = 0
    while len(value) < most and misses <= _NAME_ATTEMPTS:
        if has_spans:
            source.start_span(ELEMENT)
        if len(value) < plan.low:
            source.forced(True)
        elif not source.boolean(plan.more):
            if has_spans:
                source.stop_span()
            break
        kind = kinds[source.choice(len(kinds)) if len(kinds) > 1 else 0]
        name = kind.name(source)
        context.path.append(name)
        item = kind.draw(source)
        context.path.pop()
        if name in value or not kind.is_name(name):
            misses += 1
        else:
            value[name] = item
            misses = 0
        if has_spans:
            source.stop_span()


_COUNTED = frozenset({forms.BOOLEAN, forms.NULL, forms.INTEGER})
_SOME_ITEMS = 3
_FILLED = 0.8
"""Share of arrays with an item, where arrays are too much alike."""
_MOST_MEMBERS = 8_192
"""Different items that are listed."""


def compile_items(nodes: Nodes, form: Canonical, place: TextPlace) -> Draw:
    """Draws arrays of a form. Raises `Unsatisfiable`."""
    sizes = form.arrays.count
    conflict = sizes.conflict()
    if conflict is not None:
        raise Unsatisfiable(*conflict)
    if form.arrays.impossible is not None:
        raise Unsatisfiable(form.arrays.impossible.pointer, form.arrays.impossible.text)
    inner = item_of(place)
    wanted, needed = _first_items(nodes, form, inner)
    low, high = max(sizes.low, place.min_items, needed), sizes.high
    if low > MOST_ITEMS:
        raise Unsatisfiable(sizes.low_pointer, f"minItems {low} is more than the {MOST_ITEMS} that are sent")
    if high is not None and low > high:
        raise Unsatisfiable(sizes.high_pointer, f"maxItems {high}, but {low} items are needed")
    prefix, item = _items(nodes, form, wanted, (inner, low))
    if nodes.is_minimal:
        high = low
    finite, members = None, None
    if form.arrays.unique and not prefix:
        finite, members = _different(nodes, (*form.arrays.items, *form.arrays.uncontained), inner, low)
    if finite is not None and finite < low:
        raise Unsatisfiable(sizes.low_pointer, f"minItems {low} and uniqueItems, but only {finite} different items")
    plan = ArrayPlan(form.pointer, low, high, tuple(prefix), item, form.arrays.unique, members, finite)
    if form.arrays.has_duplicates:
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
    shorter = replace(plan, low=max(plan.low - 1, 1), high=None if plan.high is None else plan.high - 1)
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
        if not form.arrays.is_closed and not (nodes.is_minimal and low <= len(wanted)):
            item = nodes.compile((*form.arrays.items, *form.arrays.uncontained), place)
    except Unsatisfiable:
        if low > len(prefix):
            raise
    if item is None and low > len(prefix):
        raise Unsatisfiable(form.arrays.count.low_pointer, f"minItems {low} and no items beyond {len(prefix)}")
    return prefix, item


def _first_items(nodes: Nodes, form: Canonical, place: TextPlace) -> tuple[list[Conjunction], int]:
    """`prefixItems` together with what the array has to contain, and how many of them there have to be."""
    found = list(form.arrays.prefix)
    taken: set[int] = set()
    for contained in form.arrays.contained:
        index = _index_for(nodes, form, (found, taken), (contained, place))
        while len(found) <= index:
            found.append(form.arrays.items)
        found[index] = (*found[index], contained)
        taken.add(index)
    return found, max(taken, default=-1) + 1


def _index_for(
    nodes: Nodes, form: Canonical, known: tuple[list[Conjunction], set[int]], wanted: tuple[Facet, TextPlace]
) -> int:
    """The first place at which an item may be what the array has to contain. Raises `Unsatisfiable`."""
    (found, taken), (contained, place) = known, wanted
    last = len(found) if form.arrays.is_closed else len(found) + 1
    reason: Unsatisfiable | None = None
    for index in range(last):
        if index in taken:
            continue
        try:
            nodes.compile((*(found[index] if index < len(found) else form.arrays.items), contained), place)
        except Unsatisfiable as error:
            reason = reason or error
        else:
            return index
    raise reason or Unsatisfiable(contained.pointer, "no item may be what the array has to contain")


def _different(nodes: Nodes, items: Conjunction, place: TextPlace, low: int) -> tuple[int | None, list[Any] | None]:
    """Return the number of different items when they are few; and the items, when most of them are wanted."""
    form = nodes.canonical(items)
    finite = _finite(form)
    if finite is None or not finite <= _MOST_MEMBERS or 2 * low <= finite:
        return finite, None
    is_valid = nodes.validator(items)
    members = {identity(value): value for value in _possible(form) if place.carries_listed(value) and is_valid(value)}
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
    if forms.INTEGER in form.types and form.numbers.low is not None and form.numbers.high is not None:
        yield from range(int(form.numbers.low), int(form.numbers.high) + 1)
    if forms.BOOLEAN in form.types:
        yield from (False, True)
    if forms.NULL in form.types:
        yield None
