"""Texts of an automaton, drawn by walking through it: short ones mostly, and never into a dead end."""

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Final

from msgspec import Struct

from checker.generation.patterns.automata import Automaton, Intervals
from checker.generation.patterns.regexes import UnsupportedPattern
from checker.generation.sources import alphabets
from checker.generation.sources.alphabets import Alphabet
from checker.generation.sources.choices import Draw, Source

_FARTHEST: Final = 512
"""Characters to the end of a text that are counted one by one, if lengths are that far from each other."""
_ROOMS: Final = (0, 2, 4, 8, 8, 16, 16, 24, 32, 48, 64, 160)
"""Characters beyond the shortest text; the first one is what is left when all else is dropped."""
_RUN: Final = 12
"""Characters that are drawn at once where a state leads to itself."""


class Lengths:
    """How many characters it can take from each state of an automaton to the end."""

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
    """What may follow in a state."""

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
        """What follows without a choice of the way: texts, or so many characters, and the state after them."""
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
