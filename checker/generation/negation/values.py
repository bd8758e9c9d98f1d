"""Values that break one keyword of a schema, drawn from all the ways that there are, each with what it breaks."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.meta import Violation
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import Place
from checker.generation.meaning.forms import Conjunction
from checker.generation.negation.hosts import Broken
from checker.generation.negation.listing import Breach, breaches
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.turn import Budget, Rejected, Turn, retried

NegativeDraw = Callable[[Source], tuple[Any, Violation]]
"""Draws a value and what it breaks."""

_MOST: Final = 600
"""Ways that are looked at; those near the root come first."""
_STEPS: Final = 2_000
"""Work that compiling one of them may take."""
_TRIALS: Final = 12
_NOT_ALONE: Final = 0.04
"""Share of values that break two things at once, because there is no other way: a number where texts are listed."""
_ATTEMPTS: Final = 20
NOTHING: Final = "Impossible to generate negative test cases"


def compile_negative(
    compiler: Compiler,
    conjunction: Conjunction,
    place: Place,
    *,
    is_broken: Callable[[Any], bool] | None = None,
    wanted: Callable[[Breach], bool] | None = None,
) -> NegativeDraw:
    """Draws values that a conjunction does not admit: uniform over its schemas, then over their keywords.

    `is_broken` is the proof that a value has to pass: not valid, if nothing else is said. Only `wanted` breaches are
    taken. Raises `Unsatisfiable` when there is no way to break it.
    """
    if is_broken is None:
        is_valid = compiler.validator(conjunction)

        def is_broken(value: Any) -> bool:
            return not is_valid(value)

    pointer = conjunction[0].pointer if conjunction else "#"
    listed = (
        filter(wanted, breaches(compiler, conjunction, place))
        if wanted
        else breaches(compiler, conjunction, place)
    )
    choice = _Choice(_some(listed, compiler.budget), is_broken, compiler.turn, compiler.budget)
    choice.refuse_nothing(pointer)

    def make(source: Source) -> tuple[Any, Violation]:
        breach, draw = choice.drawn(source)
        value, wrong = draw(source)
        return value, Violation(breach.pointer, breach.keyword, breach.was, wrong)

    return retried(make, lambda drawn: is_broken(drawn[0]), compiler.turn, pointer, _ATTEMPTS)


def _some(listed: Iterator[Breach], budget: Budget) -> list[Breach]:
    """The first ones, as many as can be listed with some of the budget."""
    found: list[Breach] = []
    with budget.lent(_STEPS), suppress(BudgetSpent):
        for breach in islice(listed, _MOST):
            found.append(breach)
    return found


@dataclass(slots=True)
class _Choice:
    """Which breach: compiled, and tried, when it is first chosen.

    One that gives nothing in its trials gives way to the next, so the same choices always mean the same.
    """

    listed: list[Breach]
    is_broken: Callable[[Any], bool]
    turn: Turn
    budget: Budget
    nodes: list[list[list[int]]] = field(init=False)
    """For each schema, for each of its keywords, indices of the ways."""
    others: list[int] = field(init=False)
    """Of what cannot be broken alone."""
    _draws: dict[int, tuple[int, Broken] | None] = field(default_factory=dict)
    """Index -> the first from there on that gives something."""

    def __post_init__(self) -> None:
        alone = [index for index, breach in enumerate(self.listed) if breach.is_alone]
        self.others = [index for index, breach in enumerate(self.listed) if not breach.is_alone]
        if not alone:
            alone, self.others = self.others, []
        self.nodes = _grouped(self.listed, alone)

    def refuse_nothing(self, pointer: str) -> None:
        """Raise `Unsatisfiable` when none of them gives anything."""
        # A wrong type is compiled soonest: most schemas have one.
        first = next((i for i, breach in enumerate(self.listed) if breach.keyword == "type"), 0)
        if not self.listed or self._ready(first) is None:
            raise Unsatisfiable(pointer, NOTHING)

    def drawn(self, source: Source) -> tuple[Breach, Broken]:
        """One of them."""
        others = self.others
        if others and source.boolean(_NOT_ALONE):
            index = others[source.choice(len(others))]
        else:
            node = self.nodes[source.choice(len(self.nodes))]
            ways = node[source.choice(len(node))]
            index = ways[source.choice(len(ways))] if len(ways) > 1 else ways[0]
        ready = self._draws.get(index) or self._ready(index)
        assert ready is not None
        return self.listed[ready[0]], ready[1]

    def _ready(self, index: int) -> tuple[int, Broken] | None:
        count = len(self.listed)
        for step in range(count):
            at = (index + step) % count
            if at in self._draws:
                found = self._draws[at]
            else:
                draw = self._tried(self.listed[at])
                found = self._draws[at] = None if draw is None else (at, draw)
            if found is not None:
                self._draws[index] = found
                return found
        return None

    def _tried(self, breach: Breach) -> Broken | None:
        """Its draws, if one of a few from fixed seeds is proved broken."""
        try:
            with self.budget.lent(_STEPS):
                draw = breach.compile()
        except (Unsatisfiable, BudgetSpent):
            return None
        with self.turn.aside():
            for seed in range(_TRIALS):
                self.turn.begin(None)
                try:
                    value, _ = draw(RandomSource(seed))
                except (Rejected, BudgetSpent):
                    continue
                if self.is_broken(value):
                    return draw
        return None


def _grouped(listed: list[Breach], indices: Iterable[int]) -> list[list[list[int]]]:
    nodes: dict[int, dict[str, list[int]]] = {}
    for index in indices:
        breach = listed[index]
        nodes.setdefault(breach.node, {}).setdefault(breach.keyword, []).append(index)
    return [list(keywords.values()) for keywords in nodes.values()]
