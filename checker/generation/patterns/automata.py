"""Texts that several regular expressions match at once: their intersection as one automaton of bounded size.

Drawing from one expression and filtering by the others finds hardly any text, such as a password with a letter, a digit and a sign.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce
from itertools import pairwise
from operator import or_
from typing import Final

from msgspec import Struct, field

from checker.generation.patterns.regexes import (
    UNBOUNDED,
    UNIVERSE,
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Expression,
    Group,
    Lookahead,
    Repetition,
    UnsupportedPattern,
    parse,
)
from checker.generation.patterns.writing import Branch, branches
from checker.generation.sources import alphabets
from checker.generation.sources.alphabets import Alphabet, Interval, common, merged
from checker.generation.sources.choices import Draw, Source

Intervals = tuple[Interval, ...]
_MOST_STATES = 800
_MOST_PARTS = 2_500
"""Characters of an expression, its repetitions counted."""
_MOST_EDGES = 6_000
"""Most edges, about 2 MB."""
_MOST_WORK = 100_000
"""The maximum number of edges to inspect: about 15 ms."""
_WORK_OF_AN_EDGE = 60
"""The work for one edge that is kept, in inspected edges."""


class Language(Struct, frozen=True):
    """The texts that an expression matches as a whole, or all other texts if it is negated."""

    expression: Expression
    is_negated: bool = False


class Automaton(Struct, frozen=True):
    """A deterministic automaton; the first state is the start."""

    edges: list[list[tuple[int, Intervals]]]
    """For each state: where it goes, and by which characters."""
    accepting: frozenset[int]
    work: int
    """Edges that were visited to make it, and a surcharge for those that are kept."""


class AutomatonTooLarge(UnsupportedPattern):
    """An automaton would take more states, or more work, than it is worth."""


def intersection(languages: Iterable[Language], allowed: Intervals) -> Automaton:
    """Return the texts of some characters that are in all languages. Raises `UnsupportedPattern`."""
    machines = [_Machine(language) for language in languages]
    sets = {intervals for machine in machines for intervals in machine.intervals()}
    classes, members = _classes(allowed, sets)
    # All machines step by the same classes: characters that no pattern distinguishes are one class.
    for machine in machines:
        machine.read(members)
    return _product(machines, classes)


class _Machine:
    """One expression as a nondeterministic automaton (Thompson's construction); sets of its states are integers, bit by bit."""

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
        """Return the sets of characters of all edges."""
        return (intervals for moves in self._moves for intervals, _ in moves)

    def read(self, members: dict[Intervals, int]) -> None:
        """Take classes in place of characters."""
        self._edges = [
            [(members[intervals], self._closure(target)) for intervals, target in moves] for moves in self._moves
        ]

    def accepts(self, states: int) -> bool:
        return bool(states >> self._last & 1) is not self.is_negated

    def is_dead(self, states: int) -> bool:
        # No continuation is accepted. A negated language accepts every continuation of such a text.
        return not states and not self.is_negated

    def after(self, states: int, number: int) -> int:
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
        """Add an expression that starts at the state `at`; return the state in which it ends."""
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
        # An automaton does not count: a repetition is written out, which is why `_MOST_PARTS` bounds it.
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
        """Return the states that are reached without a character, as a bit set, without those that only lead to others."""
        known = self._closures.get(state)
        if known is not None:
            return known
        found, seen, waiting = 0, {state}, [state]
        while waiting:
            one = waiting.pop()
            if self._moves[one] or one == self._last:
                # Other states would make sets differ that accept the same texts.
                found |= 1 << one
            waiting.extend(target for target in self._silent[one] if target not in seen)
            seen.update(self._silent[one])
        self._closures[state] = found
        return found


def _classes(allowed: Intervals, sets: set[Intervals]) -> tuple[list[Intervals], dict[Intervals, int]]:
    """Return the classes of characters that no set distinguishes, and for each set its classes, bit by bit."""
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
    """Return the bounds of the characters of a set, in turn."""
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
    # States are numbered when a text first reaches them: most combinations of states are never reached.
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
            if not any(machine.is_dead(mine) for machine, mine in zip(machines, after, strict=True)):
                reached.setdefault(states.number(after), []).extend(intervals)
        edges.append([(target, merged(found)) for target, found in reached.items()])
        count += len(reached)
        work = sum(machine.work + len(edges) * len(classes) for machine in machines)
        if work > _MOST_WORK or count > _MOST_EDGES:
            raise AutomatonTooLarge("its automaton takes too much work")
    return Automaton(edges, frozenset(accepting), work + count * _WORK_OF_AN_EDGE)


_IN_VAIN = 100_000
"""The work, in edges, charged for an automaton that turns out to be too large."""


class Common(Struct, frozen=True):
    """The texts that patterns have in common: an automaton and its lengths."""

    automaton: Automaton | None
    """None if it would be too large or if a pattern has parts that an automaton cannot express."""
    low: int = 0
    high: int | None = None
    work: int = _IN_VAIN
    """Edges that were looked at."""


@lru_cache(maxsize=32)
def common_to(patterns: tuple[str, ...], forbidden: tuple[str, ...], allowed: Intervals) -> Common:
    """Return the texts of allowed characters in which all patterns are found and no forbidden one.

    Classes stand for their usual characters, so the automaton has no more than these, and a match has to decide.
    """
    try:
        found = [one for pattern in patterns for one in _languages(pattern, allowed)]
        if forbidden:
            # A character that the classes of a pattern leave out would pass for one that does not match.
            allowed = common(UNIVERSE, allowed)
        excluded = [Language(_whole(branches(parse(pattern)), allowed), is_negated=True) for pattern in forbidden]
        measured = [_measured(language) for language in found]
        automaton = intersection([*(language for language, _ in measured), *excluded], allowed)
    except UnsupportedPattern:
        return Common(None)
    sizes = [size for _, size in measured if size is not None]
    high = min((high for _, high in sizes), default=UNBOUNDED)
    low = max((low for low, _ in sizes), default=0)
    return Common(automaton, low, None if high >= UNBOUNDED else high, automaton.work)


def _measured(language: Language) -> tuple[Language, tuple[int, int] | None]:
    """Return a language without its bounds on length, and the bounds: an automaton would need a state for each length."""
    match language:
        # Three classes with `^.{8,12}$` came to 337 states; without the lengths there are 8.
        case Language(Concatenation((Repetition(Characters() as one, low, high),)), False):
            return Language(Repetition(one, 0, UNBOUNDED)), (low, high)
        case _:
            return language, None


def _languages(pattern: str, allowed: Intervals) -> Iterator[Language]:
    """Yield the lookaheads at the start of a pattern as languages of their own, then the rest of the pattern."""
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
    """Return the expression of the whole texts in which a pattern is found."""
    anything = Repetition(Characters(allowed), 0, UNBOUNDED)
    rows = []
    for branch in found:
        before = (anything,) if branch.is_open_before else ()
        after = (anything,) if branch.is_open_after else ()
        rows.append(Concatenation((*before, *branch.parts, *after)))
    return rows[0] if len(rows) == 1 else Alternation(tuple(rows))


_FARTHEST: Final = 512
"""Lengths that are counted one by one; from there on they repeat, or the walk is refused."""
_FAR: Final = 256
"""Characters to the end from which on a state is left only if it has to be."""
_ROOMS: Final = (*range(17), 24, 32, 48, 64, 160)
"""Characters beyond the shortest text; the first one is left when shrinking has dropped all others."""


class Lengths:
    """The numbers of characters from each state of an automaton to the end."""

    def __init__(self, automaton: Automaton, longest: int) -> None:
        self._counts = [0] * len(automaton.edges)
        sources = [0] * len(automaton.edges)
        for state, edges in enumerate(automaton.edges):
            for target, _ in edges:
                sources[target] |= 1 << state
        ending = sum(1 << state for state in automaton.accepting)
        self._last = min(longest + 1, _FARTHEST)
        self._always = 0
        """States that have an end in every number of characters from the last one that is counted."""
        for count in range(self._last):
            states = list(_bits(ending))
            for state in states:
                self._counts[state] |= 1 << count
            # From here on the set repeats itself, so all greater lengths are known.
            before = reduce(or_, (sources[state] for state in states), 0)
            if before == ending:
                self._last, self._always = count, ending
                break
            ending = before

    def has(self, state: int, count: int) -> bool:
        """Whether an end is reached in exactly that many characters."""
        found = self._counts[state] >> count if count < self._last else self._always >> state
        return bool(found & 1)

    def between(self, low: int, high: int | None) -> tuple[int, ...]:
        """Return some lengths of texts, the shortest first; empty where no text has a length between the bounds."""
        # The lengths beyond the counted ones are all there, or none is.
        last = max(low, self._last) if high is None else min(high, max(low, self._last))
        shortest = next((size for size in range(low, last + 1) if self.has(0, size)), None)
        if shortest is None:
            return ()
        longest = shortest + _ROOMS[-1] if high is None else high
        sizes = (min(shortest + room, longest) for room in _ROOMS)
        return tuple(dict.fromkeys(next(n for n in range(size, -1, -1) if self.has(0, n)) for size in sizes))


def _bits(states: int) -> Iterator[int]:
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest


def walker(automaton: Automaton, low: int, high: int | None) -> Draw:
    """Draws texts of a length. Raises `UnsupportedPattern` when there are none, as far as can be counted.

    The length is drawn first, then a way that ends after exactly that many characters, and the characters last: rows of them
    that are drawn from one alphabet are one choice.
    """
    lengths = Lengths(automaton, _FARTHEST if high is None else high)
    sizes = lengths.between(low, high)
    if not sizes:
        raise UnsupportedPattern("no text of an allowed length matches all patterns")
    # Alphabets that are equal have to be one object here: rows of characters are found by identity.
    small: dict[Intervals, Alphabet] = {}
    ways = [
        [(target, small.setdefault(intervals, alphabets.small(intervals))) for target, intervals in edges]
        for edges in _nearest_first(automaton, lengths)
    ]
    has = lengths.has

    def draw(source: Source) -> str:
        size = sizes[source.choice(len(sizes))] if len(sizes) > 1 else sizes[0]
        state = 0
        rows: list[tuple[Alphabet, int]] = []
        for left in range(size - 1, -1, -1):
            # A walk never backtracks: from each remaining edge, an accepting state is exactly the remaining number of characters away.
            possible = [way for way in ways[state] if has(way[0], left)]
            if left > _FAR and (loop := [way for way in possible if way[0] == state]):
                # A case has no room for a choice for each of a hundred thousand characters.
                possible = loop
            state, alphabet = possible[source.choice(len(possible))] if len(possible) > 1 else possible[0]
            if rows and rows[-1][0] is alphabet:
                rows[-1] = (alphabet, rows[-1][1] + 1)
            else:
                rows.append((alphabet, 1))
        return "".join([source.string(alphabet, count, count) for alphabet, count in rows])

    return draw


def _nearest_first(automaton: Automaton, lengths: Lengths) -> Iterator[list[tuple[int, Intervals]]]:
    """Yield the edges of each state, in the order of the distance to the end: shrinking takes the first."""
    far = {
        state: next((n for n in range(_FARTHEST) if lengths.has(state, n)), _FARTHEST)
        for state in range(len(automaton.edges))
    }
    for edges in automaton.edges:
        yield sorted(edges, key=lambda edge: far[edge[0]])
