"""Sets of characters, each with a long random text from which strings are sliced."""

import codecs
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import pairwise
from random import Random

from checker.validation.ecma import merged

Interval = tuple[int, int]  # First and last code point.
TextRange = tuple[int, float, str | None]  # (first length, width of the range), or a whole text.
TextPlan = tuple[list[TextRange], str, int]
"""Equally likely lengths and whole texts, the ring that texts are sliced from, and the number of its start positions."""

LONGEST_SLICE = 1024  # Characters that follow each start position of a ring.


class Alphabet:
    """A set of characters that strings may contain."""

    def __init__(
        self, intervals: Iterable[Interval], *, pool_size: int = 4096, blocks: tuple[tuple[int, str], ...] = ()
    ) -> None:
        self.intervals = merged(intervals)
        """In order, without overlap."""
        self.pool_size = pool_size
        self.plans: dict[tuple[int, int], TextPlan] = {}
        """(minimum, maximum) -> plan of random texts."""
        self.width = 1 if not self.intervals or self.intervals[-1][1] < 0x80 else 2
        """Approximate bytes of a character in UTF-8."""
        self._blocks = blocks
        self._pattern: Callable[[str], object] | None = None

    def permits(self, text: str) -> bool:
        """Whether every character of `text` is in the alphabet."""
        if self._pattern is None:
            inside = "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in self.intervals)
            self._pattern = re.compile(f"[{inside}]*" if inside else "").fullmatch
        return self._pattern(text) is not None

    @cached_property
    def ring(self) -> str:
        """`pool_size` random characters, followed by the first ones again, so that every slice of up to 1,024 is complete."""
        random = Random(len(self.intervals) + self.pool_size)
        if not self.intervals:
            return ""
        blocks = [(weight, text) for weight, text in self._blocks if self.permits(text)]
        if not blocks:
            steps = ((low, high + 1, max(1, (high - low + 1) // 128)) for low, high in self.intervals)
            blocks = [(1, "".join(chr(code) for step in steps for code in range(*step)))]
        weights = [weight for weight, _ in blocks]
        parts: list[str] = []
        size = 0
        while size < self.pool_size:
            # Runs of one character class: a short slice is then all digits, all blanks, or all letters of one script.
            (_, characters) = random.choices(blocks, weights)[0]
            part = "".join(random.choices(characters, k=random.randint(8, 48)))
            parts.append(part)
            size += len(part)
        ring = "".join(parts)[: self.pool_size]
        return ring + (ring * (LONGEST_SLICE // self.pool_size + 1))[:LONGEST_SLICE]

    def slice(self, offset: int, size: int) -> str:
        """Return `size` characters of the ring."""
        if size <= LONGEST_SLICE:
            return self.ring[offset : offset + size]
        once = self.ring[: self.pool_size]
        return (once * (size // self.pool_size + 2))[offset : offset + size]


def outside(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the characters that are not in `intervals`, with empty intervals (the last before the first) between neighbours."""
    ends = [(-1, -1), *merged(intervals), (sys.maxunicode + 1, sys.maxunicode + 1)]
    return [(before + 1, after - 1) for (_, before), (after, _) in pairwise(ends)]


@lru_cache(maxsize=1024)
def of(intervals: tuple[Interval, ...]) -> Alphabet:
    """Return the alphabet of these characters. Equal alphabets share a ring."""
    return Alphabet(intervals)


_LOWER = "abcdefghijklmnopqrstuvwxyz"
_ALNUM = _LOWER + _LOWER.upper() + "0123456789"
_BLOCKS = (
    (24, _LOWER),
    (16, _ALNUM),
    (5, "0123456789"),
    (2, "0"),
    (6, _LOWER + " "),
    (3, " "),
    (4, "\u00e9\u00e8\u00fc\u00f6\u00df\u00f1\u00e7\u00e5\u00d8"),
    (2, "\u0430\u0431\u0432\u0433\u0416\u042f"),
    (2, "\u4e2d\u6587\u65e5\u672c\u8a9e"),
    (2, "\u0627\u0644\u0639\u0631\u0628\u064a\u0629"),
    (2, "\U0001f600\U0001f4a9\U0001f680\U0001d54f"),
    (1, "\u0130\u0131\u017f\u212a\ufb01\u01c5\u0301\u200b\u200d\u202e\ufeff\u2028"),
    (4, "'\"`\\"),
    (4, "%&?#=+;:/@,"),
    (3, "<>(){}[]|$^*~!"),
    (3, "-_."),
    (2, "\t\n\r "),
    (1, "\x01\x07\x08\x0b\x1b\x7f\x80\x85"),
    (1, "\x00"),
)
_UNICODE = ((0x0, 0xD7FF), (0xE000, 0x10FFFF))
_BASIC = ((0x0, 0xD7FF), (0xE000, 0xFFFD))
_LARGE, _MEDIUM = 1 << 16, 1 << 14

TEXT = Alphabet(_UNICODE, pool_size=_LARGE, blocks=_BLOCKS)  # Everything but surrogates.
LETTERS = Alphabet(((0x61, 0x7A),))
NAME = Alphabet(((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)))  # Characters of property names.
HEX = Alphabet(((0x30, 0x39), (0x61, 0x66)))
VISIBLE = Alphabet(((0x21, 0x7E),), pool_size=_LARGE, blocks=_BLOCKS)


@lru_cache(maxsize=64)
def restricted(intervals: tuple[Interval, ...], excluded: str) -> Alphabet:
    """Return the alphabet of `intervals` without `excluded`, with the mix of characters of `TEXT`."""
    blocks: list[tuple[int, str]] = []
    for weight, text in _BLOCKS:
        kept = "".join(char for char in text if char not in excluded)
        if kept:
            blocks.append((weight, kept))
    return Alphabet(
        common(merged(intervals), outside((ord(one), ord(one)) for one in excluded)),
        pool_size=_MEDIUM,
        blocks=tuple(blocks),
    )


def common(left: Iterable[Interval], right: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return the alphabet of the characters that both have."""
    others = tuple(right)
    return tuple((max(a, c), min(b, d)) for a, b in left for c, d in others if max(a, c) <= min(b, d))


@lru_cache(maxsize=8)
def text_of(codec: str | None, *, allows_nul: bool) -> Alphabet:
    """Return the alphabet of strings: the characters of an encoding, or all but surrogates."""
    excluded = "" if allows_nul else "\0"
    name = codecs.lookup(codec).name if codec is not None else "utf-8"
    if name.startswith("utf"):
        return TEXT if allows_nul else restricted(_UNICODE, excluded)
    encodable: list[Interval] = []
    for code in (one for low, high in _BASIC for one in range(low, high + 1)):
        with suppress(UnicodeError):
            chr(code).encode(name)
            encodable.append((code, code))
    return restricted(merged(encodable), excluded)
