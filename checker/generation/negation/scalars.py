"""How `type` and the keywords of numbers are broken."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.core.schema import Dialect
from checker.generation.negation.mutation_sites import (
    Breaker,
    Mutation,
    MutationSite,
    first_of,
    mixed,
)
from checker.generation.normalization import forms
from checker.generation.sources.context import Draw, retried

_BOOLEAN_BOUNDS: Final = frozenset({Dialect.DRAFT4, Dialect.OPENAPI20, Dialect.OPENAPI30})
_KINDS: Final = (
    forms.STRING, forms.NULL, forms.BOOLEAN, forms.NUMBER, forms.ARRAY, forms.OBJECT,
)  # fmt: skip
_LISTS: Final = ("enum", "const")


def _type(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    """One way for each type that is not declared."""
    types = frozenset([value] if isinstance(value, str) else value)
    if forms.NUMBER in types:
        types |= {forms.INTEGER}
    if forms.NULL in spot.form.types:
        # OpenAPI says it beside the type.
        types |= {forms.NULL}
    is_alone = not any(name in spot.said for name in _LISTS) and not spot.is_said_elsewhere("type")
    for kind in _KINDS:
        if kind not in types:
            make = partial(_of_type, spot, kind, types)
            yield Mutation(spot.pointer("type"), "type", value, make, is_alone)


_SCALARS: Final = {"type": [forms.NULL, forms.BOOLEAN, forms.NUMBER, forms.STRING]}
_SMALL: Final[dict[str, dict[str, Any]]] = {
    forms.ARRAY: {"maxItems": 3, "items": _SCALARS},
    forms.OBJECT: {"maxProperties": 3, "additionalProperties": _SCALARS},
}
"""Where any array or object is wrong, a small one does."""


def _of_type(spot: MutationSite, kind: str, types: frozenset[str]) -> Draw:
    words = ("type", *_LISTS) if any(name in spot.said for name in _LISTS) else ("type",)
    small = {"type": kind, **_SMALL.get(kind, {})}
    draw = first_of(
        partial(spot.replaced, ("type",), f"type={kind} small", small),
        partial(spot.replaced, ("type",), f"type={kind}", {"type": kind}),
        # Listed values have a type themselves: both go, or neither.
        partial(spot.replaced, words, f"type={kind}", {"type": kind}),
    )
    if kind == forms.NUMBER and forms.INTEGER in types:
        return retried(draw, _is_fractional, spot.compiler.context, spot.pointer("type"))
    return draw


def _is_fractional(value: Any) -> bool:
    return isinstance(value, float) and not value.is_integer()


def _bound(spot: MutationSite, value: Any, *, keyword: str, is_low: bool) -> Iterator[Mutation]:
    yield Mutation(
        spot.pointer(keyword), keyword, value, partial(_beyond, spot, keyword, is_low=is_low)
    )


def _beyond(spot: MutationSite, keyword: str, *, is_low: bool) -> Draw:
    """One step beyond a bound, or anywhere beyond it."""
    bound = spot.said[keyword]
    words: tuple[str, ...] = (keyword,)
    if spot.said.get("exclusive" + keyword.capitalize()) is True:
        words = (keyword, "exclusive" + keyword.capitalize())
    is_open = keyword.startswith("exclusive")
    step = 0 if is_open else -1 if is_low else 1
    near = bound + step
    side = "maximum" if is_low else "minimum"
    far = {"type": "number", side: bound}
    if not is_open:
        far = {"type": "number", **_open_bound(spot, side, bound)}
    return mixed(
        partial(spot.replaced, words, f"{keyword}-near", {"type": "number", "minimum": near, "maximum": near}),
        partial(spot.replaced, words, f"{keyword}-far", far),
    )  # fmt: skip


def _open_bound(spot: MutationSite, side: str, bound: Any) -> dict[str, Any]:
    exclusive = "exclusive" + side.capitalize()
    if spot.compiler.canon.dialect in _BOOLEAN_BOUNDS:
        return {side: bound, exclusive: True}
    return {exclusive: bound}


def _exclusive(spot: MutationSite, value: Any, *, keyword: str, is_low: bool) -> Iterator[Mutation]:
    if value is True:
        bound = spot.said.get("minimum" if is_low else "maximum")
        if bound is not None:
            exactly = {"type": "number", "minimum": bound, "maximum": bound}
            make = partial(spot.replaced, (keyword,), f"{keyword}-near", exactly)
            yield Mutation(spot.pointer(keyword), keyword, value, make)
    elif value is not False:
        yield from _bound(spot, value, keyword=keyword, is_low=is_low)


def _multiple(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    yield Mutation(
        spot.pointer("multipleOf"), "multipleOf", value, partial(_no_multiple, spot, value)
    )


def _no_multiple(spot: MutationSite, step: Any) -> Draw:
    exact = Fraction(str(step))
    if exact == 1 and forms.NUMBER not in spot.form.types:
        raise Unsatisfiable(spot.pointer("multipleOf"), "every integer is a multiple of 1")

    def is_clear(value: Any) -> bool:
        """Not a multiple, for those who divide floats as well."""
        if Fraction(str(value)) % exact == 0:
            return False
        quotient = float(value) / float(step)
        return abs(quotient) < 2**53 and abs(quotient - round(quotient)) > 1e-6

    draw = spot.replaced(("multipleOf",), "multipleOf", {"type": "number"})
    return retried(draw, is_clear, spot.compiler.context, spot.pointer("multipleOf"))


NUMBERS: Final[Mapping[str, Breaker]] = {
    "type": _type,
    "minimum": partial(_bound, keyword="minimum", is_low=True),
    "maximum": partial(_bound, keyword="maximum", is_low=False),
    "exclusiveMinimum": partial(_exclusive, keyword="exclusiveMinimum", is_low=True),
    "exclusiveMaximum": partial(_exclusive, keyword="exclusiveMaximum", is_low=False),
    "multipleOf": _multiple,
}
"""Keyword -> ways to break it."""
