"""Classes of regular expressions as the few usual characters that are written for them, instead of a million."""

from checker.generation.sources.alphabets import Interval, merged
from checker.validation.ecma import ranges_of

_DIGITS: tuple[Interval, ...] = ((0x30, 0x39),)
_WORD: tuple[Interval, ...] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: tuple[Interval, ...] = ((0x20, 0x20), (0x09, 0x09))
UNIVERSE: tuple[Interval, ...] = (
    (0x20, 0x7E), (0xC0, 0xD6), (0xD8, 0xF6), (0x430, 0x44F), (0x4E00, 0x4E3F),
)  # fmt: skip
"""What stands for `everything else`: a negated class means a few characters, not a million."""
CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_PROPERTIES: dict[str, tuple[Interval, ...]] = {
    "L": ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6)),
    "Lu": ((0x41, 0x5A), (0xC0, 0xD6)),
    "Ll": ((0x61, 0x7A), (0xE0, 0xF6)),
    "N": _DIGITS,
    "Nd": _DIGITS,
    "P": ((0x21, 0x23), (0x25, 0x2A), (0x2C, 0x2F), (0x3A, 0x3B)),
    "S": ((0x24, 0x24), (0x2B, 0x2B), (0x3C, 0x3E)),
    "Z": ((0x20, 0x20),),
    "Zs": ((0x20, 0x20),),
    "M": ((0x300, 0x33F),),
    "Alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "Alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "Lower": ((0x61, 0x7A),),
    "Upper": ((0x41, 0x5A),),
    "XDigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
    "Punct": ((0x21, 0x2F), (0x3A, 0x40)),
    "Graph": ((0x21, 0x7E),),
    "Print": ((0x20, 0x7E),),
    "ASCII": ((0x20, 0x7E),),
}
_NAMES = {
    "Letter": "L",
    "Number": "N",
    "Punctuation": "P",
    "Symbol": "S",
    "Separator": "Z",
    "Mark": "M",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Digit": "Nd",
    "Space": "Zs",
    "IsDigit": "Nd",
    "IsAlphabetic": "L",
    "Alphabetic": "L",
}
_MANY = 40
"""Ranges of a property that are used."""


class UnsupportedPattern(ValueError):
    """The pattern, or a part of it, cannot be generated from."""


def property_class(name: str, *, is_negated: bool) -> tuple[Interval, ...] | None:
    """Return characters with a Unicode property or without it; None for an unknown property."""
    known = _PROPERTIES.get(_NAMES.get(name, name))
    if known is not None and not is_negated:
        return known
    ranges = ranges_of(name) or known
    if ranges is None or is_negated:
        return None if ranges is None else complement(ranges)
    usual = [pair for pair in ranges if not 0xD800 <= pair[0] <= 0xDFFF and pair[1] < 0xE000]
    return tuple(usual[:_MANY]) or None


def complement(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """Characters of the small universe outside `intervals`."""
    found = []
    for first, last in UNIVERSE:
        start = first
        for low, high in merged(intervals):
            if high < start or low > last:
                continue
            if low > start:
                found.append((start, low - 1))
            start = high + 1
        if start <= last:
            found.append((start, last))
    if not found:
        raise UnsupportedPattern("a class of no usual character")
    return tuple(found)
