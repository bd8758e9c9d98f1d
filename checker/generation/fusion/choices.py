"""How a `RandomSource` makes its choices, as text: the same numbers are read in the same order, the same choices recorded."""

from functools import lru_cache
from typing import Any

from checker.generation.fusion.text import Text
from checker.generation.sources.chance import FEWEST, SourceSpent
from checker.generation.sources.choices import (
    MOST_BYTES,
    MOST_CHOICES,
    SHORT_TEXT,
    WIDE,
    text_plan,
)
from checker.generation.sources.plans import (
    AGAIN_TEXT,
    float_plan,
    integer_plan,
    last_text,
)
from checker.generation.sources.recipes import Booleans, Floats, Integers, Texts


class Choices(Text):
    """Choices of a source. Speaks of `number`, `shift`, `choices` and `record`; `f`, `i`, `e`, `b`, `w`, `t` are free."""

    def slot(self, plan: Any) -> str:
        """Read the entry of a plan that chance names: `f` is the number, `i` its slot."""
        self.line("f = number() + shift")
        self.line("if f >= 256.0: f -= 256.0")
        self.line("i = int(f)")
        return f"{self.name(plan, 'plan')}[i]"

    def integers(self, recipe: Integers) -> str:
        """Write `RandomSource.integer`."""
        low, high, value = recipe.low, recipe.high, self.new()
        entry = self.slot(_shared(integer_plan, low, high))
        self.line(f"b, w = {entry}")
        self.line(
            f"{value} = b + int((f - i) * w) if w <= {WIDE} else source.rare_integer({entry}, {low}, {high})"
        )
        self.line(f"record({value})")
        return value if recipe.factor == 1 else f"{value} * {recipe.factor}"

    def floats(self, recipe: Floats) -> str:
        """Write `RandomSource.floating`."""
        low, high, value = recipe.low, recipe.high, self.new()
        entry = self.slot(_shared(float_plan, low, high))
        self.line(f"{value}, w, t = {entry}")
        with self.block("if w:"):
            self.line(f"{value} += (f - i) * w")
            self.line(f"if t: {value} = int({value} * t) / t")
            self.line(f"if {value} < {low!r}: {value} = {low!r}")
            self.line(f"elif {value} > {high!r}: {value} = {high!r}")
        self.line(f"record({value})")
        return value

    def truth(self, share: float) -> str:
        """Write `RandomSource.boolean`."""
        value = self.new()
        self.line(
            f"{value} = (number() + shift) % 256.0 < {share * 256.0!r}"
            f" and source.spent < {MOST_BYTES} and len(choices) < {MOST_CHOICES}"
        )
        self.line(f"record({value})")
        return value

    def booleans(self, recipe: Booleans) -> str:
        """Write `RandomSource.boolean` of even chances."""
        return self.truth(0.5)

    def index(self, count: int) -> str:
        """Write `RandomSource.choice`."""
        value = self.new()
        self.line(f"{value} = int((number() + shift) % 256.0 * {count}) >> 8")
        self.line(f"record({value})")
        return value

    def texts(self, recipe: Texts) -> str:
        """Write `RandomSource.string`."""
        alphabet, low, high = recipe.alphabet, recipe.low, recipe.high
        value, name = self.new(), self.name(alphabet, "alphabet")
        plan, ring, pool_size = alphabet.plans.get((low, high)) or text_plan(alphabet, low, high)
        self.line(f"e = {self.slot(plan)}")
        with self.block("if e.__class__ is tuple:"):
            self.line("b, w = e")
            self.line("w *= f - i")
            self.line("i = int(w)")
            self.line(f"w = int((w - i) * {pool_size})")
            self.line("i += b")
            piece = f"{self.name(ring, 'ring')}[w:w + i]"
            if max(sum(entry) - 1 for entry in plan if isinstance(entry, tuple)) > SHORT_TEXT:
                piece += f" if i <= {SHORT_TEXT} else source.long_text({name}, w, i, {low})"
            self.line(f"{value} = {piece}")
        with self.block("else:"):
            again = f"{self.name(last_text)}(choices, {name}, ({low}, {high}))"
            self.line(f"{value} = e if e is not {self.name(AGAIN_TEXT)} else {again}")
        self.line(f"record({value})")
        return value

    def one_more(self, index: str, low: int, more: float) -> None:
        """Write the boolean before an element; it ends the loop when it is false."""
        if low:
            with self.block(f"if {index} < {low}:"):
                self.forced(value=True)
            with self.block("else:"):
                self.line(f"if not {self.truth(more)}: break")
        else:
            self.line(f"if not {self.truth(more)}: break")

    def forced(self, *, value: bool) -> None:
        """Write `RandomSource.forced`."""
        self.line(f"if len(choices) > {FEWEST}: raise {self.name(SourceSpent)}")
        self.line(f"record({value})")


_shared = lru_cache(maxsize=4096)(lambda plan, low, high: plan(low, high))
"""Plans that functions have in common."""
