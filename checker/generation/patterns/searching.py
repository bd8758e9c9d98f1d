"""Texts that a pattern is found in: what it matches and, where it is not anchored, anything around it."""

from typing import Final

from checker.generation.patterns.openings import Branch, branches
from checker.generation.patterns.regexes import (
    UNBOUNDED,
    UNIVERSE,
    Characters,
    Concatenation,
    Expression,
    Lookahead,
    Repetition,
    UnsupportedPattern,
    parse,
)
from checker.generation.patterns.writing import PatternPart, one_written, written
from checker.generation.sources.alphabets import NAME, Alphabet, Interval
from checker.generation.sources.basic import constant, either, joined, texts
from checker.generation.sources.choices import Draw, Source

_SHARE: Final = 0.7
"""Probability that something stands at the one end of a pattern that is open."""
_SHARE_OF_BOTH: Final = 0.3
"""Share of texts that something stands at an end of, for each end of a pattern that is open at both: some who write such patterns mean whole texts."""
_SHORTEST: Final = 0.5
"""Probability that a minimum is reached by what stands around a match, if it can be."""
_ROOM: Final = 300
"""Characters at an end, more only to reach a length. Long ones are rare (`plans.length_plan`)."""
_NOTHING: Final = constant("")


def writer(pattern: str, allowed: tuple[Interval, ...], around: Alphabet = NAME) -> PatternPart:
    """Return the writer of texts that a pattern is found in: matches of allowed characters, those of `around` at open ends.

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


def _searched(branch: Branch, allowed: tuple[Interval, ...], around: Alphabet) -> PatternPart:
    expression, is_open_after = branch.expression, branch.is_open_after
    if is_open_after and _ends_in_condition(branch.parts):
        # What follows has to satisfy it: it is not just anything.
        anything = Repetition(Characters(UNIVERSE), 0, UNBOUNDED)
        expression, is_open_after = Concatenation((*branch.parts, anything)), False
    match = written(expression, allowed)
    if not (branch.is_open_before or is_open_after):
        return match
    return _surrounded(match, around, (branch.is_open_before, is_open_after))


def _ends_in_condition(parts: tuple[Expression, ...]) -> bool:
    return bool(parts) and isinstance(parts[-1], Lookahead) and not parts[-1].is_negated


def _surrounded(match: PatternPart, around: Alphabet, is_open: tuple[bool, bool]) -> PatternPart:
    """A match, now and then with something before or after it."""
    share = _SHARE_OF_BOTH if all(is_open) else _SHARE

    def write(source: Source, least: int, most: int) -> str:
        is_padded = match.low < least and source.boolean(_SHORTEST)
        text = match.write(source, 0 if is_padded else min(least, match.high), most)
        for end in (1, 0):
            missing, room = least - len(text), most - len(text)
            # The last end that is open takes what is missing.
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

    return PatternPart(match.low, UNBOUNDED, write, free=_freely(match, around, is_open, share))


def _freely(match: PatternPart, around: Alphabet, is_open: tuple[bool, bool], share: float) -> Draw:
    """A match of any length and what is around it. The match comes first: it is what is left when all else is dropped."""
    filling = either(share, texts(around, 1, _ROOM), _NOTHING)
    if all(is_open):
        return joined(match.unbounded(), filling, filling, places=(1, 0, 2))
    return joined(match.unbounded(), filling, places=(1, 0) if is_open[0] else (0, 1))
