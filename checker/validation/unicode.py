"""Characters with a Unicode property, as ECMA-262 names them in patterns."""

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from operator import itemgetter
from typing import Final

_CATEGORIES: Final = {
    "letter": "L", "lowercaseletter": "Ll", "uppercaseletter": "Lu", "titlecaseletter": "Lt", "modifierletter": "Lm",
    "otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn", "number": "N", "decimalnumber": "Nd", "digit": "Nd",
    "letternumber": "Nl", "othernumber": "No", "punctuation": "P", "punct": "P", "dashpunctuation": "Pd", "symbol": "S",
    "mathsymbol": "Sm", "currencysymbol": "Sc", "separator": "Z", "spaceseparator": "Zs", "other": "C", "control": "Cc",
    "cntrl": "Cc", "format": "Cf", "privateuse": "Co", "unassigned": "Cn",
}  # fmt: skip
_SINGLE: Final[dict[str, Callable[[str], bool]]] = {
    "alphabetic": lambda char: char.isalpha() or unicodedata.category(char) == "Nl",
    "alpha": lambda char: char.isalpha() or unicodedata.category(char) == "Nl",
    "uppercase": str.isupper,
    "lowercase": str.islower,
    "whitespace": str.isspace,
}
_SCRIPTS: Final = {
    "latin": "LATIN ", "latn": "LATIN ", "greek": "GREEK ", "grek": "GREEK ", "cyrillic": "CYRILLIC ", "cyrl": "CYRILLIC ",
    "han": "CJK ", "hani": "CJK ", "hiragana": "HIRAGANA ", "katakana": "KATAKANA ", "hangul": "HANGUL ", "arabic": "ARABIC ",
    "hebrew": "HEBREW ", "thai": "THAI ", "devanagari": "DEVANAGARI ",
}  # fmt: skip
"""Script -> how the names of its characters begin."""
_MEANINGLESS: Final = frozenset({"Cn", "Co", "Cs"})
"""Unassigned, private use, halves of a pair."""
_RUN: Final = re.compile(r"(..)\1*")
_WALKED: Final = ((0x0, 0x40000), (0xE0000, 0xE1000))
"""Where characters have been assigned, or will be. Walking all planes takes 0.2 s, this a quarter of it."""
_EMPTY: Final = (
    ("Cn", (0x40000, 0xDFFFF)), ("Cn", (0xE1000, 0xEFFFF)), ("Co", (0xF0000, 0xFFFFD)), ("Cn", (0xFFFFE, 0xFFFFF)),
    ("Co", (0x100000, 0x10FFFD)), ("Cn", (0x10FFFE, 0x10FFFF)),
)  # fmt: skip
"""Category of everything else: unassigned planes and private ones."""
Ranges = tuple[tuple[int, int], ...]


@lru_cache(maxsize=64)
def ranges_of(name: str) -> Ranges | None:
    """First and last code points of each run of characters with a property; None when it is not known."""
    kind, _, value = name.rpartition("=")
    plain = value.replace("_", "").lower()
    if kind.lower() in ("script", "sc", "scriptextensions", "scx"):
        return _of_script(plain)
    if plain in ("ascii", "any"):
        return ((0, 0x7F if plain == "ascii" else sys.maxunicode),)
    if plain in _SINGLE:
        return _of_assigned(_SINGLE[plain])
    category = _CATEGORIES.get(plain, value)
    if len(category) > 2 or category[:1] not in "LMNPSZC":
        return _of_script(plain)
    return _joined(run for found, run in _categories() if found.startswith(category))


def class_of(name: str) -> str | None:
    """Return the text between the brackets of a Python pattern for a property; None when it is not known."""
    ranges = ranges_of(name)
    if ranges is None:
        return None
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def _of_script(name: str) -> Ranges | None:
    start = _SCRIPTS.get(name)
    if start is None:
        return None
    return _of_assigned(lambda char: unicodedata.name(char, "").startswith(start))


def _of_assigned(has: Callable[[str], bool]) -> Ranges:
    """Runs of what is true of a character; it is true of none that means nothing."""
    return _joined(
        (code, code)
        for category, (first, last) in _categories()
        if category not in _MEANINGLESS
        for code in range(first, last + 1)
        if has(chr(code))
    )


def _joined(runs: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges in which runs beside each other are one."""
    found: list[tuple[int, int]] = []
    for first, last in runs:
        if found and found[-1][1] == first - 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return tuple(found)


@cache
def _categories() -> tuple[tuple[str, tuple[int, int]], ...]:
    """Category of each run of characters, in order."""
    walked = [
        (run[1], (first + run.start() // 2, first + run.end() // 2 - 1))
        for first, end in _WALKED
        for run in _RUN.finditer("".join(map(unicodedata.category, map(chr, range(first, end)))))
    ]
    return tuple(sorted([*walked, *_EMPTY], key=itemgetter(1)))
