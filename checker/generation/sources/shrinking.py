"""A failing record made small: whole elements and properties first, the rest by Hypothesis; under a budget."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from time import monotonic
from typing import Generic, TypeVar

from msgspec import Struct

from checker.core.meta import Choice
from checker.generation.sources.choices import Source, Span
from checker.generation.sources.context import ELEMENT, OPTIONAL, Rejected
from checker.generation.sources.hypothesis import (
    ShrinkingStopped,
    drawn_with_simplest_rest,
    shrink_choices,
)
from checker.generation.sources.replay import ReplaySource

Fails = Callable[[Choice], bool]
"""Whether it still fails with this choice in the place of the recorded one. Then the choice stays."""

_PLAIN = "0aA-"
_FEW = 32
"""Characters of a text that are looked at one by one."""
_MANY = 64
"""Below that halving is as quick as anything."""
_ROUND_BITS = 6
"""From this power of two on they are bounds."""


def lower(choice: Choice, fails: Fails) -> None:
    """Try simpler choices in its place: nearer to zero, shorter, of the plainest character."""
    if isinstance(choice, bool):
        return
    if isinstance(choice, int):
        _lower_integer(choice, fails)
    elif isinstance(choice, str):
        _lower_text(choice, fails)


def _lower_integer(value: int, fails: Fails) -> None:
    if value == 0 or fails(0):
        return
    sign = 1 if value > 0 else -1
    if sign < 0 and fails(-value):
        sign = 1
    _bisect_roundly(abs(value), lambda size: fails(sign * size))


def _lower_text(text: str, fails: Fails) -> None:
    if not text or fails(""):
        return
    for plain in _PLAIN:
        filled = plain * len(text)
        if filled == text or fails(filled):
            _bisect_roundly(len(text), partial(_fails_filled, plain, fails))
            return
    text = _without_chunks(text, fails)
    _with_plain_chunks(text, fails)


def _fails_filled(character: str, fails: Fails, size: int) -> bool:
    return fails(character * size)


def _bisect_roundly(high: int, fails: Callable[[int], bool]) -> None:
    """The least size up to one that fails; bounds that people choose are looked at first, for most are round."""
    low = 0
    rungs = [size for size in _round_sizes(high) if size < high]
    first, last = -1, len(rungs)
    while last - first > 1:
        middle = (first + last) // 2
        if fails(rungs[middle]):
            high, last = rungs[middle], middle
        else:
            low, first = rungs[middle], middle
    _bisect(low, high, fails)


def _round_sizes(high: int) -> list[int]:
    """Round numbers below one that is not small, in order, each with its neighbours: it may be allowed or not."""
    if high < _MANY:
        return []
    digits, bits = range(1, len(str(high))), range(_ROUND_BITS, high.bit_length())
    rounds = {times * 10**power for power in digits for times in (1, 2, 5)}
    rounds |= {1 << power for power in bits}
    return sorted({near for one in rounds for near in (one - 1, one, one + 1)})


def _bisect(low: int, high: int, fails: Callable[[int], bool]) -> None:
    """The least size between one that passes and one that fails, if all above it fail."""
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle


def _without_chunks(text: str, fails: Fails) -> str:
    """Return a text without halves, then without quarters, then eighths, as long as it fails."""
    size = len(text) // 2
    while size and (size > 1 or len(text) <= _FEW):
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size :]
            if shorter and fails(shorter):
                text = shorter
            else:
                start += size
        size //= 2
    return text


def _with_plain_chunks(text: str, fails: Fails) -> str:
    """Return a text with as many plain characters as possible, as long as it fails."""
    size = len(text) // 2
    while size and (size > 1 or len(text) <= _FEW):
        for start in range(0, len(text), size):
            filling = _PLAIN[0] * len(text[start : start + size])
            plainer = text[:start] + filling + text[start + size :]
            if plainer != text and fails(plainer):
                text = plainer
        size //= 2
    return text


Value = TypeVar("Value")
Record = tuple[Choice, ...]

_UNIQUE = object()
"""Content of values of which no two are held to be alike."""

_WAYS = 6
"""Alternatives of a choice that are tried."""
_LONGEST = 80
"""Choices of a record in which other ways are looked for."""


class ShrinkEffort(Enum):
    """The part of a shrink that is done."""

    QUICK = "quick"
    """Parts are left out, numbers and texts made smaller one by one: most of what there is to gain, by few executions."""
    REST = "rest"
    """What comes after that: all that Hypothesis knows, and other ways to the same failure."""
    WHOLE = "whole"


class ShrinkBudget(Struct, frozen=True):
    """The limits of shrinking one finding."""

    executions: int = 500
    """Of the predicate: requests."""
    seconds: float = 20.0
    """A watchdog: executions are what ends a shrink, because they are the same on a busy machine."""
    effort: ShrinkEffort = ShrinkEffort.WHOLE


class Predicate(Struct, Generic[Value], frozen=True):
    """Whether a value fails, and which of them need not be asked about."""

    fails: Callable[[Value], bool]
    content: Callable[[Value], Hashable] = lambda value: _UNIQUE
    """What a value comes to: of those with the same one only the first is tried, and none whose content is None."""
    passing: frozenset[Hashable] = frozenset()
    """Contents that are known to pass."""


class Shrunk(Struct, Generic[Value], frozen=True):
    """The smallest record that still fails."""

    choices: Record
    value: Value
    executions: int
    finished: bool
    """False when the budget ended it."""


def shrink(
    draw: Callable[[Source], Value],
    choices: Sequence[Choice],
    predicate: Predicate[Value],
    *,
    budget: ShrinkBudget | None = None,
    seed: int = 0,
) -> Shrunk[Value]:
    """The smallest choices from which `draw` gives a value that still fails.

    The same for the same arguments unless the limit of seconds ends it. What `draw` gives for the choices as they
    are is taken to fail: it is not tried again.
    """
    budget = budget or ShrinkBudget()
    run = _Run(draw, predicate, budget, tuple(choices))
    try:
        if budget.effort is not ShrinkEffort.REST:
            run.drop_spans()
            run.lower_choices()
        while budget.effort is not ShrinkEffort.QUICK:
            found = shrink_choices(draw, run.best, run.fails_when_drawn, seed)
            if found is not None and run.is_smaller(found):
                run.best = tuple(found)
            if not run.go_another_way():
                break
    except ShrinkingStopped:
        pass
    value = draw(ReplaySource(run.best))
    return Shrunk(run.best, value, run.executions, not run.is_over)


class _Run(Generic[Value]):
    """One finding being shrunk."""

    def __init__(
        self,
        draw: Callable[[Source], Value],
        predicate: Predicate[Value],
        budget: ShrinkBudget,
        choices: Record,
    ) -> None:
        self._draw = draw
        self._predicate = predicate
        self._left = budget.executions
        self._deadline = monotonic() + budget.seconds
        self._known: dict[tuple[tuple[type, Choice], ...], bool] = {}
        self.executions = 0
        self.is_over = False
        source = ReplaySource(choices)
        value = draw(source)
        self.best: Record = tuple(source.choices)
        self._known[_key(self.best)] = True
        self._known_contents = dict.fromkeys(predicate.passing, False)
        self._known_contents[predicate.content(value)] = True

    def is_smaller(self, choices: Sequence[Choice]) -> bool:
        """True when a record is no longer than the best one."""
        return len(choices) <= len(self.best)

    def fails_when_drawn(self, value: Value, choices: Record) -> bool:
        """Ask the predicate, once for each content. Raises `ShrinkingStopped` when the budget is spent."""
        key = _key(choices)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._fails(value)
        return known

    def _fails(self, value: Value) -> bool:
        content = self._predicate.content(value)
        if content is None:
            return False
        known = None if content is _UNIQUE else self._known_contents.get(content)
        if known is None:
            if self._left <= 0 or monotonic() > self._deadline:
                self.is_over = True
                raise ShrinkingStopped
            self._left -= 1
            self.executions += 1
            known = self._known_contents[content] = self._predicate.fails(value)
        return known

    def drop_spans(self) -> None:
        """Leave out optional properties and elements as long as it still fails: many at once, then one by one."""
        while self._drop_many() or self._drop_one():
            pass

    def lower_choices(self) -> None:
        """Make numbers small and texts short, each by itself."""
        place = 0
        while place < len(self.best):
            lower(self.best[place], partial(self._fails_with, place))
            place += 1

    def _fails_with(self, place: int, choice: Choice) -> bool:
        """Whether it still fails with another choice in one place, which takes no more choices then."""
        source = ReplaySource((*self.best[:place], choice, *self.best[place + 1 :]))
        try:
            value = self._draw(source)
        except Rejected:
            return False
        found = tuple(source.choices)
        is_meant = found[: place + 1] == (*self.best[:place], choice)
        if not is_meant or not self.is_smaller(found) or not self.fails_when_drawn(value, found):
            return False
        self.best = found
        return True

    def go_another_way(self) -> bool:
        """Take another of several ways if that makes it simpler: the shrinker never swaps a later way for fewer choices."""
        now = drawn_with_simplest_rest(self._draw, self.best)
        if now is None or len(self.best) > _LONGEST:
            return False
        for changed in _other_ways(self.best):
            found = drawn_with_simplest_rest(self._draw, changed)
            if found is None or found.complexity >= now.complexity:
                continue
            if self.fails_when_drawn(found.value, found.choices):
                self.best = found.choices
                return True
        return False

    def _drop_many(self) -> bool:
        """All outermost spans, half of them, a quarter of them ..."""
        spans = _outermost(self._spans())
        size = len(spans)
        while size > 1:
            for first in range(0, len(spans), size):
                if self._try(_without(self.best, spans[first : first + size])):
                    return True
            size //= 2
        return False

    def _drop_one(self) -> bool:
        return any(self._try(_without(self.best, [span])) for span in self._spans())

    def _spans(self) -> list[Span]:
        source = ReplaySource(self.best)
        self._draw(source)
        droppable = [
            span
            for span in source.spans
            if span[0] == OPTIONAL or (span[0] == ELEMENT and span[2] - span[1] > 1)
        ]
        return sorted(set(droppable), key=lambda span: (span[1] - span[2], -span[1]))

    def _try(self, choices: Record) -> bool:
        source = ReplaySource(choices)
        try:
            value = self._draw(source)
        except Rejected:
            return False
        found = tuple(source.choices)
        # Strictly: otherwise two records could replace each other for ever.
        is_smaller = (len(found), _presences(found)) < (len(self.best), _presences(self.best))
        if not is_smaller or not self.fails_when_drawn(value, found):
            return False
        self.best = found
        return True


def _outermost(spans: list[Span]) -> list[Span]:
    """Spans that lie in no other one, in order."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda span: (span[1], -span[2])):
        if not found or span[1] >= found[-1][2]:
            found.append(span)
    return found


def _without(choices: Record, spans: list[Span]) -> Record:
    """An optional property is refused, an element is not there at all."""
    left = list(choices)
    for label, start, end in sorted(spans, key=lambda span: -span[1]):
        if label == OPTIONAL:
            left[start - 1 : end] = [False]
        else:
            del left[start:end]
    return tuple(left)


def _other_ways(choices: Record) -> Iterator[Record]:
    """Records with another alternative in one place, and up to two choices less of what belongs to it."""
    for place, choice in enumerate(choices):
        others: Iterable[Choice] = (not choice,) if isinstance(choice, bool) else range(_WAYS)
        if not isinstance(choice, int) or not 0 <= choice < _WAYS:
            continue
        for other in others:
            if other != choice:
                yield (*choices[:place], other)
                for left_out in range(3):
                    last = place + 1 + left_out
                    yield (*choices[:place], other, *choices[last:])
                    before = _with_text(choices[:place], choices[place + 1 : last])
                    if before is not None:
                        yield (*before, other, *choices[last:])


def _with_text(choices: Record, left_out: Record) -> Record | None:
    """Return the choices before, with the last text made longer by what is left out: a length may be all that matters."""
    if not any(isinstance(choice, str) for choice in left_out):
        return None
    for place in range(len(choices) - 1, -1, -1):
        text = choices[place]
        if isinstance(text, str) and text:
            more = sum(len(choice) if isinstance(choice, str) else 1 for choice in left_out)
            return (*choices[:place], text + text[-1] * more, *choices[place + 1 :])
    return None


def _presences(choices: Record) -> int:
    return sum(choice is True for choice in choices)


def _key(choices: Sequence[Choice]) -> tuple[tuple[type, Choice], ...]:
    return tuple((type(choice), choice) for choice in choices)
