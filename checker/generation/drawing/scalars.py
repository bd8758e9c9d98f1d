"""Null, booleans, numbers and listed values of a schema."""

import copy
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from checker.core.errors import Unsatisfiable
from checker.generation.meaning.bounds import Numbers
from checker.generation.meaning.forms import Canonical
from checker.generation.sources.basic import constant, integers, listed
from checker.generation.sources.choices import Source
from checker.generation.sources.recipes import Floats, described
from checker.generation.sources.turn import Draw, Turn, retried

_WIDEST = 2**63
"""Integers stay in 64 bits unless the schema asks for more: what lies beyond is no integer to most servers."""
_EXACT = 2.0**53
_LARGEST = 1.7976931348623157e308
_LARGEST_SINGLE = 3.4028234663852886e38


def compile_listed(values: list[Any]) -> Draw:
    """Draws one of the listed values."""
    count = len(values)
    if any(isinstance(value, dict | list) for value in values):
        return lambda source: copy.deepcopy(values[source.choice(count) if count > 1 else 0])
    return listed(values)


def compile_integer(canonical: Canonical) -> Draw:
    """Draws integers. Raises `Unsatisfiable`."""
    numbers = canonical.numbers
    _refuse_conflict(numbers)
    step = numbers.step or Fraction(1)
    # Multiples of 2.5 that are integers are the multiples of 5.
    step = Fraction(step.numerator)
    low, high = _integers_between(numbers, step)
    if low > high:
        raise Unsatisfiable(*numbers.empty("integer"))
    return integers(low, high, step.numerator)


def compile_number(canonical: Canonical, turn: Turn) -> Draw:
    """Draws numbers; whole ones are integers. Raises `Unsatisfiable`."""
    numbers = canonical.numbers
    _refuse_conflict(numbers)
    is_single = "float" in canonical.formats
    if numbers.step is not None:
        return _multiples(numbers, numbers.step, turn, canonical.pointer)
    largest = _LARGEST_SINGLE if is_single else _LARGEST
    low = -largest if numbers.low is None else _float(numbers.low)
    high = largest if numbers.high is None else _float(numbers.high)
    # Beyond 2**53 integers are exact and floats are not.
    if numbers.low is not None and abs(low) >= _EXACT and Fraction(low) < numbers.low:
        low = math.nextafter(low, math.inf)
    if numbers.high is not None and abs(high) >= _EXACT and Fraction(high) > numbers.high:
        high = math.nextafter(high, -math.inf)
    # As text the nearest float is the bound itself; only an open bound needs the next one.
    if numbers.low is not None and numbers.is_low_open:
        low = math.nextafter(low, math.inf)
    if numbers.high is not None and numbers.is_high_open:
        high = math.nextafter(high, -math.inf)
    if low > high:
        raise Unsatisfiable(*numbers.empty("number"))
    low, high = low + 0.0, high + 0.0
    if low == high:
        return constant(_whole(low))
    if is_single:
        return lambda source: _whole(_single(source.floating(low, high), low, high))

    def draw(source: Source) -> float:
        value = source.floating(low, high)
        # Most have a fraction: those are as they should be.
        return _whole(value) if value.is_integer() else value

    return described(draw, Floats(low, high, _whole))


def _whole(value: float) -> float:
    """Integers are written without a fraction; -0.0 and large numbers stay as they are."""
    if value.is_integer() and -1e15 < value < 1e15 and (value or math.copysign(1.0, value) > 0):
        return int(value)
    return value


def _single(value: float, low: float, high: float) -> float:
    """The nearest number of single precision, if there is one between the bounds."""
    mantissa, exponent = math.frexp(value)
    rounded = math.ldexp(round(math.ldexp(mantissa, 24)), exponent - 24)
    return rounded if low <= rounded <= high else value


def _multiples(numbers: Numbers, step: Fraction, turn: Turn, pointer: str) -> Draw:
    low, high = _integers_between(numbers, step)
    if low > high:
        raise Unsatisfiable(*numbers.empty("number"))
    if step.denominator == 1:
        factor = step.numerator
        return lambda source: source.integer(low, high) * factor if low < high else low * factor
    unit = float(step)

    def make(source: Source) -> float:
        count = source.integer(low, high) if low < high else low
        return _whole(float(count * step))

    # Validators that divide floats do not see every multiple as one; both kinds have to.
    return retried(make, _divides(unit), turn, pointer)


def _divides(unit: float) -> Callable[[Any], bool]:
    def accepts(value: Any) -> bool:
        quotient = value / unit
        return math.isfinite(quotient) and quotient == int(quotient)

    return accepts


def _integers_between(numbers: Numbers, step: Fraction) -> tuple[int, int]:
    """Smallest and largest multiple, as a factor of `step`."""
    low, high = numbers.low, numbers.high
    least = (
        -(_WIDEST // step.numerator) * step.denominator if low is None else math.ceil(low / step)
    )
    most = (
        (_WIDEST - 1) // step.numerator * step.denominator
        if high is None
        else math.floor(high / step)
    )
    if low is not None and numbers.is_low_open and least * step == low:
        least += 1
    if high is not None and numbers.is_high_open and most * step == high:
        most -= 1
    if low is None and least > most:
        least = most - 1000
    if high is None and least > most:
        most = least + 1000
    if step != 1 and low is None and high is None:
        # Beyond 2**53 a multiple is no longer one for those who read floats.
        bound = int(2**53 / step)
        return max(least, -bound), min(most, bound)
    return least, most


def _refuse_conflict(numbers: Numbers) -> None:
    conflict = numbers.conflict()
    if conflict is not None:
        raise Unsatisfiable(*conflict)


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST
