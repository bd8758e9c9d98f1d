"""How a `RandomSource` makes its choices, as text: the same numbers are read in the same order, the same choices recorded."""

from functools import lru_cache
from math import inf, nextafter, trunc
from typing import Any

from checker.generation.fusion.sizes import ONE, Size, Sizes
from checker.generation.fusion.text import Text
from checker.generation.sources.alphabets import LONGEST_SLICE
from checker.generation.sources.chance import FEWEST, SourceSpent
from checker.generation.sources.choices import (
    MOST_BYTES,
    MOST_CHOICES,
    SHORT_TEXT,
    text_plan,
)
from checker.generation.sources.plans import (
    AGAIN_TEXT,
    WIDE,
    float_plan,
    integer_plan,
    last_text,
)
from checker.generation.sources.recipes import (
    Binaries,
    Booleans,
    Draw,
    Floats,
    Integers,
    Listed,
    Texts,
)


class Choices(Text):
    """Choices of a source. Speaks of `numbers`, `shift` and `choices`; `f`, `i`, `b`, `w`, `t` are free."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self.sizes = Sizes()
        self.names["trunc"] = trunc
        self._before = ONE
        """What may have been drawn already, at most; first of all whether the case is a wrong one."""
        # Where no case can be too large nobody looks how large one is.
        self._is_counted = not self.sizes.of(draw).spent < MOST_BYTES

    def pass_by(self, size: Size) -> None:
        """Bear in mind that so much may be drawn here."""
        self._before = self._before.plus(size)

    def record(self, value: str) -> None:
        """Record a choice."""
        self.pass_by(ONE)
        self.line(f"choices.append({value})")

    def entry(self, plan: list[Any]) -> str:
        """Read the entry of a plan that chance names: `i` is its slot, `f - i` says where in it."""
        self.line("f = next(numbers) + shift")
        self.line("i = trunc(f)")
        return f"{self.name(plan, 'plan')}[i]"

    def integers(self, recipe: Integers) -> str:
        """Write `RandomSource.integer`."""
        low, high, value = recipe.low, recipe.high, self.new()
        plan = _shared(integer_plan, low, high)
        entry = self.entry(plan)
        rare = f" if w <= {WIDE!r} else source.rare_integer({entry}, {low}, {high})"
        self.line(f"b, w = {entry}")
        is_rare = any(width > WIDE for _, width in plan)
        self.line(f"{value} = b + trunc((f - i) * w){rare if is_rare else ''}")
        self.record(value)
        return value if recipe.factor == 1 else f"{value} * {recipe.factor}"

    def floats(self, recipe: Floats) -> str:
        """Write `RandomSource.floating`."""
        low, high, value = recipe.low, recipe.high, self.new()
        self.line(f"{value}, w, t = {self.entry(_shared(float_plan, low, high))}")
        with self.block("if w:"):
            self.line(f"{value} += (f - i) * w")
            self.line(f"if t: {value} = trunc({value} * t) / t")
            self.line(f"if {value} < {low!r}: {value} = {low!r}")
            self.line(f"elif {value} > {high!r}: {value} = {high!r}")
        self.record(value)
        if recipe.whole is None:
            return value
        return f"({self.name(recipe.whole)}({value}) if {value}.is_integer() else {value})"

    def binaries(self, recipe: Binaries) -> str:
        """Write `RandomSource.binary` of one short size."""
        size, value = recipe.size, self.new()
        self.line(f"{value} = (source.bits() >> {128 - 8 * size}).to_bytes({size}, 'big')")
        self.record(value)
        return value

    def truth(self, share: float) -> str:
        """Begin `RandomSource.boolean`: gives the condition, which is recorded by whoever knows what it says."""
        self.line("f = next(numbers) + shift")
        low = share * 256.0
        condition = f"f < {low!r} or 256.0 <= f < {_above(low)!r}"
        room = self._room()
        return f"({condition}){room}" if room else condition

    def _room(self) -> str:
        """What has to hold beside, for a boolean to be true."""
        room = ""
        if not self._before.spent < MOST_BYTES:
            room += f" and source.spent < {MOST_BYTES}"
        if not self._before.choices < MOST_CHOICES:
            room += f" and len(choices) < {MOST_CHOICES}"
        return room

    def booleans(self, recipe: Booleans) -> str:
        """Write `RandomSource.boolean` of even chances."""
        value = self.new()
        self.line(f"{value} = {self.truth(0.5)}")
        self.record(value)
        return value

    def index(self, count: int) -> str:
        """Write `RandomSource.choice`."""
        value = self.new()
        self.line("f = next(numbers) + shift")
        self.line("if f >= 256.0: f -= 256.0")
        self.line(f"{value} = trunc(f * {count / 256.0!r})")
        self.record(value)
        return value

    def listed(self, recipe: Listed) -> str:
        """Write a choice of values."""
        return f"{self.name(recipe.values)}[{self.index(len(recipe.values))}]"

    def texts(self, recipe: Texts) -> str:
        """Write `RandomSource.string`."""
        alphabet, low, high = recipe.alphabet, recipe.low, recipe.high
        value, name = self.new(), self.name(alphabet, "alphabet")
        plan, ring, _ = text_plan(alphabet, low, high)
        self.line(f"b, w, t = {self.entry(plan)}")
        with self.block("if t is None:"):
            self._slice(recipe, value, self.name(ring, "ring"))
        if any(text is not None for _, _, text in plan):
            with self.block("else:"):
                again = f"{self.name(last_text)}(choices, {name}, ({low}, {high}))"
                self.line(f"{value} = t if t is not {self.name(AGAIN_TEXT)} else {again}")
        self.record(value)
        return value

    def _slice(self, recipe: Texts, value: str, ring: str) -> None:
        """Write the usual case: a place in the ring, and how many characters from there."""
        alphabet = recipe.alphabet
        low, high, pool_size = recipe.low, recipe.high, float(alphabet.pool_size)
        is_short = high <= (SHORT_TEXT if self._is_counted else LONGEST_SLICE)
        if is_short and low == high:
            self.line(f"w = trunc((f - i) * {pool_size!r})")
            self.line(f"{value} = {ring}[w:w + {high}]")
            return
        self.line("w *= f - i")
        self.line("i = trunc(w)")
        self.line(f"w = trunc((w - i) * {pool_size!r})")
        if is_short:
            self.line(f"{value} = {ring}[w:w + b + i]")
            return
        self.pass_by(Size(0, high * alphabet.width))
        self.line("i += b")
        long = f"source.long_text({self.name(alphabet, 'alphabet')}, w, i, {low})"
        self.line(f"{value} = {ring}[w:w + i] if i <= {SHORT_TEXT} else {long}")

    def one_more(self, index: str, low: int, more: float) -> None:
        """Write the boolean before an element; it ends the loop when it is false."""
        if low:
            with self.block(f"if {index} < {low}:"):
                self.forced(value=True)
            with self.block("else:"):
                self.goes_on(more)
        else:
            self.goes_on(more)

    def goes_on(self, share: float) -> None:
        """Write the boolean that ends a loop when it is false."""
        with self.block(f"if {self.truth(share)}:"):
            self.record("True")
        with self.block("else:"):
            self.line("choices.append(False)")
            self.line("break")

    def forced(self, *, value: bool) -> None:
        """Write `RandomSource.forced`."""
        if not self._before.choices <= FEWEST:
            self.line(f"if len(choices) > {FEWEST}: raise {self.name(SourceSpent)}")
        self.record(f"{value}")


def _above(bound: float) -> float:
    """The least float that is not below a bound once 256 is taken from it."""
    above = 256.0 + bound
    return above if above - 256.0 >= bound else nextafter(above, inf)


_shared = lru_cache(maxsize=4096)(lambda plan, low, high: plan(low, high))
"""Plans that functions have in common."""
