"""Arrays whose items differ from each other."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.turn import ELEMENT, Draw, Rejected, Turn

_ATTEMPTS = 20
"""To find one more item that may be there; for one that has to be four times as many."""
Element = Callable[[Source, int], Any]
"""Draws the item at an index."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """How many items there are, and how likely one more is."""

    pointer: str
    low: int
    high: int
    more: float


def compile_distinct(plan: Distinct, element: Element, turn: Turn) -> Draw:
    """Draws arrays of items that are drawn until they differ."""
    new = _new_element(plan, element, turn)
    by_chance = _by_chance(plan, element, turn)

    def draw(source: Source) -> list[Any]:
        if source.__class__ is RandomSource:
            return by_chance(source)
        values: list[Any] = []
        seen: set[str | bytes] = set()
        for index in range(plan.high):
            value = new(source, index, seen)
            if value is _NOTHING:
                break
            values.append(value)
        return values

    return draw


def _by_chance(plan: Distinct, element: Element, turn: Turn) -> Callable[[RandomSource], list[Any]]:
    """The same choices without spans: nobody asks chance for them."""
    low, high, more = plan.low, plan.high, plan.more

    def draw(source: RandomSource) -> list[Any]:
        values: list[Any] = []
        seen: set[str | bytes] = set()
        choices, bound, left = source.choices, len(turn.bindings), 0
        while len(values) < high:
            index, start = len(values), len(choices)
            if index < low:
                source.forced(True)
            elif not source.boolean(more):
                break
            value = element(source, index)
            key = value if value.__class__ is str else identity(value)
            if key not in seen:
                seen.add(key)
                values.append(value)
                bound, left = len(turn.bindings), 0
                continue
            del choices[start:]
            del turn.bindings[bound:]
            turn.spend(plan.pointer)
            left += 1
            if left >= (_ATTEMPTS if index >= low else 4 * _ATTEMPTS):
                if index < low:
                    raise Rejected(plan.pointer)
                source.forced(False)
                break
        return values

    return draw


def _new_element(
    plan: Distinct, element: Element, turn: Turn
) -> Callable[[Source, int, set[str | bytes]], Any]:
    low = plan.low

    def new_element(source: Source, index: int, seen: set[str | bytes]) -> Any:
        """One that is not among `seen`; `_NOTHING` when none was found or none is wanted."""
        bound = len(turn.bindings)
        for _ in range(_ATTEMPTS if index >= low else 4 * _ATTEMPTS):
            source.start_span(ELEMENT)
            if index < low:
                source.forced(True)
            elif not source.boolean(plan.more):
                source.stop_span()
                return _NOTHING
            value = element(source, index)
            key = value if value.__class__ is str else identity(value)
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
            values.append(copy.deepcopy(urn.pop(at)))
            source.stop_span()
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
