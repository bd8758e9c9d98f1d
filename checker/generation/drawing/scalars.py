"""Draws of null, booleans, numbers and listed values."""

import math
import operator
import struct
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from checker.core.case import copied
from checker.core.errors import Unsatisfiable
from checker.generation.drawing.nodes import refuse
from checker.generation.normalization.forms import Canonical, Numbers
from checker.generation.sources.basic import constant, integers, listed
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext, retried

LARGEST: Final = 3.4028234663852886e38
_SMALLEST: Final = 2.0**-149
_FLOAT: Final = struct.Struct("<f")
_BITS: Final = struct.Struct("<i")


def nearest_float(value: Fraction | float) -> float:
    """Return a number as a double. A number beyond all doubles becomes the largest: schemas have bounds such as 10**400."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(sys.float_info.max, 1 if value > 0 else -1)


def nearest(value: float) -> float:
    """Return the single-precision float that is nearest to a number in its range."""
    found: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    return found


def beside(value: float, towards: float) -> float:
    """Return the next single-precision float in a direction; beyond their range, the next double."""
    if abs(value) > LARGEST:
        return math.nextafter(value, towards)
    rounded = nearest(value)
    if rounded != value and (rounded > value) == (towards > value):
        return rounded
    if rounded == 0:
        return math.copysign(_SMALLEST, towards)
    (bits,) = _BITS.unpack(_FLOAT.pack(rounded))
    is_away = (towards > 0) == (rounded > 0)
    found: float = _FLOAT.unpack(_BITS.pack(bits + (1 if is_away else -1)))[0]
    return found if math.isfinite(found) else math.nextafter(value, towards)


def between(low: float, high: float) -> tuple[float, float] | None:
    """Return the least and the greatest single-precision float between two numbers; None if there is none."""
    if abs(low) > LARGEST or abs(high) > LARGEST:
        return None
    least = nearest(low) if nearest(low) >= low else beside(low, math.inf)
    greatest = nearest(high) if nearest(high) <= high else beside(high, -math.inf)
    return (least, greatest) if least <= greatest else None


_WIDEST = 2**63  # Integers stay in 64 bits unless the schema asks for more: most servers read no larger ones.
_EXACT = 2.0**53
_LARGEST = 1.7976931348623157e308


def compile_listed(values: list[Any]) -> Draw:
    """Draws one of the listed values."""
    count = len(values)
    if any(isinstance(value, dict | list) for value in values):
        return lambda source: copied(values[source.choice(count) if count > 1 else 0])
    return listed(values)


def compile_integer(canonical: Canonical, context: DrawContext) -> Draw:
    """Draws integers. Raises `Unsatisfiable`."""
    numbers = canonical.numbers
    refuse(numbers.conflict())
    said = step = numbers.step or Fraction(1)
    # Multiples of 2.5 that are integers are the multiples of 5.
    step = Fraction(step.numerator)
    low, high = _integers_between(numbers, step)
    if low > high:
        raise Unsatisfiable(*numbers.empty("integer"))
    return _whole_multiples(numbers, said, (low, high), context, canonical.pointer)


def few_integers(numbers: Numbers, most: int) -> range | None:
    """Return all integers between the bounds that are multiples of the step; None if a bound is missing, or if there are more than `most`."""
    if numbers.low is None or numbers.high is None or numbers.high - numbers.low > most:
        return None
    step = 1 if numbers.step is None else numbers.step.numerator
    low, high = _integers_between(numbers, Fraction(step))
    return range(low * step, high * step + 1, step)


def _whole_multiples(
    numbers: Numbers, step: Fraction, between: tuple[int, int], context: DrawContext, pointer: str
) -> Draw:
    """Draws integers that are multiples of a step; `between` are the bounds in units of its numerator."""
    (low, high), factor = between, step.numerator
    draw = integers(low, high, factor)
    if step == 1 or not _may_round(numbers, step):
        return draw
    if _are_far(numbers):
        # Far from zero only these multiples are exact as doubles.
        least, most = low * factor, high * factor
        coarse = math.lcm(factor, int(math.ulp(nearest_float(max(abs(least), abs(most))))))
        first, last = -(-least // coarse), most // coarse
        if first <= last:
            draw = integers(first, last, coarse)
    return retried(draw, _certain(numbers, step), context, pointer)


def compile_number(canonical: Canonical, context: DrawContext) -> Draw:
    """Draws numbers. Whole numbers are integers. Raises `Unsatisfiable`."""
    numbers = canonical.numbers
    refuse(numbers.conflict())
    is_single = "float" in canonical.formats
    if numbers.step is not None:
        return _multiples(numbers, numbers.step, context, canonical.pointer)
    largest = LARGEST if is_single else _LARGEST
    low = -largest if numbers.low is None else nearest_float(numbers.low)
    high = largest if numbers.high is None else nearest_float(numbers.high)
    # Beyond 2**53, integers are exact and doubles are not.
    while numbers.low is not None and _EXACT <= abs(low) < _LARGEST and min(_readings(low)) < numbers.low:
        low = math.nextafter(low, math.inf)
    while numbers.high is not None and _EXACT <= abs(high) < _LARGEST and max(_readings(high)) > numbers.high:
        high = math.nextafter(high, -math.inf)
    # The nearest double has the text of the bound itself. Only an open bound needs the next one.
    if numbers.low is not None and numbers.is_low_open:
        low = math.nextafter(low, math.inf)
    if numbers.high is not None and numbers.is_high_open:
        high = math.nextafter(high, -math.inf)
    if low > high:
        raise Unsatisfiable(*numbers.empty("number"))
    low, high = low + 0.0, high + 0.0
    ends = between(low, high) if is_single else None
    # If no single-precision float lies between the bounds, doubles are drawn.
    low, high = ends or (low, high)
    if low == high:
        return constant(_whole(low))
    if ends is not None:
        return lambda source: _whole(nearest(source.floating(low, high)))

    def draw(source: Source) -> float:
        value = source.floating(low, high)
        # Most numbers have a fraction and are returned unchanged.
        return _whole(value) if value.is_integer() else value

    return draw


def _whole(value: float) -> float:
    """Return a whole number as an integer; -0.0 and large numbers are returned unchanged."""
    if value.is_integer() and -1e15 < value < 1e15 and (value or math.copysign(1.0, value) > 0):
        return int(value)
    return value


def _multiples(numbers: Numbers, step: Fraction, context: DrawContext, pointer: str) -> Draw:
    low, high = _integers_between(numbers, step)
    if low > high:
        raise Unsatisfiable(*numbers.empty("number"))
    if step.denominator == 1:
        return _whole_multiples(numbers, step, (low, high), context, pointer)
    if _are_far(numbers):
        # Doubles of this size are all integers.
        whole = Fraction(step.numerator)
        between = _integers_between(numbers, whole)
        if between[0] <= between[1]:
            return _whole_multiples(numbers, step, between, context, pointer)
    unit = nearest_float(step)

    def make(source: Source) -> float:
        count = source.integer(low, high) if low < high else low
        return _whole(nearest_float(count * step))

    # Some validators divide doubles and reject some multiples. The value has to pass both kinds of validators.
    accepts = _certain(numbers, step) if _may_round(numbers, step) else _divides(unit)
    return retried(make, accepts, context, pointer)


def _divides(unit: float) -> Callable[[Any], bool]:
    def accepts(value: Any) -> bool:
        quotient = nearest_float(value) / unit
        return math.isfinite(quotient) and quotient == int(quotient)

    return accepts


def _may_round(numbers: Numbers, step: Fraction) -> bool:
    """Whether neighbouring doubles near a bound are almost as far apart as the multiples, so that rounding may cross the bound."""
    bounds = [abs(nearest_float(bound)) for bound in (numbers.low, numbers.high) if bound is not None]
    return any(math.ulp(bound) > min(nearest_float(step) / 4, 1.0) for bound in bounds)


def _are_far(numbers: Numbers) -> bool:
    """Whether all numbers between the bounds are too large for exact integers in doubles."""
    is_above = numbers.low is not None and numbers.low >= _EXACT
    return is_above or (numbers.high is not None and numbers.high <= -_EXACT)


def _certain(numbers: Numbers, step: Fraction) -> Callable[[Any], bool]:
    """Return a predicate for numbers that are multiples within the bounds, as text and as a double."""
    low, high, divides = numbers.low, numbers.high, _divides(nearest_float(step))
    above = operator.gt if numbers.is_low_open else operator.ge
    below = operator.lt if numbers.is_high_open else operator.le

    def is_right(exact: Fraction) -> bool:
        is_inside = (low is None or above(exact, low)) and (high is None or below(exact, high))
        return is_inside and exact % step == 0

    def accepts(value: Any) -> bool:
        return all(map(is_right, _readings(value))) and divides(value)

    return accepts


def _readings(value: float) -> set[Fraction]:
    """Return both readings of a number: exact from its text, and rounded to a double."""
    # Half of all JSON readers know only doubles. The bounds hold for both, so that no server is blamed for its parser.
    return {Fraction(str(value)), Fraction(nearest_float(value))}


def _integers_between(numbers: Numbers, step: Fraction) -> tuple[int, int]:
    """Return the smallest and the largest multiple, as factors of `step`."""
    low, high = numbers.low, numbers.high
    least = -(_WIDEST // step.numerator) * step.denominator if low is None else math.ceil(low / step)
    most = (_WIDEST - 1) // step.numerator * step.denominator if high is None else math.floor(high / step)
    if low is not None and numbers.is_low_open and least * step == low:
        least += 1
    if high is not None and numbers.is_high_open and most * step == high:
        most -= 1
    # Integers that round to an open bound are left out if others remain.
    above, below = least, most
    if low is not None and numbers.is_low_open and _EXACT <= abs(low) < _LARGEST:
        above = max(least, math.ceil(Fraction(math.nextafter(float(low), math.inf)) / step))
    if high is not None and numbers.is_high_open and _EXACT <= abs(high) < _LARGEST:
        below = min(most, math.floor(Fraction(math.nextafter(float(high), -math.inf)) / step))
    if above <= below:
        least, most = above, below
    if low is None and least > most:
        least = max(most - max(1000, abs(most)), -int(Fraction(_LARGEST) / step))
    if high is None and least > most:
        most = min(least + max(1000, abs(least)), int(Fraction(_LARGEST) / step))
    if step == 1:
        return least, most
    # Farther from zero, the nearest double of a multiple is no multiple.
    bound = 2**53 // step.numerator
    if low is None and -bound <= most:
        least = max(least, -bound)
    if high is None and least <= bound:
        most = min(most, bound)
    return least, most
