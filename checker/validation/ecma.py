"""ECMA-262 patterns translated to Python. Patterns without an equivalent, or with possibly exponential time, are not enforced."""

import re
import sys
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from re import _parser as sre  # type: ignore[attr-defined]
from typing import Any, Final

from msgspec import Struct, field

from checker.core.system import later_pattern

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
"""Script -> prefixes of the Unicode names of its characters."""
_OUTSIDE: Final = {
    "[]": "(?!)", "[^]": "[\\s\\S]", "$": "\\Z", ".": "[^\\n\\r\\u2028\\u2029]", "{": "\\{", "}": "\\}",
}  # fmt: skip
"""Texts outside classes that Python reads differently, and their equivalents."""
_MEANINGLESS: Final = frozenset({"Cn", "Co", "Cs"})  # Categories of unassigned characters, private use and surrogates.
_RUN: Final = later_pattern(r"(..)\1*")
Ranges = tuple[tuple[int, int], ...]


@lru_cache(maxsize=64)
def ranges_of(name: str) -> Ranges | None:
    """Return (first, last) code points of each run of characters with a property; None if the property is unknown."""
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
    return merged(run for found, run in _categories() if found.startswith(category))


def _of_script(name: str) -> Ranges | None:
    start = _SCRIPTS.get(name)
    return None if start is None else _of_assigned(lambda char: unicodedata.name(char, "").startswith(start))


def _of_assigned(has: Callable[[str], bool]) -> Ranges:
    return merged(
        (code, code)
        for category, (first, last) in _categories()
        if category not in _MEANINGLESS
        for code in range(first, last + 1)
        if has(chr(code))
    )


def merged(intervals: Iterable[tuple[int, int]]) -> Ranges:
    """Return intervals of characters in order and without overlap."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


@cache
def _categories() -> tuple[tuple[str, tuple[int, int]], ...]:
    """Return the category of each run of characters, in order. This takes a fifth of a second, so only patterns with properties call it."""
    walked = "".join(map(unicodedata.category, map(chr, range(sys.maxunicode + 1))))
    return tuple((run[1], (run.start() // 2, run.end() // 2 - 1)) for run in _RUN.finditer(walked))


_SPACES = "\\t\\n\\x0b\\x0c\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
_TOKEN = later_pattern(
    r"\\u\{(?P<point>[0-9a-fA-F]{1,6})\}"
    r"|\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u(?P<unit>[0-9a-fA-F]{4})|\\x(?P<octet>[0-9a-fA-F]{2})"
    r"|\\(?P<property>[pP]\{[A-Za-z0-9_=]+\})"
    r"|\\c(?P<control>[A-Za-z])|\\k<(?P<back>[A-Za-z_]\w*)>"
    r"|\\(?P<escape>.)"
    r"|\(\?<(?P<name>[A-Za-z_]\w*)>|(?P<look>\(\?(?:[:=!]|<[=!]))|(?P<odd>\(\?)"
    r"|(?P<empty>\[\^?\])"
    r"|(?P<count>\{(?P<least>[0-9]+)(?P<open>,)?(?P<most>[0-9]+)?\})"
    r"|(?P<plain>.)",
    re.DOTALL,
)
# For 24 characters, `(a|a)*b` takes 2 s, and each further one doubles the time.
_RISKY_LENGTH = 24
# The longest text to search, by the degree of the polynomial that bounds the number of search steps.
_LENGTHS = (1_000_000, 100_000, 5_000, 300, 100)
_FEW = 5
_FEW_CHOICES = 12
"""Quantifiers over the same character or class that a pattern may have: each one in `a?a?a?` doubles the ways to match."""
_WIDE = later_pattern(r"\\[DWSspP]|\[\^|(?<!\\)\.")  # Classes that may match any punctuation.


class EcmaPattern(Struct, frozen=True):
    """A pattern, and the length up to which a match certainly ends soon. Python cannot interrupt a match."""

    compiled: re.Pattern[str]
    longest: int

    def finds(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text; True if the text is too long to decide."""
        return len(text) > self.longest or self.compiled.search(text) is not None


_DELIMITED: Final = later_pattern(r"([/#~@%])(\^.*|.*[^\\]\$)\1[a-z]*", re.DOTALL)
_OTHER_CLASSES: Final = later_pattern(r"\[\[:\^?[a-z]+:\]|\[[^\]\[]+\[:\^?[a-z]+:\]|&&\[")
_MAY_MATCH_NOTHING: Final = later_pattern(r"[^\[(|]\^|\$[^)|]", re.DOTALL)


def without_delimiters(pattern: str) -> str:
    """Return a pattern without the delimiters and flags of a literal: `^a$` for `/^a$/i`, which would match nothing."""
    found = _DELIMITED.fullmatch(pattern)
    return found[2] if found else pattern


@lru_cache(maxsize=1024)
def is_foreign(pattern: str) -> bool:
    """Whether a pattern is written for another engine: it matches nothing, or has classes that ECMA-262 does not have.

    Such classes are those of POSIX (`[[:alpha:]]`) and intersections (`[a-z&&[^x]]`), which have another meaning here.
    """
    if len(pattern) > LONGEST_PATTERN:
        return False
    if _DELIMITED.fullmatch(pattern) or _OTHER_CLASSES.search(pattern):
        return True
    try:
        return _MAY_MATCH_NOTHING.search(pattern) is not None and _matches_nothing(
            sre.parse(_Translation(pattern).result()[0])
        )
    except (_Untranslatable, re.error, OverflowError, RecursionError):
        return False


def _matches_nothing(parsed: Any) -> bool:
    """Whether every alternative needs a character before the start of the text, or after its end."""
    # Such patterns match no text. The authors meant another engine, or a literal with delimiters.
    has_consumed = has_ended = False
    for operation, value in parsed:
        if operation is sre.AT:
            if value is sre.AT_BEGINNING and has_consumed:
                return True
            has_ended |= value is sre.AT_END_STRING
            continue
        inside = value[-1] if operation is sre.SUBPATTERN else None
        if inside is not None and _matches_nothing(inside):
            return True
        if operation is sre.BRANCH and all(map(_matches_nothing, value[1])):
            return True
        if sre.SubPattern(parsed.state, [(operation, value)]).getwidth()[0]:
            if has_ended:
                return True
            has_consumed = True
    return False


LONGEST_PATTERN: Final = 20_000
"""Characters of a pattern. Python needs ten seconds and half a gigabyte to read one of a million."""


@lru_cache(maxsize=1024)
def ecma_pattern(pattern: str) -> EcmaPattern | None:
    """Return the pattern in Python's syntax; None if it has no equivalent, is too long, or is written for another engine."""
    if len(pattern) > LONGEST_PATTERN or is_foreign(pattern):
        return None
    try:
        translated, longest = _Translation(pattern).result()
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            return EcmaPattern(re.compile(translated, re.ASCII), longest)
    except (_Untranslatable, re.error, OverflowError, RecursionError, FutureWarning):
        return None


class _Untranslatable(Exception):
    """A construct without an equivalent in Python."""


class _Translation(Struct):
    """One pass over a pattern, which translates it and estimates how long matching may take.

    Python's engine backtracks and cannot be interrupted. Without nested loops, the time is a polynomial of the text's length,
    whose degree is the number of loops, so the degree limits the length of the text. Nested loops may take exponential time.
    """

    _pattern: str
    _out: list[str] = field(default_factory=list)
    _in_class: bool = False
    _groups: list[bool] = field(default_factory=lambda: [False])
    _closed: bool = False
    _loops: int = 0
    _is_risky: bool = False
    _after_quantifier: bool = False
    _choices: Counter[str] = field(default_factory=Counter)

    def result(self) -> tuple[str, int]:
        """Return the translated pattern and the longest text to match it against."""
        for token in _TOKEN.finditer(self._pattern):
            kind = token.lastgroup
            closed, self._closed = self._closed, False
            quantified, self._after_quantifier = self._after_quantifier, False
            text = token[0]
            character = _character(token)
            if character is not None:
                self._out.append(re.escape(character))
            elif token["property"] is not None:
                self._out.append(self._property(token["property"]))
            elif token["escape"] is not None:
                self._out.append(self._escape(token["escape"]))
            elif self._in_class:
                self._in_class = not text.endswith("]")
                self._out.append("".join(f"\\{c}" if c in "[&|~" else c for c in text))
            elif token["count"] is not None or text in ("*", "+", "?"):
                if quantified and text == "+":
                    raise _Untranslatable
                self._quantify(token, closed, lazy=quantified and text == "?")
            elif kind in ("name", "look", "odd", "back") or text in "()|":
                self._group(token)
            else:
                self._in_class = text == "["
                self._out.append(_OUTSIDE.get(text, text))
        if self._in_class:
            raise _Untranslatable
        if self._is_risky:
            return "".join(self._out), _RISKY_LENGTH
        # Without an anchor, the search starts again at every character.
        is_anchored = self._pattern.startswith("^") and "|" not in self._pattern
        degree = self._loops + (not is_anchored)
        return "".join(self._out), _LENGTHS[min(degree, len(_LENGTHS) - 1)]

    def _property(self, text: str) -> str:
        """Return the characters with a Unicode property; outside brackets, as a class."""
        ranges = ranges_of(text[2:-1])
        if ranges is None or (self._in_class and text[0] == "P"):
            raise _Untranslatable
        inside = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
        if self._in_class:
            return inside
        return f"[^{inside}]" if text[0] == "P" else f"[{inside}]"

    def _escape(self, letter: str) -> str:
        if letter in "dwtnrfv" or (letter in "DWbB" and not self._in_class):
            return "\\" + letter
        if letter == "s":
            return _SPACES if self._in_class else f"[{_SPACES}]"
        if letter == "S" and not self._in_class:
            return f"[^{_SPACES}]"
        if letter == "b":
            return "\\x08"
        if letter == "0":
            return "\\x00"
        if letter.isdigit() and not self._in_class:
            self._is_risky = True
            return "\\" + letter
        if letter.isalnum():
            raise _Untranslatable
        return re.escape(letter)

    def _group(self, token: re.Match[str]) -> None:
        text = token[0]
        if token["odd"] is not None:
            raise _Untranslatable
        if token["back"] is not None:
            self._is_risky = True
            text = f"(?P={token['back']})"
        elif token["name"] is not None:
            text = f"(?P<{token['name']}>"
        if text == "|":
            # Branches with a common prefix double the number of paths in each iteration of a loop around them.
            self._groups[-1] = True
        elif text == ")":
            if len(self._groups) < 2:
                raise _Untranslatable
            inner = self._groups.pop()
            self._closed = inner
            self._groups[-1] |= inner
        elif text.startswith("(") and token["back"] is None:
            self._groups.append(False)
        self._out.append(text)

    def _quantify(self, token: re.Match[str], closed: bool, *, lazy: bool) -> None:
        self._after_quantifier = not lazy
        text = token[0]
        turns = float("inf") if text in ("*", "+") else 1.0
        is_fixed = False
        if token["count"] is not None:
            ends = token["most"] or ("inf" if token["open"] else token["least"])
            turns = float(ends)
            is_fixed = ends == token["least"]
        if closed and turns > _FEW:
            self._is_risky = True
        if self._out and not is_fixed:
            character = self._out[-1][-1]
            is_alone = self._out[-1] in (character, "\\" + character) and not character.isalnum()
            if not (is_alone and self._pattern.count(character) == 1 and not _WIDE.search(self._pattern)):
                # A loop over it can be divided in many ways: (a?){50} has 2**50 paths for 25 characters.
                self._groups[-1] = True
                self._choices[self._out[-1]] += 1
                self._is_risky |= self._choices[self._out[-1]] > _FEW_CHOICES
        if turns > _FEW and not lazy:
            self._loops += 1
        self._out.append(text)


def _character(token: re.Match[str]) -> str | None:
    if token["point"] is not None:
        point = int(token["point"], 16)
        if point > 0x10FFFF:
            raise _Untranslatable
        return chr(point)
    if token["high"] is not None:
        high, low = int(token["high"], 16), int(token["low"], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    code = token["unit"] or token["octet"]
    if code is not None:
        return chr(int(code, 16))
    return None if token["control"] is None else chr(ord(token["control"]) % 32)
