"""ECMA-262 patterns as Python reads them. What cannot be said in both, or could hang, is not enforced."""

import re
import warnings
from functools import lru_cache
from typing import Final

from msgspec import Struct

from checker.validation.unicode import class_of

_SPACES = (
    "\\t\\n\\x0b\\x0c\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
)
_TOKEN = re.compile(
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
_RISKY_LENGTH = 24
# By the degree of the polynomial that bounds the steps of a search.
_LENGTHS = (1_000_000, 100_000, 5_000, 300, 100)
_FEW = 5


class EcmaPattern(Struct, frozen=True):
    """A pattern with the longest text on which it is sure to end soon: Python cannot be interrupted in a match."""

    compiled: re.Pattern[str]
    longest: int

    def finds(self, text: str) -> bool:
        """True when the pattern matches anywhere in the text, or when the text is too long to say."""
        return len(text) > self.longest or self.compiled.search(text) is not None


LONGEST_PATTERN: Final = 20_000
"""Characters; one of a million takes ten seconds and half a gigabyte to be read."""


@lru_cache(maxsize=1024)
def ecma_pattern(pattern: str) -> EcmaPattern | None:
    """The pattern in Python's words; None when it has no equal there, or is too long to be read."""
    if len(pattern) > LONGEST_PATTERN:
        return None
    try:
        translated, longest = _Translation(pattern).result()
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            return EcmaPattern(re.compile(translated, re.ASCII), longest)
    except (_Untranslatable, re.error, OverflowError, RecursionError, FutureWarning):
        return None


class _Untranslatable(Exception):
    """A construct without an equal in Python."""


class _Translation:
    """One pass over a pattern: text out, and how badly it may backtrack."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._out: list[str] = []
        self._in_class = False
        self._groups: list[bool] = [False]
        self._closed = False
        self._loops = 0
        self._is_risky = False
        self._after_quantifier = False

    def result(self) -> tuple[str, int]:
        """Translated text, and the longest text that it may be matched against."""
        for token in _TOKEN.finditer(self._pattern):
            self._add(token)
        if self._in_class:
            raise _Untranslatable
        if self._is_risky:
            return "".join(self._out), _RISKY_LENGTH
        # Without an anchor the search starts again at every character.
        is_anchored = self._pattern.startswith("^") and "|" not in self._pattern
        degree = self._loops + (not is_anchored)
        return "".join(self._out), _LENGTHS[min(degree, len(_LENGTHS) - 1)]

    def _add(self, token: re.Match[str]) -> None:
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
            self._inside(text)
        elif token["count"] is not None or text in ("*", "+", "?"):
            if quantified and text == "+":
                raise _Untranslatable
            self._quantify(token, closed, lazy=quantified and text == "?")
        elif kind in ("name", "look", "odd", "back") or text in "()|":
            self._group(token)
        else:
            self._outside(text)

    def _inside(self, text: str) -> None:
        if text == "]":
            self._in_class = False
            self._out.append("]")
        elif text in ("[]", "[^]"):
            self._out.append(text.replace("[", "\\["))
            self._in_class = False
        else:
            self._out.append("".join("\\" + c if c in "[&|~" else c for c in text))

    def _outside(self, text: str) -> None:
        if text == "[":
            self._in_class = True
        elif text in ("[]", "[^]"):
            text = "(?!)" if text == "[]" else "[\\s\\S]"
        elif text == "$":
            text = "\\Z"
        elif text == ".":
            text = "[^\\n\\r\\u2028\\u2029]"
        elif text in "{}":
            text = "\\" + text
        self._out.append(text)

    def _property(self, text: str) -> str:
        """Characters with a Unicode property, outside brackets as a class."""
        inside = class_of(text[2:-1])
        if inside is None or (self._in_class and text[0] == "P"):
            raise _Untranslatable
        if self._in_class:
            return inside
        return f"[^{inside}]" if text[0] == "P" else f"[{inside}]"

    def _escape(self, letter: str) -> str:
        if letter in "dw" or (letter in "DWbB" and not self._in_class):
            return "\\" + letter
        if letter == "s":
            return _SPACES if self._in_class else f"[{_SPACES}]"
        if letter == "S" and not self._in_class:
            return f"[^{_SPACES}]"
        if letter in "tnrfv":
            return "\\" + letter
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
            # Branches that start alike double the ways on every turn of a loop around them.
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
        if token["count"] is not None:
            ends = token["most"] or ("inf" if token["open"] else token["least"])
            turns = float(ends)
        if closed and turns > _FEW:
            self._is_risky = True
        if turns > _FEW and not lazy:
            self._loops += 1
            self._groups[-1] = True
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
