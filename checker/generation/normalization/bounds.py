"""Bounds of numbers and sizes: tightened, and explained when they exclude everything."""

from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any

from msgspec import Struct

_EXACT = 2**53
_ROUNDED = {float(2**bits): 2**bits - 1 for bits in (63, 64)}
"""What the largest integers of machines become in tools that keep every bound as a float."""
Place = tuple[str, object, str]
"""Keyword, value, pointer."""


class Numbers(Struct):
    """Bounds of numbers."""

    low: Fraction | None = None
    high: Fraction | None = None
    is_low_open: bool = False
    is_high_open: bool = False
    low_said: Place | None = None
    high_said: Place | None = None
    step: Fraction | None = None

    def bound(
        self, keyword: str, value: float, pointer: str, *, is_exclusive: bool = False
    ) -> None:
        """Tighten by one keyword; `exclusiveMinimum` and `exclusiveMaximum` are open by themselves."""
        is_open = is_exclusive or keyword.startswith("exclusive")
        is_low = keyword in ("minimum", "exclusiveMinimum")
        exact = Fraction(str(value))
        if abs(value) >= _EXACT:
            # The text says one number, the float another: readers of both kinds have to be content.
            exact = (max if is_low else min)(exact, Fraction(value))
        if type(value) is float and keyword == "maximum" and not is_exclusive:
            exact = min(exact, Fraction(_ROUNDED.get(value, exact)))
        if is_low:
            if self.low is None or exact > self.low or (exact == self.low and is_open):
                self.low, self.is_low_open = exact, is_open
                self.low_said = (keyword, value, pointer)
        elif self.high is None or exact < self.high or (exact == self.high and is_open):
            self.high, self.is_high_open = exact, is_open
            self.high_said = (keyword, value, pointer)

    def multiple(self, step: Fraction) -> None:
        """Only multiples of `step`, and of those that were said before."""
        if self.step is not None:
            denominator = lcm(self.step.denominator, step.denominator)
            step = Fraction(lcm(int(self.step * denominator), int(step * denominator)), denominator)
        self.step = step

    def conflict(self) -> tuple[str, str] | None:
        """Pointer and sentence when the bounds exclude each other."""
        if self.low is None or self.high is None or self.low_said is None or self.high_said is None:
            return None
        is_open = self.is_low_open or self.is_high_open
        if self.low < self.high or (self.low == self.high and not is_open):
            return None
        return self.high_said[2], f"{self._said()} exclude every number"

    def empty(self, what: str) -> tuple[str, str]:
        """Pointer and sentence when no number of a kind lies between."""
        said = self._said() + (f" and multipleOf {self.step}" if self.step else "")
        place = self.high_said or self.low_said
        return (place[2] if place else ""), f"{said} exclude every {what}"

    def _said(self) -> str:
        places = [place for place in (self.low_said, self.high_said) if place is not None]
        return " and ".join(f"{keyword} {value}" for keyword, value, _ in places)


class Sizes(Struct):
    """Bounds of a length or a count."""

    noun: str
    """`Length`, `Items` or `Properties`: the end of the keywords."""
    low: int = 0
    high: int | None = None
    low_pointer: str = ""
    high_pointer: str = ""

    def read(self, raw: Mapping[str, Any], pointer: str) -> None:
        """Tighten by a schema."""
        low, high = raw.get("min" + self.noun), raw.get("max" + self.noun)
        if low is not None and low > self.low:
            self.low, self.low_pointer = int(low), f"{pointer}/min{self.noun}"
        if high is not None and (self.high is None or high < self.high):
            self.high, self.high_pointer = int(high), f"{pointer}/max{self.noun}"

    def conflict(self) -> tuple[str, str] | None:
        """Pointer and sentence when the bounds exclude each other."""
        if self.high is None or self.low <= self.high:
            return None
        text = f"min{self.noun} {self.low} and max{self.noun} {self.high} exclude every size"
        return self.high_pointer, text
