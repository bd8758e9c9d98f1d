"""All ways to break one keyword of a schema, at any depth, nearest first. Nothing is compiled until it is asked for."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.meta import Choice, Violation
from checker.core.schema import UnresolvableReference
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.negation.branches import BRANCHES
from checker.generation.negation.containers import ARRAYS, OBJECTS, unknown_name, with_room
from checker.generation.negation.mutation_sites import Mutation, MutationSite
from checker.generation.negation.scalars import NUMBERS, TEXTS
from checker.generation.normalization.discrimination import discriminated
from checker.generation.normalization.forms import Canonical, Conjunction, Facet, inverse, key_of
from checker.generation.patterns.regexes import UnsupportedPattern, matcher
from checker.generation.patterns.writing import writer
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Budget, Draw, DrawContext, Rejected, retried

Broken = Callable[[Source], tuple[Any, Any]]
"""Draws a whole value and the part of it that is wrong."""
Host = Callable[[Broken], Broken]
"""Puts a broken value into a larger one. Raises `Unsatisfiable`."""

_ARRAY: Final[dict[str, Any]] = {"type": "array"}
_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_NAME_SIZE: Final = 24
"""Characters of a name, unless its pattern asks for more."""
_SAMPLES: Final = 6


class _Once:
    """Compiles what stands around a broken value when it is first asked for: all ways to break it stand in the same."""

    __slots__ = ("_draw", "_make", "_reason")

    def __init__(self, make: Callable[[], Draw]) -> None:
        self._make = make
        self._draw: Draw | None = None
        self._reason: Unsatisfiable | None = None

    def __call__(self) -> Draw:
        """The draws; raises `Unsatisfiable` again, and `BudgetSpent` as long as there is none."""
        if self._reason is not None:
            raise self._reason.again()
        if self._draw is None:
            try:
                self._draw = self._make()
            except Unsatisfiable as error:
                self._reason = error.again()
                raise
        return self._draw


def bare(draw: Draw) -> Broken:
    """The broken value is the whole."""

    def broken(source: Source) -> tuple[Any, Any]:
        value = draw(source)
        return value, value

    return broken


def _put(around: _Once, where: Callable[[Source, Any], Any], otherwise: Callable[[Broken], Broken]) -> Host:
    """Return the host that replaces a part of a valid value; `otherwise` where no valid value has that part."""

    def host(broken: Broken) -> Broken:
        try:
            draw = around()
        except Unsatisfiable:
            return otherwise(broken)

        def whole(source: Source) -> tuple[Any, Any]:
            value = draw(source)
            at = where(source, value)
            value[at], wrong = broken(source)
            return value, wrong

        return whole

    return host


def in_property(spot: MutationSite, name: str) -> Host:
    """Return the host of a declared property."""
    with_it = _Once(lambda: spot.draw((*spot.rest(), spot.made(f"with-{name}", _OBJECT | {"required": [name]}))))
    room = _with_room(spot)
    return _put(with_it, lambda source, value: name, lambda broken: _with_name(room(), lambda source: name, broken))


def in_additional(spot: MutationSite) -> Host:
    """Return the host of an undeclared property."""
    around, name = _with_room(spot), _Once(lambda: unknown_name(spot))
    return lambda broken: _with_name(around(), name(), broken)


def companions(form: Canonical, pattern: str) -> frozenset[str]:
    """Patterns that a name has to match to match this one: itself, and others that cannot be avoided."""
    alone = frozenset({pattern})
    others = {one: matcher(one) for one, _ in form.objects.pattern_properties if one != pattern}
    if not others:
        return alone
    try:
        written = writer(pattern, alphabets.VISIBLE.intervals)
    except UnsupportedPattern:
        return alone
    most = max(written.low, _NAME_SIZE)
    names = (written.write(RandomSource(seed), 0, most) for seed in range(_SAMPLES))
    matched = (frozenset(one for one, matches in others.items() if matches(name)) for name in names)
    return alone | min(matched, key=len)


def in_named(spot: MutationSite, pattern: str, also: frozenset[str]) -> Host:
    """Return the host of a property whose name matches these patterns, and no other one."""

    def named() -> Draw:
        form = spot.form
        try:
            written = writer(pattern, alphabets.VISIBLE.intervals)
        except UnsupportedPattern as error:
            raise Unsatisfiable(spot.pointer("patternProperties"), str(error)) from error
        most = max(written.low, _NAME_SIZE)
        wanted = [(matcher(one), one in also) for one in dict(form.objects.pattern_properties)]
        is_valid = spot.compiler.validator(form.objects.names)
        taken = form.objects.properties.keys() | form.objects.hidden

        def is_name(name: str) -> bool:
            return (
                name not in taken and all(matches(name) is is_meant for matches, is_meant in wanted) and is_valid(name)
            )

        at = spot.pointer("patternProperties")
        return retried(lambda source: written.write(source, 0, most), is_name, spot.compiler.context, at)

    name, around = _Once(named), _with_room(spot)
    return lambda broken: _with_name(around(), name(), broken)


def _with_room(spot: MutationSite) -> _Once:
    """Objects that may have one property more."""
    return _Once(lambda: spot.draw((*spot.rest(), with_room(spot, "room"))))


def _with_name(around: Draw, name: Draw, broken: Broken) -> Broken:
    def whole(source: Source) -> tuple[Any, Any]:
        value = around(source)
        key = name(source)
        value[key], wrong = broken(source)
        return value, wrong

    return whole


def as_name(spot: MutationSite) -> Host:
    """Return the host of the name of a property."""
    objects = _with_room(spot)
    items = _Once(lambda: spot.compiler.compile(spot.form.objects.additional, item_of(spot.place)))

    def host(broken: Broken) -> Broken:
        around, item = objects(), items()

        def whole(source: Source) -> tuple[Any, Any]:
            value = around(source)
            name, wrong = broken(source)
            value[name] = item(source)
            return value, wrong

        return whole

    return host


def at_index(spot: MutationSite, index: int) -> Host:
    """Return the host of an item that is declared by its index."""
    as_many = _as_many(spot, index)
    return _put(
        _with_items(spot, f"with-{index}", index + 1),
        lambda source, value: index,
        lambda broken: _appended(as_many(), broken),
    )


def among_items(spot: MutationSite) -> Host:
    """Return the host of one of the other items: not one that the array has to contain."""
    first = max(len(spot.form.arrays.prefix), len(spot.form.arrays.contained))
    as_many = _as_many(spot, first)

    def where(source: Source, value: list[Any]) -> int:
        last = len(value) - 1
        return source.integer(first, last) if first < last else last

    with_it = _with_items(spot, "with-item", first + 1)
    return _put(with_it, where, lambda broken: _appended(as_many(), broken))


def _with_items(spot: MutationSite, tag: str, least: int) -> _Once:
    """Arrays with so many items at least."""
    return _Once(lambda: spot.draw((*spot.rest(), spot.made(tag, _ARRAY | {"minItems": least}))))


def _as_many(spot: MutationSite, count: int) -> _Once:
    """Arrays with exactly so many items."""
    said = _ARRAY | {"minItems": count, "maxItems": count}
    return _Once(lambda: spot.draw((*spot.rest(), spot.made(f"with {count} at most", said))))


def _appended(around: Draw, broken: Broken) -> Broken:
    """After all the items that there can be."""

    def whole(source: Source) -> tuple[Any, Any]:
        value = around(source)
        item, wrong = broken(source)
        value.append(item)
        return value, wrong

    return whole


Path = tuple[str, ...]
"""Names and indices from the root of a value; `*` for those that are drawn."""

BREAKERS: Final = {**NUMBERS, **TEXTS, **ARRAYS, **OBJECTS, **BRANCHES}
"""Keyword -> ways to break it."""
_ANY: Final = "*"
_VISITS = 3
"""Places of a value where the same schema is looked at; so recursion ends."""
_DEEPEST = 24
_NAME: Final = TextPlace("breach-name", alphabets.VISIBLE)
_TEXT: Final = Facet({"type": "string"}, "#/name", is_made=True)


class PathStep(StrEnum):
    """One step from a value to a part of it."""

    PROPERTY = "property"
    PATTERN = "pattern"
    ADDITIONAL = "additional"
    NAME = "name"
    INDEX = "index"
    ITEM = "item"


class Breach(Struct, frozen=True):
    """One way to break exactly one keyword of a schema."""

    pointer: str
    """Of the keyword in the document."""
    keyword: str
    path: Path
    """Of the part that is wrong."""
    was: object
    """What the schema says: the keyword's value, or the member of it that is broken."""
    steps: tuple[PathStep, ...]
    """What each token of the path is."""
    node: int
    """Number of the schema that says it; breaches of one schema have the same."""
    draw: Callable[[], Draw]
    """Draws what is wrong. Raises `Unsatisfiable` when this cannot be broken alone."""
    hosts: tuple[Host, ...]
    is_alone: bool
    """False when something else cannot but be broken with it."""

    def compile(self) -> Broken:
        """Draws whole values, each with the part that is wrong. Raises `Unsatisfiable`."""
        return self.around(self.draw())

    def around(self, draw: Draw) -> Broken:
        """Draws whole values around wrong parts that `draw` gives. Raises `Unsatisfiable`."""
        broken = bare(draw)
        for host in reversed(self.hosts):
            broken = host(broken)
        return broken


class _ReachedNode(Struct):
    """A part of the value, and what holds for it."""

    conjunction: Conjunction
    place: TextPlace
    path: Path = ()
    steps: tuple[PathStep, ...] = ()
    hosts: tuple[Host, ...] = ()
    """From the root to here."""
    spared: frozenset[str] = frozenset()
    """Pointers of schemas that nothing is broken in: others hold only while these do."""

    is_branch: bool = False
    """One of several ways to be valid."""

    def spares(self, pointer: str) -> bool:
        """True for what holds only to make a condition true."""
        return any(pointer == place or pointer.startswith(f"{place}/") for place in self.spared)

    def inside(
        self, conjunction: Conjunction, place: TextPlace, token: tuple[PathStep, str], host: Host
    ) -> "_ReachedNode":
        """A part of this part."""
        step, name = token
        around, steps = (*self.hosts, host), (*self.steps, step)
        return _ReachedNode(conjunction, place, (*self.path, name), steps, around, self.spared)


def breaches(compiler: Compiler, conjunction: Conjunction, place: TextPlace) -> Iterator[Breach]:
    """Ways to break a conjunction, those near the root first."""
    walk = _BreachWalk(compiler)
    walk.add(_ReachedNode(conjunction, place))
    return walk.breaches()


class _BreachWalk(Struct):
    compiler: Compiler
    _queue: deque[_ReachedNode] = field(default_factory=deque)
    _seen: set[tuple[Path, Any]] = field(default_factory=set)
    _visits: dict[str, int] = field(default_factory=dict)
    _count: int = 0

    def add(self, node: _ReachedNode) -> None:
        key = (node.path, key_of(node.conjunction))
        if key not in self._seen and len(node.hosts) <= _DEEPEST:
            self._seen.add(key)
            self._queue.append(node)

    def breaches(self) -> Iterator[Breach]:
        while self._queue:
            node = self._queue.popleft()
            if not self._is_open(node.conjunction):
                continue
            try:
                form = self.compiler.canonical(node.conjunction)
            except Unsatisfiable:
                continue
            if form.impossible is not None:
                yield from self._anything(node, form)
                continue
            yield from self._of_form(node, form)

    def _anything(self, node: _ReachedNode, form: Canonical) -> Iterator[Breach]:
        """Yield the breach of a form that no value satisfies: every value is wrong."""
        reason = form.impossible
        if node.is_branch or reason is None:
            return
        said = reason.pointer.rpartition("/")[2]
        is_false = any(facet.raw is False for facet in node.conjunction)
        keyword = "false" if is_false or said not in BREAKERS else said
        free = (_TEXT,) if node.steps[-1:] == (PathStep.NAME,) else ()
        make = partial(self.compiler.compile, free, node.place)
        self._count += 1
        yield self._breach(node, Mutation(reason.pointer, keyword, False, make))

    def _of_form(self, node: _ReachedNode, form: Canonical) -> Iterator[Breach]:
        spots = []
        is_known = True
        given = frozenset(facet.key for facet in node.conjunction)
        for facet in form.facets:
            said = self.compiler.canon.said(facet)
            spot = MutationSite(self.compiler, form, facet, said, node.place, given)
            spots.append(spot)
            if facet.is_made or node.spares(facet.pointer) or not self._is_new(node, facet):
                continue
            is_known = False
            self._count += 1
            for keyword, value in spot.said.items():
                breaker = BREAKERS.get(keyword)
                if breaker is not None:
                    for way in breaker(spot, value):
                        yield self._breach(node, way)
        if spots and not is_known:
            self._descend(node, form, spots[0])
            for spot in spots:
                self._branch(node, spot)
            self._alternatives(node, form)

    def _targets(self, conjunction: Conjunction) -> Conjunction:
        """Return the facets with bare references followed; none where a reference leads nowhere."""
        try:
            return tuple(map(self.compiler.canon.target, conjunction))
        except UnresolvableReference:
            return ()

    def _is_open(self, conjunction: Conjunction) -> bool:
        """True when one of these schemas has not been seen often enough."""
        return any(self._visits.get(facet.pointer, 0) < _VISITS for facet in conjunction)

    def _is_new(self, node: _ReachedNode, facet: Facet) -> bool:
        key = (node.path, facet.pointer)
        if key in self._seen:
            return False
        self._seen.add(key)
        visits = self._visits.get(facet.pointer, 0)
        self._visits[facet.pointer] = visits + 1
        return visits < _VISITS

    def _breach(self, node: _ReachedNode, way: Mutation) -> Breach:
        return Breach(
            way.pointer, way.keyword, node.path, way.was, node.steps, self._count, way.compile, node.hosts, way.is_alone
        )

    def _descend(self, node: _ReachedNode, form: Canonical, spot: MutationSite) -> None:
        """Properties and items."""
        inner = item_of(node.place)

        def child(conjunction: Conjunction, step: PathStep, token: str, host: Host) -> None:
            targets = self._targets(conjunction)
            if targets and self._is_open(targets):
                self.add(node.inside(targets, inner, (step, token), host))

        for name, conjunction in form.objects.properties.items():
            child(conjunction, PathStep.PROPERTY, name, in_property(spot, name))
        for pattern in dict.fromkeys(pattern for pattern, _ in form.objects.pattern_properties):
            also = companions(form, pattern)
            meant = tuple(facet for one, facet in form.objects.pattern_properties if one in also)
            child(meant, PathStep.PATTERN, _ANY, in_named(spot, pattern, also))
        if form.objects.closed_at is None:
            child(form.objects.additional, PathStep.ADDITIONAL, _ANY, in_additional(spot))
            if form.objects.names:
                named, host = (*form.objects.names, _TEXT), as_name(spot)
                self.add(node.inside(named, _NAME, (PathStep.NAME, _ANY), host))
        for index, conjunction in enumerate(form.arrays.prefix):
            child(conjunction, PathStep.INDEX, str(index), at_index(spot, index))
        if not form.arrays.is_closed:
            child(form.arrays.items, PathStep.ITEM, _ANY, among_items(spot))

    def _branch(self, node: _ReachedNode, spot: MutationSite) -> None:
        """List the mutations of a schema that holds for the same value under a condition."""
        said = spot.said
        if "if" in said:
            condition = spot.below(said["if"], "if")
            rest = spot.rest("if", "then", "else")
            if "then" in said:
                then = spot.below(said["then"], "then")
                self._same(node, (*rest, condition, then), spared=self._places(condition))
            if "else" in said:
                other = spot.below(said["else"], "else")
                self._same(node, (*rest, inverse(condition), other))
        for keyword in ("dependentSchemas", "dependencies"):
            for name, what in said.get(keyword, {}).items():
                if not isinstance(what, list):
                    there = {"required": [name], "type": "object"}
                    made = spot.made(f"{keyword}-{name}", there)
                    inner = spot.below(what, keyword, name)
                    self._same(node, (*spot.rest(keyword), made, inner))

    def _alternatives(self, node: _ReachedNode, form: Canonical) -> None:
        for branches in form.branches:
            if branches.keyword not in ("anyOf", "oneOf"):
                continue
            base = form.base(branches.owner, branches.keyword)
            pinned = discriminated(self.compiler.canon, branches)
            for index, alternative in enumerate(branches.alternatives):
                extra = pinned[index] if pinned else ()
                self._same(node, (*base, *alternative, *extra))

    def _same(self, node: _ReachedNode, conjunction: Conjunction, spared: frozenset[str] = frozenset()) -> None:
        spared |= node.spared
        self.add(replace(node, conjunction=conjunction, spared=spared, is_branch=True))

    def _places(self, facet: Facet) -> frozenset[str]:
        """Pointers of all that a schema says of the same value."""
        try:
            form = self.compiler.canonical((facet,))
        except Unsatisfiable:
            return frozenset()
        return frozenset(part.pointer for part in form.facets)


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
