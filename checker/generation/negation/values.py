"""Values that break one keyword of a schema, drawn from all the ways that there are, each with what it breaks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.meta import Choice, Violation
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace
from checker.generation.negation.embeddings import Broken
from checker.generation.negation.listing import Breach, breaches
from checker.generation.normalization.forms import Conjunction
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Budget, DrawContext, Rejected, retried

Thing = TypeVar("Thing")


class LazyAlternatives(Generic[Thing]):
    """Some of them may come to nothing: these give way to one of the next, so the same choices always mean the same.

    A search ends after so many of them, `reach`. Then `last` and the `far` ones after it are tried.
    """

    __slots__ = ("_far", "_last", "_made", "_makes", "_reach", "_ready")

    def __init__(
        self, makes: Iterable[Callable[[], Thing | None]], *, reach: int = 1_000, last: int = 0, far: int = 1_000
    ) -> None:
        self._makes = list(makes)
        self._reach = reach
        self._last = last
        self._far = far
        self._made: dict[int, Thing | None] = {}
        self._ready: dict[int, Thing | None] = {}
        """Index -> what stands for it; None when nothing is to be had."""

    def __len__(self) -> int:
        return len(self._makes)

    def at(self, index: int) -> Thing | None:
        """The one at an index, or what stands for it."""
        if index in self._ready:
            return self._ready[index]
        is_last = index == self._last
        found = self._first(index, self._far if is_last else self._reach)
        if found is None and not is_last:
            found = self.at(self._last)
        self._ready[index] = found
        return found

    def _first(self, index: int, reach: int) -> Thing | None:
        count = len(self._makes)
        for step in range(min(reach, count)):
            at = (index + step) % count
            if at not in self._made:
                self._made[at] = self._makes[at]()
            found = self._made[at]
            if found is not None:
                return found
        return None

    def drawn(self, source: Source) -> Thing:
        """Any of them. There has to be one."""
        count = len(self._makes)
        found = self.at(source.choice(count) if count > 1 else 0)
        assert found is not None
        return found


NegativeDraw = Callable[[Source], tuple[Any, Violation]]
"""Draws a value and what it breaks."""

_MOST: Final = 600
"""Ways that are looked at; those near the root come first."""
STEPS: Final = 1_000
"""Work that compiling one of them may take."""
_THRIFT: Final = 750
"""When so much of it is left, of the alternatives beside what is broken one each has to do."""
_TRIALS: Final = 12
_TRIED: Final = 600
"""Choices of trials: large values are not tried that often."""
_RECORDED: Final = 7_000
"""Bytes of choices: Hypothesis takes 8,192 of a whole case."""
_REACH: Final = 4
"""Ways in a row that may come to nothing before an easy one is taken."""
_FAR: Final = 24
"""Ways in a row that may come to nothing before nothing is called broken at all."""
_NOT_ALONE: Final = 0.04
"""Share of values that break two things at once, because there is no other way: a number where texts are listed."""
_ATTEMPTS: Final = 20
NOTHING: Final = "Impossible to generate negative test cases"


def compile_negative(
    compiler: Compiler,
    conjunction: Conjunction,
    place: TextPlace,
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
        filter(wanted, breaches(compiler, conjunction, place)) if wanted else breaches(compiler, conjunction, place)
    )
    trial = _Trial(is_broken, compiler.context, compiler.budget)
    choice = _BreachChoice(_some(listed, compiler.budget), trial)
    if choice.is_empty:
        raise Unsatisfiable(pointer, NOTHING)

    def make(source: Source) -> tuple[Any, Violation]:
        breach, draw = choice.drawn(source)
        value, wrong = draw(source)
        return value, Violation(breach.pointer, breach.keyword, breach.was, wrong)

    return retried(make, lambda drawn: is_broken(drawn[0]), compiler.context, pointer, _ATTEMPTS)


def tried_with(budget: Budget) -> AbstractContextManager[None]:
    """Inside of it a breach is compiled with what one of many may take: most that take more come to nothing."""
    return budget.lent(STEPS, _THRIFT)


def _some(listed: Iterator[Breach], budget: Budget) -> list[Breach]:
    """The first ones, as many as can be listed with some of the budget."""
    found: list[Breach] = []
    with budget.lent(STEPS), suppress(BudgetSpent):
        for breach in islice(listed, _MOST):
            found.append(breach)
    return found


class _BreachChoice:
    """The choice of a breach: compiled, and tried, when it is first chosen."""

    __slots__ = ("_first", "_nodes", "_others", "_ready")

    def __init__(self, listed: list[Breach], tried: "_Trial") -> None:
        # A wrong type is compiled soonest: most schemas have one.
        self._first = next((i for i, one in enumerate(listed) if one.keyword == "type"), 0)
        # Not methods of this: what is part of a circle keeps its whole program until a collection comes by.
        makes = [partial(tried, breach) for breach in listed]
        self._ready = LazyAlternatives(makes, reach=_REACH, last=self._first, far=_FAR)
        alone = [index for index, breach in enumerate(listed) if breach.is_alone]
        self._others = [index for index, breach in enumerate(listed) if not breach.is_alone]
        if not alone:
            alone, self._others = self._others, []
        self._nodes = _grouped(listed, alone)

    @property
    def is_empty(self) -> bool:
        """True when none of them gives anything."""
        return len(self._ready) == 0 or self._ready.at(self._first) is None

    def drawn(self, source: Source) -> tuple[Breach, Broken]:
        """One of them."""
        others, nodes = self._others, self._nodes
        if others and source.boolean(_NOT_ALONE):
            index = others[source.choice(len(others))]
        else:
            node = nodes[source.choice(len(nodes)) if len(nodes) > 1 else 0]
            ways = node[source.choice(len(node)) if len(node) > 1 else 0]
            index = ways[source.choice(len(ways)) if len(ways) > 1 else 0]
        found = self._ready.at(index)
        assert found is not None
        return found


class _Trial(Struct, frozen=True):
    """Compiles a breach, and tries it."""

    is_broken: Callable[[Any], bool]
    context: DrawContext
    budget: Budget

    def __call__(self, breach: Breach) -> tuple[Breach, Broken] | None:
        """Its draws, if one of a few from fixed seeds is proved broken."""
        try:
            with tried_with(self.budget):
                draw = breach.compile()
        except (Unsatisfiable, BudgetSpent):
            return None
        spent = 0
        with self.context.aside():
            for seed in range(_TRIALS):
                source = RandomSource(seed)
                self.context.begin(None)
                with suppress(Rejected, BudgetSpent):
                    value, _ = draw(source)
                    if self.is_broken(value):
                        return (breach, draw) if _size(source.choices) < _RECORDED else None
                spent += len(source.choices)
                if spent > _TRIED:
                    break
        return None


def _size(choices: Sequence[Choice]) -> int:
    """Bytes that a record takes, or a little more."""
    return sum(
        len(one) + 1 if isinstance(one, str | bytes) else 1 if one is True or one is False else 8 for one in choices
    )


def _grouped(listed: list[Breach], indices: Iterable[int]) -> list[list[list[int]]]:
    """For each schema, for each of its keywords, indices of the ways."""
    nodes: dict[int, dict[str, list[int]]] = {}
    for index in indices:
        breach = listed[index]
        nodes.setdefault(breach.node, {}).setdefault(breach.keyword, []).append(index)
    return [list(keywords.values()) for keywords in nodes.values()]
