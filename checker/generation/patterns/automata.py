"""Texts that several expressions match at once: one automaton for all of them, of bounded size."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

from msgspec import Struct, field

from checker.generation.patterns.regexes import (
    UNBOUNDED,
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Expression,
    Group,
    Repetition,
    UnsupportedPattern,
)
from checker.generation.sources.alphabets import Interval, merged

Intervals = tuple[Interval, ...]
_MOST_STATES = 800
_MOST_PARTS = 2_500
"""Characters of an expression, its repetitions counted."""
_MOST_EDGES = 6_000
"""Some 2 MB."""
_MOST_WORK = 100_000
"""Edges that are looked at: some 15 ms."""
_WORK_OF_AN_EDGE = 60
"""Of one that is kept."""


class Language(Struct, frozen=True):
    """Texts that an expression matches from end to end; all others where it is negated."""

    expression: Expression
    is_negated: bool = False


class Automaton(Struct, frozen=True):
    """Deterministic; the first state is where it starts."""

    edges: list[list[tuple[int, Intervals]]]
    """For each state: where it goes, and by which characters."""
    accepting: frozenset[int]
    work: int
    """Edges that were looked at to make it, and for what is kept more."""


class AutomatonTooLarge(UnsupportedPattern):
    """An automaton would take more states, or more work, than it is worth."""


def intersection(languages: Iterable[Language], allowed: Intervals) -> Automaton:
    """What is in all the languages and keeps to some characters. Raises `UnsupportedPattern`."""
    machines = [_Machine(language) for language in languages]
    sets = {intervals for machine in machines for intervals in machine.intervals()}
    classes, members = _classes(allowed, sets)
    for machine in machines:
        machine.read(members)
    return _product(machines, classes)


class _Machine:
    """One expression as a nondeterministic automaton; sets of its states are integers, bit by bit."""

    def __init__(self, language: Language) -> None:
        self.is_negated = language.is_negated
        self._moves: list[list[tuple[Intervals, int]]] = [[]]
        self._silent: list[list[int]] = [[]]
        self._last = self._add(language.expression, 0)
        self._closures: dict[int, int] = {}
        self._edges: list[list[tuple[int, int]]] = []
        self._known: dict[tuple[int, int], int] = {}
        self.start = self._closure(0)
        self.work = 0

    def intervals(self) -> Iterator[Intervals]:
        """Sets of characters that edges stand for."""
        return (intervals for moves in self._moves for intervals, _ in moves)

    def read(self, members: dict[Intervals, int]) -> None:
        """Take classes in place of characters."""
        self._edges = [
            [(members[intervals], self._closure(target)) for intervals, target in moves]
            for moves in self._moves
        ]

    def accepts(self, states: int) -> bool:
        """True when a text may end here."""
        return bool(states >> self._last & 1) is not self.is_negated

    def is_dead(self, states: int) -> bool:
        """True when no text that goes on from here is accepted."""
        return not states and not self.is_negated

    def after(self, states: int, number: int) -> int:
        """States after a character of a class."""
        key = (states, number)
        known = self._known.get(key)
        if known is not None:
            return known
        found = 0
        left = states
        while left:
            lowest = left & -left
            left ^= lowest
            moves = self._edges[lowest.bit_length() - 1]
            self.work += len(moves)
            for classes, closure in moves:
                if classes >> number & 1:
                    found |= closure
        self._known[key] = found
        return found

    def _state(self) -> int:
        if len(self._moves) >= _MOST_PARTS:
            raise AutomatonTooLarge("its automaton is too large")
        self._moves.append([])
        self._silent.append([])
        return len(self._moves) - 1

    def _add(self, tree: Expression, at: int) -> int:
        """Add an expression that starts at a state; the state where it ends."""
        match tree:
            case Characters(intervals):
                end = self._state()
                self._moves[at].append((intervals, end))
            case Concatenation(parts):
                end = at
                for part in parts:
                    end = self._add(part, end)
            case Alternation(options):
                ends = [self._add(option, self._branch(at)) for option in options]
                end = self._state()
                for one in ends:
                    self._silent[one].append(end)
            case Repetition(part, low, high):
                end = self._repeated(part, (low, high), at)
            case Group(_, part):
                end = self._add(part, at)
            case Anchor():
                end = at
            case _:
                raise UnsupportedPattern("a part that no automaton has")
        return end

    def _branch(self, at: int) -> int:
        start = self._state()
        self._silent[at].append(start)
        return start

    def _repeated(self, part: Expression, bounds: tuple[int, int], at: int) -> int:
        low, high = bounds
        for _ in range(low):
            at = self._add(part, at)
        if high >= UNBOUNDED:
            loop = self._branch(at)
            self._silent[self._add(part, loop)].append(loop)
            return loop
        end = self._state()
        for _ in range(high - low):
            self._silent[at].append(end)
            at = self._add(part, at)
        self._silent[at].append(end)
        return end

    def _closure(self, state: int) -> int:
        """The states that are reached without a character: those that a text goes on from or ends in."""
        known = self._closures.get(state)
        if known is not None:
            return known
        found, seen, waiting = 0, {state}, [state]
        while waiting:
            one = waiting.pop()
            if self._moves[one] or one == self._last:
                # What is left out would tell states apart that are one.
                found |= 1 << one
            waiting.extend(target for target in self._silent[one] if target not in seen)
            seen.update(self._silent[one])
        self._closures[state] = found
        return found


def _classes(
    allowed: Intervals, sets: set[Intervals]
) -> tuple[list[Intervals], dict[Intervals, int]]:
    """Characters that no set tells apart, and for each set the classes in it, bit by bit."""
    ordered = sorted(sets)
    edges = [_cuts(intervals) for intervals in ordered]
    inside = _cuts(allowed)
    cuts = sorted({cut for one in (*edges, inside) for cut in one})
    found: dict[tuple[bool, ...], list[Interval]] = {}
    for low, after in pairwise(cuts):
        if bisect_right(inside, low) % 2:
            key = tuple(bool(bisect_right(one, low) % 2) for one in edges)
            found.setdefault(key, []).append((low, after - 1))
    members = {
        intervals: sum(1 << number for number, key in enumerate(found) if key[index])
        for index, intervals in enumerate(ordered)
    }
    return [merged(intervals) for intervals in found.values()], members


def _cuts(intervals: Intervals) -> list[int]:
    """Where the characters of a set begin and end, in turn."""
    return [cut for low, high in merged(intervals) for cut in (low, high + 1)]


class _States(Struct):
    """States of a product, by number."""

    known: dict[tuple[int, ...], int] = field(default_factory=dict)
    waiting: list[tuple[int, ...]] = field(default_factory=list)

    def number(self, state: tuple[int, ...]) -> int:
        number = self.known.get(state)
        if number is None:
            number = self.known[state] = len(self.known)
            self.waiting.append(state)
            if number >= _MOST_STATES:
                raise AutomatonTooLarge("its automaton is too large")
        return number


def _product(machines: list[_Machine], classes: list[Intervals]) -> Automaton:
    states = _States()
    states.number(tuple(machine.start for machine in machines))
    edges: list[list[tuple[int, Intervals]]] = []
    accepting, count = set(), 0
    for state in states.waiting:
        pairs = list(zip(machines, state, strict=True))
        if all(machine.accepts(mine) for machine, mine in pairs):
            accepting.add(len(edges))
        reached: dict[int, list[Interval]] = {}
        for number, intervals in enumerate(classes):
            after = tuple(machine.after(mine, number) for machine, mine in pairs)
            if not any(
                machine.is_dead(mine) for machine, mine in zip(machines, after, strict=True)
            ):
                reached.setdefault(states.number(after), []).extend(intervals)
        edges.append([(target, merged(found)) for target, found in reached.items()])
        count += len(reached)
        work = sum(machine.work + len(edges) * len(classes) for machine in machines)
        if work > _MOST_WORK or count > _MOST_EDGES:
            raise AutomatonTooLarge("its automaton takes too much work")
    return Automaton(edges, frozenset(accepting), work + count * _WORK_OF_AN_EDGE)
