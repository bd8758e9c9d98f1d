"""Numbers at the bounds of a schema and beside them, and texts that services often mishandle."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from checker.generation.boundaries.values import Boundary, Scenario
from checker.generation.drawing import scalars
from checker.generation.normalization.forms import NUMBER, Canonical, Numbers

_SINGLE = "float"
_HUGE = 1e308  # Close to the largest number of double precision.


def numbers_of(form: Canonical) -> Iterator[Boundary]:
    """Yield numbers that the bounds admit; the first one is the usual value."""
    axis = _Axis.of(form)
    at, unit = form.type_pointer or form.pointer, axis.unit
    low, high = axis.ends()
    if low is None and high is None:
        yield from axis.shown(Fraction(0), Scenario.NUMBER, at, None)
    for end in (low, high):
        if end is not None and not end.is_implied:
            yield from axis.shown(end.value, end.scenario, end.pointer, end.keyword)
            # The next number, and the next number at a distance of at least 1. With a step of 0.01 these differ.
            for near in dict.fromkeys((end.value + end.sign * unit, axis.inside(end, end.sign))):
                yield from axis.shown(near, Scenario.NEAR_NUMBER, end.pointer, end.keyword)
    others = [Fraction(0), unit, -unit]
    for end in (low, high):
        if end is not None:
            others += [end.value + end.sign * 2 * unit, axis.inside(end, end.sign * 2)]
    for value in others:
        yield from axis.shown(value, Scenario.NUMBER, at, None)
    for end in (low, high):
        # The bounds of a format come last: they show limits of the server, and declared bounds are more important.
        if end is not None and end.is_implied:
            yield from axis.shown(end.value, end.scenario, end.pointer, end.keyword)
    yield from _beyond(axis, form, at)


def _beyond(axis: "_Axis", form: Canonical, at: str) -> Iterator[Boundary]:
    """Yield integers of more than 32 and 64 bits, a fraction and a huge number, if the bounds admit them. These numbers overflow in many services."""
    if NUMBER in form.types:
        if not axis.is_stepped:
            yield from axis.shown(Fraction(1, 2), Scenario.NUMBER, at, None)
        if axis.numbers.high is None and not (axis.is_stepped or axis.is_single):
            yield Boundary(_HUGE, "Huge number", Scenario.NUMBER, at, None, True)
        return
    if axis.numbers.high is None:
        # The first number that a signed integer of so many bits cannot hold.
        for bits in (32, 64):
            for boundary in axis.shown(axis.up(Fraction(2 ** (bits - 1))), Scenario.NUMBER, at, None):
                yield replace(boundary, description=f"Number beyond {bits} bits")


class _End(Struct, frozen=True):
    value: Fraction
    sign: int  # Direction from this end into the range: 1 or -1.
    scenario: Scenario
    keyword: str
    pointer: str

    @property
    def is_implied(self) -> bool:
        """Whether the bound follows from a format and not from a keyword."""
        return self.pointer.endswith("/format")


class _Axis(Struct, frozen=True):
    """The numbers that a schema admits: all between its bounds, or the multiples of a step."""

    numbers: Numbers
    unit: Fraction  # Distance between neighbouring numbers; 1 without a step.
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
        """Return the least and the greatest number; None for a missing bound."""
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
        """Return the first number that is at least this distance from an end."""
        value = end.value + distance
        return self.up(value) if distance > 0 else self.down(value)

    def up(self, value: Fraction) -> Fraction:
        """Return the least number of the axis that is not below `value`."""
        return math.ceil(value / self.unit) * self.unit if self.is_stepped else value

    def down(self, value: Fraction) -> Fraction:
        """Return the greatest number of the axis that is not above `value`."""
        return math.floor(value / self.unit) * self.unit if self.is_stepped else value

    def first(self, low: Fraction) -> Fraction:
        """Return the least number above a lower bound."""
        found = self.up(low)
        if found == low and self.numbers.is_low_open:
            found = found + self.unit if self.is_stepped else self._beside(low, math.inf)
        return found

    def last(self, high: Fraction) -> Fraction:
        """Return the greatest number below an upper bound."""
        found = self.down(high)
        if found == high and self.numbers.is_high_open:
            found = found - self.unit if self.is_stepped else self._beside(high, -math.inf)
        return found

    def _beside(self, value: Fraction, towards: float) -> Fraction:
        if self.is_single and abs(value) < scalars.LARGEST:
            return Fraction(scalars.beside(scalars.nearest_float(value), towards))
        found = math.nextafter(scalars.nearest_float(value), towards)
        # Beyond the largest float, only integers are left.
        return Fraction(found) if math.isfinite(found) else value + (1 if towards > 0 else -1)

    def admits(self, value: Fraction) -> bool:
        """Whether a number lies between the bounds and is a multiple of the step."""
        low, high = self.numbers.low, self.numbers.high
        if low is not None and (value < low or (value == low and self.numbers.is_low_open)):
            return False
        if high is not None and (value > high or (value == high and self.numbers.is_high_open)):
            return False
        return not self.is_stepped or value % self.unit == 0

    def shown(self, value: Fraction, scenario: Scenario, pointer: str, keyword: str | None) -> Iterator[Boundary]:
        """Yield the boundary of a number if the schema admits it."""
        if self.admits(value):
            try:
                # A whole number of any size stays an integer, because a float would be written as `5.0`.
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


_OTHER_SCRIPTS: Final = "\u00e9e\u0301\u4e2d\u05d0\U0001f600"
"""Latin with an accent in one character and in two, Chinese, Hebrew, and a character of two UTF-16 units."""
_WIDE: Final = "\u4e2d"  # One character of three UTF-8 bytes: limits in bytes and in characters differ.
_LONG: Final = 1_000  # Characters of a text without `maxLength`: more than database columns for short texts hold.
_SIGNS: Final = "'\"([{*+?%_\\<&;$"
"""Characters with a meaning elsewhere: quotes and wildcards of SQL and full-text search, incomplete regular expressions, markup."""
FILE_NAME: Final = "\u00e9\u4e2d 'a\";b"
"""Other scripts, spaces, and the separators of headers, as browsers send them (RFC 7578, 4.2)."""
_FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "date": ("0001-01-01", "9999-12-31", "2024-02-29"),
    "date-time": (
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2024-02-29T23:30:00+14:00", "1969-12-31T00:00:00-12:00",
        "2016-12-31T23:59:60Z", "0001-01-01T00:00:00+14:00",
    ),
    "time": ("23:59:59.999999Z", "00:00:00+14:00"),
    "duration": ("P1Y2M10DT2H30M", "PT0S"),
    "uuid": ("FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF",),
    "email": ("first.last+tag@sub.example.museum",),
    "hostname": (f"{'a' * 63}.example.com",),
    "ipv4": ("255.255.255.255",),
    "ipv6": ("::ffff:192.0.2.1", "FE80::ABCD:1"),
    "uri": ("https://example.com:8443/a%20b/?c=d&e=%C3%A9#f",),
    "url": ("https://example.com:8443/a%20b/?c=d&e=%C3%A9#f",),
    "byte": ("AA==", "+/8=", "AAAA"),
}  # fmt: skip
"""Format -> valid texts that servers often mishandle: ends of ranges, capitals, padding, characters that are escaped elsewhere.

Servers may refuse leap seconds and times before the year 1 (`checks/unwritten_rules.py`).
"""


def format_texts(form: Canonical) -> Iterator[str]:
    """Yield texts of the formats of a schema."""
    for name in form.formats:
        yield from _FORMATS.get(name, ())


def signs_text(form: Canonical) -> str:
    """Return a text with characters that have a meaning in other languages; empty if the schema does not admit its length."""
    low, high = form.strings.lengths.low, form.strings.lengths.high
    is_fitting = low <= _LONG and (high is None or high >= len(_SIGNS))
    return _SIGNS.ljust(low, "0") if is_fitting else ""


def any_texts(form: Canonical) -> Iterator[tuple[str, str]]:
    """Yield (text, description) for a schema that admits any character."""
    low, high = form.strings.lengths.low, form.strings.lengths.high
    if high is None and low <= _LONG:
        yield _OTHER_SCRIPTS.ljust(low, _WIDE), "String of several scripts"
        yield "0" * _LONG, "Long string"
    elif high is not None and high <= _LONG:
        # A text of the greatest length, which has more bytes than characters: a column that counts bytes refuses it.
        text = (_OTHER_SCRIPTS + _WIDE * high)[:high]
        yield text, "Maximum length string of several scripts"
