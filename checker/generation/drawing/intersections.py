"""Strings that have to satisfy more than one thing: drawn from what all of them have in common."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.formats import FORMATS
from checker.generation.drawing.nodes import Nodes
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.forms import Canonical
from checker.generation.patterns.automata import common_to, walker
from checker.generation.patterns.matching import is_certain, is_exact, matcher
from checker.generation.patterns.regexes import UNBOUNDED, UnsupportedPattern
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Draw, Rejected

Sizes = tuple[int, int | None]
Accepts = Callable[[Any], bool]
_TRIED: Final = 8
_OFTEN: Final = 4
"""Of the tries: where a way is accepted so often, no automaton is made."""
_PAIRED: Final = 3
_WORK_OF_A_STEP: Final = 300
"""Edges of an automaton that take as long as a step of the budget."""


def likely_ways(nodes: Nodes, canonical: Canonical, place: TextPlace, ways: list[Draw], accepts: Accepts) -> list[Draw]:
    """Return the ways that are accepted often; where there are none, a draw of what all conditions have in common as well.

    Raises `Unsatisfiable` when they surely have nothing in common.
    """
    forbidden = [matcher(pattern) for pattern in canonical.excluded.patterns]

    def is_wanted(value: Any) -> bool:
        return accepts(value) and not any(matches(value) for matches in forbidden)

    counted = [(_hits(way, is_wanted), way) for way in ways]
    often = [way for count, way in counted if count >= _OFTEN]
    if often:
        return often
    common = _in_common(nodes, canonical, place)
    if common is not None and _hits(common, is_wanted):
        # Formats know the edges of what they stand for: seldom is better than never.
        return [common, *(way for count, way in counted if count)]
    if len(ways) < 2:
        return ways
    ways = _combined(ways)
    return [way for way in ways if _hits(way, accepts)] or ways


def is_doubtful(canonical: Canonical, sizes: Sizes) -> bool:
    """True when what is drawn for one thing that is said of a string may not satisfy another."""
    patterns, count = canonical.strings.patterns, len(canonical.strings.patterns) + len(canonical.formats)
    if not count:
        return False
    if count + len(canonical.excluded.patterns) > 1:
        return True
    # Rows of characters are written to measure.
    is_sized = all(is_certain(pattern) for pattern, _ in patterns)
    return sizes != (0, None) and not (is_sized and not any(name in FORMATS for name in canonical.formats))


def _in_common(nodes: Nodes, canonical: Canonical, place: TextPlace) -> Draw | None:
    """Draws what is in all patterns and formats; None where no automaton is made, or too many were."""
    declared = tuple(pattern for pattern, _ in canonical.strings.patterns)
    formats = [FORMATS[name] for name in canonical.formats if name in FORMATS and name not in nodes.formats]
    grammars = tuple(one.pattern for one in formats if one.grammar)
    forbidden = tuple(canonical.excluded.patterns)
    if not (declared or grammars) or nodes.budget.is_low:
        return None
    found = common_to(declared + grammars, forbidden, place.alphabet.intervals)
    nodes.budget.spend(canonical.pointer, 1 + found.work // _WORK_OF_A_STEP)
    if found.automaton is None:
        return None
    if not (found.automaton.accepting or grammars or forbidden) and all(map(is_exact, declared)):
        # A grammar is narrower than its format: with one there may be texts all the same.
        pointer = canonical.strings.patterns[-1][1]
        raise Unsatisfiable(pointer, f"no text that can be sent matches all of {', '.join(declared)}")
    low = max(canonical.strings.lengths.low, place.min_text, found.low, *(one.low for one in formats))
    highs = [canonical.strings.lengths.high, found.high, *(one.high for one in formats if one.high < UNBOUNDED)]
    try:
        return walker(found.automaton, low, min((high for high in highs if high is not None), default=None))
    except UnsupportedPattern:
        return None


def _hits(way: Draw, accepts: Accepts) -> int:
    """Return the number of accepted texts among a few."""
    source, found = RandomSource(), 0
    for seed in range(_TRIED):
        source.reset(seed)
        with suppress(Rejected):
            # Strategies of users may find nothing.
            found += accepts(way(source))
    return found


def _combined(ways: list[Draw]) -> list[Draw]:
    """Return ways that join the texts of two patterns: an open beginning may meet an open end."""
    pairs = [(left, right) for left in ways[:_PAIRED] for right in ways[:_PAIRED] if left is not right]
    return ways + [partial(_joined, left, right) for left, right in pairs]


def _joined(left: Draw, right: Draw, source: Source) -> str:
    return f"{left(source)}{right(source)}"
