"""Regular expressions of schemas (ECMA-262, the common part), read into a small tree."""

import re
from collections.abc import Iterator

from msgspec import Struct

from checker.generation.patterns.character_classes import (
    CLASSES,
    CONTROLS,
    UNIVERSE,
    UnsupportedPattern,
    complement,
    property_class,
)
from checker.generation.sources.alphabets import Interval, merged
from checker.validation.ecma import LONGEST_PATTERN

__all__ = [
    "EMPTY",
    "UNBOUNDED",
    "Alternation",
    "Anchor",
    "Characters",
    "Concatenation",
    "Expression",
    "Group",
    "Lookahead",
    "Reference",
    "Repetition",
    "UnsupportedPattern",
    "parse",
]  # fmt: skip

UNBOUNDED = 1 << 30
_REFERENCE = re.compile(r"\\([1-9])|\\k<(?P<name>[^>]*)>")


class Characters(Struct, frozen=True):
    """One character."""

    intervals: tuple[Interval, ...]


class Concatenation(Struct, frozen=True):
    """One after the other."""

    parts: tuple["Expression", ...]


class Alternation(Struct, frozen=True):
    """One of them."""

    options: tuple["Expression", ...]


class Repetition(Struct, frozen=True):
    """Several times."""

    part: "Expression"
    low: int
    high: int


class Group(Struct, frozen=True):
    """A part that may be referred to."""

    number: int
    part: "Expression"


class Reference(Struct, frozen=True):
    """The text that a group has matched, once more."""

    number: int


class Lookahead(Struct, frozen=True):
    """A condition: the rest has to begin with this as well."""

    part: "Expression"
    is_negated: bool = False
    """It must not. Kept outside of groups; inside it is taken for empty."""


class Anchor(Struct, frozen=True):
    """An end of the text."""

    is_end: bool


Expression = Characters | Concatenation | Alternation | Repetition | Group | Reference | Lookahead | Anchor
EMPTY = Concatenation(())
_ANCHORS = {"^": Anchor(is_end=False), "$": Anchor(is_end=True)}
_LOOKS = ("=", "!", "<=", "<!", "<")
"""After `(?`, the last one begins a name."""


def parse(pattern: str) -> Expression:
    """The tree of a pattern. Assertions but these are taken for empty: what is generated has to be matched again.

    Raises `UnsupportedPattern`.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise UnsupportedPattern(f"it has more than {LONGEST_PATTERN:,} characters")
    reader = _RegexReader(pattern)
    tree = reader.alternation()
    if reader.position < len(pattern):
        raise UnsupportedPattern(f"unbalanced parenthesis at {reader.position}")
    return tree


class _RegexReader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.depth = 0
        self.groups: list[str] = []
        """Names of the capturing groups, in order."""
        self.references = [match[1] or match["name"] for match in _REFERENCE.finditer(pattern)]

    def peek(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def next(self) -> str:
        char = self.peek()
        if not char:
            raise UnsupportedPattern("the pattern ends too early")
        self.position += 1
        return char

    def take(self, text: str) -> bool:
        if self.pattern.startswith(text, self.position):
            self.position += len(text)
            return True
        return False

    def alternation(self) -> Expression:
        self.depth += 1
        if self.depth > 40:
            raise UnsupportedPattern("nested too deeply")
        options = [self.concatenation()]
        while self.take("|"):
            options.append(self.concatenation())
        self.depth -= 1
        return options[0] if len(options) == 1 else Alternation(tuple(options))

    def concatenation(self) -> Expression:
        parts: list[Expression] = []
        while self.peek() not in ("", "|", ")"):
            part = self.quantified(self.atom())
            if part != EMPTY:
                parts.append(part)
        return parts[0] if len(parts) == 1 else Concatenation(tuple(parts))

    def quantified(self, part: Expression) -> Expression:
        char = self.peek()
        bounds = {"*": (0, UNBOUNDED), "+": (1, UNBOUNDED), "?": (0, 1)}.get(char)
        if bounds is not None:
            self.position += 1
        elif char == "{":
            bounds = self.braces()
        if bounds is None:
            return part
        if self.peek() in ("?", "+"):
            self.position += 1
        is_empty = part == EMPTY or isinstance(part, Anchor)
        return self.quantified(part if is_empty else Repetition(part, *bounds))

    def braces(self) -> tuple[int, int] | None:
        end = self.pattern.find("}", self.position)
        low, comma, high = self.pattern[self.position + 1 : max(end, 0)].partition(",")
        if end < 0 or not low.isdecimal() or not (high == "" or high.isdecimal()):
            return None
        self.position = end + 1
        if not comma:
            return int(low), int(low)
        bounds = int(low), int(high) if high else UNBOUNDED
        if bounds[0] > bounds[1]:
            raise UnsupportedPattern("a quantifier has its bounds the wrong way round")
        return bounds

    def atom(self) -> Expression:
        char = self.next()
        if char == "(":
            return self.group()
        if char == "[":
            return Characters(self.character_class())
        if char == ".":
            return Characters(UNIVERSE)
        if char in _ANCHORS:
            return _ANCHORS[char]
        if char == "\\":
            return self.escape()
        if char in "*+?":
            raise UnsupportedPattern("nothing to repeat")
        return _literal(char)

    def group(self) -> Expression:
        number, look = 0, ""
        if not self.take("?"):
            number = self.named("")
        elif self.take("P<") or (look := next(filter(self.take, _LOOKS), "")) == "<":
            end = self.pattern.find(">", self.position)
            if end < 0:
                raise UnsupportedPattern("a group has no end of its name")
            number, look = self.named(self.pattern[self.position : end]), ""
            self.position = end + 1
        elif not (look or self.take(":") or self.take(">")):
            return self.flags()
        inner = self.alternation()
        if not self.take(")"):
            raise UnsupportedPattern("missing )")
        if look:
            return self.looking(look, inner)
        return Group(number, inner) if number in self.referred() else inner

    def looking(self, look: str, inner: Expression) -> Expression:
        """A condition on what stands around; empty for most of those that forbid something, and all that look back."""
        if look == "=" or (look == "!" and self.depth == 1):
            return Lookahead(inner, is_negated=look == "!")
        return EMPTY

    def named(self, name: str) -> int:
        """The number of one more group."""
        self.groups.append(name)
        return len(self.groups)

    def referred(self) -> frozenset[int]:
        """Numbers of the groups that some reference means."""
        if not self.references:
            return frozenset()
        names = {name: number for number, name in enumerate(self.groups, start=1) if name}
        return frozenset(int(text) if text.isdecimal() else names.get(text, 0) for text in self.references)

    def flags(self) -> Expression:
        end = self.pattern.find(")", self.position)
        names = self.pattern[self.position : max(end, 0)]
        if not names or not set(names) <= set("imsu-"):
            raise UnsupportedPattern("unknown group")
        self.position = end + 1
        return EMPTY

    def escape(self) -> Expression:
        char = self.peek()
        if char in ("b", "B", "A", "Z", "z"):
            self.position += 1
            return {"A": _ANCHORS["^"], "Z": _ANCHORS["$"], "z": _ANCHORS["$"]}.get(char, EMPTY)
        if char.isdecimal() and char != "0":
            self.position += 1
            return self.reference(int(char))
        if self.take("k<"):
            end = self.pattern.find(">", self.position)
            name = self.pattern[self.position : max(end, 0)]
            self.position = end + 1
            return self.reference(self.groups.index(name) + 1 if name in self.groups else 0)
        return Characters(self.escaped())

    def reference(self, number: int) -> Expression:
        if not 1 <= number <= len(self.groups):
            # ECMA-262 lets a reference to a group that has not matched yet match nothing.
            raise UnsupportedPattern("a reference to a group that comes later")
        return Reference(number)

    def escaped(self) -> tuple[Interval, ...]:
        """After a backslash."""
        char = self.next()
        if char.lower() in CLASSES:
            intervals = CLASSES[char.lower()]
            if char == "W":
                # Whether other letters are words is read differently; that signs are none is not.
                return tuple(pair for pair in complement(intervals) if pair[1] < 0x80)
            return intervals if char.islower() else complement(intervals)
        if char in "pP" and self.take("{"):
            return self.unicode_property(is_negated=char == "P")
        if char in CONTROLS:
            return _literal(CONTROLS[char]).intervals
        if char in "xu":
            return self.code_point(char)
        if char == "c" and self.peek().isalpha():
            return _literal(chr(ord(self.next()) & 31)).intervals
        if char.isalnum():
            raise UnsupportedPattern(f"unknown escape \\{char}")
        return _literal(char).intervals

    def unicode_property(self, *, is_negated: bool) -> tuple[Interval, ...]:
        end = self.pattern.find("}", self.position)
        name = self.pattern[self.position : max(end, 0)]
        self.position = end + 1
        intervals = property_class(name, is_negated=is_negated)
        if intervals is None:
            raise UnsupportedPattern(f"unknown property {name}")
        return intervals

    def code_point(self, kind: str) -> tuple[Interval, ...]:
        if self.take("{"):
            end = self.pattern.find("}", self.position)
            digits = self.pattern[self.position : max(end, 0)]
            self.position = end + 1
        else:
            size = 2 if kind == "x" else 4
            digits = self.pattern[self.position : self.position + size]
            self.position += size
        try:
            code = int(digits, 16)
        except ValueError:
            raise UnsupportedPattern(f"\\{kind} without digits") from None
        if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
            raise UnsupportedPattern("a surrogate")
        return ((code, code),)

    def character_class(self) -> tuple[Interval, ...]:
        is_negated = self.take("^")
        intervals: list[Interval] = []
        is_first = True
        while is_first or self.peek() != "]":
            if is_first and self.peek() == "]":
                # Python reads it as a character, ECMA-262 as the end: what both understand is rare.
                raise UnsupportedPattern("an empty class")
            is_first = False
            intervals.extend(self.class_item())
        self.position += 1
        found = merged(intervals)
        return complement(found) if is_negated else found

    def class_item(self) -> tuple[Interval, ...]:
        first = self.class_character()
        rest = self.pattern[self.position : self.position + 2]
        if len(rest) < 2 or rest[0] != "-" or rest[1] == "]" or not _is_single(first):
            return first
        self.position += 1
        last = self.class_character()
        if not _is_single(last):
            return (*first, (0x2D, 0x2D), *last)
        if last[0][0] < first[0][0]:
            raise UnsupportedPattern("a range the wrong way round")
        return tuple(_without_surrogates(first[0][0], last[0][0]))

    def class_character(self) -> tuple[Interval, ...]:
        char = self.next()
        if char != "\\":
            return ((ord(char), ord(char)),)
        if self.take("b"):
            return ((8, 8),)
        return self.escaped()


def _is_single(intervals: tuple[Interval, ...]) -> bool:
    return len(intervals) == 1 and intervals[0][0] == intervals[0][1]


def _literal(char: str) -> Characters:
    return Characters(((ord(char), ord(char)),))


def _without_surrogates(low: int, high: int) -> Iterator[Interval]:
    for first, last in ((0, 0xD7FF), (0xE000, 0x10FFFF)):
        if max(first, low) <= min(last, high):
            yield max(first, low), min(last, high)
