"""Characters that a place leaves out, for patterns that have no text without them."""

from msgspec.structs import replace

from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.forms import Canonical
from checker.generation.patterns.regexes import UnsupportedPattern
from checker.generation.patterns.searching import writer


def with_escapes(canonical: Canonical, place: TextPlace) -> TextPlace:
    """The place of such strings: with the characters that are escaped there, if a pattern cannot do without."""
    if place.escaped is None or all(_has_texts(one, place) for one, _ in canonical.patterns):
        return place
    return replace(place, alphabet=place.escaped, escaped=None)


def _has_texts(pattern: str, place: TextPlace) -> bool:
    try:
        writer(pattern, place.alphabet.intervals, place.alphabet)
    except UnsupportedPattern:
        return False
    return True
