"""Draws of `enum` members, of values that must differ from given ones, and of `oneOf` with overlapping alternatives."""

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any, Final

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.generation.drawing.nodes import IsValid, Nodes, validator_of
from checker.generation.drawing.places import TextPlace
from checker.generation.drawing.scalars import compile_listed, few_integers
from checker.generation.normalization import forms
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Canonical, Conjunction, identity
from checker.generation.regexes import matcher
from checker.generation.sources.basic import either, one_of
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Draw, DrawContext, Rejected, Unfinished, retried
from checker.generation.sources.replay import SimplestSource
from checker.schema.views import type_of
from checker.validation.formats import ASSERTED_FORMATS, is_of_format

Accepts = Callable[[Any], bool]
_EXACT = 2**53
_SMALL = 64  # Ranges of at most this many integers are listed.
_ODD_TEXTS: Final = ("", " ", "0", "a", "A", "a b", "-", "\u00e9", "\n", "~" * 12)
"""Texts that are tried if most texts are forbidden."""


def excluding(draw: Draw, kind: str, form: Canonical, context: DrawContext) -> Draw:
    """Draws values of `draw` that are not forbidden. Raises `Unsatisfiable` when nothing is left."""
    checks: list[Accepts] = []
    if form.excluded.values:
        forbidden = frozenset(map(identity, form.excluded.values))
        checks.append(lambda value: identity(value) not in forbidden)
    if kind in (forms.INTEGER, forms.NUMBER):
        checks.extend(map(_is_no_multiple, form.excluded.steps))
    if kind == forms.STRING:
        checks.extend(_differs(matcher(pattern)) for pattern in form.excluded.patterns)
        checks.extend(_differs(ASSERTED_FORMATS[name]) for name in form.excluded.formats)
    if not checks:
        return draw

    def accepts(value: Any) -> bool:
        return all(check(value) for check in checks)

    few = _few(kind, form)
    if few is not None:
        left = [value for value in few if accepts(value)]
        if not left:
            raise Unsatisfiable(form.pointer, f"`not` forbids every {kind} that is left")
        return compile_listed(left)
    made = retried(draw, accepts, context, form.pointer)
    if kind == forms.STRING and form.excluded.patterns:
        low, high = form.strings.lengths.low, form.strings.lengths.high
        texts = [
            text for text in _ODD_TEXTS if low <= len(text) and (high is None or len(text) <= high) and accepts(text)
        ]
        if not texts or form.strings.patterns or form.formats:
            return made
        odd = compile_listed(texts)
        return either(_ODD, odd, made)
    return made


def _is_no_multiple(step: Fraction) -> Accepts:
    # Readers of floats lose precision beyond 2**53 and may see a multiple where others do not.
    return lambda value: -_EXACT < value < _EXACT and Fraction(str(value)) % step != 0


def _differs(matches: Callable[[str], bool]) -> Accepts:
    return lambda value: not matches(value)


def _few(kind: str, form: Canonical) -> list[Any] | None:
    """Return all values of a kind if there are few; None otherwise."""
    if kind == forms.BOOLEAN:
        return [False, True]
    if kind != forms.INTEGER:
        return None
    if any(step.numerator == 1 for step in form.excluded.steps):
        # Every integer is a multiple of 1/n, so no value is left.
        return []
    few = few_integers(form.numbers, _SMALL)
    return None if few is None else list(few)


_ODD = 0.3


MOST: Final = 32  # Alternatives that are considered.
_FRUITFUL: Final = 0.25  # Share of accepted values above which drawing and filtering is enough.
_STEPS, _STEPS_EACH = 12_000, 500
"""Steps for excluding all other alternatives from each, and the least number for one of them."""
_TRIED: Final = 20
_SURE: Final = 2  # Accepted values in a row after which no more are tried.
_DISCARDED: Final = 120  # Attempts that all tries together may discard.
_NOTHING: Final = "no value was found that satisfies this alternative alone"


def apart(nodes: Nodes, draw: Draw, whole: tuple[Conjunction, Conjunction, TextPlace], is_alone: IsValid) -> Draw:
    """Draws values of one alternative that no other alternative admits. Raises `Unsatisfiable` and `BudgetSpent`.

    `draw` draws from the alternative. `whole` consists of the conjunction that values satisfy, the conjunction that
    they must not satisfy, and their place.
    """
    # First try whether filtering is enough. Combining the alternative with the inverse of all others is expensive: each
    # inverse multiplies the ways of the next.
    share = _share(draw, is_alone, nodes.context)
    is_fruitful = share is not None and share >= _FRUITFUL
    if is_fruitful:
        # The simplest value has no optional parts.
        with nodes.context.aside(_DISCARDED), suppress(Rejected, BudgetSpent):
            nodes.context.begin(None)
            if is_alone(draw(SimplestSource())):
                return draw
    wanted, others, place = whole
    at = wanted[0].pointer
    try:
        with nodes.budget.lent(max(_STEPS // (1 + len(others)), _STEPS_EACH)):
            made = nodes.compile((*wanted, *others), place)
    except (BudgetSpent, Unsatisfiable) as error:
        if share == 0:
            raise Unsatisfiable(at, _NOTHING) from error
        return draw
    # In a large case no optional part is drawn, and filtering may then find no value at all. So both draws are used.
    return one_of([draw, made]) if is_fruitful else made


def _share(draw: Draw, accepts: IsValid, context: DrawContext) -> float | None:
    """Return the share of accepted values among a few draws; None if nothing can be drawn yet. Drawing stops early if the first values are accepted."""
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


_LISTING: Final = frozenset({"type", "format", "enum", "const", "allOf"})
"""Keywords that a canonical form reads completely for a listed value."""


def compile_enum(canon: Canon, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Draw:
    """Draws members of an `enum`, or the `const`. Raises `Unsatisfiable` if no member is valid and can be sent."""
    # Most `enum`s have only a type beside them, and then no validator needs to be compiled.
    if form.branches or not all(canon.said(facet).keys() <= _LISTING for facet in form.facets):
        is_valid = validator_of(canon, conjunction, is_strict=False)
    else:
        is_valid = lambda value: (  # noqa: E731
            not type_of(value).isdisjoint(form.types) and all(is_of_format(name, value) for name in form.formats)
        )
    possible = [value for value in form.enum or () if value is not None or forms.NULL in form.types]
    forbidden = frozenset(map(identity, form.excluded.values))
    values = [v for v in possible if is_valid(v) and identity(v) not in forbidden]
    sendable = [value for value in values if place.carries_listed(value)]
    if not sendable and place.is_body:
        # JSON can carry characters that are never drawn.
        sendable = values
    if not sendable:
        what = "travels in this place" if values else "satisfies the rest of the schema"
        raise Unsatisfiable(form.enum_pointer, f"none of the listed values {what}")
    return compile_listed(sendable)
