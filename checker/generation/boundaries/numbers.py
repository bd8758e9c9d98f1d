"""Numbers at the bounds of a schema, beside them, and around zero."""

import math
from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from checker.generation.boundaries.values import Boundary, Scenario
from checker.generation.drawing import singles
from checker.generation.normalization.bounds import Numbers
from checker.generation.normalization.forms import NUMBER, Canonical

_SINGLE = "float"
_HUGE = 1e308
"""Nearly as great as any number of double precision."""


def numbers_of(form: Canonical) -> Iterator[Boundary]:
    """Numbers that the bounds admit; the first one is the usual value."""
    axis = _Axis.of(form)
    at, unit = form.type_pointer or form.pointer, axis.unit
    low, high = axis.ends()
    if low is None and high is None:
        yield from axis.shown(Fraction(0), Scenario.NUMBER, at, None)
    for end in (low, high):
        if end is not None and not end.is_implied:
            yield from axis.shown(end.value, end.scenario, end.pointer, end.keyword)
            for near in dict.fromkeys((end.value + end.sign * unit, axis.inside(end, end.sign))):
                yield from axis.shown(near, Scenario.NEAR_NUMBER, end.pointer, end.keyword)
    others = [Fraction(0), unit, -unit]
    for end in (low, high):
        if end is not None:
            others += [end.value + end.sign * 2 * unit, axis.inside(end, end.sign * 2)]
    for value in others:
        yield from axis.shown(value, Scenario.NUMBER, at, None)
    for end in (low, high):
        # The ends of a format come last: a server's own limits are found there, and the rest is more urgent.
        if end is not None and end.is_implied:
            yield from axis.shown(end.value, end.scenario, end.pointer, end.keyword)
    yield from _beyond(axis, form, at)


def _beyond(axis: "_Axis", form: Canonical, at: str) -> Iterator[Boundary]:
    """Integers of more than 32 and 64 bits, a fraction, a huge number, if nothing forbids them: many services notice too late where theirs end."""
    if NUMBER in form.types:
        if not axis.is_stepped:
            yield from axis.shown(Fraction(1, 2), Scenario.NUMBER, at, None)
        if axis.numbers.high is None and not (axis.is_stepped or axis.is_single):
            yield Boundary(_HUGE, "Huge number", Scenario.NUMBER, at, None, True)
        return
    if axis.numbers.high is None:
        for bits in (32, 64):
            for boundary in axis.shown(
                axis.up(Fraction(2 ** (bits - 1))), Scenario.NUMBER, at, None
            ):
                yield replace(boundary, description=f"Number beyond {bits} bits")


class _End(Struct, frozen=True):
    """The least or the greatest number."""

    value: Fraction
    sign: int
    """Which way the others lie."""
    scenario: Scenario
    keyword: str
    pointer: str

    @property
    def is_implied(self) -> bool:
        """True when a format, not a keyword, says so."""
        return self.pointer.endswith("/format")


class _Axis(Struct, frozen=True):
    """Numbers that may be sent: all, or the multiples of a step."""

    numbers: Numbers
    unit: Fraction
    """From one to the next one; one where there is no next one."""
    is_stepped: bool
    is_single: bool

    @classmethod
    def of(cls, form: Canonical) -> "_Axis":
        step = form.numbers.step
        if NUMBER not in form.types:
            # Multiples of 2.5 that are integers are the multiples of 5.
            unit = Fraction(1 if step is None else step.numerator)
            return cls(form.numbers, unit, True, False)
        unit = Fraction(1) if step is None else step
        return cls(form.numbers, unit, step is not None, _SINGLE in form.formats)

    def ends(self) -> tuple[_End | None, _End | None]:
        """The least and the greatest number, if there are such."""
        numbers = self.numbers
        low = high = None
        if numbers.low is not None and numbers.low_said is not None:
            keyword, _, pointer = numbers.low_said
            low = _End(self.first(numbers.low), 1, Scenario.MINIMUM, keyword, pointer)
        if numbers.high is not None and numbers.high_said is not None:
            keyword, _, pointer = numbers.high_said
            high = _End(self.last(numbers.high), -1, Scenario.MAXIMUM, keyword, pointer)
        return low, high

    def inside(self, end: _End, distance: int) -> Fraction:
        """The first number that is at least so far from an end."""
        value = end.value + distance
        return self.up(value) if distance > 0 else self.down(value)

    def up(self, value: Fraction) -> Fraction:
        """The first number from here on."""
        return math.ceil(value / self.unit) * self.unit if self.is_stepped else value

    def down(self, value: Fraction) -> Fraction:
        """The last number up to here."""
        return math.floor(value / self.unit) * self.unit if self.is_stepped else value

    def first(self, low: Fraction) -> Fraction:
        """The least number from a bound on."""
        found = self.up(low)
        if found == low and self.numbers.is_low_open:
            found = found + self.unit if self.is_stepped else self._beside(low, math.inf)
        return found

    def last(self, high: Fraction) -> Fraction:
        """The greatest number up to a bound."""
        found = self.down(high)
        if found == high and self.numbers.is_high_open:
            found = found - self.unit if self.is_stepped else self._beside(high, -math.inf)
        return found

    def _beside(self, value: Fraction, towards: float) -> Fraction:
        if self.is_single:
            return Fraction(singles.beside(float(value), towards))
        return Fraction(math.nextafter(float(value), towards))

    def admits(self, value: Fraction) -> bool:
        """True between the bounds."""
        low, high = self.numbers.low, self.numbers.high
        if low is not None and (value < low or (value == low and self.numbers.is_low_open)):
            return False
        if high is not None and (value > high or (value == high and self.numbers.is_high_open)):
            return False
        return not self.is_stepped or value % self.unit == 0

    def shown(
        self, value: Fraction, scenario: Scenario, pointer: str, keyword: str | None
    ) -> Iterator[Boundary]:
        """The number as it is sent, if it may be sent."""
        if self.admits(value):
            try:
                number = int(value) if value.denominator == 1 else float(value)
            except OverflowError:
                return
            yield Boundary(number, _WORDS[scenario], scenario, pointer, keyword, True)


_WORDS = {
    Scenario.NUMBER: "Valid number",
    Scenario.MINIMUM: "Minimum value",
    Scenario.MAXIMUM: "Maximum value",
    Scenario.NEAR_NUMBER: "Near-boundary number",
}
