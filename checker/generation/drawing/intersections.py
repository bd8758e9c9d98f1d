"""Strings that have to satisfy more than one thing: drawn from what all of them have in common."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.grammars import GRAMMARS
from checker.generation.drawing.nodes import Nodes
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.forms import Canonical
from checker.generation.patterns.languages import WantedPatterns, common_to
from checker.generation.patterns.matching import is_certain, is_exact, matcher
from checker.generation.patterns.regexes import UnsupportedPattern
from checker.generation.patterns.walking import walker
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


def likely_ways(
    nodes: Nodes, canonical: Canonical, place: TextPlace, ways: list[Draw], accepts: Accepts
) -> list[Draw]:
    """Those of some ways that are accepted often; where there are none, what all conditions have in common as well.

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
    patterns, said = canonical.patterns, len(canonical.patterns) + len(canonical.formats)
    if not said:
        return False
    if said + len(canonical.excluded.patterns) > 1:
        return True
    # Rows of characters are written to measure.
    is_sized = all(is_certain(pattern) for pattern, _ in patterns)
    return sizes != (0, None) and not (is_sized and GRAMMARS.keys().isdisjoint(canonical.formats))


def _in_common(nodes: Nodes, canonical: Canonical, place: TextPlace) -> Draw | None:
    """Draws what is in all patterns and formats; None where no automaton is made, or too many were."""
    wanted = WantedPatterns(
        (
            *(pattern for pattern, _ in canonical.patterns),
            *_grammars(canonical, nodes.formats),
        ),
        tuple(canonical.excluded.patterns),
    )
    if not wanted.patterns or nodes.budget.is_low:
        return None
    found = common_to(wanted, place.alphabet.intervals)
    nodes.budget.spend(canonical.pointer, 1 + found.work // _WORK_OF_A_STEP)
    if found.automaton is None:
        return None
    if not found.automaton.accepting and wanted.count == len(canonical.patterns):
        # Grammars are narrower than their formats: with one of them there may be texts all the same.
        _refuse(canonical, wanted)
    low = max(canonical.lengths.low, place.min_text, found.low)
    highs = [high for high in (canonical.lengths.high, found.high) if high is not None]
    try:
        return walker(found.automaton, low, min(highs, default=None))
    except UnsupportedPattern:
        return None


def _refuse(canonical: Canonical, wanted: WantedPatterns) -> None:
    """Raise `Unsatisfiable` when patterns of which no automaton has a text stand for all that they match."""
    if all(map(is_exact, wanted.patterns)):
        pointer = canonical.patterns[-1][1]
        raise Unsatisfiable(
            pointer, f"no text that can be sent matches all of {', '.join(wanted.patterns)}"
        )


def _grammars(canonical: Canonical, user_formats: Mapping[str, Any]) -> list[str]:
    return [
        GRAMMARS[name]
        for name in canonical.formats
        if name in GRAMMARS and name not in user_formats
    ]


def _hits(way: Draw, accepts: Accepts) -> int:
    """How many of a few texts are accepted."""
    source, found = RandomSource(), 0
    for seed in range(_TRIED):
        source.reset(seed)
        with suppress(Rejected):
            # Strategies of users may find nothing.
            found += accepts(way(source))
    return found


def _combined(ways: list[Draw]) -> list[Draw]:
    """What two patterns ask for, one after the other: an open beginning may meet an open end."""
    pairs = [
        (left, right) for left in ways[:_PAIRED] for right in ways[:_PAIRED] if left is not right
    ]
    return ways + [partial(_joined, left, right) for left, right in pairs]


def _joined(left: Draw, right: Draw, source: Source) -> str:
    return f"{left(source)}{right(source)}"
