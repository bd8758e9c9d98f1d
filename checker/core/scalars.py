"""Scalars that a text may be read as: by servers, by authors of descriptions, by users of the command line."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

BOOLEAN_WORDS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "1", "yes", "y", "on", "t"), True),
    **dict.fromkeys(("false", "0", "no", "n", "off", "f"), False),
}
"""Lower-case words that frameworks read as booleans (Pydantic, Spring, Rails, YAML 1.1)."""
_NULLS: Final = frozenset({"null", "none", "nil", ""})
_WORDS: Final = _NULLS | BOOLEAN_WORDS.keys() | {"inf", "infinity", "nan"}
"""Words that begin with a letter and may be read as other values than text."""


class Unreadable(ValueError):
    """The reading of a text is undefined, so nothing can be proved about the value."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a number. In Python booleans are integers, too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def boolean_of(text: str) -> bool | None:
    """Return the boolean that a word stands for, in any letter case; None for other texts."""
    return BOOLEAN_WORDS.get(text.strip().lower())


def scalars_of(text: str) -> Iterator[Any]:
    """Yield the values that some server may read a text as: the text itself first, then null, booleans and numbers.

    Raises `Unreadable` for numbers that are not finite.
    """
    yield text
    bare = text.strip()
    word = bare.lower()
    if bare[:1].isalpha() and word not in _WORDS:
        # Most texts end here, because the test for a number takes longer than all the rest.
        return
    if word in _NULLS:
        yield None
    if word in BOOLEAN_WORDS:
        yield BOOLEAN_WORDS[word]
    try:
        number = float(bare)
    except (ValueError, OverflowError):
        return
    if not math.isfinite(number):
        raise Unreadable(bare)
    try:
        yield int(bare)
    except ValueError:
        yield number
        if number.is_integer():
            yield int(number)
