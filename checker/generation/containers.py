"""Arrays and objects of a schema."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from checker.generation.sources import Source
from checker.generation.turn import ELEMENT, OPTIONAL, Draw, Rejected, Turn

_MORE_ITEMS = 0.55
_UNBOUNDED = 40
"""Items beyond the minimum when there is no maximum: that many are never reached but by chance."""
_UNIQUE_ATTEMPTS = 20
_NAME_ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """What is drawn for an array."""

    pointer: str
    low: int
    high: int | None
    prefix: tuple[Draw, ...]
    item: Draw | None
    """None when nothing may come after the prefix."""
    unique: bool
    finite: int | None = None
    """How many different items there are, if that is known."""


def compile_array(plan: ArrayPlan, turn: Turn, *, keeps_path: bool) -> Draw:
    """Draws arrays."""
    low = plan.low
    high = low + _UNBOUNDED if plan.high is None else plan.high
    if plan.unique and plan.finite is not None:
        high = min(high, plan.finite)
    if plan.item is None:
        high = min(high, len(plan.prefix))
    if keeps_path:
        return _array_with_path(plan, turn, low, high)
    if plan.unique:
        return _unique_array(plan, turn, low, high)
    if plan.prefix or plan.item is None:
        return _tuple(plan, low, high)
    item = plan.item
    more = _more(low, high)

    def draw(source: Source) -> list[Any]:
        values: list[Any] = []
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


def _tuple(plan: ArrayPlan, low: int, high: int) -> Draw:
    prefix, item = plan.prefix, plan.item
    more = _more(low, high)
    count = len(prefix)

    def draw(source: Source) -> list[Any]:
        values: list[Any] = []
        for index in range(high):
            source.start_span(ELEMENT)
            if index < low:
                source.forced(True)
            elif not source.boolean(0.9 if index < count else more):
                source.stop_span()
                break
            make = prefix[index] if index < count else item
            assert make is not None
            values.append(make(source))
            source.stop_span()
        return values

    return draw


def _array_with_path(plan: ArrayPlan, turn: Turn, low: int, high: int) -> Draw:
    """The same while it is known where we are; uniqueness included."""
    count = len(plan.prefix)

    def with_path(make: Draw, index: int) -> Draw:
        def draw(source: Source) -> Any:
            turn.path.append(str(index))
            value = make(source)
            turn.path.pop()
            return value

        return draw

    def numbered(index: int) -> Draw:
        make = plan.prefix[index] if index < count else plan.item
        assert make is not None
        return with_path(make, index)

    indexed = ArrayPlan(
        plan.pointer, low, high, tuple(map(numbered, range(min(high, 64)))), plan.item, plan.unique
    )
    if plan.unique:
        return _unique_array(indexed, turn, low, high)
    return _tuple(indexed, low, high)


def _unique_array(plan: ArrayPlan, turn: Turn, low: int, high: int) -> Draw:
    prefix, item, count = plan.prefix, plan.item, len(plan.prefix)
    more = _more(low, high)

    def element(source: Source, index: int, seen: set[bytes]) -> Any:
        """One that is not among `seen`; `_NOTHING` when none was found or none is wanted."""
        make = prefix[index] if index < count else item
        assert make is not None
        bound = len(turn.bindings)
        for _ in range(_UNIQUE_ATTEMPTS if index >= low else 4 * _UNIQUE_ATTEMPTS):
            source.start_span(ELEMENT)
            if index < low:
                source.forced(True)
            elif not source.boolean(more):
                source.stop_span()
                return _NOTHING
            value = make(source)
            key = identity(value)
            if key not in seen:
                seen.add(key)
                source.stop_span()
                return value
            source.stop_span(True)
            del turn.bindings[bound:]
            turn.spend(plan.pointer)
        if index < low:
            raise Rejected(plan.pointer)
        source.start_span(ELEMENT)
        source.forced(False)
        source.stop_span()
        return _NOTHING

    def draw(source: Source) -> list[Any]:
        values: list[Any] = []
        seen: set[bytes] = set()
        for index in range(high):
            value = element(source, index, seen)
            if value is _NOTHING:
                break
            values.append(value)
        return values

    return draw


_NOTHING = object()


def identity(value: Any) -> bytes:
    """Equal for equal JSON values."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return b"%d" % value
    if isinstance(value, list):
        return b"[" + b",".join(map(identity, value)) + b"]"
    if isinstance(value, dict):
        return (
            b"{"
            + b",".join(
                repr(k).encode("utf-8", "surrogatepass") + b":" + identity(value[k])
                for k in sorted(value)
            )
            + b"}"
        )
    try:
        return orjson.dumps(value)
    except TypeError:
        return repr(value).encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Property:
    """One property that may be drawn."""

    name: str
    draw: Draw
    required: bool


@dataclass(frozen=True, slots=True)
class ObjectPlan:
    """What is drawn for an object."""

    pointer: str
    properties: tuple[Property, ...]
    low: int
    high: int | None
    additional: tuple["Named", ...]
    """Kinds of others; none when there are no others."""
    more: float
    """Probability of one more additional property."""


@dataclass(frozen=True, slots=True)
class Named:
    """Properties whose names are drawn."""

    name: Draw
    draw: Draw
    is_name: Callable[[str], bool]
    """True for names that such properties may have."""


def compile_object(plan: ObjectPlan, turn: Turn) -> Draw:
    """Draws objects: the required properties, some of the optional ones, some additional ones."""
    required = sum(item.required for item in plan.properties)
    optional = len(plan.properties) - required
    share = 0.5 if optional <= 24 else max(0.3, 12 / optional)
    steps = [(item.name, item.draw, item.required) for item in plan.properties]
    if plan.high is not None and plan.high < len(plan.properties):
        core = _bounded(steps, share, plan.high - required)
    else:
        core = _properties(steps, share)
    if not plan.additional and plan.low <= required:
        return core
    return _with_additional(plan, core, turn)


Step = tuple[str, Draw, bool]
"""Name, draw, is it required."""


def _properties(steps: list[Step], share: float) -> Draw:
    def draw(source: Source) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for name, make, is_required in steps:
            if is_required:
                value[name] = make(source)
            elif source.boolean(share):
                source.start_span(OPTIONAL)
                value[name] = make(source)
                source.stop_span()
        return value

    return draw


def _bounded(steps: list[Step], share: float, room: int) -> Draw:
    """At most `room` optional ones."""

    def draw(source: Source) -> dict[str, Any]:
        value: dict[str, Any] = {}
        left = room
        for name, make, is_required in steps:
            if is_required:
                value[name] = make(source)
            elif left > 0 and source.boolean(share):
                source.start_span(OPTIONAL)
                value[name] = make(source)
                source.stop_span()
                left -= 1
        return value

    return draw


def _with_additional(plan: ObjectPlan, core: Draw, turn: Turn) -> Draw:
    low, has_more = plan.low, bool(plan.additional)
    most = low + _UNBOUNDED if plan.high is None else plan.high

    def draw(source: Source) -> dict[str, Any]:
        value: dict[str, Any] = core(source)
        if len(value) < low:
            _fill(value, plan, source)
        if has_more:
            _add(value, plan, most, (source, turn))
        if len(value) < low:
            raise Rejected(plan.pointer)
        return value

    return draw


def _fill(value: dict[str, Any], plan: ObjectPlan, source: Source) -> None:
    """Optional properties that were refused, until there are enough."""
    for item in plan.properties:
        if item.name not in value and len(value) < plan.low:
            value[item.name] = item.draw(source)


def _add(value: dict[str, Any], plan: ObjectPlan, most: int, where: tuple[Source, Turn]) -> None:
    """Additional properties. A name that cannot be used still costs its choices, so that there is no rule to it."""
    (source, turn), kinds = where, plan.additional
    misses = 0
    while len(value) < most and misses <= _NAME_ATTEMPTS:
        source.start_span(ELEMENT)
        if len(value) < plan.low:
            source.forced(True)
        elif not source.boolean(plan.more):
            source.stop_span()
            break
        kind = kinds[source.choice(len(kinds)) if len(kinds) > 1 else 0]
        name = kind.name(source)
        turn.path.append(name)
        item = kind.draw(source)
        turn.path.pop()
        if name in value or not kind.is_name(name):
            misses += 1
        else:
            value[name] = item
        source.stop_span()
