"""Parameters take values from rings. This module knows which rings each parameter may use, best first, and with what results."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field

from checker.core import resource_names
from checker.core.case import Case
from checker.core.constraints import ITEMS, Constraint, is_broken_by
from checker.core.digests import digest
from checker.core.meta import Binding
from checker.core.operation import Location, Operation, Place
from checker.core.resource_names import Resource, may_be_segment, place_word, variables_of
from checker.core.resources import REMOVING, ResourceUse, named_values, place_of, variable_at
from checker.core.response import Response
from checker.corpus.records import Above, agree
from checker.health import may_change_caller
from checker.refusals.reading import denies_name
from checker.schema.views import Outline, outline_of
from checker.values.harvest import field_of, is_integer
from checker.values.history import SCALARS, Origin, RingProperty, Rings, Scalar, Taken, ValueHistory
from checker.values.locations import NO_NAMES, DescribedPaths
from checker.values.producers import fields_naming, key_of, noun_of_key, request_pointer
from checker.values.states import ResourceStates

# Weight of the affinity against counted successes, in requests.
_PRIOR = 4.0
_BY_NAME = 0.8
_LINKED = 0.9
# Affinity of a field that only has the same format.
_ALIKE = 0.3
# Factor for a field that is named like another variable of the path, such as the parent.
_FOREIGN = 0.2
_RANKS = 24
# Rings that are examined for these ranks: the values of some turn out to be unsuitable.
_MOST = 4 * _RANKS
# Length of the order that indices choose from. Values may repeat in this order.
_REACH = 64
# The order begins with at most this many different values.
_DIFFERENT = 12
# Best rings, whose values fill the rest of the order.
_LIKELY = 4
# A ring with a score below this share of the best score gives one value only.
_FAR = 0.3
# Exponent of the score: the larger, the more often the best rings are taken.
_SURENESS = 3
# Relative frequency of a value, by the number of newer values.
_DECAYS = [math.exp(-depth / 3) for depth in range(12)]
# Most picks between two rankings. Ranking after each pick would cost more than drawing the value.
_PATIENCE = 64
# The rings are ranked again after each of the first misses of a field, up to this number; later once in `_PATIENCE` misses.
_TELLING = 16
_UNKNOWN = (0, 0)
GONE_STATUSES = (404, 410)


Field = tuple[Resource, str]  # A collection and the normalised name of a field of its members.
Names = Mapping[str, str | None]  # Collection -> the one member of it that a case names; None if it names several.


class Consumer(Struct):
    """One parameter: the rings from which it may take values, best first, and the results of their use."""

    name: str
    owner: Resource
    is_path: bool
    kinds: tuple[type[Scalar], ...]  # Kinds of values that fit.
    as_text: bool  # Whether an integer must be given as text.
    is_removing: bool = False  # Whether the value names the resource that the operation removes.
    is_careful: bool = False
    """Whether the consumer prefers members that the run created. Another member, if removed or changed, may be the account of the run."""
    format: str = ""  # Fields of the same format fit as well, unless transitions link fields to it; may be empty.
    linked: frozenset[Field] = frozenset()
    """Fields of responses from which transitions take values for the consumer, whatever their names."""
    others: frozenset[str] = frozenset()  # Names of fields that hold the values of other variables of the path.
    demands: Sequence[Constraint] = ()  # Demands of the target on its values.
    _fields: frozenset[str] = frozenset()  # Names of fields that hold values of this variable.
    _fared: dict[str, tuple[int, int]] = field(default_factory=dict)  # Field -> (hits, misses).
    _candidates: list[tuple[float, ValueHistory]] = field(default_factory=list)
    """(affinity, ring); the affinity never changes."""
    _likely: list[ValueHistory] = field(default_factory=list)
    """All rings that may have values, those with the greatest affinity first."""
    _examined: int = 0
    _order: list[tuple[ValueHistory, int]] = field(default_factory=list)
    """(ring, depth in the ring) for each index, as ranked last."""
    _nearest: list[ValueHistory] = field(default_factory=list)  # The rings of the first `_DIFFERENT` indices.
    _pause: int = 0  # Number of picks between the last two rankings. The number doubles each time.
    _left: int = 0  # Picks until the next ranking.

    def __post_init__(self) -> None:
        self._fields = frozenset(name for _, name in resource_names.spellings(self.name, self.owner))

    @property
    def is_qualified(self) -> bool:
        """Whether the value may name another member of a collection of which the case already names a member, such as `parentId`."""
        return resource_names.is_qualified(self.name)

    def choose(self, rings: Rings, index: int, above: Above = ()) -> Taken | None:
        """Return the value for this index. With `above`, return the first value from this index on that belongs to the resource `above`, if any."""
        chosen: Taken | None = None
        for taken in self.near(rings, index, _REACH):
            if not above or agree(taken.above, above):
                return taken
            chosen = chosen or taken
        return chosen

    def near(self, rings: Rings, index: int, most: int) -> Iterable[Taken]:
        """Return the value for this index, then the values for the next indices, `most` in all; none if this index has none.

        The rings are ranked again now and then, because their values change.
        """
        if len(rings.ordered) > self._examined:
            self._examine(rings)
        if not self._candidates:
            return ()
        self._left -= 1
        if self._left < 0:
            self._rank()
        first = self._at(index)
        if first is None:
            # Values were added or removed since the rings were ranked.
            self._rank()
            first = self._at(index)
        if first is None:
            return ()
        found = chain((first,), self._others(index, most))
        return filter(self._fits, found) if self.is_path else found

    def _others(self, index: int, most: int) -> Iterator[Taken]:
        order = self._order[:most]
        start = (index + 1) % len(order)
        for ring, depth in (*order[start:], *order[:start])[:-1]:
            newest = ring.newest or ring.read_newest()
            if depth < len(newest) and not (self.is_careful and self._is_unwanted(ring, newest[depth])):
                yield newest[depth]

    def _fits(self, taken: Taken) -> bool:
        """Whether a value can be sent in a path, together with the names around it. A name from a body may have characters that no path can have.

        If the target demands ids, names do not fit either.
        """
        value = taken.value
        readings = (value, int(value)) if self.demands and isinstance(value, str) and is_integer(value) else (value,)
        if any(all(is_broken_by(one, {one.path[0]: each}) for each in readings) for one in self.demands):
            return False
        if value.__class__ is str and not may_be_segment(f"{value}"):
            return False
        return all(may_be_segment(name) for _, name in taken.above)

    def _at(self, index: int) -> Taken | None:
        order = self._order
        if not order:
            return None
        ring, depth = order[index % len(order)]
        newest = ring.newest or ring.read_newest()
        if depth >= len(newest) or (self.is_careful and self._is_unwanted(ring, newest[depth])):
            return None
        return newest[depth]

    def _is_unwanted(self, ring: ValueHistory, taken: Taken) -> bool:
        return bool(ring.made) and (taken.value, taken.above) not in ring.made

    def best_fit(self, every: Names, around: Names) -> int:
        """Return the greatest result of `_fit` that any value of this consumer may have, without reading the values."""
        best = -1
        for ring in self._nearest:
            if ring.has_urls:
                return 1
            for one in every.keys() & ring.named.keys():
                if every[one] in ring.named[one]:
                    return 1
            if self.is_qualified or (key_of(self.owner) if self.is_path else ring.collection) not in around:
                best = 0
            elif self.is_path:
                return 1
        return best

    def may_take(self, rings: Rings, taken: Taken) -> bool:
        """Whether `choose` could return this value. A careful consumer prefers members that the run created."""
        if self.is_path and not self._fits(taken):
            return False
        if len(rings.ordered) > self._examined:
            self._examine(rings)
        one = (taken.value, taken.above)
        return not self.is_careful or any(one in (ring.made or ring.values) for _, ring in self._candidates)

    def named(self, rings: Rings, text: str, above: Above) -> Taken | None:
        """Return the resource of this name that may belong to `above`, as a response showed it; None if no response showed it."""
        if len(rings.ordered) > self._examined:
            self._examine(rings)
        for ring in self._likely:
            readings: Sequence[Scalar] = (text,) if ring.kind is str else ()
            if ring.kind is int and is_integer(text):
                readings = (int(text),)
            for value in readings:
                for instance in ring.same(value, above):
                    return ring.values[instance]
        return None

    def fared(self, field_name: str, *, is_missing: bool) -> None:
        """Count one use of a value of a field: a success, or a miss if the resource did not exist."""
        hits, misses = self._fared.get(field_name, _UNKNOWN)
        if not is_missing:
            self._fared[field_name] = (hits + 1, misses)
            return
        self._fared[field_name] = (hits, misses + 1)
        # The more is known about a field, the less one more miss changes its score.
        if misses < _TELLING or misses % _PATIENCE == 0:
            self._left = 0

    def _examine(self, rings: Rings) -> None:
        # A path parameter may ask for any scalar of its collection; other parameters ask by field name only.
        nouns = (resource_names.noun_of(self.owner),) if self.is_path else ()
        formats = (self.format,) if self.format and not self.linked else ()
        wanted = {"name": self._fields, "noun": nouns, "field": self.linked, "format": formats}
        keys: list[RingProperty] = [(kind, value) for kind, values in wanted.items() for value in values]
        for ring in rings.since(self._examined, keys):
            is_alike = bool(self.format) and ring.format == self.format and not self.linked
            is_linked = (ring.resource, ring.name) in self.linked
            if ring.kind not in self.kinds:
                continue
            affinity = resource_names.affinity(self.name, self.owner, ring.name, ring.resource, is_path=self.is_path)
            if ring.name in self.others and ring.name not in self._fields:
                affinity *= _FOREIGN
            affinity = max(affinity, _LINKED) if is_linked else affinity
            is_named = affinity > (0.0 if self.is_path else _BY_NAME)
            if is_named or is_alike:
                affinity = affinity if is_named else _ALIKE
                self._candidates.append((affinity, ring))
                self._left = self._pause = 0
        self._examined = len(rings.ordered)
        if len(self._candidates) > _MOST:
            # A resource may have hundreds of fields, and a thousand operations may each have a consumer.
            best = sorted(enumerate(self._candidates), key=lambda one: (-one[1][0], one[0]))
            self._candidates = [one for _, one in sorted(best[:_MOST], key=itemgetter(0))]
        self._likely = [ring for _, ring in sorted(self._candidates, key=lambda one: -one[0])]

    def _rank(self) -> None:
        scored: list[tuple[float, int, ValueHistory]] = []
        for number, (affinity, ring) in enumerate(self._candidates):
            if ring.values:
                prior = affinity if affinity > _BY_NAME else affinity * ring.looks_like_identifier()
                hits, misses = self._fared.get(ring.name, _UNKNOWN)
                scored.append(((prior * _PRIOR + hits) / (_PRIOR + hits + misses), -number, ring))
        scored.sort(key=lambda item: item[:2], reverse=True)
        if self.is_path and scored and self._is_proved(scored[0][2].name):
            # If one field is known to identify the resource, its other fields do not: a country is found by `NL`, not
            # by `NLD` or `Netherlands`.
            scored = [one for one in scored if one[2].name in self._fields or self._is_proved(one[2].name)]
        best = [(score, ring) for score, _, ring in scored[:_RANKS]]
        made: list[tuple[ValueHistory, int]] = []
        for _, ring in best if self.is_careful else ():
            # The values of members that the run created, the newest first.
            made += [(ring, depth) for depth, one in enumerate(reversed(ring.values)) if one in ring.made]
        self._order = made[:_REACH] or _weighted(best, is_removing=self.is_removing)
        self._nearest = list({id(ring): ring for ring, _ in self._order[:_DIFFERENT]}.values())
        self._pause = min(2 * self._pause + 1, _PATIENCE) if scored else 0
        self._left = self._pause

    def _is_proved(self, field_name: str) -> bool:
        """Whether most values of a field named a resource."""
        hits, misses = self._fared.get(field_name, _UNKNOWN)
        return hits > misses


def _weighted(ranked: Sequence[tuple[float, ValueHistory]], *, is_removing: bool) -> list[tuple[ValueHistory, int]]:
    """Return (ring, depth) for each index: first many different values, then the likely ones again.

    Newer values, values of rings with a higher score, and values that no request tried to remove come first. An operation
    that removes resources gets many different values.
    """
    # The newest values of the best ring come first. The second ring's newest comes before the best ring's third,
    # because the best ring may be the wrong one. One value is enough of a ring that is far behind.
    sizes = [
        (2 * rank, len(ring.values) if score >= _FAR * ranked[0][0] else 1, ring)
        for rank, (score, ring) in enumerate(ranked)
    ]
    wanted = min(sum([size for _, size, _ in sizes]), _DIFFERENT)
    order: list[tuple[ValueHistory, int]] = []
    turn = 0
    while len(order) < wanted:
        order += [(ring, turn - start) for start, size, ring in sizes if 0 <= turn - start < size]
        turn += 1
    del order[wanted:]
    if len(order) < 2:
        return order
    free = _REACH - len(order)
    decays = [1.0] * free if is_removing else _DECAYS
    likely = [
        (ring, depth, (score / ranked[0][0]) ** _SURENESS * decays[depth] * weight)
        for score, ring in ranked[:_LIKELY]
        for depth, weight in enumerate(ring.weights(len(decays)))
    ]
    share = free / sum([weight for _, _, weight in likely])
    again = [(ring, depth) for ring, depth, weight in likely for _ in range(math.floor(share * weight + 0.5))]
    return order + again[:free]


def consumer_of(
    operation: Operation, use: ResourceUse, location: Location, name: str, at: str, linked: frozenset[Field]
) -> Consumer:
    """Return the consumer of a parameter, a variable of the path, or a place in the body. `at` is its name, or its pointer in the body."""
    kinds: tuple[type[Scalar], ...] = (str, int, float, bool)
    as_text = False
    is_path = location is Location.PATH
    if is_path:
        kinds, as_text = variable_kinds(operation, name)
    elif location is not Location.BODY and (found := _outline_at(operation, location, name)) is not None:
        kinds, as_text = fitting_kinds(found.types)
    owner = use.owner(name) if is_path else use.resource
    others = frozenset(
        found
        for variable, above in (use.owners if is_path else ())
        if variable != name
        for found in fields_naming(variable, resource_names.noun_of(above))
    )
    outline = _outline_at(operation, location, at)
    form = resource_names.shared_format(None if outline is None else outline.first("format"))
    # Values of all of these formats are strings. Another object may have an integer id in a field that is a URL here.
    kinds = (str,) if form else kinds
    is_careful = is_path and may_change_caller(use.method, owner)
    is_removing = use.method == REMOVING and use.is_member and is_path and name == use.owners[-1][0]
    return Consumer(name, owner, is_path, kinds, as_text, is_removing, is_careful, form, linked, others)


def variable_kinds(operation: Operation, name: str) -> tuple[tuple[type[Scalar], ...], bool]:
    """Return the kinds of values that name a variable of a resource, and whether integers must be given as text."""
    outline = _outline_at(operation, *place_of(operation, name))
    return ((str, int), False) if outline is None else fitting_kinds(outline.types)


def _outline_at(operation: Operation, location: Location, at: str) -> Outline | None:
    """Return what schemas state about a parameter, or about a place in the body; None if there is none."""
    if location is not Location.BODY:
        found = (one for one in operation.parameters if one.name == at and one.location is location)
        parameter = next(found, None)
        return None if parameter is None else outline_of(parameter.schema)
    body = next(iter(operation.bodies), None)
    if body is None:
        return None
    outline = outline_of(body.schema)
    for token in at.split("/")[1:]:
        is_item = token not in outline.names and (token == ITEMS or token.isdigit())
        outline = outline.item(0) if is_item else outline.property(token)
    return outline


def fitting_kinds(types: frozenset[str]) -> tuple[tuple[type[Scalar], ...], bool]:
    """Return the kinds of values of these JSON types, and whether integers must be given as text."""
    if types & {"object", "array"}:
        return (str, int, float, bool), False
    table: dict[str, tuple[type[Scalar], ...]] = {
        "integer": (int,),
        "number": (int, float),
        "boolean": (bool,),
        "string": (str, int),
    }
    kinds = tuple({kind for name in sorted(types) for kind in table.get(name, ())})
    return kinds or (str, int, float, bool), not types & {"integer", "number"} and "string" in types


NO_LINKS: Final[Mapping[Place, frozenset[Field]]] = MappingProxyType({})
_STRANGERS = 8
"""One in this many values is taken although it does not belong to the other values of the case. Servers must refuse such requests."""
# Most consumers of one operation. The names of additional properties are invented, so their number has no limit.
_SLOTS = 512
_NONE: Final[frozenset[Place]] = frozenset()
# Rank of a value that no other place of the case takes. It exceeds any difference between results of `_fit`.
_FREE = 3


class OperationView:
    """The pool as one operation uses it. It is prepared for one case at a time (`begin`)."""

    def __init__(
        self,
        rings: Rings,
        operation: Operation,
        use: ResourceUse,
        telling: Collection[str] = (),
        linked: Mapping[Place, frozenset[Field]] = NO_LINKS,
        states: ResourceStates | None = None,
        described: DescribedPaths | None = None,
        own_names: Collection[str] = (),
    ) -> None:
        """`use`: the place of the operation in the resource model; `telling`: variables whose name means the same in every body.

        `linked`: a parameter or a place in the body -> fields from which transitions take its values. `own_names`: places in
        the body that name the new resource.
        """
        self._own_names = own_names
        self.demands: Sequence[Constraint] = ()
        """Constraints that the target's refusals state for the path of the current case."""
        self._linked = linked
        self._leading: list[RingProperty] = [
            ("field", one) for at, each in linked.items() if at[0] is Location.BODY for one in sorted(each)
        ]
        """Properties of the rings from which transitions take values for the body."""
        self._states = states or ResourceStates()
        self._described = described or DescribedPaths(())
        self._telling = telling
        self._use = use
        self._rings = rings
        self._operation = operation
        self._consumers: dict[tuple[Location, str], Consumer] = {}
        self._named: dict[tuple[Location, str], Consumer] = {}
        """Consumer of each name. The items of one array share a consumer."""
        self._is_nested = len(use.owners) > 1
        self._last_owner = use.owners[-1][1] if use.owners else None
        self._taken: dict[str, Taken] = {}
        """Variable -> value that the current case takes for it."""
        self._given: dict[tuple[Origin, Scalar], Place] = {}
        """Value of the current case -> the place that takes it."""
        self._around_taken: list[tuple[str, str, str]] = []
        """(scope, collection, name) of the resources around those that the current case names, and of those in its path."""
        self._members_taken: list[tuple[str, str, str]] = []
        """(scope, collection, name) of the resources that other places of the current case name."""
        self._set: Collection[Place] = _NONE
        """The places whose values are given for the current case."""
        self.is_used = False
        """Whether the current case took a value of the pool, or asked for one."""
        self.is_layered = False
        """Whether all values come from earlier layers of the run."""
        self._is_led = False
        """Whether the resources around the deepest value of the body have been chosen."""
        self._led: list[ValueHistory] = []
        """The rings with properties of `_leading` among the first `_led_count` rings."""
        self._led_count = 0

    def was_shown(self, place: Place, value: object) -> bool:
        """Whether an earlier layer of the run showed a value for a place; False where there are no layers."""
        consumer = self._consumer(*place) if self.is_layered else None
        return consumer is not None and consumer.named(self._rings, f"{value}", ()) is not None

    def begin(self, given: Collection[Binding] = (), demands: Sequence[Constraint] = ()) -> None:
        """Begin another case, whose `given` values are already chosen. Nothing is carried over from the last case."""
        self.is_used = bool(given)
        if demands is not self.demands:
            self.demands = demands
            for name, _ in self._use.owners:
                consumer = self._consumer(*place_of(self._operation, name))
                if consumer is not None:
                    consumer.demands = [one for one in demands if one.path[:1] == (name,)]
        if self._taken:
            self._taken = {}
        if self._given:
            self._given = {}
        if self._around_taken or self._members_taken:
            self._around_taken, self._members_taken = [], []
        self._is_led = False
        self._set = {(one.location, one.name) for one in given} if given else _NONE
        for one in given:
            consumer = self._consumer(one.location, one.name)
            if consumer is not None and isinstance(one.literal, SCALARS):
                known = consumer.named(self._rings, f"{one.literal}", ())
                self._note(consumer, one.name, known or Taken(one.literal, (), (one.producer, one.pointer)))

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """Return a value for a parameter: the best and newest for index 0, less likely values for higher indices; None if the value is given.

        Several variables of a path must name resources that belong together: the value of the deepest is chosen first, and
        its context gives the others.
        """
        self.is_used = True
        is_strange = index % _STRANGERS == _STRANGERS - 1
        if name in self._own_names and location is Location.BODY and not is_strange:
            # The place names the new resource, and the names of known resources are already in use.
            return None
        consumer = self._named.get((location, name)) or self._consumer(location, name)
        if consumer is None or (location, name) in self._set:
            return None
        if self._is_nested and consumer.is_path:
            taken = self._taken.get(consumer.name) or self._taken_together(consumer.name, index)
        else:
            # Every second index takes the resource in the state that this operation has met least.
            taken = self._in_state(consumer, index) if consumer.is_path and not index % 2 else None
            taken = taken or self._fitting(consumer, (location, name), index)
        if taken is None:
            return None
        self._note(consumer, name, taken)
        value, (producer, pointer) = taken.value, taken.origin
        if consumer.as_text and not isinstance(value, str):
            value = str(value)
        return Binding(location, name, producer, pointer, index, value)

    def _fitting(self, consumer: Consumer, at: Place, index: int) -> Taken | None:
        """Return a value near `index` that no other place of the current case takes from the same field, and that fits the others.

        The source and the target of a transfer have to differ; a product and its stock record belong together.
        """
        is_strange = index % _STRANGERS == _STRANGERS - 1
        if self._leading and not (is_strange or self._is_led or consumer.is_path):
            self._lead(index)
        known = None if is_strange else self._known_at(at[1])
        near = consumer.near(self._rings, index, _DIFFERENT)
        best: Taken | None = None
        # Most values belong to no resource that the case names, so the first one is as good as any other.
        most, enough = -2, _FREE + (0 if known is None else consumer.best_fit(*known))
        for taken in near:
            if consumer.is_removing and self._is_spared(consumer, taken):
                continue
            giver = self._given.get((taken.origin, taken.value), at)
            # A body may repeat the name that is in the path.
            is_free = giver == at or (giver[0] is Location.PATH and not consumer.is_qualified)
            if most > 0 and not is_free:
                # A value that another place takes cannot have a higher rank than the best one so far.
                continue
            rank = _FREE * is_free + (0 if known is None else _fit(*self._named_by(consumer, taken), *known))
            if rank > most:
                best, most = taken, rank
            if rank >= enough:
                break
        if best is not None:
            self._given.setdefault((best.origin, best.value), at)
        return best

    def _lead(self, index: int) -> None:
        """Choose the resources around the deepest value that the body may take. For example, only few products may have a stock record."""
        self._is_led = True
        rings = self._rings
        if len(rings.ordered) > self._led_count:
            self._led = rings.since(0, self._leading)
            self._led_count = len(rings.ordered)
        known = self._known_at("")
        deepest: Above = ()
        for ring in self._led:
            if not ring.values:
                continue
            taken = (ring.newest or ring.read_newest())[index % len(ring.values)]
            if not ring.has_urls and len(taken.above) <= len(deepest):
                continue
            above, own = self._resources_of(taken)
            if len(above) > len(deepest) and (known is None or _fit(above, own, *known) >= 0):
                deepest = above
        self._around_taken += [("", *one) for one in deepest]

    def _known_at(self, name: str) -> tuple[Names, Names] | None:
        """Return the resources that the current case names around a place, and among them those that contain others or are in the path."""
        if not (self._around_taken or self._members_taken):
            return None
        around: dict[str, str | None] = {}
        for scope, collection, member in self._around_taken:
            if name.startswith(scope):
                around[collection] = member if around.get(collection, member) == member else None
        every = dict(around)
        for scope, collection, member in self._members_taken:
            if name.startswith(scope):
                every[collection] = member if every.get(collection, member) == member else None
        return (every, around) if every else None

    def _note(self, consumer: Consumer, name: str, taken: Taken) -> None:
        """Record which resources a value names. Later values of the case must belong to the same resources."""
        above, own = self._named_by(consumer, taken)
        if not (above or own):
            return
        # Items of a list need not belong to one resource.
        scope = _item_around(name)
        for collection, member in above:
            self._around_taken.append((scope, collection, member))
        named = self._around_taken if consumer.is_path else self._members_taken
        for collection, member in own:
            named.append((scope, collection, member))

    def _named_by(self, consumer: Consumer, taken: Taken) -> tuple[Above, Above]:
        """Return the context of the resource that a value names at its place, and that resource; empty if unknown."""
        value = taken.value
        if consumer.is_path:
            return taken.above, ((key_of(consumer.owner), f"{value}"),)
        above, own = self._resources_of(taken)
        return above, () if consumer.is_qualified else own

    def _resources_of(self, taken: Taken) -> tuple[Above, Above]:
        """Return the context of the resource that a value names, and that resource. The value may be a URL."""
        value = taken.value
        # Almost no value has a slash, and this test costs a fraction of a call.
        around, own = self._described.named_by(value) if value.__class__ is str and "/" in value else NO_NAMES
        return ((*taken.above, *around), own) if around or own else (taken.above, taken.own)

    def _in_state(self, consumer: Consumer, index: int) -> Taken | None:
        """Return the resource in the state that this operation has met least; None for a new resource."""
        if consumer.owner != self._last_owner:
            return None
        taken = self._states.least_met(self._use.label, key_of(consumer.owner), index // 2)
        if taken is None or self._is_spared(consumer, taken) or not consumer.may_take(self._rings, taken):
            return None
        return taken

    def _is_spared(self, consumer: Consumer, taken: Taken) -> bool:
        """Whether this operation removes resources, and few other resources are in the same state."""
        return consumer.is_removing and self._states.is_rare(key_of(consumer.owner), taken)

    def _taken_together(self, wanted: str, index: int) -> "Taken | None":
        """Return the value for a variable, chosen together with the variables below it that have no value yet."""
        for name, owner in reversed(self._use.owners):
            if name in self._taken:
                continue
            consumer = self._consumer(*place_of(self._operation, name))
            # Context of the chosen values, as the deepest one states it.
            around: dict[str, str] = {}
            for chosen in self._taken.values():
                for collection, name_above in chosen.above:
                    around.setdefault(collection, name_above)
            above = tuple(around.items())
            # The resource that the context gives for this variable: found by its path, else by its noun.
            known = dict(above).get(key_of(owner))
            if known is None:
                noun = resource_names.noun_of(owner)
                known = next((one for at, one in reversed(above) if noun_of_key(at) == noun), None)
            if consumer is not None and known is not None:
                named = consumer.named(self._rings, known, above)
                if named is None:
                    # No response shows this resource. The name is spelled as in the request that showed a resource
                    # below this one.
                    value = int(known) if str not in consumer.kinds and is_integer(known) else known
                    producer = next(iter(self._taken.values())).origin[0]
                    named = Taken(value, (), (producer, request_pointer(consumer.name)))
                self._taken[name] = named
            elif consumer is not None:
                taken = None if index % 2 else self._in_state(consumer, index)
                taken = taken or consumer.choose(self._rings, index, above)
                if taken is not None:
                    self._taken[name] = taken
            if name == wanted:
                break
        return self._taken.get(wanted)

    def consumed(self, bindings: Iterable[Binding], *, is_missing: bool) -> None:
        """Count whether the values named existing resources."""
        for taken in bindings:
            self.fared((taken.location, taken.name), field_of(taken.pointer), is_missing=is_missing)

    def fared(self, place: Place, field_name: str, *, is_missing: bool) -> None:
        """Count whether a value of a field named an existing resource."""
        consumer = self._named.get(place) or self._consumer(*place)
        if consumer is not None:
            consumer.fared(field_name, is_missing=is_missing)

    def blamed(self, bindings: Sequence[Binding]) -> Sequence[Binding]:
        """Return the values that may be unknown to the target after a 404. Only the deepest value of a path is returned."""
        if not self._is_nested:
            return bindings
        places = [place_of(self._operation, name) for name, _ in self._use.owners]
        named = [one for one in bindings if (one.location, one.name) in places]
        named.sort(key=lambda one: places.index((one.location, one.name)))
        return [one for one in bindings if one not in named[:-1]]

    def _consumer(self, location: Location, name: str) -> "Consumer | None":
        """Return the consumer of a parameter; None if there are too many names already."""
        named = self._named.get((location, name))
        if named is not None:
            return named
        variable = variable_at(self._operation, (location, name))
        slot = (location, place_word(name, self._telling) if location is Location.BODY else name)
        if variable is not None:
            slot = (Location.PATH, variable)
        consumer = self._consumers.get(slot)
        if consumer is None:
            if len(self._consumers) >= _SLOTS:
                return None
            consumer = self._consumers[slot] = consumer_of(
                self._operation, self._use, *slot, name, self._linked.get(slot, frozenset())
            )
        if len(self._named) < _SLOTS:
            self._named[location, name] = consumer
        return consumer


def taken_from(case: Case) -> tuple[str, str]:
    """Return the last variable of the path of a case, and the field of an earlier response that gave its value; empty for an invented one."""
    bindings = () if case.meta is None else case.meta.bindings
    if not bindings:
        return "", ""
    variables = variables_of(case.operation.resource_path)
    place = place_of(case.operation, variables[-1]) if variables else None
    found = (field_of(one.pointer) for one in bindings if (one.location, one.name) == place)
    name = next(found, "")
    return (variables[-1], name) if name else ("", "")


def _fit(above: Above, own: Above, every: Names, around: Names) -> int:
    """Return 1 if the value belongs to a resource that the case names, -1 if it belongs to a different resource of the same collection, else 0.

    `above` are the resources that contain the value; they are compared with `every`. `own` is the resource that the value itself
    names; it is compared with `around`.
    """
    found = 0
    for names, known in ((above, every), (own, around)):
        for collection, name in names:
            if collection in known:
                if known[collection] != name:
                    return -1
                found = 1
    return found


def names_in_path(case: Case) -> int:
    """Return a digest of the names in the path of a case below 2**32; 0 if it has none."""
    names = [f"{name}={value}" for name, value in named_values(case).items()]
    return int(digest(*names)[:8], 16) if names else 0


def is_name_missing(case: Case, response: Response, status: int) -> bool:
    """Whether the status or the text of a response says that the resource in the path of a case does not exist."""
    if status in GONE_STATUSES:
        return True
    variables = variables_of(case.operation.resource_path) if 400 <= status < 500 else ()
    name = named_values(case).get(variables[-1]) if variables else None
    return isinstance(name, SCALARS) and f"{name}" != "" and denies_name(f"{name}", case, response)


@lru_cache(maxsize=4096)
def _item_around(pointer: str) -> str:
    """Return the beginning of a pointer up to its last token that is the index of an item; empty if there is none."""
    tokens = pointer.split("/")
    last = max((place for place, token in enumerate(tokens) if token.isdigit()), default=-1)
    return "".join([f"{token}/" for token in tokens[: last + 1]])
