"""Characters with a Unicode property, as ECMA-262 names them in patterns."""

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from typing import Final

_CATEGORIES: Final = {
    "letter": "L", "lowercaseletter": "Ll", "uppercaseletter": "Lu", "titlecaseletter": "Lt", "modifierletter": "Lm",
    "otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn", "number": "N", "decimalnumber": "Nd", "digit": "Nd",
    "letternumber": "Nl", "othernumber": "No", "punctuation": "P", "punct": "P", "dashpunctuation": "Pd", "symbol": "S",
    "mathsymbol": "Sm", "currencysymbol": "Sc", "separator": "Z", "spaceseparator": "Zs", "other": "C", "control": "Cc",
    "cntrl": "Cc", "format": "Cf", "privateuse": "Co", "unassigned": "Cn",
}  # fmt: skip
_SINGLE: Final[dict[str, Callable[[str], bool]]] = {
    "ascii": str.isascii,
    "any": lambda char: True,
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


@lru_cache(maxsize=64)
def ranges_of(name: str) -> tuple[tuple[int, int], ...] | None:
    """First and last code points of each run of characters with a property; None when it is not known."""
    has = _predicate(name)
    if has is None:
        return None
    found = []
    for is_member, run in groupby(range(0x110000), key=lambda code: has(chr(code))):
        if is_member:
            codes = list(run)
            found.append((codes[0], codes[-1]))
    return tuple(found)


def class_of(name: str) -> str | None:
    """What stands between the brackets of a Python pattern for a property; None when it is not known."""
    ranges = ranges_of(name)
    if ranges is None:
        return None
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def _predicate(name: str) -> Callable[[str], bool] | None:
    kind, _, value = name.rpartition("=")
    plain = value.replace("_", "").lower()
    if kind.lower() in ("script", "sc", "scriptextensions", "scx"):
        return _of_script(plain)
    if plain in _SINGLE:
        return _SINGLE[plain]
    category = _CATEGORIES.get(plain, value)
    if len(category) > 2 or category[:1] not in "LMNPSZC":
        return _of_script(plain)
    return lambda char: unicodedata.category(char).startswith(category)


def _of_script(name: str) -> Callable[[str], bool] | None:
    start = _SCRIPTS.get(name)
    if start is None:
        return None
    return lambda char: unicodedata.name(char, "").startswith(start)
