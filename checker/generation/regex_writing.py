"""Strings that match a regular expression and have a given length, drawn from its syntax tree."""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct, field

from checker.generation.regexes import (
    EMPTY,
    UNBOUNDED,
    UNIVERSE,
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
    parse,
)
from checker.generation.sources import alphabets
from checker.generation.sources.alphabets import NAME, Alphabet, Interval
from checker.generation.sources.basic import constant, either, joined, one_of, texts
from checker.generation.sources.choices import Draw, Source

Writer = Callable[
    [Source, int, int], str
]  # Draws a text with a length between the bounds, if the pattern has such texts.

_LONGEST = 1 << 20  # Length of the shortest text of a pattern that is still written.
_MORE = 64  # Repetitions of an unbounded quantifier beyond the required ones.


class PatternPart(Struct, frozen=True):
    """The writer of one part of a pattern."""

    low: int
    high: int
    write: Writer
    constant: str | None = None  # The text, if there is only one.
    free: Draw | None = None  # Writes the part with any length, if that takes less work.

    def unbounded(self) -> Draw:
        """Return draws of texts with the lengths that the pattern itself gives."""
        write, low, high = self.write, self.low, self.high
        return self.free or (lambda source: write(source, low, high))


def written(tree: Expression, allowed: tuple[Interval, ...]) -> PatternPart:
    """Return the writer of the texts of a tree, in allowed characters. Raises `UnsupportedPattern`."""
    found = _Writing(allowed).written(tree)
    if found.low > _LONGEST:
        raise UnsupportedPattern(f"its texts have at least {found.low} characters")
    return found


class _Writing(Struct):
    """One pass over a tree. The texts of groups are kept for references to them."""

    _allowed: tuple[Interval, ...]
    _texts: dict[int, str] = field(default_factory=dict)
    _sizes: dict[int, tuple[int, int]] = field(default_factory=dict)

    def written(self, tree: Expression) -> PatternPart:
        """Return the writer of a part. Raises `UnsupportedPattern`."""
        match tree:
            case Characters(intervals):
                return _characters(alphabets.common(intervals, self._allowed), 1, 1)
            case Repetition(Characters(intervals), low, high):
                return _characters(alphabets.common(intervals, self._allowed), low, high)
            case Repetition(part, low, high):
                return _repeated(self.written(part), low, high)
            case Alternation(options):
                found: list[PatternPart] = []
                reason: UnsupportedPattern | None = None
                for option in options:
                    try:
                        found.append(self.written(option))
                    except UnsupportedPattern as error:
                        reason = error
                if not found and reason is not None:
                    raise reason
                return one_written(found)
            case Concatenation(parts):
                return self._sequence(parts)
            case Group(number, part):
                inner = self.written(part)
                self._sizes[number] = inner.low, inner.high

                def write(source: Source, least: int, most: int) -> str:
                    text = self._texts[number] = inner.write(source, least, most)
                    return text

                return PatternPart(inner.low, inner.high, write)
            case Reference(number):
                size = self._sizes.get(number, (0, 0))
                return PatternPart(*size, lambda source, least, most: self._texts.get(number, ""))
            case Lookahead():
                return self._sequence((tree,))
            case Anchor():
                return _constant("")

    def _sequence(self, parts: tuple[Expression, ...]) -> PatternPart:
        for index, part in enumerate(parts):
            if isinstance(part, Lookahead):
                rest = self._sequence(parts[index + 1 :])
                before = [self.written(other) for other in parts[:index]]
                return _joined([*before, self._ahead(part.part, rest)])
        return _joined(list(map(self.written, parts)))

    def _ahead(self, part: Expression, rest: PatternPart) -> PatternPart:
        """Return the writer of the rest, with the text of a lookahead written into it. The match is verified later."""
        parts = part.parts if isinstance(part, Concatenation) else (part,)
        parts = tuple(one for one in parts if not isinstance(one, Anchor))
        first = parts[0] if parts else None
        first = first.part if isinstance(first, Group) else first
        if isinstance(first, Repetition) and isinstance(first.part, Characters):
            if len(parts) == 1:
                # The lookahead constrains only the length.
                def write(source: Source, least: int, most: int) -> str:
                    return rest.write(source, max(least, first.low), max(first.low, min(most, first.high)))

                return PatternPart(max(rest.low, first.low), rest.high, write)
            if first.low == 0:
                wanted = self.written(Concatenation(parts[1:]))
                return _spliced(rest, wanted, is_anywhere=True)
        return _spliced(rest, self.written(part), is_anywhere=False)


def _spliced(rest: PatternPart, part: PatternPart, *, is_anywhere: bool) -> PatternPart:
    """Return the writer of the rest with the text of a lookahead written over it, at its start or anywhere."""

    def write(source: Source, least: int, most: int) -> str:
        text = rest.write(source, max(least, min(part.low, most)), most)
        over = part.write(source, 0, max(part.low, min(len(text), part.high)))
        last = len(text) - len(over)
        at = source.integer(0, last) if is_anywhere and last > 0 else 0
        return text[:at] + over + text[at + len(over) :]

    return PatternPart(max(rest.low, part.low), rest.high, write)


def _characters(intervals: tuple[Interval, ...], low: int, high: int) -> PatternPart:
    if not intervals:
        raise UnsupportedPattern("none of the characters is allowed here")
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
    """Return the bounds limited to those of a part, and to a short range: longer texts test nothing more."""
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
    varying = [part for part in parts if part.constant is None]
    if len(varying) == 1:
        # The usual case: only one part varies, and no list is needed.
        inner, at = varying[0].unbounded(), parts.index(varying[0])
        before, after = ("".join(part.constant or "" for part in some) for some in (parts[:at], parts[at + 1 :]))
        free: Draw = lambda source: f"{before}{inner(source)}{after}"  # noqa: E731
    else:
        free = joined(*(part.unbounded() for part in parts))

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

    # The sum of several maxima may exceed the number that stands for "unbounded".
    high = min(UNBOUNDED, high)
    return PatternPart(low, high, write, free=free)


def _with_constants_joined(parts: list[PatternPart]) -> Iterator[PatternPart]:
    """Yield the parts of a pattern, with successive constant texts joined."""
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
    """Return a part that writes one of several parts that fits the length."""
    if len(options) == 1:
        return options[0]
    low, high = min(option.low for option in options), max(option.high for option in options)

    def write(source: Source, least: int, most: int) -> str:
        # The choice is among the options that fit. If none fits, the text gets another length and is rejected later.
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


_MOST = 64  # Branches that are searched for anchors inside groups.


class Branch(Struct, frozen=True):
    """One branch of a pattern."""

    parts: tuple[Expression, ...]  # In sequence, without the anchors at the ends.
    is_open_before: bool
    is_open_after: bool

    @property
    def expression(self) -> Expression:
        return self.parts[0] if len(self.parts) == 1 else Concatenation(self.parts)


def branches(tree: Expression) -> list[Branch]:
    """Return the branches of a pattern, each with the ends that have no anchor.

    A branch with an anchor in its middle counts as anchored at both ends.
    """
    found = []
    for parts in _rows(tree, _MOST):
        first, last = 0, len(parts)
        while first < last and isinstance(parts[first], Anchor | Lookahead):
            first += 1
        while first < last and isinstance(parts[last - 1], Anchor | Lookahead):
            last -= 1
        before = [part for part in parts[:first] if isinstance(part, Anchor)]
        after = [part for part in parts[last:] if isinstance(part, Anchor)]
        # The branch consists of anchors and lookaheads, so both ends are in the first group of parts.
        ends = [part.is_end for part in (*before, *after)]
        is_odd = any(map(_has_anchors, parts[first:last])) or (
            first < last and (Anchor(is_end=True) in before or Anchor(is_end=False) in after)
        )
        solid = tuple(part for part in parts if not isinstance(part, Anchor))
        is_open_before, is_open_after = not is_odd and False not in ends, not is_odd and True not in ends
        found.append(Branch(solid, is_open_before=is_open_before, is_open_after=is_open_after))
    return found


def _rows(tree: Expression, most: int) -> Iterator[tuple[Expression, ...]]:
    """Yield the parts of each branch in sequence. A group with anchors at one end gives one sequence per alternative."""
    if isinstance(tree, Alternation):
        for option in tree.options:
            yield from _rows(option, most)
        return
    parts = tree.parts if isinstance(tree, Concatenation) else (tree,)
    # The first or last part, except lookaheads, if it has alternatives with anchors.
    solid = [index for index, part in enumerate(parts) if not isinstance(part, Anchor | Lookahead)]
    ends = (solid[0], solid[-1]) if solid else ()
    index = next((one for one in ends if _has_anchors(parts[one]) and _options(parts[one])), None)
    options = [] if index is None else _options(parts[index])
    if index is None or len(options) > most:
        yield parts
        return
    for option in options:
        inside = option.parts if isinstance(option, Concatenation) else (option,)
        row = Concatenation((*parts[:index], *inside, *parts[index + 1 :]))
        yield from _rows(row, most // len(options))


def _options(part: Expression) -> list[Expression]:
    """Return the alternatives of a part; none if it has only one."""
    match part:
        case Alternation(options):
            return list(options)
        case Repetition(inner, 0, 1):
            return [inner, EMPTY]
        case Repetition(inner, 1, 1) | Concatenation((inner,)):
            return [inner]
        case Concatenation():
            return [part]
        case _:
            return []


def _has_anchors(tree: Expression) -> bool:
    match tree:
        case Anchor():
            return True
        case Repetition(part) | Group(_, part):
            return _has_anchors(part)
        case Alternation(parts) | Concatenation(parts):
            return any(map(_has_anchors, parts))
        case _:
            return False


_SHARE: Final = 0.7  # Probability of text at the only open end of a pattern.
_SHARE_OF_BOTH: Final = 0.3
"""Share of texts with extra text at an end, for each end of a pattern without anchors: some authors of such patterns mean the whole text."""
_SHORTEST: Final = 0.5  # Probability that extra text reaches a minimum length, if it can.
_ROOM: Final = 300  # Characters at an end, more only to reach a length. Long texts are rare (`plans.length_plan`).
_NOTHING: Final = constant("")


def writer(pattern: str, allowed: tuple[Interval, ...], around: Alphabet = NAME) -> PatternPart:
    """Return the writer of texts that contain a match: the match in allowed characters, extra text in characters of `around`.

    Raises `UnsupportedPattern`.
    """
    found: list[PatternPart] = []
    reason: UnsupportedPattern | None = None
    for branch in branches(parse(pattern)):
        try:
            found.append(_searched(branch, allowed, around))
        except UnsupportedPattern as error:
            reason = reason or error
    if not found:
        raise reason or UnsupportedPattern("no alternative can be written")
    return one_written(found)


LONGEST_NAME: Final = 24  # Characters of a property name, unless its pattern requires more.


def names_like(pattern: str, allowed: tuple[Interval, ...] = alphabets.VISIBLE.intervals) -> Draw:
    """Draws property names that contain a match of a pattern. Raises `UnsupportedPattern`."""
    found = writer(pattern, allowed)
    most = max(found.low, LONGEST_NAME)
    return lambda source: found.write(source, 0, most)


def _searched(branch: Branch, allowed: tuple[Interval, ...], around: Alphabet) -> PatternPart:
    expression, is_open_after = branch.expression, branch.is_open_after
    last = branch.parts[-1] if branch.parts else None
    if is_open_after and isinstance(last, Lookahead):
        # The following text has to satisfy the lookahead.
        anything = Repetition(Characters(UNIVERSE), 0, UNBOUNDED)
        expression, is_open_after = Concatenation((*branch.parts, anything)), False
    # JSON Schema patterns are not anchored: `^/` also matches `/users`. Some authors who write no anchors mean the
    # whole string, so only a share of the values gets extra text.
    match = written(expression, allowed)
    if not (branch.is_open_before or is_open_after):
        return match
    is_open = (branch.is_open_before, is_open_after)
    share = _SHARE_OF_BOTH if all(is_open) else _SHARE

    def write(source: Source, least: int, most: int) -> str:
        is_padded = match.low < least and source.boolean(_SHORTEST)
        text = match.write(source, 0 if is_padded else min(least, match.high), most)
        for end in (1, 0):
            missing, room = least - len(text), most - len(text)
            # The last open end gets the characters that are missing.
            is_last = missing > 0 and (end == 0 or not is_open[0])
            if not is_open[end] or room <= 0:
                continue
            if is_last:
                more = source.string(around, missing, max(missing, min(room, _ROOM)))
            elif source.boolean(share):
                more = source.string(around, 1, min(room, max(_ROOM, missing)))
            else:
                continue
            text = text + more if end else more + text
        return text

    # The match is drawn first: shrinking keeps it and drops the extra text.
    filling = either(share, texts(around, 1, _ROOM), _NOTHING)
    if all(is_open):
        free = joined(match.unbounded(), filling, filling, places=(1, 0, 2))
    else:
        free = joined(match.unbounded(), filling, places=(1, 0) if is_open[0] else (0, 1))
    return PatternPart(match.low, UNBOUNDED, write, free=free)
