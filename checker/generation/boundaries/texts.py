"""Strings at the bounds of a length and beside them."""

from collections.abc import Iterator
from typing import Any, Final

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.named_files import NamedFile
from checker.core.operation import Location
from checker.generation.boundaries import tricky_texts
from checker.generation.boundaries.values import Boundary, Scenario
from checker.generation.boundaries.walking import Walk
from checker.generation.drawing.formats import FORMATS
from checker.generation.drawing.places import TextPlace, location_of
from checker.generation.normalization.forms import Canonical, Conjunction
from checker.generation.sources.context import Rejected

_FILLER: Final = "0"
_WORDS: Final = {
    Scenario.STRING: "Valid string",
    Scenario.SHORTEST: "Minimum length string",
    Scenario.LONGEST: "Maximum length string",
    Scenario.NEAR_LENGTH: "Near-boundary length string",
}


def texts_of(
    walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace
) -> Iterator[Boundary]:
    """Strings of each length that matters; the first one is the usual value. Raises `Unsatisfiable`."""
    at = form.type_pointer or form.pointer
    lengths = form.lengths
    is_formatted = any(name in FORMATS or name in walk.compiler.formats for name in form.formats)
    is_said = is_formatted or form.content is not None
    if (is_said or form.patterns) and not lengths.low and lengths.high is None:
        value = walk.narrowed(conjunction, place, "text", {"type": "string"})
        yield _boundary(value, Scenario.STRING, at, None)
        yield from _named(value, at)
        for text in tricky_texts.of_formats(form):
            yield _boundary(text, Scenario.STRING, at, None)
        if not form.patterns:
            return
    value = None
    for size, scenario, pointer, keyword in _sizes(form, place, at):
        value = _of_size(walk, form, conjunction, place, size)
        if value is not None:
            yield _boundary(value, scenario, pointer, keyword)
    yield from _named(value, at)
    if place.carries_empty and not lengths.low:
        yield Boundary("", "Empty string", Scenario.STRING, at, None, True)
    # Texts of a path name what is not there, however odd they are.
    is_free = not (is_said or form.patterns or form.formats)
    if is_free and location_of(place) is not Location.PATH:
        for text, description in tricky_texts.of_any(form):
            yield Boundary(text, description, Scenario.STRING, at, None, True)
        signs = tricky_texts.of_signs(form)
        if signs:
            yield Boundary(signs, "String of signs", Scenario.SIGNS, at, None, True)


def _named(value: Any, at: str) -> Iterator[Boundary]:
    """A file with a name that is no plain one."""
    if isinstance(value, bytes):
        file = NamedFile(value, tricky_texts.FILE_NAME)
        yield Boundary(file, "File with an odd name", Scenario.SIGNS, at, None, True)


def _boundary(value: Any, scenario: Scenario, pointer: str, keyword: str | None) -> Boundary:
    if isinstance(value, bytes):
        return Boundary(value, "Valid binary content", Scenario.BINARY, pointer, keyword, True)
    return Boundary(value, _WORDS[scenario], scenario, pointer, keyword, True)


def _sizes(
    form: Canonical, place: TextPlace, at: str
) -> Iterator[tuple[int, Scenario, str, str | None]]:
    """Length, what it is, pointer and keyword of who says so."""
    lengths = form.lengths
    low, high = max(lengths.low, place.min_text), lengths.high
    low_at = lengths.low_pointer or at
    if lengths.low:
        yield low, Scenario.SHORTEST, low_at, "minLength"
        yield low + 1, Scenario.NEAR_LENGTH, low_at, "minLength"
    else:
        yield low, Scenario.STRING, at, None
    if high is not None:
        yield high, Scenario.LONGEST, lengths.high_pointer, "maxLength"
        yield high - 1, Scenario.NEAR_LENGTH, lengths.high_pointer, "maxLength"
        yield high - 2, Scenario.STRING, at, None
    yield low + 1, Scenario.STRING, at, None
    yield low + 2, Scenario.STRING, at, None


def _of_size(
    walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace, size: int
) -> str | bytes | None:
    low, high = max(form.lengths.low, place.min_text), form.lengths.high
    if size < low or (high is not None and size > high) or size > walk.compiler.max_text:
        return None
    is_plain = not (form.patterns or form.formats or form.content or form.excluded.patterns)
    if is_plain and place.alphabet.permits(_FILLER):
        return _FILLER * size
    sized = {"type": "string", "minLength": size, "maxLength": size}
    try:
        value: str | bytes = walk.narrowed(conjunction, place, f"text {size}", sized)
    except (Unsatisfiable, BudgetSpent, Rejected):
        return None
    return value
