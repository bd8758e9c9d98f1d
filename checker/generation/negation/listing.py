"""All ways to break one keyword of a schema, at any depth, nearest first. Nothing is compiled until it is asked for."""

from collections import deque
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.errors import Unsatisfiable
from checker.core.schema import UnresolvableReference
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.negation import embeddings
from checker.generation.negation.branches import BRANCHES
from checker.generation.negation.containers import ARRAYS, OBJECTS
from checker.generation.negation.embeddings import Broken, Host
from checker.generation.negation.mutation_sites import Mutation, MutationSite
from checker.generation.negation.scalars import NUMBERS, TEXTS
from checker.generation.normalization.discrimination import discriminated
from checker.generation.normalization.forms import Canonical, Conjunction, Facet, inverse, key_of
from checker.generation.sources import alphabets
from checker.generation.sources.context import Draw

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
        broken = embeddings.bare(draw)
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
            child(conjunction, PathStep.PROPERTY, name, embeddings.in_property(spot, name))
        for pattern in dict.fromkeys(pattern for pattern, _ in form.objects.pattern_properties):
            also = embeddings.companions(form, pattern)
            meant = tuple(facet for one, facet in form.objects.pattern_properties if one in also)
            child(meant, PathStep.PATTERN, _ANY, embeddings.in_named(spot, pattern, also))
        if form.objects.closed_at is None:
            child(form.objects.additional, PathStep.ADDITIONAL, _ANY, embeddings.in_additional(spot))
            if form.objects.names:
                named, host = (*form.objects.names, _TEXT), embeddings.as_name(spot)
                self.add(node.inside(named, _NAME, (PathStep.NAME, _ANY), host))
        for index, conjunction in enumerate(form.arrays.prefix):
            child(conjunction, PathStep.INDEX, str(index), embeddings.at_index(spot, index))
        if not form.arrays.is_closed:
            child(form.arrays.items, PathStep.ITEM, _ANY, embeddings.among_items(spot))

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
