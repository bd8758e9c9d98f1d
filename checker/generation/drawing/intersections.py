"""Strings that have to satisfy more than one thing: drawn from what all of them have in common."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.nodes import Nodes
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.forms import Canonical
from checker.generation.patterns.automata import common_to, walker
from checker.generation.patterns.matching import is_certain, is_exact, matcher
from checker.generation.patterns.regexes import UnsupportedPattern
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Draw, Rejected

_LABEL: Final = "[A-Za-z0-9]+(-[A-Za-z0-9]+)*"
_HOST: Final = rf"{_LABEL}(\.{_LABEL})*"
_NAME: Final = rf"({_LABEL}\.)+[A-Za-z]{{2,}}"
_YEAR: Final = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_DAY: Final = "((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
_DATE: Final = f"{_YEAR}-{_DAY}"
_CLOCK: Final = "([01][0-9]|2[0-3]):[0-5][0-9]"
_PARTIAL_TIME: Final = rf"{_CLOCK}:[0-5][0-9](\.[0-9]+)?"
_OFFSET: Final = f"(Z|[+-]{_CLOCK})"
_TIME: Final = _PARTIAL_TIME + _OFFSET
_BYTE: Final = "([1-9]?[0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_GROUP: Final = "[0-9A-Fa-f]{1,4}"
_IPV6: Final = (
    f"(({_GROUP}:){{7}}{_GROUP}|({_GROUP}:){{1,6}}:{_GROUP}|::({_GROUP}:){{0,5}}{_GROUP}|({_GROUP}:){{1,7}}:|::)"
)
_CHARACTER: Final = "([A-Za-z0-9._~-]|%[0-9A-F]{2})"
_PATH: Final = f"(/{_CHARACTER}*)*"
_TAIL: Final = rf"(\?({_CHARACTER}|[=&])*)?(#{_CHARACTER}*)?"
_URI: Final = rf"[A-Za-z][A-Za-z0-9+.-]*:(//{_HOST}(:[0-9]{{1,4}})?{_PATH}|{_CHARACTER}({_CHARACTER}|[:/@])*){_TAIL}"
_POINTER: Final = "(/([A-Za-z0-9 ._%-]|~[01])*)*"
_WORD: Final = "[A-Za-z0-9+/]"

_WHOLE: Final = {
    "date": _DATE,
    "full-date": _DATE,
    "time": _TIME,
    "full-time": _TIME,
    "partial-time": _PARTIAL_TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": "P([0-9]+W|[0-9]+[YMD]|[0-9]+Y[0-9]+M([0-9]+D)?|([0-9]+D)?T([0-9]+[HMS]|[0-9]+H[0-9]+M([0-9]+S)?))",
    "uuid": "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "email": rf"[A-Za-z0-9]+([.+_-][A-Za-z0-9]+)*@{_NAME}",
    "hostname": _HOST,
    "ipv4": rf"({_BYTE}\.){{3}}{_BYTE}",
    "ipv6": _IPV6,
    "uri": _URI,
    "url": rf"(https?|ftp)://{_NAME}(:[0-9]{{1,4}})?{_PATH}{_TAIL}",
    "iri": _URI,
    "uri-reference": f"({_URI}|{_PATH}{_TAIL}|{_CHARACTER}+{_PATH}{_TAIL})",
    "json-pointer": _POINTER,
    "relative-json-pointer": f"(0|[1-9][0-9]*)(#|{_POINTER})",
    "byte": f"({_WORD}{{4}})*({_WORD}{{2}}[AEIMQUYcgkosw048]=|{_WORD}[AQgw]==)?",
    "color": "#[0-9A-Fa-f]{6}",
}
GRAMMARS: Final[Mapping[str, str]] = {
    **{name: f"^({text})$" for name, text in _WHOLE.items()},
    "idn-email": f"^({_WHOLE['email']})$",
    "idn-hostname": f"^({_HOST})$",
    "iri-reference": f"^({_WHOLE['uri-reference']})$",
    "uri-template": f"^({_URI})$",
}
"""Format -> a pattern of its texts."""


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
    patterns, said = canonical.strings.patterns, len(canonical.strings.patterns) + len(canonical.formats)
    if not said:
        return False
    if said + len(canonical.excluded.patterns) > 1:
        return True
    # Rows of characters are written to measure.
    is_sized = all(is_certain(pattern) for pattern, _ in patterns)
    return sizes != (0, None) and not (is_sized and GRAMMARS.keys().isdisjoint(canonical.formats))


def _in_common(nodes: Nodes, canonical: Canonical, place: TextPlace) -> Draw | None:
    """Draws what is in all patterns and formats; None where no automaton is made, or too many were."""
    declared = tuple(pattern for pattern, _ in canonical.strings.patterns)
    grammars = tuple(GRAMMARS[name] for name in canonical.formats if name in GRAMMARS and name not in nodes.formats)
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
    low = max(canonical.strings.lengths.low, place.min_text, found.low)
    highs = [high for high in (canonical.strings.lengths.high, found.high) if high is not None]
    try:
        return walker(found.automaton, low, min(highs, default=None))
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
