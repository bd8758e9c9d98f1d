"""Values that a `not` forbids, kept out of what is drawn."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.distinct import identity
from checker.generation.drawing.scalars import compile_listed
from checker.generation.normalization import forms
from checker.generation.normalization.forms import Canonical, Exclusions
from checker.generation.patterns.matching import matcher
from checker.generation.sources.basic import either
from checker.generation.sources.context import Draw, DrawContext, retried
from checker.validation.formats import ASSERTED_FORMATS

Accepts = Callable[[Any], bool]
_EXACT = 2**53
_SMALL = 64
"""Integers that are counted one by one."""
_ODD_TEXTS: Final = ("", " ", "0", "a", "A", "a b", "-", "\u00e9", "\n", "~" * 12)
"""Tried where most texts are forbidden."""


def excluding(draw: Draw, kind: str, form: Canonical, context: DrawContext) -> Draw:
    """Draws what `draw` gives and nobody forbids. Raises `Unsatisfiable` when nothing is left."""
    checks = _checks(kind, form.excluded)
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
        return _with_odd_texts(made, form, accepts)
    return made


def _checks(kind: str, excluded: Exclusions) -> list[Accepts]:
    checks: list[Accepts] = []
    if excluded.values:
        forbidden = frozenset(map(identity, excluded.values))
        checks.append(lambda value: identity(value) not in forbidden)
    if kind in (forms.INTEGER, forms.NUMBER):
        checks.extend(map(_is_no_multiple, excluded.steps))
    if kind == forms.STRING:
        checks.extend(_differs(matcher(pattern)) for pattern in excluded.patterns)
        checks.extend(_differs(ASSERTED_FORMATS[name]) for name in excluded.formats)
    return checks


def _is_no_multiple(step: Fraction) -> Accepts:
    # Beyond 2**53 a reader of floats may see a multiple where another does not.
    return lambda value: -_EXACT < value < _EXACT and Fraction(str(value)) % step != 0


def _differs(matches: Callable[[str], bool]) -> Accepts:
    return lambda value: not matches(value)


def _few(kind: str, form: Canonical) -> list[Any] | None:
    """All values of a kind, when they are few."""
    numbers = form.numbers
    if kind == forms.BOOLEAN:
        return [False, True]
    if kind != forms.INTEGER:
        return None
    if any(step.numerator == 1 for step in form.excluded.steps):
        # Every integer is a multiple of 1 and of its parts.
        return []
    if numbers.low is None or numbers.high is None or numbers.high - numbers.low > _SMALL:
        return None
    step = numbers.step or Fraction(1)
    return [
        value
        for value in range(int(numbers.low) - 1, int(numbers.high) + 2)
        if _is_inside(value, form) and value % step == 0
    ]


def _is_inside(value: int, form: Canonical) -> bool:
    numbers = form.numbers
    assert numbers.low is not None
    assert numbers.high is not None
    return (
        numbers.low <= value <= numbers.high
        and not (numbers.is_low_open and value == numbers.low)
        and not (numbers.is_high_open and value == numbers.high)
    )


def _with_odd_texts(draw: Draw, form: Canonical, accepts: Accepts) -> Draw:
    low, high = form.lengths.low, form.lengths.high
    texts = [
        text
        for text in _ODD_TEXTS
        if low <= len(text) and (high is None or len(text) <= high) and accepts(text)
    ]
    if not texts or form.patterns or form.formats:
        return draw
    odd = compile_listed(texts)
    return either(_ODD, odd, draw)


_ODD = 0.3
