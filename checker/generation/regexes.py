"""Regular expressions of schemas (ECMA-262), parsed into a small tree of common characters.

The pattern is rewritten in Python's syntax and parsed by the standard library, as Hypothesis does. Unlike in Python's tree,
a character class stands for the few characters that are written for it.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from re import _parser as sre  # type: ignore[attr-defined]
from typing import Any, Final

import jsonschema_rs
from msgspec import Struct

from checker.core.system import later_pattern
from checker.generation.sources.alphabets import Interval, common, outside
from checker.validation.ecma import LONGEST_PATTERN, ecma_pattern, is_foreign, merged, ranges_of

Intervals = tuple[Interval, ...]
UNBOUNDED: Final = 1 << 30


class UnsupportedPattern(ValueError):
    """Texts of the pattern, or of a part of it, cannot be generated."""


class Characters(Struct, frozen=True):
    """A single character."""

    intervals: Intervals


class Concatenation(Struct, frozen=True):
    """Parts in sequence."""

    parts: tuple["Expression", ...]


class Alternation(Struct, frozen=True):
    """Alternatives."""

    options: tuple["Expression", ...]


class Repetition(Struct, frozen=True):
    """A part that is repeated."""

    part: "Expression"
    low: int
    high: int


class Group(Struct, frozen=True):
    """A group, whose text a backreference may repeat."""

    number: int
    part: "Expression"


class Reference(Struct, frozen=True):
    """The text that a group has matched, once more."""

    number: int


class Lookahead(Struct, frozen=True):
    """A lookahead: a condition on the following text."""

    part: "Expression"


class Anchor(Struct, frozen=True):
    """An end of the text."""

    is_end: bool


Expression = Characters | Concatenation | Alternation | Repetition | Group | Reference | Lookahead | Anchor
EMPTY: Final = Concatenation(())

_DIGITS: Final[Intervals] = ((0x30, 0x39),)
_WORD: Final[Intervals] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Final[Intervals] = ((0x20, 0x20), (0x09, 0x09))
UNIVERSE: Final[Intervals] = (
    (0x20, 0x7E), (0xC0, 0xD6), (0xD8, 0xF6), (0x430, 0x44F), (0x4E00, 0x4E3F),
)  # fmt: skip
"""The characters that stand for all: a negated class is written with a few common ones instead of a million."""
_LATIN: Final[Intervals] = ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6))
_UPPER: Final[Intervals] = ((0x41, 0x5A), (0xC0, 0xD6))
_LOWER: Final[Intervals] = ((0x61, 0x7A), (0xE0, 0xF6))
_PUNCTUATION: Final[Intervals] = ((0x21, 0x23), (0x25, 0x2A), (0x2C, 0x2F), (0x3A, 0x3B))
_SYMBOLS: Final[Intervals] = ((0x24, 0x24), (0x2B, 0x2B), (0x3C, 0x3E))
_PROPERTIES: Final[dict[str, Intervals]] = {
    **dict.fromkeys(("L", "Letter", "Alphabetic", "IsAlphabetic"), _LATIN),
    **dict.fromkeys(("Lu", "Uppercase_Letter"), _UPPER),
    **dict.fromkeys(("Ll", "Lowercase_Letter"), _LOWER),
    **dict.fromkeys(("N", "Number", "Nd", "Digit", "IsDigit"), _DIGITS),
    **dict.fromkeys(("P", "Punctuation"), _PUNCTUATION),
    **dict.fromkeys(("S", "Symbol"), _SYMBOLS),
    **dict.fromkeys(("Z", "Separator", "Zs", "Space"), ((0x20, 0x20),)),
    **dict.fromkeys(("M", "Mark"), ((0x300, 0x33F),)),
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
"""Unicode property, or POSIX class in Java's spelling -> common characters that have it."""
_MOST_RANGES: Final = 40  # Ranges of a property that are used.
_DEEPEST: Final = 80  # Nesting of groups and repetitions.


def complement(intervals: Intervals) -> Intervals:
    """Return the characters of the small universe that are not in `intervals`."""
    found = common(UNIVERSE, outside(intervals))
    if not found:
        raise UnsupportedPattern("a class of no usual character")
    return found


def _property(name: str, *, is_negated: bool) -> Intervals:
    """Return common characters with a Unicode property, or without it."""
    known = _PROPERTIES.get(name)
    if known is not None and not is_negated:
        return known
    ranges = ranges_of(name) or known
    if ranges is None:
        raise UnsupportedPattern(f"unknown property {name}")
    if is_negated:
        return complement(ranges)
    usual = [pair for pair in ranges if pair[1] < 0xE000 and not pair[0] >= 0xD800]
    if not usual:
        raise UnsupportedPattern(f"no usual character has the property {name}")
    return tuple(usual[:_MOST_RANGES])


# The writer and the search for open ends parse the same pattern.
@lru_cache(maxsize=1024)
def parse(pattern: str) -> Expression:
    """Return the tree of a pattern. Raises `UnsupportedPattern`.

    Assertions that the tree cannot express are empty, so texts have to be matched again.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise UnsupportedPattern(f"it has more than {LONGEST_PATTERN:,} characters")
    text = "".join(_in_python(pattern))
    try:
        with warnings.catch_warnings():
            # `[[` may mean a nested set in a later version of Python.
            warnings.simplefilter("ignore", FutureWarning)
            return _TreeReader(keeps_groups=_REFERENCE.search(text) is not None).row(sre.parse(text), 1)
    except (re.error, OverflowError, RecursionError) as error:
        raise UnsupportedPattern(str(error)) from None


_REFERENCE: Final = later_pattern(r"\\[1-9]|\(\?P=")
_TOKEN: Final = later_pattern(
    r"\\u\{(?P<point>[0-9a-fA-F]{1,6})\}"
    r"|\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\(?P<property>[pP])\{(?P<name>[^}]*)\}"
    r"|\\c(?P<control>[A-Za-z])|\\k<(?P<back>[^>]*)>|\(\?<(?P<group>[A-Za-z_]\w*)>"
    r"|(?P<flags>\(\?[imsu-]+\))|(?P<end>\\z)"
    # In ECMA-262, `[\w-.]` has no range and `a{,3}` is literal. Python rejects one and reads a quantifier in the other.
    r"|(?P<before>\\[dwsDWS])-|(?P<literal>-(?=\\[dwsDWS])|\{(?=,))"
    r"|(?P<empty>\[\^?\])|(?P<escape>\\.)|(?P<plain>.)",
    re.DOTALL,
)


def _in_python(pattern: str) -> Iterator[str]:
    is_in_class = False
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        match token.lastgroup:
            case "point":
                yield f"\\U{int(token['point'], 16):08x}"
            case "low":
                # Two escapes encode one character beyond the basic plane (ECMA-262, 22.2.1).
                yield f"\\U{0x10000 + ((int(token['high'], 16) - 0xD800) << 10) + int(token['low'], 16) - 0xDC00:08x}"
            case "name":
                intervals = _property(token["name"], is_negated=token["property"] == "P")
                inside = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in intervals)
                yield inside if is_in_class else f"[{inside}]"
            case "control":
                yield f"\\x{ord(token['control']) & 31:02x}"
            case "back":
                yield f"(?P={token['back']})"
            case "group":
                yield f"(?P<{token['group']}>"
            case "flags":
                # Flags for case and line ends do not change how texts are written.
                continue
            case "end":
                yield "\\Z"
            case "before":
                yield f"{token['before']}\\-"
            case "literal":
                yield f"\\{text}"
            case "empty" if not is_in_class:
                # Python reads the bracket as a member of the class, ECMA-262 as its end.
                raise UnsupportedPattern("an empty class")
            case kind:
                if kind != "escape":
                    is_in_class = not text.endswith("]") and (is_in_class or text == "[")
                yield text


class _TreeReader(Struct, frozen=True):
    keeps_groups: bool  # True if the pattern has backreferences.

    def row(self, items: Iterable[Any], depth: int) -> Expression:
        """Return parts in sequence as one expression. Raises `UnsupportedPattern`."""
        if depth > _DEEPEST:
            raise UnsupportedPattern("nested too deeply")
        parts = [part for name, value in items if (part := self.part(str(name), value, depth)) != EMPTY]
        return parts[0] if len(parts) == 1 else Concatenation(tuple(parts))

    def part(self, name: str, value: Any, depth: int) -> Expression:
        """Return one part; `EMPTY` for assertions that the tree cannot express."""
        match name, value:
            case "LITERAL", code:
                return Characters(_without_surrogates(code, code))
            case "NOT_LITERAL", code:
                return Characters(complement(((code, code),)))
            case "ANY", _:
                return Characters(UNIVERSE)
            # Python's parser has already merged alternatives of single characters (`a|b`) into a class.
            case "IN", members:
                return Characters(_class(members))
            case "BRANCH", (_, options):
                return Alternation(tuple(self.row(option, depth) for option in options))
            case (("MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT"), (low, high, items)):
                part = self.row(items, depth + 1)
                if part == EMPTY or isinstance(part, Anchor):
                    return part
                return Repetition(part, low, UNBOUNDED if high is sre.MAXREPEAT else high)
            case "SUBPATTERN", (number, _, _, items):
                # A group without references is dropped, so that anchors in it are found.
                part = self.row(items, depth + 1)
                return Group(number, part) if number and self.keeps_groups else part
            case "ATOMIC_GROUP", items:
                return self.row(items, depth + 1)
            case "GROUPREF", number:
                return Reference(number)
            case "AT", place:
                return _ANCHORS.get(str(place), EMPTY)
            case "ASSERT", (1, items):
                return Lookahead(self.row(items, depth + 1))
            case (("ASSERT" | "ASSERT_NOT"), _):
                return EMPTY
            case _:
                raise UnsupportedPattern(f"a part of the kind {name}")


_ANCHORS: Final = {
    **dict.fromkeys(("AT_BEGINNING", "AT_BEGINNING_STRING"), Anchor(is_end=False)),
    **dict.fromkeys(("AT_END", "AT_END_STRING"), Anchor(is_end=True)),
}
_CATEGORIES: Final = {"DIGIT": _DIGITS, "WORD": _WORD, "SPACE": _SPACE}


def _class(members: list[Any]) -> Intervals:
    found: list[Interval] = []
    is_negated = False
    for name, value in members:
        match str(name):
            case "NEGATE":
                is_negated = True
            case "LITERAL":
                found += _without_surrogates(value, value)
            case "RANGE":
                found += _without_surrogates(*value)
            case _:
                kind = str(value).removeprefix("CATEGORY_")
                inside = _CATEGORIES[kind.removeprefix("NOT_")]
                outside = complement(inside) if kind.startswith("NOT_") else inside
                # Validators disagree about which non-ASCII letters are word characters, but not about ASCII characters.
                found += [pair for pair in outside if kind != "NOT_WORD" or pair[1] < 0x80]
    if is_negated:
        return complement(tuple(found))
    # A category alone keeps its order, in which the first character is the simplest.
    return merged(found) if len(members) > 1 else tuple(found)


def _without_surrogates(low: int, high: int) -> Intervals:
    found = common(((0, 0xD7FF), (0xE000, 0x10FFFF)), ((low, high),))
    if not found:
        raise UnsupportedPattern("a surrogate")
    return found


_BEYOND_TREES = later_pattern(r"\(\?<?[=!]|\(\?[imsu-]|\\[bBpPAZzk1-9]|.\^|\$.", re.DOTALL)


@lru_cache(maxsize=4096)
def is_plain(pattern: str) -> bool:
    """Whether every text written from the tree matches: the pattern has no assertions inside and no flags."""
    return _BEYOND_TREES.search(pattern) is None


_ATOM = (
    r"(?:[A-Za-z0-9_ @:/#=%&;!~-]|\\[dw.+/@:_-]|\[(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_ @:/#=%;!.+,]|\\[dw./+-])+-?\])"
)
CERTAIN = later_pattern(rf"\^?(?:{_ATOM}(?:[*+?]|\{{[0-9]+(?:,[0-9]*)?\}})?)+\$?")


@lru_cache(maxsize=4096)
def is_certain(pattern: str) -> bool:
    """Whether a pattern is a sequence of characters and classes, repeated or not, anchored or not.

    Such a pattern has one meaning: a text written part by part matches for every validator.
    """
    return len(pattern) <= LONGEST_PATTERN and CERTAIN.fullmatch(pattern) is not None


@lru_cache(maxsize=4096)
def matcher(pattern: str, *, trusts: bool = False) -> Callable[[str], bool]:
    """Return a predicate that is true for texts in which both validators find the pattern, as far as they can read it.

    With `trusts`, only one validator is asked, because texts written from a plain tree match anyway.
    """
    if len(pattern) > LONGEST_PATTERN or is_foreign(pattern):
        # No validator can read such a pattern either.
        return lambda text: True
    own = ecma_pattern(pattern)
    try:
        strict = jsonschema_rs.Draft202012Validator({"pattern": pattern}).is_valid
    except ValueError:
        strict = None
    if own is None:
        return strict or (lambda text: True)
    if strict is None or trusts:
        return own.finds
    finds = own.finds
    return lambda text: strict(text) and finds(text)


@lru_cache(maxsize=64)
def strict_format(name: str) -> Callable[[str], bool]:
    """Return a predicate for texts of a format, as the strictest validator defines it."""
    return jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True).is_valid
