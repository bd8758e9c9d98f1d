"""All ways to break one keyword of a schema at any depth, those near the root first. Each is compiled on demand."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from enum import StrEnum
from functools import cache, partial
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.meta import Violation
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.negation.mutation_sites import Mutation, MutationSite
from checker.generation.negation.scalars import SCALARS
from checker.generation.negation.structures import ARRAY, OBJECT, STRUCTURES, unknown_name, with_room
from checker.generation.normalization.discrimination import ways_of
from checker.generation.normalization.forms import Canonical, Conjunction, Facet, inverse, key_of, pointer_of
from checker.generation.regex_writing import names_like
from checker.generation.regexes import UnsupportedPattern, matcher
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Budget, Draw, Rejected, retried

Broken = Callable[[Source], tuple[Any, Any]]  # Draws (whole value, its wrong part).
Host = Callable[[Broken], Broken]  # Wraps draws of a broken part into draws of a larger value. Raises `Unsatisfiable`.
_Where = Callable[[Source, Any], Any]
"""Makes room for the broken part in a value, and returns its key or index."""


def put(valid: Callable[[], Draw], where: _Where) -> Host:
    """Return the host that puts a broken part into a valid object or array. The object or array is compiled on demand."""
    # All breaches below one place share it. If the conjunction has no values, the compiler remembers the reason.
    around: list[Draw] = []

    def host(broken: Broken) -> Broken:
        if not around:
            around.append(valid())
        draw = around[0]

        def whole(source: Source) -> tuple[Any, Any]:
            value = draw(source)
            at = where(source, value)
            part, wrong = broken(source)
            if isinstance(value, list):
                value[at : at + 1] = [part]
            else:
                value[at] = part
            return value, wrong

        return whole

    return host


def in_property(site: MutationSite, name: str) -> Host:
    """Return the host of a declared property."""

    def valid() -> Draw:
        if site.form.branches:
            # Alternatives and conditions may depend on the presence of a property.
            with suppress(Unsatisfiable):
                return site.narrowed(f"with-{name}", OBJECT | {"required": [name]})
        return site.valid(dict)

    return put(valid, lambda source, value: with_room(site, value, name))


def in_named(site: MutationSite, named: Callable[[], Draw]) -> Host:
    """Return the host of a property with a drawn name."""
    names: list[Draw] = []

    def valid() -> Draw:
        names.append(named())  # Raises `Unsatisfiable` for a pattern without texts, before any value is drawn.
        return site.valid(dict)

    return put(valid, lambda source, value: with_room(site, value, names[0](source)))


def matching_name(site: MutationSite, pattern: str) -> Draw:
    """Return draws of names that match one pattern and no other. Raises `Unsatisfiable`."""
    objects, at = site.form.objects, site.pointer("patternProperties")
    try:
        names = names_like(pattern)
    except UnsupportedPattern as error:
        raise Unsatisfiable(at, str(error)) from error
    # If the name matched another pattern, that schema would apply as well, and two keywords could be broken.
    wanted = [(matcher(one), one == pattern) for one in dict(objects.pattern_properties)]
    is_valid = site.compiler.validator(objects.names)
    taken = objects.properties.keys() | objects.hidden

    def is_name(name: str) -> bool:
        is_match = all(matches(name) is is_meant for matches, is_meant in wanted)
        return name not in taken and is_match and is_valid(name)

    return retried(names, is_name, site.compiler.context, at)


def as_name(site: MutationSite) -> Host:
    """Return the host of the name of a property."""

    def host(broken: Broken) -> Broken:
        objects, item = site.valid(dict), site.draw(site.form.objects.additional, item_of(site.place))

        def whole(source: Source) -> tuple[Any, Any]:
            value = objects(source)
            name, wrong = broken(source)
            value[with_room(site, value, name)] = item(source)
            return value, wrong

        return whole

    return host


def in_items(site: MutationSite, first: int, *, is_fixed: bool) -> Host:
    """Return the host of the item at index `first`. Unless `is_fixed`, the host may also take a later item."""

    def valid() -> Draw:
        return site.narrowed(f"from {first}", ARRAY | {"minItems": first}) if first else site.valid(list)

    def where(source: Source, value: list[Any]) -> int:
        last = len(value) - 1
        return first if is_fixed or last <= first else source.integer(first, last)

    return put(valid, where)


Path = tuple[str, ...]  # Names and indices from the root of a value; `*` for drawn names and indices.

BREAKERS: Final = {**SCALARS, **STRUCTURES}  # Keyword -> ways to break it.
_ANY: Final = "*"
_VISITS = 3  # Most places at which one schema is broken: a recursive schema has infinitely many.
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


class Breach(Mutation, frozen=True, kw_only=True):
    """One way to break exactly one keyword of a schema, and the place of the wrong part in the whole value."""

    path: Path
    steps: tuple[PathStep, ...]  # The kind of each token of the path.
    node: int  # Number of the schema that contains the keyword.
    hosts: tuple[Host, ...]

    def compile(self) -> Broken:
        """Return draws of whole values with their wrong parts. Raises `Unsatisfiable`."""
        return self.around(self.compile_part())

    def around(self, draw: Draw) -> Broken:
        """Return draws of whole values around the wrong parts that `draw` gives. Raises `Unsatisfiable`."""

        def bare(source: Source) -> tuple[Any, Any]:
            value = draw(source)
            return value, value

        broken: Broken = bare
        for host in reversed(self.hosts):
            broken = host(broken)
        return broken


class _Node(Struct):
    conjunction: Conjunction
    place: TextPlace
    path: Path = ()
    steps: tuple[PathStep, ...] = ()
    hosts: tuple[Host, ...] = ()  # From the root to here.
    spared: frozenset[str] = frozenset()  # Pointers of schemas that must hold, because a condition depends on them.
    is_branch: bool = False  # Whether the conjunction is one of several ways to be valid.

    def spares(self, pointer: str) -> bool:
        """Whether a schema must stay satisfied to keep a condition true."""
        return any(pointer == place or pointer.startswith(f"{place}/") for place in self.spared)


def breaches(compiler: Compiler, conjunction: Conjunction, place: TextPlace) -> Iterator[Breach]:
    """Yield the ways to break a conjunction, those near the root first. Nothing is compiled."""
    walk = _BreachWalk(compiler)
    # Breadth first, because the list ends at `_MOST` and should contain the places near the root. Each node has its
    # hosts, which put a wrong part into a valid whole, so that a breach can be compiled without the walk.
    walk.add(_Node(conjunction, place))
    return walk.breaches()


class _BreachWalk(Struct):
    compiler: Compiler
    _queue: deque[_Node] = field(default_factory=deque)
    _seen: set[tuple[Path, Any]] = field(default_factory=set)
    _visits: dict[str, int] = field(default_factory=dict)
    _count: int = 0

    def add(self, node: _Node) -> None:
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
            if form.impossible is None:
                yield from self._of_form(node, form)
            elif not node.is_branch:
                # No value satisfies the form, so every value is wrong.
                said = form.impossible.pointer.rpartition("/")[2]
                is_false = any(facet.raw is False for facet in node.conjunction)
                keyword = "false" if is_false or said not in BREAKERS else said
                free = (_TEXT,) if node.steps[-1:] == (PathStep.NAME,) else ()
                self._count += 1
                make = partial(self.compiler.compile, free, node.place)
                yield self._breach(node, Mutation(form.impossible.pointer, keyword, False, make))

    def _of_form(self, node: _Node, form: Canonical) -> Iterator[Breach]:
        sites = []
        is_known = True
        for facet in form.facets:
            site = MutationSite(
                self.compiler, form, facet, self.compiler.canon.said(facet), node.place, node.conjunction
            )
            sites.append(site)
            key = (node.path, facet.pointer)
            if facet.is_made or node.spares(facet.pointer) or key in self._seen:
                continue
            self._seen.add(key)
            visits = self._visits.get(facet.pointer, 0)
            self._visits[facet.pointer] = visits + 1
            if visits >= _VISITS:
                continue
            is_known = False
            self._count += 1
            for keyword, value in site.said.items():
                # A property name is always a string, whatever `type` says about it.
                if keyword in BREAKERS and not (keyword == "type" and _TEXT in node.conjunction):
                    for way in BREAKERS[keyword](site, keyword, value):
                        yield self._breach(node, way)
        if sites and not is_known:
            self._descend(node, form, sites[0])
            for site in sites:
                self._branch(node, site)
            for branches in form.branches:
                if branches.keyword in ("anyOf", "oneOf"):
                    for alternative in ways_of(self.compiler.canon, form, branches):
                        self._same(node, alternative)

    def _is_open(self, conjunction: Conjunction) -> bool:
        """Whether one of these schemas was seen fewer than `_VISITS` times."""
        return any(self._visits.get(facet.pointer, 0) < _VISITS for facet in conjunction)

    def _breach(self, node: _Node, way: Mutation) -> Breach:
        return Breach(
            way.pointer, way.keyword, way.was, way.compile_part, way.is_alone,
            path=node.path, steps=node.steps, node=self._count, hosts=node.hosts,
        )  # fmt: skip

    def _descend(self, node: _Node, form: Canonical, site: MutationSite) -> None:
        objects, arrays = form.objects, form.arrays

        def child(conjunction: Conjunction, step: PathStep, token: str, host: Host) -> None:
            # A part whose reference has no target is skipped: its invalid values are unknown.
            with suppress(Unsatisfiable):
                targets = self.compiler.targets(conjunction)
                if self._is_open(targets):
                    self._inside(node, targets, item_of(node.place), (step, token), host)

        for name, conjunction in objects.properties.items():
            child(conjunction, PathStep.PROPERTY, name, in_property(site, name))
        for pattern in dict.fromkeys(pattern for pattern, _ in objects.pattern_properties):
            meant = tuple(facet for one, facet in objects.pattern_properties if one == pattern)
            child(meant, PathStep.PATTERN, _ANY, in_named(site, partial(matching_name, site, pattern)))
        if objects.closed_at is None:
            child(objects.additional, PathStep.ADDITIONAL, _ANY, in_named(site, partial(unknown_name, site)))
            if objects.names:
                self._inside(node, (*objects.names, _TEXT), _NAME, (PathStep.NAME, _ANY), as_name(site))
        for index, conjunction in enumerate(arrays.prefix):
            child(conjunction, PathStep.INDEX, str(index), in_items(site, index, is_fixed=True))
        if not arrays.is_closed:
            # Items with their own index, or needed for `contains`, come first.
            first = max(len(arrays.prefix), len(arrays.contained))
            child(arrays.items, PathStep.ITEM, _ANY, in_items(site, first, is_fixed=False))

    def _inside(
        self, node: _Node, conjunction: Conjunction, place: TextPlace, token: tuple[PathStep, str], host: Host
    ) -> None:
        step, name = token
        hosts, steps = (*node.hosts, host), (*node.steps, step)
        self.add(_Node(conjunction, place, (*node.path, name), steps, hosts, node.spared))

    def _branch(self, node: _Node, site: MutationSite) -> None:
        """Add the schemas that apply to the same value under a condition."""
        said = site.said
        if "if" in said:
            condition = site.below(said["if"], "if")
            rest = site.rest("if", "then", "else")
            if "then" in said:
                then = site.below(said["then"], "then")
                # All schemas that the condition applies to the value must hold.
                spared: list[str] = []
                with suppress(Unsatisfiable):
                    spared += (part.pointer for part in self.compiler.canonical((condition,)).facets)
                self._same(node, (*rest, condition, then), spared=frozenset(spared))
            if "else" in said:
                self._same(node, (*rest, inverse(condition), site.below(said["else"], "else")))
        for keyword in ("dependentSchemas", "dependencies"):
            for name, what in said.get(keyword, {}).items():
                if not isinstance(what, list):
                    there = site.made(f"{keyword}-{name}", {"required": [name], "type": "object"})
                    self._same(node, (*site.rest(keyword), there, site.below(what, keyword, name)))

    def _same(self, node: _Node, conjunction: Conjunction, spared: frozenset[str] = frozenset()) -> None:
        spared |= node.spared
        self.add(replace(node, conjunction=conjunction, spared=spared, is_branch=True))


Thing = TypeVar("Thing")
# Without this limit and `_TRIED`, the first wrong message of Discord as a form took 4 s, because no deep part of a form
# can be proved wrong. With both limits it takes 0.25 s.
_CHOICES: Final = 8
"""Impossible alternatives that may be drawn in a row before the next possible one is taken."""


class LazyAlternatives(Generic[Thing]):
    """Alternatives that are created when they are first drawn.

    If one turns out to be impossible, the draw is repeated, so that all possible ones have equal shares.
    """

    __slots__ = ("_made", "_makes")

    def __init__(self, makes: Iterable[Callable[[], Thing | None]]) -> None:
        self._makes = list(makes)
        self._made: dict[int, Thing | None] = {}

    def at(self, index: int) -> Thing | None:
        """Return the alternative at an index, or the next possible one; None if none is possible."""
        count = len(self._makes)
        found = (self._ready(at) for at in (*range(index, count), *range(index)))
        return next((one for one in found if one is not None), None)

    def _ready(self, index: int) -> Thing | None:
        if index not in self._made:
            self._made[index] = self._makes[index]()
        return self._made[index]

    def drawn(self, source: Source) -> Thing:
        """Return a random possible alternative. At least one must be possible."""
        count, index = len(self._makes), 0
        for _ in range(_CHOICES):
            index = source.choice(count) if count > 1 else 0
            found = self._ready(index)
            if found is not None:
                return found
        found = self.at(index)
        assert found is not None
        return found


NegativeDraw = Callable[[Source], tuple[Any, Violation]]  # Draws (value, what it violates).

_MOST: Final = 600  # Breaches of one schema, those near the root first.
STEPS: Final = 1_000  # Compile budget of one breach.
_THRIFT: Final = 750  # Budget left below which valid parts around the wrong one are compiled with one alternative each.
_TRIALS: Final = 12
_TRIED: Final = 600  # Choices of all trials together, so that large values are tried less often.
_RECORDED: Final = 7_000  # Bytes of choices. Hypothesis accepts 8,192 for a whole case.
_FAR: Final = 24  # Impossible breaches after which a schema counts as unbreakable.
_NOT_ALONE: Final = 0.04
"""Share of values that break two inseparable keywords, such as a number where texts are listed."""
NOTHING: Final = "Impossible to generate negative test cases"


def compile_negative(
    compiler: Compiler,
    conjunction: Conjunction,
    place: TextPlace,
    *,
    is_broken: Callable[[Any], bool] | None = None,
    wanted: Callable[[Breach], bool] | None = None,
) -> NegativeDraw:
    """Return draws of values that a conjunction does not admit.

    Half of the draws choose a schema uniformly, then a keyword; half choose a keyword, then a schema. A value has to pass
    `is_broken`; by default it must be invalid. Only `wanted` breaches are used. Raises `Unsatisfiable` if the conjunction
    cannot be broken.
    """
    is_broken = is_broken or invalid_for(compiler, conjunction)
    pointer = pointer_of(conjunction)
    listed: list[Breach] = []
    with compiler.budget.lent(STEPS), suppress(BudgetSpent):
        # `extend` keeps the breaches found before the budget ends.
        listed.extend(islice(filter(wanted, breaches(compiler, conjunction, place)), _MOST))
    # A bound method would create a reference cycle, which keeps the whole program in memory until garbage collection.
    ready = cache(partial(_tried, listed, is_broken, compiler))
    # Most schemas have a `type`, and a wrong type is cheap to compile.
    first = next((index for index, one in enumerate(listed) if one.keyword == "type"), 0)
    if not any(map(ready, islice(dict.fromkeys((first, *range(len(listed)))), min(_FAR, len(listed))))):
        raise Unsatisfiable(pointer, NOTHING)
    alone = [index for index, breach in enumerate(listed) if breach.is_alone]
    others = [index for index, breach in enumerate(listed) if not breach.is_alone]
    if not alone:
        alone, others = others, []
    # Most places have only a `type`. Choosing by place alone would give two of three values a wrong type.
    tables = [_grouped(listed, alone, "node", "keyword"), _grouped(listed, alone, "keyword", "node")]

    def make(source: Source) -> tuple[Any, Violation] | None:
        if others and source.boolean(_NOT_ALONE):
            index = others[source.choice(len(others))]
        else:
            groups = tables[source.choice(2)]
            group = groups[source.choice(len(groups)) if len(groups) > 1 else 0]
            ways = group[source.choice(len(group)) if len(group) > 1 else 0]
            index = ways[source.choice(len(ways)) if len(ways) > 1 else 0]
        draw = ready(index)
        if draw is None:
            return None
        value, wrong = draw(source)
        breach = listed[index]
        return value, Violation(breach.pointer, breach.keyword, breach.was, wrong)

    # A value that is invalid for the schema may become valid as text. Only the proof decides.
    return retried(make, lambda drawn: drawn is not None and is_broken(drawn[0]), compiler.context, pointer)


def invalid_for(compiler: Compiler, conjunction: Conjunction) -> Callable[[Any], bool]:
    """Return a predicate that is True for values that the conjunction rejects."""
    is_valid = compiler.validator(conjunction)
    return lambda value: not is_valid(value)


def tried_with(budget: Budget) -> AbstractContextManager[None]:
    """Limit the compile budget for one of many breaches: most breaches that need more are impossible."""
    return budget.lent(STEPS, _THRIFT)


def _tried(listed: list[Breach], is_broken: Callable[[Any], bool], compiler: Compiler, index: int) -> Broken | None:
    """Return the draws of a breach if one of a few draws with fixed seeds is proved wrong and fits into a record, else None."""
    context = compiler.context
    try:
        with tried_with(compiler.budget):
            draw = listed[index].compile()
    except (Unsatisfiable, BudgetSpent):
        return None
    # Fixed seeds: whether a breach is listed must not depend on the seed of the run or on earlier draws.
    spent = 0
    with context.aside():
        for seed in range(_TRIALS):
            source = RandomSource(seed)
            context.begin(None)
            with suppress(Rejected, BudgetSpent):
                value, _ = draw(source)
                if is_broken(value):
                    size = sum(
                        len(one) + 1 if isinstance(one, str | bytes) else 1 if one is True or one is False else 8
                        for one in source.choices
                    )
                    return draw if size < _RECORDED else None
            spent += len(source.choices)
            if spent > _TRIED:
                break
    return None


def _grouped(listed: list[Breach], indices: Iterable[int], outer: str, inner: str) -> list[list[list[int]]]:
    """Return the indices of the breaches, grouped by one field and then by another."""
    groups: dict[Any, dict[Any, list[int]]] = {}
    for index in indices:
        breach = listed[index]
        groups.setdefault(getattr(breach, outer), {}).setdefault(getattr(breach, inner), []).append(index)
    return [list(group.values()) for group in groups.values()]
