"""Texts for patterns: enough of regular expressions for real documents."""

import re
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

# Subsets, so that what fits here fits wherever these classes are read.
_CLASSES = {
    "L": "a-zA-Z",
    "Alpha": "a-zA-Z",
    "N": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Z": " ",
    "ASCII": " -~",
    "M": "\u0300-\u036f",
}
_CLASS = re.compile(r"\\([pP])\{(\w+)\}|\\.|[\[\]$]")


@lru_cache(maxsize=512)
def in_python(pattern: str) -> str:
    """The pattern as ECMA-262 means it: Unicode classes spelled out, `$` at the very end; use it with `re.ASCII`."""
    inside = False

    def spelled(match: re.Match[str]) -> str:
        nonlocal inside
        if match[0] in "[]":
            inside = match[0] == "["
        if match[0] == "$" and not inside:
            return r"\Z"
        if match[1] is None:
            return match[0]
        members = " -~" if match[1] == "P" else _CLASSES.get(match[2], "a-z")
        return members if inside else f"[{members}]"

    return _CLASS.sub(spelled, pattern)


def sample(pattern: str) -> str:
    """A text that is meant to match; the caller looks whether it does."""
    return _text(parser.parse(in_python(pattern)), {})


def _text(nodes: Any, groups: dict[int, str]) -> str:
    return "".join(_one(code, value, groups) for code, value in nodes)


def _one(code: Any, value: Any, groups: dict[int, str]) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return _member(value)
    if code is codes.BRANCH:
        return _text(value[1][0], groups)
    if code is codes.SUBPATTERN:
        groups[value[0]] = _text(value[3], groups)
        return groups[value[0]]
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        low, high, inner = value
        count: int = max(low, min(high, 1 if low == 0 and high > 1 else low))
        return _text(inner, groups) * count
    if code is codes.GROUPREF:
        return groups.get(value, "")
    return ""


def _member(parts: Any) -> str:
    if parts[0][0] is codes.NEGATE:
        taken = parts[1:]
        return next(c for c in "ab01_- /.X" if not any(_holds(part, c) for part in taken))
    code, value = parts[0]
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(value[0])
    return next(c for c in "a0 -" if _holds(parts[0], c))


def _holds(part: Any, character: str) -> bool:
    code, value = part
    if code is codes.LITERAL:
        return bool(ord(character) == value)
    if code is codes.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    tests = {
        codes.CATEGORY_DIGIT: str.isdigit,
        codes.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
        codes.CATEGORY_SPACE: str.isspace,
        codes.CATEGORY_NOT_DIGIT: lambda c: not c.isdigit(),
        codes.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
        codes.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    }
    return bool(tests[value](character))
