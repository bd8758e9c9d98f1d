"""Texts that several expressions match at once: one automaton for all of them, of bounded size."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce
from itertools import pairwise
from operator import or_
from typing import Final

from msgspec import Struct, field

from checker.generation.patterns.openings import Branch, branches
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
from checker.generation.sources import alphabets
from checker.generation.sources.alphabets import Alphabet, Interval, common, merged
from checker.generation.sources.choices import Draw, Source

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
    """Return the texts of some characters that are in all languages. Raises `UnsupportedPattern`."""
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
            [(members[intervals], self._closure(target)) for intervals, target in moves] for moves in self._moves
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


def _classes(allowed: Intervals, sets: set[Intervals]) -> tuple[list[Intervals], dict[Intervals, int]]:
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
"""Edges that looking for an automaton costs which is not made."""


class WantedPatterns(Struct, frozen=True):
    """Patterns that a text has to match, and those that it must not."""

    patterns: tuple[str, ...]
    forbidden: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of patterns."""
        return len(self.patterns) + len(self.forbidden)


class Common(Struct, frozen=True):
    """The texts that patterns have in common: an automaton and its lengths."""

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
            Language(_whole(branches(parse(pattern)), allowed), is_negated=True) for pattern in wanted.forbidden
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


_FARTHEST: Final = 512
"""Characters to the end of a text that are counted one by one, if lengths are that far from each other."""
_ROOMS: Final = (0, 2, 4, 8, 8, 16, 16, 24, 32, 48, 64, 160)
"""Characters beyond the shortest text; the first one is what is left when all else is dropped."""
_RUN: Final = 12
"""Characters that are drawn at once where a state leads to itself."""


class Lengths:
    """The numbers of characters from each state of an automaton to the end."""

    def __init__(self, automaton: Automaton, longest: int) -> None:
        self._counts = [0] * len(automaton.edges)
        sources = _sources(automaton)
        ending = sum(1 << state for state in automaton.accepting)
        self._last = min(longest + 1, _FARTHEST)
        self._always = 0
        """States that have an end in every number of characters from the last one that is counted."""
        for count in range(self._last):
            states = list(_bits(ending))
            for state in states:
                self._counts[state] |= 1 << count
            before = reduce(or_, (sources[state] for state in states), 0)
            if before == ending:
                self._last, self._always = count, ending
                break
            ending = before

    def least(self, state: int, low: int = 0) -> int | None:
        """The fewest characters to an end, at least so many; None when there are none."""
        if low >= self._last:
            return low if self._always >> state & 1 else None
        left = self._counts[state] >> low
        if left:
            return low + (left & -left).bit_length() - 1
        return self._last if self._always >> state & 1 else None

    def has(self, state: int, low: int, high: int) -> bool:
        """True when an end can be reached in a number of characters that lies between."""
        found = self.least(state, max(low, 0)) if high >= 0 else None
        return found is not None and found <= high


def _sources(automaton: Automaton) -> list[int]:
    """For each state those that lead to it, bit by bit."""
    found = [0] * len(automaton.edges)
    for state, edges in enumerate(automaton.edges):
        for target, _ in edges:
            found[target] |= 1 << state
    return found


def _bits(states: int) -> Iterator[int]:
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest


_Exit = tuple[int, Alphabet, str]
"""Where it goes, by which characters, and the only one."""


class _Continuations(Struct, frozen=True):
    """The continuations of a state."""

    exits: tuple[_Exit, ...]
    """Those that are near the end come first."""
    run: Alphabet | None
    """Characters that lead back to it."""
    may_end: bool

    @property
    def is_forced(self) -> bool:
        """True when there is one way on and no other choice."""
        return len(self.exits) == 1 and self.run is None and not self.may_end


def walker(automaton: Automaton, low: int, high: int | None) -> Draw:
    """Draws texts of a length. Raises `UnsupportedPattern` when there are none, as far as can be counted."""
    lengths = Lengths(automaton, _FARTHEST if high is None else high)
    shortest = lengths.least(0, low)
    if shortest is None or (high is not None and shortest > high):
        raise UnsupportedPattern("no text of such a length is in all of them")
    longest = shortest + _ROOMS[-1] if high is None else high
    rooms = tuple(dict.fromkeys(min(room, longest - shortest) for room in _ROOMS))
    walk = _AutomatonWalk(automaton, lengths, low)

    def draw(source: Source) -> str:
        room = rooms[source.choice(len(rooms))] if len(rooms) > 1 else rooms[0]
        return walk.text(source, shortest + room)

    return draw


class _AutomatonWalk:
    """One automaton, walked through from the start for each text."""

    def __init__(self, automaton: Automaton, lengths: Lengths, low: int) -> None:
        self._lengths = lengths
        self._low = low
        self._steps = [self._step(automaton, state) for state in range(len(automaton.edges))]
        self._chains = [self._chain(step) for step in self._steps]

    def _step(self, automaton: Automaton, state: int) -> _Continuations:
        far = {target: self._lengths.least(target) for target, _ in automaton.edges[state]}
        alive = [
            (target, intervals)
            for target, intervals in automaton.edges[state]
            if far[target] is not None and target != state
        ]
        alive.sort(key=lambda edge: far[edge[0]] or 0)
        runs = [intervals for target, intervals in automaton.edges[state] if target == state]
        exits = tuple((target, alphabets.small(some), _only(some)) for target, some in alive)
        run = alphabets.small(runs[0]) if runs else None
        return _Continuations(exits, run, state in automaton.accepting)

    def _chain(self, step: _Continuations) -> tuple[list[tuple[Alphabet, str, int]], int]:
        """Return the steps without a choice of the way: texts, or a number of characters, and the state after them."""
        found: list[tuple[Alphabet, str, int]] = []
        state = 0
        while step.is_forced and len(found) < len(self._steps):
            ((state, alphabet, only),) = step.exits
            before, text, count = found[-1] if found else (None, "", 0)
            # Equal ones need not be one object: what is remembered differs from process to process.
            is_same = before is not None and before.intervals == alphabet.intervals
            if (text and only) or (is_same and not (text or only)):
                found[-1] = (alphabet, text + only, count + 1)
            else:
                found.append((alphabet, only, 1))
            step = self._steps[state]
        return found, state

    def text(self, source: Source, most: int) -> str:
        """A text of at most so many characters."""
        state, size, parts = 0, 0, []
        while True:
            step = self._steps[state]
            if step.is_forced:
                chain, state = self._chains[state]
                for alphabet, only, count in chain:
                    parts.append(only or source.string(alphabet, count, count))
                    size += count
                continue
            if step.run is not None:
                more = self._run(source, state, size, most)
                parts.append(more)
                size += len(more)
            ends = step.may_end and size >= self._low
            exits = [one for one in step.exits if self._leads_on(one[0], size + 1, most)]
            count = len(exits) + ends
            index = source.choice(count) if count > 1 else 0
            if index < ends:
                return "".join(parts)
            state, alphabet, only = exits[index - ends]
            parts.append(only or source.string(alphabet, 1, 1))
            size += 1

    def _leads_on(self, state: int, size: int, most: int) -> bool:
        return self._lengths.has(state, self._low - size, most - size)

    def _run(self, source: Source, state: int, size: int, most: int) -> str:
        """Characters that change nothing: as many as it takes to have a way on, or more."""
        step = self._steps[state]
        room = most - size - (self._lengths.least(state) or 0)
        few = next(count for count in range(room + 1) if self._goes_on(step, size + count, most))
        many = min(room, max(few, self._low - size) + _RUN)
        # With more of them there is still a way on, but for a minimum that only few reach.
        while many > few and not self._goes_on(step, size + many, most):
            many -= 1
        if not many:
            return ""
        text = source.string(step.run or alphabets.NAME, few, many)
        if not self._goes_on(step, size + len(text), most):
            return text[:few]
        return text

    def _goes_on(self, step: _Continuations, size: int, most: int) -> bool:
        return (step.may_end and size >= self._low) or any(
            self._leads_on(target, size + 1, most) for target, _, _ in step.exits
        )


def _only(intervals: Intervals) -> str:
    """The one character; empty for several."""
    ((first, last), *others) = intervals
    return chr(first) if first == last and not others else ""
