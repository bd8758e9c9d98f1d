"""From recipes to the text of one Python function: what a `RandomSource` would do, without a call for each choice.

What is written stays step by step with `RandomSource`: the same numbers are read in the same order, the same choices
are recorded. `tests/generation/test_fusion.py` holds one against the other.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from checker.core.case import NOT_SET
from checker.generation.fusion.choices import Choices
from checker.generation.fusion.path import Path
from checker.generation.fusion.sizes import ONE, UNKNOWN, Size, is_never_null, rounds_of
from checker.generation.sources.recipes import (
    Amended,
    Binaries,
    Bodies,
    Booleans,
    Checked,
    Constant,
    Different,
    Draw,
    DrawContext,
    Either,
    Extended,
    Filled,
    Finished,
    Floats,
    Integers,
    Items,
    Joined,
    Listed,
    OneOf,
    Pooled,
    Record,
    Texts,
    Together,
    Under,
    recipe_of,
)

_MOST_STEPS: Final = 250
"""Draws that are written out in one function; compiling one takes about 15 us."""
_MOST_LOOPS: Final = 8
"""Loops inside each other; Python has no room for more than 20 blocks."""
_DEEPEST: Final = 40
"""Blocks inside each other; Python refuses lines that are indented more than 100 times."""
_MANY: Final = 3
"""Texts that are formatted faster than added."""
_FEW: Final = 6
"""Alternatives that are written out; of more only the chosen one is called."""


class Function(Choices):
    """One function of a source that gives the value of a draw."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self._path = Path()
        self._context = ""
        """Name of the context, known below the root."""
        self.lines = [
            # Local names are read faster than global ones, and these are read for each choice.
            "def fused(source, next=next, trunc=trunc):",
            "    numbers, shift, choices = source.numbers, source.shift, source.choices",
        ]
        value = self._value(draw)
        self.line(f"return {value}")

    # Draws

    def _value(self, draw: Draw) -> str:
        """Write what a draw does; an expression for its value, which costs nothing and may be used once."""
        recipe = recipe_of(draw)
        is_full = self.steps >= _MOST_STEPS or self.loops >= _MOST_LOOPS or self.depth >= _DEEPEST
        if recipe is None or is_full:
            return self._call(draw)
        written: str = self._WRITERS[recipe.__class__](self, recipe)
        return written

    def _call(self, draw: Draw) -> str:
        value, size = self.new(), self.sizes.of(draw)
        with self._told(size):
            self.line(f"{value} = {self.name(draw, 'draw')}(source)")
        self.pass_by(size)
        return value

    @contextmanager
    def _told(self, size: Size) -> Iterator[None]:
        """Write a call of what may ask the context where it is; between two of them its path is empty."""
        is_told = bool(self._path) and size.takes
        if is_told:
            self.line(f"{self._context}.path += {self._path.tokens}")
        yield
        if is_told:
            self.line(f"{self._context}.path.clear()")

    @contextmanager
    def _inside(
        self, token: str, context: DrawContext, *, is_known: bool = False
    ) -> Iterator[None]:
        """Write what stands under a name or, where it is a variable, what that says."""
        self._context = self.name(context, "context")
        with self._path.inside(token, is_known=is_known):
            yield

    def _constant(self, recipe: Constant) -> str:
        return self.literal(recipe.value)

    def _finished(self, recipe: Finished) -> str:
        value = self._value(recipe.draw)
        return f"{self.name(recipe.finish, 'finish')}({value})"

    def _joined(self, recipe: Joined) -> str:
        pieces = self._pieces(recipe)
        if len(pieces) < _MANY:
            return " + ".join(pieces) or "''"
        return 'f"{' + "}{".join(pieces) + '}"'

    def _pieces(self, recipe: Joined) -> list[str]:
        """Expressions for texts in a row."""
        parts = []
        for part in recipe.parts:
            inner = recipe_of(part)
            match inner:
                case Joined():
                    parts.append(self._pieces(inner))
                case Constant(value=text):
                    parts.append([self.name(text)] if text else [])
                case _:
                    parts.append([self._kept(part)])
        return [piece for place in recipe.places for piece in parts[place]]

    # Values that hold others

    def _kept(self, draw: Draw) -> str:
        """The value of a draw in a place where it stays while others are drawn."""
        value = self._value(draw)
        return value if isinstance(recipe_of(draw), Constant) else self._variable(value)

    def _variable(self, value: str) -> str:
        """A variable that has a value: itself if it is one."""
        if value.isidentifier():
            return value
        kept = self.new()
        self.line(f"{kept} = {value}")
        return kept

    def _either(self, recipe: Either) -> str:
        value = self.new()
        with self.block(f"if {self.truth(recipe.share)}:"):
            self.record("True")
            self.line(f"{value} = {self._value(recipe.taken)}")
        with self.block("else:"):
            self.record("False")
            self.line(f"{value} = {self._value(recipe.other)}")
        return value

    def _one_of(self, recipe: OneOf) -> str:
        index, value = self.index(len(recipe.draws)), self.new()
        if len(set(recipe.draws)) > _FEW:
            size = self.sizes.all(*set(recipe.draws))
            with self._told(size):
                self.line(f"{value} = {self.name(recipe.draws)}[{index}](source)")
            self.pass_by(size)
            return value
        self._chosen(recipe.draws, index, lambda draw: self.line(f"{value} = {self._value(draw)}"))
        return value

    def _chosen(self, draws: Sequence[Draw], index: str, write: Callable[[Draw], None]) -> None:
        """Write each different draw once, under the indices that stand for it."""
        indices: dict[Draw, list[int]] = {}
        for number, draw in enumerate(draws):
            indices.setdefault(draw, []).append(number)
        word = "if"
        for draw, numbers in [*indices.items()][:-1]:
            wanted = f"== {numbers[0]}" if len(numbers) == 1 else f"in {tuple(numbers)}"
            with self.block(f"{word} {index} {wanted}:"):
                write(draw)
            word = "elif"
        with self.block("else:" if len(indices) > 1 else "if True:"):
            write([*indices][-1])

    def _checked(self, recipe: Checked) -> str:
        start, bound, value = self.new(), self.new(), self.new()
        size, context = self.sizes.of(recipe.draw), self.name(recipe.context, "context")
        self.line(f"{start} = len(choices)")
        if size.takes:
            self.line(f"{bound} = len({context}.bindings)")
        # A variable of its own: the draw may come to a literal, or to a name that is not ours to change.
        self.line(f"{value} = {self._value(recipe.draw)}")
        with self.block(f"if not {self.name(recipe.accepts, 'accepts')}({value}):"):
            self.line(f"del choices[{start}:]")
            if size.takes:
                self.line(f"del {context}.bindings[{bound}:]")
            with self._told(size):
                self.line(f"{value} = {self.name(recipe.again, 'again')}(source)")
            self.pass_by(size.tried())
        return value

    def _pooled(self, recipe: Pooled) -> str:
        value, nothing = self.new(), self.name(NOT_SET)
        at = self._path.pointer if recipe.name is None else repr(recipe.name)
        with self.block(f"if {self.truth(recipe.share)}:"):
            self.record("True")
            index = self.integers(Integers(0, recipe.most))
            self.line(f"{value} = {self.name(recipe.take, 'take')}({at}, {index})")
        with self.block("else:"):
            self.record("False")
            self.line(f"{value} = {nothing}")
        with self.block(f"if {value} is {nothing}:"):
            self.line(f"{value} = {self._value(recipe.draw)}")
        return value

    def _record(self, recipe: Record) -> str:
        values = self.new()
        self.line(f"{values} = {{}}")
        for name, draw, is_required in recipe.steps:
            if is_required:
                self.line(f"{values}[{name!r}] = {self._value(draw)}")
                continue
            with self.block(f"if {self.truth(recipe.share)}:"):
                self.record("True")
                if not recipe.skips_null or is_never_null(draw):
                    self.line(f"{values}[{name!r}] = {self._value(draw)}")
                else:
                    value = self._kept(draw)
                    self.line(f"if {value} is not None: {values}[{name!r}] = {value}")
            with self.block("else:"):
                self.record("False")
        return values

    def _extended(self, recipe: Extended) -> str:
        values, misses = self._kept(recipe.core), self.new()
        name_of, item_of, is_name = recipe.kind
        self.pass_by(self.sizes.all(name_of, item_of, start=ONE).times(rounds_of(recipe)))
        self.line(f"{misses} = 0")
        with self.loop(f"while len({values}) < {recipe.most} and {misses} <= {recipe.misses}:"):
            self.goes_on(recipe.more)
            name = self._kept(name_of)
            with self._inside(name, recipe.context):
                item = self._kept(item_of)
            with self.block(f"if {name} in {values} or not {self.name(is_name)}({name}):"):
                self.line(f"{misses} += 1")
            with self.block("else:"):
                self.line(f"{values}[{name}] = {item}")
                self.line(f"{misses} = 0")
        return values

    def _filled(self, recipe: Filled) -> str:
        values = self._kept(recipe.core)
        with self.block(f"if len({values}) < {recipe.low}:"), self._told(UNKNOWN):
            self.line(f"{self.name(recipe.fill, 'fill')}({values}, source)")
        self.pass_by(UNKNOWN)
        return values

    def _items(self, recipe: Items) -> str:
        values, index = self.new(), self.new()
        self.line(f"{values} = []")
        self.pass_by(self.sizes.of(recipe.item).plus(ONE).times(recipe.high))
        with self.loop(f"for {index} in range({recipe.high}):"):
            self.one_more(index, recipe.low, recipe.more)
            item = self._item(recipe, index)
            self.line(f"{values}.append({item})")
        return values

    def _item(self, recipe: Items | Different, index: str) -> str:
        """Write what draws the item at an index."""
        if not recipe.keeps_path:
            return self._value(recipe.item)
        with self._inside(index, recipe.context):
            return self._value(recipe.item)

    def _different(self, recipe: Different) -> str:
        values, seen, left, bound = (self.new() for _ in range(4))
        context, low, size = (
            self.name(recipe.context, "context"),
            recipe.low,
            self.sizes.of(recipe.item),
        )
        self.line(f"{values}, {seen}, {left} = [], set(), 0")
        if size.takes:
            self.line(f"{bound} = len({context}.bindings)")
        self.pass_by(size.plus(ONE).tried().times(recipe.high).plus(ONE))
        with self.loop(f"while len({values}) < {recipe.high}:"):
            index, start, key = self.new(), self.new(), self.new()
            self.line(f"{index}, {start} = len({values}), len(choices)")
            self.one_more(index, low, recipe.more)
            value = self._variable(self._item(recipe, index))
            identity = self.name(recipe.identity)
            self.line(f"{key} = {value} if {value}.__class__ is str else {identity}({value})")
            with self.block(f"if {key} not in {seen}:"):
                self.line(f"{seen}.add({key})")
                self.line(f"{values}.append({value})")
                self.line(f"{left} = 0")
                if size.takes:
                    self.line(f"{bound} = len({context}.bindings)")
                self.line("continue")
            self.line(f"del choices[{start}:]")
            if size.takes:
                self.line(f"del {context}.bindings[{bound}:]")
            self._missed(recipe, left, index)
        return values

    def _missed(self, recipe: Different, left: str, index: str) -> None:
        """Write what follows an item that was there already."""
        self.line(f"{self.name(recipe.context, 'context')}.spend({recipe.pointer!r})")
        self.line(f"{left} += 1")
        is_needed = f"{index} < {recipe.low}"
        with self.block(f"if {left} >= {recipe.attempts} * (4 if {is_needed} else 1):"):
            rejected = self.name(recipe.rejected)
            self.line(f"if {is_needed}: raise {rejected}({recipe.pointer!r})")
            self.forced(value=False)
            self.line("break")

    def _under(self, recipe: Under) -> str:
        with self._inside(recipe.token, recipe.context, is_known=True):
            return self._value(recipe.draw)

    def _amended(self, recipe: Amended) -> str:
        value = self.new()
        self.line(f"{value} = {self._value(recipe.draw)}")
        with self.block(f"if {self.truth(recipe.share)}:"):
            self.record("True")
            # Too rare to be written out.
            change = f"{self.name(recipe.change, 'change')}(source)"
            self.line(f"{value} = {self.name(recipe.amend, 'amend')}({value}, {change})")
            self.pass_by(self.sizes.of(recipe.change))
        with self.block("else:"):
            self.record("False")
        return value

    def _bodies(self, recipe: Bodies) -> str:
        value = self.new()
        if recipe.share is None:
            self._body(recipe, value)
            return value
        with self.block(f"if {self.truth(recipe.share)}:"):
            self.record("True")
            self._body(recipe, value)
        with self.block("else:"):
            self.record("False")
            self.line(f"{value} = {self.name(recipe.nothing)}, None")
        return value

    def _body(self, recipe: Bodies, value: str) -> None:
        """Write one of the bodies; several media types may share a draw."""
        media_types = tuple(media_type for _, media_type in recipe.draws)
        if len(media_types) == 1:
            ((draw, media_type),) = recipe.draws
            self.line(f"{value} = {self._value(draw)}, {media_type!r}")
            return
        index = self.index(len(media_types))
        which = f"{self.name(media_types)}[{index}]"
        draws = [draw for draw, _ in recipe.draws]
        self._chosen(
            draws, index, lambda draw: self.line(f"{value} = {self._value(draw)}, {which}")
        )

    def _together(self, recipe: Together) -> str:
        return f"({', '.join(map(self._kept, recipe.draws))})"

    _WRITERS: Final[dict[type, Callable[["Function", Any], str]]] = {
        Constant: _constant,
        Integers: Choices.integers,
        Floats: Choices.floats,
        Booleans: Choices.booleans,
        Listed: Choices.listed,
        Texts: Choices.texts,
        Binaries: Choices.binaries,
        Finished: _finished,
        Joined: _joined,
        Either: _either,
        OneOf: _one_of,
        Checked: _checked,
        Pooled: _pooled,
        Record: _record,
        Extended: _extended,
        Filled: _filled,
        Items: _items,
        Different: _different,
        Under: _under,
        Amended: _amended,
        Bodies: _bodies,
        Together: _together,
    }
