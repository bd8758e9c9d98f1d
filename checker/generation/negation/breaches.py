"""All ways to break one keyword of a schema, at any depth, nearest first. Nothing is compiled until it is asked for."""

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

Broken = Callable[[Source], tuple[Any, Any]]  # Draws a whole value and the part of it that is wrong.
Host = Callable[[Broken], Broken]  # Puts a broken value into a larger one. Raises `Unsatisfiable`.
_Where = Callable[[Source, Any], Any]
"""Return the key or index of a value at which the broken part is put, after it has made room for it."""


class _Once:
    """A draw that is compiled when it is first needed. Making one takes a tenth of the time of `functools.cache`."""

    __slots__ = ("_draw", "_make")

    def __init__(self, make: Callable[[], Draw]) -> None:
        self._make = make
        self._draw: Draw | None = None

    def __call__(self) -> Draw:
        if self._draw is None:
            self._draw = self._make()
        return self._draw


def put(valid: Callable[[], Draw], where: _Where) -> Host:
    """Return the host that puts a broken part into a valid object or array. It is compiled when it is first needed."""
    # All breaches below one place share it. The compiler keeps the reason of a conjunction that has no values.
    around = _Once(valid)

    def host(broken: Broken) -> Broken:
        draw = around()

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
            # Alternatives and conditions may be about the presence of a property.
            with suppress(Unsatisfiable):
                return site.narrowed(f"with-{name}", OBJECT | {"required": [name]})
        return site.valid(dict)

    return put(valid, lambda source, value: with_room(site, value, name))


def in_named(site: MutationSite, named: Callable[[], Draw]) -> Host:
    """Return the host of a property whose name is drawn."""
    names = _Once(named)

    def valid() -> Draw:
        names()  # Raises `Unsatisfiable` for a pattern that cannot be written, before anything is drawn.
        return site.valid(dict)

    return put(valid, lambda source, value: with_room(site, value, names()(source)))


def matching_name(site: MutationSite, pattern: str) -> Draw:
    """Return draws of names that match a pattern, and no other one. Raises `Unsatisfiable`."""
    objects, at = site.form.objects, site.pointer("patternProperties")
    try:
        names = names_like(pattern)
    except UnsupportedPattern as error:
        raise Unsatisfiable(at, str(error)) from error
    # The schema of another pattern would hold for the value as well, so that two keywords could be broken.
    wanted = [(matcher(one), one == pattern) for one in dict(objects.pattern_properties)]
    is_valid = site.compiler.validator(objects.names)
    taken = objects.properties.keys() | objects.hidden

    def is_name(name: str) -> bool:
        is_match = all(matches(name) is is_meant for matches, is_meant in wanted)
        return name not in taken and is_match and is_valid(name)

    return retried(names, is_name, site.compiler.context, at)


def as_name(site: MutationSite) -> Host:
    """Return the host of the name of a property."""
    items = _Once(lambda: site.draw(site.form.objects.additional, item_of(site.place)))

    def host(broken: Broken) -> Broken:
        objects, item = site.valid(dict), items()

        def whole(source: Source) -> tuple[Any, Any]:
            value = objects(source)
            name, wrong = broken(source)
            value[with_room(site, value, name)] = item(source)
            return value, wrong

        return whole

    return host


def in_items(site: MutationSite, first: int, *, is_fixed: bool) -> Host:
    """Return the host of the item after the first ones, or of it or any after it."""

    def valid() -> Draw:
        return site.narrowed(f"from {first}", ARRAY | {"minItems": first}) if first else site.valid(list)

    def where(source: Source, value: list[Any]) -> int:
        last = len(value) - 1
        return first if is_fixed or last <= first else source.integer(first, last)

    return put(valid, where)


Path = tuple[str, ...]  # Names and indices from the root of a value; `*` for drawn ones.

BREAKERS: Final = {**SCALARS, **STRUCTURES}  # Keyword -> ways to break it.
_ANY: Final = "*"
_VISITS = 3  # Most places of a value at which the same schema is broken: a recursive schema has endless places.
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
    """One way to break exactly one keyword of a schema, with the place of the wrong part in a whole value."""

    path: Path
    steps: tuple[PathStep, ...]  # The kind of each token of the path.
    node: int  # Number of the schema that the keyword stands in.
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
    spared: frozenset[str] = frozenset()  # Pointers of schemas that must hold: a condition is true only while they do.
    is_branch: bool = False  # Whether the conjunction is one of several ways to be valid.

    def spares(self, pointer: str) -> bool:
        """Whether a schema must hold to keep a condition true."""
        return any(pointer == place or pointer.startswith(f"{place}/") for place in self.spared)


def breaches(compiler: Compiler, conjunction: Conjunction, place: TextPlace) -> Iterator[Breach]:
    """Yield the ways to break a conjunction, those near the root first. Nothing is compiled yet."""
    walk = _BreachWalk(compiler)
    # Breadth first: the list is cut off at `_MOST`, and what is near the root should be in it. Each node carries its
    # hosts, the recipes to put a wrong part into a valid whole, so that a breach can be compiled without the walk.
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
                # No value satisfies the form: every value is wrong.
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
                # The name of a property is a text in JSON, whatever its schema says of its type.
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
            # A part whose reference leads nowhere is left out: nothing says which of its values are wrong.
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
            # Items that are declared by their index, or needed for `contains`, come first.
            first = max(len(arrays.prefix), len(arrays.contained))
            child(arrays.items, PathStep.ITEM, _ANY, in_items(site, first, is_fixed=False))

    def _inside(
        self, node: _Node, conjunction: Conjunction, place: TextPlace, token: tuple[PathStep, str], host: Host
    ) -> None:
        step, name = token
        hosts, steps = (*node.hosts, host), (*node.steps, step)
        self.add(_Node(conjunction, place, (*node.path, name), steps, hosts, node.spared))

    def _branch(self, node: _Node, site: MutationSite) -> None:
        """Add the schemas that hold for the same value under a condition."""
        said = site.said
        if "if" in said:
            condition = site.below(said["if"], "if")
            rest = site.rest("if", "then", "else")
            if "then" in said:
                then = site.below(said["then"], "then")
                # All schemas that the condition applies to the same value.
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
# Without this limit and `_TRIED`, the first wrong message of Discord as a form took 4 s, since nothing deep in a form can
# be proved wrong. It takes 0.25 s with them.
_CHOICES: Final = 8
"""Impossible alternatives that are chosen one after the other before the next possible one is taken."""


class LazyAlternatives(Generic[Thing]):
    """Alternatives that are made when they are first chosen.

    One that turns out impossible is chosen anew, so that all possible ones have equal shares.
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
        """Return any of the possible ones; there must be at least one."""
        count, index = len(self._makes), 0
        for _ in range(_CHOICES):
            index = source.choice(count) if count > 1 else 0
            found = self._ready(index)
            if found is not None:
                return found
        found = self.at(index)
        assert found is not None
        return found


NegativeDraw = Callable[[Source], tuple[Any, Violation]]  # Draws a value and what it breaks.

_MOST: Final = 600  # Breaches of one schema; those near the root come first.
STEPS: Final = 1_000  # Compile budget of one breach.
_THRIFT: Final = 750  # Budget left below which valid parts around the wrong one are compiled with one alternative each.
_TRIALS: Final = 12
_TRIED: Final = 600  # Choices of all trials together: large values are tried less often.
_RECORDED: Final = 7_000  # Bytes of choices: Hypothesis accepts 8,192 for a whole case.
_FAR: Final = 24  # Impossible breaches after which the schema counts as unbreakable.
_NOT_ALONE: Final = 0.04
"""Share of values that break two keywords because they cannot be broken one by one: a number where texts are listed."""
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

    Half of them are uniform over its schemas, then over their keywords; half over keywords, then over schemas.
    `is_broken` is the proof that a value has to pass; by default it must be invalid. Only `wanted` breaches are taken.
    Raises `Unsatisfiable` when there is no way to break the conjunction.
    """
    is_broken = is_broken or invalid_for(compiler, conjunction)
    pointer = pointer_of(conjunction)
    listed: list[Breach] = []
    with compiler.budget.lent(STEPS), suppress(BudgetSpent):
        # `extend` keeps the breaches that come before the end of the budget.
        listed.extend(islice(filter(wanted, breaches(compiler, conjunction, place)), _MOST))
    # Not a bound method: it would make a reference cycle, which keeps the whole program in memory until a collection.
    ready = cache(partial(_tried, listed, is_broken, compiler))
    # Most schemas have a type, and a wrong type is cheap to compile.
    first = next((index for index, one in enumerate(listed) if one.keyword == "type"), 0)
    if not any(map(ready, islice(dict.fromkeys((first, *range(len(listed)))), min(_FAR, len(listed))))):
        raise Unsatisfiable(pointer, NOTHING)
    alone = [index for index, breach in enumerate(listed) if breach.is_alone]
    others = [index for index, breach in enumerate(listed) if not breach.is_alone]
    if not alone:
        alone, others = others, []
    # Most places have only a type: chosen by places alone, two of three wrong values would be of a wrong type.
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

    # A value that is wrong for the schema may be right as the text that is sent: only the proof decides.
    return retried(make, lambda drawn: drawn is not None and is_broken(drawn[0]), compiler.context, pointer)


def invalid_for(compiler: Compiler, conjunction: Conjunction) -> Callable[[Any], bool]:
    """Return a predicate that is True for values that the conjunction rejects."""
    is_valid = compiler.validator(conjunction)
    return lambda value: not is_valid(value)


def tried_with(budget: Budget) -> AbstractContextManager[None]:
    """Limit the compile budget to what one of many breaches may take: most breaches that need more turn out impossible."""
    return budget.lent(STEPS, _THRIFT)


def _tried(listed: list[Breach], is_broken: Callable[[Any], bool], compiler: Compiler, index: int) -> Broken | None:
    """Return the draws of a breach if one of a few from fixed seeds is proved broken and can be recorded, else None."""
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
    """Return the indices of the breaches for each value of one field, and for each value of another one in it."""
    groups: dict[Any, dict[Any, list[int]]] = {}
    for index in indices:
        breach = listed[index]
        groups.setdefault(getattr(breach, outer), {}).setdefault(getattr(breach, inner), []).append(index)
    return [list(group.values()) for group in groups.values()]
