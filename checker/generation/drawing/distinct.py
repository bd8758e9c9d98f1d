"""Arrays whose items differ from each other."""

from collections.abc import Callable
from typing import Any

import orjson
from msgspec import Struct

from checker.core.case import copied
from checker.generation.sources.choices import Source
from checker.generation.sources.context import ELEMENT, Draw, DrawContext, Rejected

ATTEMPTS = 20
"""To find one more item that may be there; for one that has to be four times as many."""
Element = Callable[[Source, int], Any]
"""Draws the item at an index."""


class Distinct(Struct, frozen=True):
    """The bounds of an array of distinct items, and the probability of one more item."""

    pointer: str
    low: int
    high: int
    more: float


def compile_distinct(plan: Distinct, element: Element, context: DrawContext) -> Draw:
    """Draws arrays of items that are drawn until they differ."""
    low, high, more = plan.low, plan.high, plan.more
    new = _new_element(element, context)

    def draw(source: Source) -> list[Any]:
        values: list[Any] = []
        seen: set[str | bytes] = set()
        misses = 0
        while len(values) < high:
            is_wanted = len(values) < low
            found = new(source, values, seen, None if is_wanted else more)
            if found is None:
                break
            if found:
                misses = 0
                continue
            context.spend(plan.pointer)
            misses += 1
            if misses < (4 * ATTEMPTS if is_wanted else ATTEMPTS):
                continue
            if is_wanted:
                raise Rejected(plan.pointer)
            source.start_span(ELEMENT)
            source.forced(False)
            source.stop_span()
            break
        return values

    return draw


def _new_element(
    element: Element, context: DrawContext
) -> Callable[[Source, list[Any], set[str | bytes], float | None], bool | None]:
    def new_element(source: Source, values: list[Any], seen: set[str | bytes], more: float | None) -> bool | None:
        """Append one that is not among `seen`: whether it was, None when no more is wanted."""
        bound = len(context.bindings)
        source.start_span(ELEMENT)
        if more is None:
            source.forced(True)
        elif not source.boolean(more):
            source.stop_span()
            return None
        value = element(source, len(values))
        key = value if value.__class__ is str else identity(value)
        is_new = key not in seen
        source.stop_span(not is_new)
        if is_new:
            seen.add(key)
            values.append(value)
        else:
            del context.bindings[bound:]
        return is_new

    return new_element


def compile_drawn_out(plan: Distinct, members: list[Any]) -> Draw:
    """Draws arrays of members that are taken out of an urn: where most of them are wanted, chance would not find the last ones."""
    low, high = plan.low, min(plan.high, len(members))

    def draw(source: Source) -> list[Any]:
        urn, values = members.copy(), []
        for index in range(high):
            source.start_span(ELEMENT)
            if index < low:
                source.forced(True)
            elif not source.boolean(plan.more):
                source.stop_span()
                break
            # In their order as long as the simplest choice is made.
            at = source.choice(len(urn)) if len(urn) > 1 else 0
            values.append(copied(urn.pop(at)))
            source.stop_span()
        return values

    return draw


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
            + b",".join(repr(k).encode("utf-8", "surrogatepass") + b":" + identity(value[k]) for k in sorted(value))
            + b"}"
        )
    try:
        return orjson.dumps(value)
    except TypeError:
        return repr(value).encode("utf-8", "surrogatepass")
