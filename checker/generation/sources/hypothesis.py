"""The only module that uses internals of Hypothesis: its test data as a source, and draw programs as strategies."""

import gzip
import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from hypothesis import core, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.control import BuildContext
from hypothesis.database import DirectoryBasedExampleDatabase as DirectoryBasedExampleDatabase
from hypothesis.database import choices_from_bytes as choices_from_bytes
from hypothesis.database import choices_to_bytes as choices_to_bytes
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.internal.charmap import charmap_file
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants
from hypothesis.internal.intervalsets import IntervalSet
from hypothesis.strategies import SearchStrategy as SearchStrategy

from checker.core.errors import Unsatisfiable
from checker.core.meta import Choice
from checker.core.user_code import plainly
from checker.generation.sources.alphabets import Alphabet, Interval
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import HOOK, Rejected
from checker.generation.sources.replay import ReplaySource, SimplestSource

Strategy = SearchStrategy[Any]
_IN_VAIN = 20  # Cases in a row that a hook may reject before it is reported. Hypothesis gives up after 50.
Value = TypeVar("Value")

_MORE_DRAWS = 20  # Attempts at a user's strategy before the case is given up.
_KEY = b"case"
_UTF8 = ((0, 0xD7FF), (0xE000, 0x10FFFF))  # All but surrogates.


def isolate(directory: Path) -> None:
    """Make Hypothesis depend on seeds alone, and store its files in this directory. Only for processes of the checker.

    By default, Hypothesis collects constants from all loaded modules. This takes seconds of CPU, gives different values in
    each installation, and creates `.hypothesis` in the working directory.
    """
    set_hypothesis_home_dir(directory)
    # Hypothesis has no setting to switch this off.
    HypothesisProvider._local_constants = Constants()  # type: ignore[method-assign, assignment]


def know_characters() -> None:
    """Write Hypothesis' cache file of the characters that UTF-8 can encode. Call `isolate` first.

    Otherwise Hypothesis encodes every character when a user's strategy first draws text. That takes four seconds of
    CPU, and on a busy machine more than one case may take.
    """
    path = charmap_file("codec-v2-utf-8")
    if path.exists():
        return
    with suppress(OSError):
        # If the file cannot be written, drawing text is only slower.
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(gzip.compress(json.dumps([_UTF8, []]).encode(), mtime=0))
        partial.replace(path)


class HypothesisSource:
    """A source that takes its choices from Hypothesis."""

    __slots__ = ("_refuse", "data")

    def __init__(self, data: ConjectureData, refuse: Callable[[str], None] | None = None) -> None:
        """`refuse` is called with the pointer of each value that could not be drawn."""
        self.data = data
        self._refuse = refuse

    @property
    def choices(self) -> list[Choice]:
        return list(self.data.choices)

    def integer(self, low: int, high: int) -> int:
        return self.data.draw_integer(low, high)

    def floating(self, low: float, high: float) -> float:
        return self.data.draw_float(low, high, allow_nan=False)

    def boolean(self, p: float = 0.5) -> bool:
        return self.data.draw_boolean(p)

    def forced(self, value: bool) -> None:
        self.data.draw_boolean(forced=value)

    def string(self, alphabet: Alphabet, min_size: int, max_size: int) -> str:
        intervals = _interval_set(alphabet.intervals)
        return self.data.draw_string(intervals, min_size=min_size, max_size=max_size)

    def binary(self, min_size: int, max_size: int) -> bytes:
        return self.data.draw_bytes(min_size, max_size)

    def choice(self, n: int) -> int:
        return self.data.draw_integer(0, n - 1)

    def start_span(self, label: int) -> None:
        self.data.start_span(label)

    def stop_span(self, discard: bool = False) -> None:
        self.data.stop_span(discard=discard)

    def abandon(self, pointer: str) -> None:
        """Mark the test case as invalid because of the value at a pointer."""
        if self._refuse is not None:
            self._refuse(pointer)
        self.data.mark_invalid("no attempt gave a value that the schema admits")


@lru_cache(maxsize=1024)
def _interval_set(intervals: tuple[Interval, ...]) -> IntervalSet:
    return IntervalSet(intervals)


def draw_strategy(strategy: Strategy, source: Source) -> Any:
    """Return a value of a user's strategy. The choices of the strategy are recorded in the source."""
    if isinstance(source, HypothesisSource):
        return source.data.draw(strategy)
    if not isinstance(source, RandomSource | ReplaySource | SimplestSource):
        raise TypeError(f"no way to draw a strategy from {source!r}")
    for _ in range(_MORE_DRAWS):
        # Recorded choices come first, random ones after them: a strategy makes its choices in the same order each time.
        data = ConjectureData(random=Random(source.bits()), prefix=source.remaining())
        try:
            with BuildContext(data, is_final=False, wrapped_test=draw_strategy):
                value = data.draw(strategy)
        except (StopTest, UnsatisfiedAssumption):
            continue
        source.absorb(data.choices)
        return value
    raise Rejected(f"strategy {strategy!r}")


class DrawnStrategy(SearchStrategy[Value]):
    """The strategy of a draw function."""

    def __init__(self, draw: Callable[[Source], Value], name: str) -> None:
        super().__init__()
        self._draw_from = draw
        self._name = name
        self._has_drawn = False
        self._in_vain = 0

    @plainly
    def do_draw(self, data: ConjectureData) -> Value:
        try:
            value = self._draw_from(HypothesisSource(data, self._refuse))
        except Rejected as error:
            data.mark_invalid(f"no attempt gave a value that {error.pointer} admits")
        self._has_drawn = True
        return value

    def _refuse(self, pointer: str) -> None:
        """Raise `Unsatisfiable` if a hook has rejected all cases so far. The error of Hypothesis would not name the hook."""
        if self._has_drawn or not pointer.startswith(HOOK):
            return
        self._in_vain += 1
        if self._in_vain >= _IN_VAIN:
            raise Unsatisfiable(pointer, f"it rejected all of the first {_IN_VAIN} cases; make it less strict")

    def __repr__(self) -> str:
        return self._name


def settings_given(test: Callable[..., Any]) -> settings | None:
    """Return the `@settings` of a test function; None if there are none. Hypothesis has no public function for this."""
    return getattr(test, "_hypothesis_internal_use_settings", None)


def seed_given(test: object) -> Any:
    """Return the seed of a test function or of a state machine; None if it has none. Hypothesis has no public function for this."""
    return getattr(test, "_hypothesis_internal_use_seed", None)


def give_seed(test: object, value: int | None) -> None:
    """Set or remove the seed of a test function or a state machine. Unlike with `@seed`, saved failures still run first."""
    test._hypothesis_internal_use_seed = value  # type: ignore[attr-defined]


def forced_seed() -> Any:
    """Return the value of `--hypothesis-seed`; None if it is not given."""
    return core.global_force_seed


def forget_settings(test: Callable[..., Any]) -> None:
    """Remove the `@settings` of a test function, so that others can be applied. Hypothesis allows the decorator once."""
    for name in ("_hypothesis_internal_use_settings", "_hypothesis_internal_settings_applied"):
        test.__dict__.pop(name, None)


def keep_examples_apart(test: Callable[..., Any], name: str) -> None:
    """Give a copy of a test function its own database key and its own explicit examples, which copies would share."""
    test.__dict__["_hypothesis_internal_add_digest"] = name.encode()
    listed = test.__dict__.get("hypothesis_explicit_examples")
    if listed is not None:
        test.__dict__["hypothesis_explicit_examples"] = list(listed)
