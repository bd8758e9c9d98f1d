"""Strings that match a regular expression and have a length, drawn from its tree."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from checker.generation.patterns.regexes import (
    UNBOUNDED,
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Expression,
    Group,
    Lookahead,
    Reference,
    Repetition,
    UnsupportedPattern,
)
from checker.generation.sources import alphabets
from checker.generation.sources.alphabets import Interval
from checker.generation.sources.basic import constant, joined, one_of, texts
from checker.generation.sources.choices import Draw, Source

Writer = Callable[[Source, int, int], str]
"""Text whose length lies between, as far as the pattern has such texts."""

_LONGEST = 1 << 20
"""Characters of the shortest text of a pattern; nobody sends more."""
_MORE = 64
"""Repetitions beyond the required ones that are tried of an unbounded quantifier."""


class PatternPart(Struct, frozen=True):
    """The writer of one part of a pattern."""

    low: int
    high: int
    write: Writer
    constant: str | None = None
    """Set when there is only one such text."""
    free: Draw | None = None
    """Writes the part with any length, where that is less to do."""

    def unbounded(self) -> Draw:
        """Writes texts of whatever length the pattern gives them."""
        write, low, high = self.write, self.low, self.high
        return self.free or (lambda source: write(source, low, high))


def written(tree: Expression, allowed: tuple[Interval, ...]) -> PatternPart:
    """Return the writer of the texts of a tree from allowed characters. Raises `UnsupportedPattern`."""
    found = _Writing(allowed).written(tree)
    if found.low > _LONGEST:
        raise UnsupportedPattern(f"its texts have at least {found.low} characters")
    return found


class _Writing:
    """One pass over a tree: what groups have written is remembered for those who refer to them."""

    def __init__(self, allowed: tuple[Interval, ...]) -> None:
        self._allowed = allowed
        self._texts: dict[int, str] = {}
        self._sizes: dict[int, tuple[int, int]] = {}

    def written(self, tree: Expression) -> PatternPart:
        """Return the writer of a part. Raises `UnsupportedPattern`."""
        match tree:
            case Characters(intervals):
                return _characters(_both(intervals, self._allowed), 1, 1)
            case Repetition(Characters(intervals), low, high):
                return _characters(_both(intervals, self._allowed), low, high)
            case Repetition(part, low, high):
                return _repeated(self.written(part), low, high)
            case Alternation(options):
                return one_written(self._possible(options))
            case Concatenation(parts):
                return self._sequence(parts)
            case Group(number, part):
                return self._group(number, part)
            case Reference(number):
                return self._reference(number)
            case Lookahead():
                return self._sequence((tree,))
            case Anchor():
                return _constant("")

    def _sequence(self, parts: tuple[Expression, ...]) -> PatternPart:
        for index, part in enumerate(parts):
            if isinstance(part, Lookahead) and not part.is_negated:
                rest = self._sequence(parts[index + 1 :])
                before = [self.written(other) for other in parts[:index]]
                return _joined([*before, self._ahead(part.part, rest)])
        return _joined([self.written(part) for part in parts if not isinstance(part, Lookahead)])

    def _ahead(self, part: Expression, rest: PatternPart) -> PatternPart:
        """The rest with what it has to contain or to begin with written into it; a match has to decide."""
        parts = part.parts if isinstance(part, Concatenation) else (part,)
        first = parts[0] if parts else None
        if isinstance(first, Repetition) and isinstance(first.part, Characters):
            if len(parts) == 1:
                return _sized(rest, first.low, first.high)
            if first.low == 0:
                wanted = self.written(Concatenation(parts[1:]))
                return _spliced(rest, wanted, is_anywhere=True)
        return _spliced(rest, self.written(part), is_anywhere=False)

    def _group(self, number: int, part: Expression) -> PatternPart:
        inner = self.written(part)
        self._sizes[number] = inner.low, inner.high

        def write(source: Source, least: int, most: int) -> str:
            text = self._texts[number] = inner.write(source, least, most)
            return text

        return PatternPart(inner.low, inner.high, write)

    def _reference(self, number: int) -> PatternPart:
        low, high = self._sizes.get(number, (0, 0))
        return PatternPart(low, high, lambda source, least, most: self._texts.get(number, ""))

    def _possible(self, options: tuple[Expression, ...]) -> list[PatternPart]:
        found: list[PatternPart] = []
        reason: UnsupportedPattern | None = None
        for option in options:
            try:
                found.append(self.written(option))
            except UnsupportedPattern as error:
                reason = error
        if not found and reason is not None:
            raise reason
        return found


def _sized(rest: PatternPart, low: int, high: int) -> PatternPart:
    """The rest, of a length that lies between as well."""

    def write(source: Source, least: int, most: int) -> str:
        return rest.write(source, max(least, low), max(low, min(most, high)))

    return PatternPart(max(rest.low, low), rest.high, write)


def _spliced(rest: PatternPart, part: PatternPart, *, is_anywhere: bool) -> PatternPart:
    """The rest with a part written over it, at the start or anywhere."""

    def write(source: Source, least: int, most: int) -> str:
        text = rest.write(source, max(least, min(part.low, most)), most)
        over = part.write(source, 0, max(part.low, min(len(text), part.high)))
        last = len(text) - len(over)
        at = source.integer(0, last) if is_anywhere and last > 0 else 0
        return text[:at] + over + text[at + len(over) :]

    return PatternPart(max(rest.low, part.low), rest.high, write)


def _both(left: tuple[Interval, ...], right: tuple[Interval, ...]) -> tuple[Interval, ...]:
    found = [(max(a, c), min(b, d)) for a, b in left for c, d in right if max(a, c) <= min(b, d)]
    if not found:
        raise UnsupportedPattern("none of the characters may stand here")
    return tuple(found)


def _characters(intervals: tuple[Interval, ...], low: int, high: int) -> PatternPart:
    if low > _LONGEST:
        raise UnsupportedPattern(f"its texts have at least {low} characters")
    if len(intervals) == 1 and intervals[0][0] == intervals[0][1]:
        char = chr(intervals[0][0])
        if low == high:
            text = char * low
            return _constant(text)

        def repeat(source: Source, least: int, most: int) -> str:
            least, most = _clipped(least, most, low, high)
            return char * (source.integer(least, most) if least < most else least)

        return PatternPart(low, high, repeat)
    alphabet = alphabets.of(intervals)
    _, usual = _clipped(low, high, low, high)

    def write(source: Source, least: int, most: int) -> str:
        if least <= low and most >= high:
            return source.string(alphabet, low, usual)
        least, most = _clipped(least, most, low, high)
        return source.string(alphabet, least, most)

    return PatternPart(low, high, write, free=texts(alphabet, low, usual))


def _clipped(least: int, most: int, low: int, high: int) -> tuple[int, int]:
    """Bounds inside those of the part, and not too far from each other."""
    least = min(max(least, low), high)
    return least, max(least, min(most, high, least + _MORE if high >= UNBOUNDED else high))


def _constant(text: str) -> PatternPart:
    size = len(text)
    return PatternPart(size, size, lambda source, least, most: text, text, constant(text))


def _joined(parts: list[PatternPart]) -> PatternPart:
    parts = list(_with_constants_joined(parts))
    if len(parts) == 1:
        return parts[0]
    low = rest_low = sum(part.low for part in parts)
    high = rest_high = sum(part.high for part in parts)
    steps = []
    for part in parts:
        rest_low -= part.low
        rest_high -= part.high
        steps.append((part.write, part.low, part.high, rest_low, rest_high))
    free = _framed(parts) or joined(*(part.unbounded() for part in parts))

    def write(source: Source, least: int, most: int) -> str:
        if least <= low and most >= high:
            text: str = free(source)
            return text
        found = []
        for make, part_low, part_high, after_low, after_high in steps:
            least_here = max(part_low, least - after_high)
            text = make(source, least_here, max(least_here, min(part_high, most - after_low)))
            least -= len(text)
            most -= len(text)
            found.append(text)
        return "".join(found)

    # Without a maximum the sum may be beyond what counts as none.
    high = min(UNBOUNDED, high)
    return PatternPart(low, high, write, free=free)


def _framed(parts: list[PatternPart]) -> Draw | None:
    """Return the writer of parts of which a single one varies: the usual case, and no list is needed for it."""
    varying = [part for part in parts if part.constant is None]
    if len(varying) != 1:
        return None
    make, at = varying[0].unbounded(), parts.index(varying[0])
    before, after = ("".join(part.constant or "" for part in some) for some in (parts[:at], parts[at + 1 :]))
    return lambda source: f"{before}{make(source)}{after}"


def _with_constants_joined(parts: list[PatternPart]) -> Iterator[PatternPart]:
    """Parts of a pattern in which constant texts that follow each other are one."""
    text = ""
    for part in parts:
        if part.constant is not None:
            text += part.constant
            continue
        if text:
            yield _constant(text)
            text = ""
        yield part
    if text or not parts:
        yield _constant(text)


def one_written(options: list[PatternPart]) -> PatternPart:
    """One of several, whichever fits the length."""
    if len(options) == 1:
        return options[0]
    low, high = min(option.low for option in options), max(option.high for option in options)

    def write(source: Source, least: int, most: int) -> str:
        fitting = [option for option in options if option.high >= least and option.low <= most]
        chosen = fitting or options
        index = source.choice(len(chosen)) if len(chosen) > 1 else 0
        return chosen[index].write(source, least, most)

    return PatternPart(low, high, write, free=one_of([option.unbounded() for option in options]))


def _repeated(part: PatternPart, low: int, high: int) -> PatternPart:
    def write(source: Source, least: int, most: int) -> str:
        fewest = max(low, -(-least // part.high) if part.high else low)
        few = min(fewest, high)
        many = min(high, few + 8, max(few, most // part.low if part.low else high))
        count = source.integer(few, many) if few < many else few
        found = []
        for left in range(count - 1, -1, -1):
            least_here = max(part.low, least - left * part.high)
            text = part.write(source, least_here, max(least_here, most - left * part.low))
            least -= len(text)
            most -= len(text)
            found.append(text)
        return "".join(found)

    return PatternPart(part.low * low, min(UNBOUNDED, part.high * high), write)
