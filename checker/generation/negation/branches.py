"""How `anyOf`, `oneOf` and `not` are broken. What is wrong with one alternative is found at the alternative."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.generation.meaning import forms
from checker.generation.meaning.forms import Conjunction, Facet, inverse
from checker.generation.negation.spots import Breaker, Spot, Way, one_of
from checker.generation.sources.turn import Draw

_PAIRS = 12
_KINDS: Final = (
    forms.NULL, forms.BOOLEAN, forms.NUMBER, forms.STRING, forms.ARRAY, forms.OBJECT,
)  # fmt: skip


def _none_of(spot: Spot, value: Any, *, keyword: str) -> Iterator[Way]:
    """A type that no alternative speaks of."""
    yield Way(spot.pointer(keyword), keyword, value, partial(_other_type, spot, keyword))
    if keyword == "oneOf" and len(value) > 1:
        yield Way(spot.pointer(keyword), keyword, value, partial(_two_of, spot))


def _alternatives(spot: Spot, keyword: str) -> list[Facet]:
    parts = enumerate(spot.said[keyword])
    return [spot.below(part, keyword, str(index)) for index, part in parts]


def _other_type(spot: Spot, keyword: str) -> Draw:
    taken: set[str] = set()
    for part in _alternatives(spot, keyword):
        form = spot.compiler.canonical((part,))
        if form.impossible is None:
            taken |= form.types
    kinds = [kind for kind in _KINDS if kind not in taken]
    if not kinds:
        raise Unsatisfiable(spot.pointer(keyword), "its alternatives have every type")
    return spot.replaced((keyword,), f"{keyword}-types", {"type": kinds})


def _two_of(spot: Spot) -> Draw:
    rest, parts = spot.rest("oneOf"), _alternatives(spot, "oneOf")
    draws: list[Draw] = []
    for one, other in list(combinations(parts, 2))[:_PAIRS]:
        try:
            draws.append(spot.draw((*rest, one, other)))
        except Unsatisfiable:
            continue
    if not draws:
        raise Unsatisfiable(spot.pointer("oneOf"), "its alternatives exclude each other")
    return one_of(draws)


def _not(spot: Spot, value: Any) -> Iterator[Way]:
    inner = spot.below(value, "not")
    yield Way(inner.pointer, "not", value, lambda: spot.draw((*spot.rest("not"), inner)))


def _condition(spot: Spot, value: Any) -> Iterator[Way]:
    """What holds under the condition is broken, in whatever way."""
    condition = spot.below(value, "if")
    for keyword, when in (("then", condition), ("else", inverse(condition))):
        if keyword in spot.said:
            what = spot.below(spot.said[keyword], keyword)
            make = partial(_under, spot, ("if", "then", "else"), (when, inverse(what)))
            yield Way(what.pointer, keyword, spot.said[keyword], make)


def dependent_schemas(spot: Spot, value: Any, *, keyword: str) -> Iterator[Way]:
    """What the presence of a property asks for is broken, in whatever way."""
    for name, asked in value.items():
        if isinstance(asked, list):
            continue
        there = spot.made(f"{keyword}-{name}-there", {"type": "object", "required": [name]})
        what = spot.below(asked, keyword, name)
        make = partial(_under, spot, (keyword,), (there, inverse(what)))
        yield Way(what.pointer, keyword, asked, make)


def _under(spot: Spot, keywords: tuple[str, ...], more: Conjunction) -> Draw:
    return spot.draw((*spot.rest(*keywords), *more))


BRANCHES: Final[Mapping[str, Breaker]] = {
    "anyOf": partial(_none_of, keyword="anyOf"),
    "oneOf": partial(_none_of, keyword="oneOf"),
    "not": _not,
    "if": _condition,
    "dependentSchemas": partial(dependent_schemas, keyword="dependentSchemas"),
}
"""Keyword -> ways to break it."""
