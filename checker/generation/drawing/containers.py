"""Arrays and objects of a schema."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker.generation.drawing.distinct import (
    Distinct,
    Element,
    compile_distinct,
    compile_drawn_out,
)
from checker.generation.drawing.seeded import MANY, MANY_DISTINCT, compile_seeded
from checker.generation.sources.chance import SourceSpent
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import ELEMENT, OPTIONAL, Draw, DrawContext, Rejected

_MORE_ITEMS = 0.55
_UNBOUNDED = 40
"""Items beyond the minimum when there is no maximum: that many are never reached but by chance."""
_MOST_OF_PREFIX = 0.9
_NAME_ATTEMPTS = 12


class ArrayPlan(Struct, frozen=True):
    """What is drawn for an array."""

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
    """What is drawn for an object."""

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
    steps = [
        (item.name, item.draw, 1.0 if item.required else min(share, item.likely))
        for item in plan.properties
    ]
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
            # Nobody asks chance for its spans.
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


def _add(
    value: dict[str, Any], plan: ObjectPlan, most: int, where: tuple[Source, DrawContext]
) -> None:
    """Additional properties. A name that cannot be used still costs its choices, so that there is no rule to it."""
    (source, context), kinds = where, plan.additional
    # Nobody asks chance for its spans.
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
