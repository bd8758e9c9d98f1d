"""What several patterns ask of a text, as one automaton."""

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from checker.generation.patterns.automata import Automaton, Intervals, Language, intersection
from checker.generation.patterns.character_classes import UNIVERSE
from checker.generation.patterns.openings import Branch, branches
from checker.generation.patterns.regexes import (
    UNBOUNDED,
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Expression,
    Lookahead,
    Repetition,
    UnsupportedPattern,
    parse,
)
from checker.generation.sources.alphabets import common

_IN_VAIN = 100_000
"""Edges that looking for an automaton costs which is not made."""


class WantedPatterns(Struct, frozen=True):
    """Patterns that a text has to match, and those that it must not."""

    patterns: tuple[str, ...]
    forbidden: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.patterns) + len(self.forbidden)


class Common(Struct, frozen=True):
    """What patterns have in common: texts of an automaton that have a length."""

    automaton: Automaton | None
    """None where it would be too large, or a pattern is none for automata."""
    low: int = 0
    high: int | None = None
    work: int = _IN_VAIN
    """Edges that were looked at."""


@lru_cache(maxsize=32)
def common_to(wanted: WantedPatterns, allowed: Intervals) -> Common:
    """Texts of allowed characters that the patterns are found in.

    Classes of characters stand for their usual members, so it has no more than these, and a match has to decide.
    """
    try:
        found = [one for pattern in wanted.patterns for one in _languages(pattern, allowed)]
        if wanted.forbidden:
            # What the classes of a pattern leave out would pass for no match.
            allowed = common(UNIVERSE, allowed)
        forbidden = [
            Language(_whole(branches(parse(pattern)), allowed), is_negated=True)
            for pattern in wanted.forbidden
        ]
        sizes = [size for _, size in map(_measured, found) if size is not None]
        automaton = intersection([*(one for one, _ in map(_measured, found)), *forbidden], allowed)
    except UnsupportedPattern:
        return Common(None)
    high = min((high for _, high in sizes), default=UNBOUNDED)
    low = max((low for low, _ in sizes), default=0)
    return Common(automaton, low, None if high >= UNBOUNDED else high, automaton.work)


def _measured(language: Language) -> tuple[Language, tuple[int, int] | None]:
    """A language without its lengths, and these: where they are all that counts, an automaton need not count."""
    match language:
        case Language(Concatenation((Repetition(Characters() as one, low, high),)), False):
            return Language(Repetition(one, 0, UNBOUNDED)), (low, high)
        case _:
            return language, None


def _languages(pattern: str, allowed: Intervals) -> Iterator[Language]:
    """A pattern, and the conditions at its start as languages of their own."""
    found = branches(parse(pattern))
    if len(found) == 1 and not found[0].is_open_before:
        (branch,) = found
        conditions = [part for part in branch.parts if isinstance(part, Lookahead)]
        if conditions == list(branch.parts[: len(conditions)]):
            for condition in conditions:
                start = Concatenation((Anchor(is_end=False), *_row(condition.part)))
                yield Language(_whole(branches(start), allowed), condition.is_negated)
            found = [Branch(branch.parts[len(conditions) :], False, branch.is_open_after)]
    yield Language(_whole(found, allowed))


def _row(tree: Expression) -> tuple[Expression, ...]:
    return tree.parts if isinstance(tree, Concatenation) else (tree,)


def _whole(found: list[Branch], allowed: Intervals) -> Expression:
    """The texts that a pattern is found in, from end to end."""
    anything = Repetition(Characters(allowed), 0, UNBOUNDED)
    rows = []
    for branch in found:
        before = (anything,) if branch.is_open_before else ()
        after = (anything,) if branch.is_open_after else ()
        rows.append(Concatenation((*before, *branch.parts, *after)))
    return rows[0] if len(rows) == 1 else Alternation(tuple(rows))
