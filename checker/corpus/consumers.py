"""Parameters as consumers of values: which rings each may take from, best first, and how that went."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from checker.core import resource_names
from checker.core.meta import Binding
from checker.core.operation import Body, Location, Operation
from checker.core.resource_names import Resource
from checker.core.resources import ResourceUse, place_of, variable_at
from checker.corpus.harvest import field_of
from checker.corpus.value_history import Origin, Scalar, ValueHistory

# Prior weight of the affinity, in consumptions.
_PRIOR = 4.0
_BY_NAME = 0.8
_RANKS = 24
# As many values as generation chooses from.
_REACH = 64
# Picks between two rankings, at most.
_PATIENCE = 64
# Misses of one field, each of which may change the ranking.
_TELLING = 16
# References and alternatives that lead to the properties of one object.
_STEPS = 8
# Names that one operation is asked for. Those of additional properties are made up and never come to an end.
_SLOTS = 512
_UNKNOWN = (0, 0)


class OperationView:
    """The pool as one operation may use it."""

    def __init__(
        self, rings: Sequence[ValueHistory], operation: Operation, use: ResourceUse
    ) -> None:
        """`use`: where the operation stands among the resources."""
        self._use = use
        self._rings = rings
        self._operation = operation
        self._consumers: dict[tuple[Location, str], _Consumer] = {}
        self._named: dict[tuple[Location, str], _Consumer] = {}
        """Consumers by every name that was asked for: items of one array share one."""

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """A value for this parameter: the best and newest for index 0, less likely ones above."""
        consumer = self._named.get((location, name)) or self._consumer(location, name)
        if consumer is None:
            return None
        found = consumer.choose(self._rings, index)
        if found is None:
            return None
        value, (producer, pointer) = found
        if consumer.as_text and not isinstance(value, str):
            value = str(value)
        return Binding(location, name, producer, pointer, index, value)

    def consumed(self, bindings: Iterable[Binding], *, is_missing: bool) -> None:
        """Learn whether the fields of these values are what the parameters ask for."""
        for taken in bindings:
            name = (taken.location, taken.name)
            consumer = self._named.get(name) or self._consumer(*name)
            if consumer is not None:
                consumer.fared(field_of(taken.pointer), is_missing=is_missing)

    def _consumer(self, location: Location, name: str) -> "_Consumer | None":
        """None when there are too many names already."""
        named = self._named.get((location, name))
        if named is not None:
            return named
        variable = variable_at(self._operation, (location, name))
        slot = (location, _words_of(name) if location is Location.BODY else name)
        if variable is not None:
            slot = (Location.PATH, variable)
        consumer = self._consumers.get(slot)
        if consumer is None:
            if len(self._consumers) >= _SLOTS:
                return None
            consumer = self._consumers[slot] = _consumer_of(self._operation, self._use, *slot)
        if len(self._named) < _SLOTS:
            self._named[location, name] = consumer
        return consumer


class _Consumer(Struct):
    """One parameter: which rings it may take from, best first, and how their values fared."""

    name: str
    owner: Resource
    is_path: bool
    kinds: tuple[type[Scalar], ...]
    """Kinds of values that fit."""
    as_text: bool
    """Whether an integer must be given as text."""
    _noun: str = ""
    _fields: frozenset[str] = frozenset()
    """What fields may be called that its name means."""
    _fared: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Field -> (hits, misses)."""
    _candidates: list[tuple[float, ValueHistory]] = field(default_factory=list)
    """(affinity, ring); the affinity never changes."""
    _examined: int = 0
    _order: list[tuple[ValueHistory, int]] = field(default_factory=list)
    """(ring, depth in it) for each index, when they were ranked last."""
    _pause: int = 0
    """Picks between the last two rankings: first each is followed by one, then ever fewer."""
    _left: int = 0
    """Picks until the next ranking."""

    def __post_init__(self) -> None:
        self._noun = resource_names.noun_of(self.owner)
        self._fields = frozenset(
            name for _, name in resource_names.spellings(self.name, self.owner)
        )

    def choose(self, rings: Sequence[ValueHistory], index: int) -> tuple[Scalar, Origin] | None:
        """The value for this index. Rings change, so they are ranked again now and then."""
        if len(rings) > self._examined:
            self._examine(rings)
        if not self._candidates:
            return None
        self._left -= 1
        if self._left < 0:
            self._rank()
        order = self._order
        if order:
            ring, depth = order[index % len(order)]
            if depth < len(ring.values):
                return ring.newest(depth)
        # What was there is gone, or has come, since the rings were ranked.
        self._rank()
        order = self._order
        if not order:
            return None
        ring, depth = order[index % len(order)]
        return ring.newest(depth)

    def fared(self, field_name: str, *, is_missing: bool) -> None:
        """Count a consumption."""
        hits, misses = self._fared.get(field_name, _UNKNOWN)
        if not is_missing:
            self._fared[field_name] = (hits + 1, misses)
            return
        self._fared[field_name] = (hits, misses + 1)
        # The more is known of a field, the less one more miss moves it.
        if misses < _TELLING or misses % _PATIENCE == 0:
            self._left = 0

    def _examine(self, rings: Sequence[ValueHistory]) -> None:
        for ring in rings[self._examined :]:
            # Any scalar of the collection may be what a path parameter asks for; others ask by name alone.
            may_fit = ring.name in self._fields or (self.is_path and ring.noun == self._noun)
            if not may_fit or ring.kind not in self.kinds:
                continue
            affinity = resource_names.affinity(self.name, self.owner, ring.name, ring.resource)
            if affinity > (0.0 if self.is_path else _BY_NAME):
                self._candidates.append((affinity, ring))
                self._left = self._pause = 0
        self._examined = len(rings)

    def _rank(self) -> None:
        scored = [
            (self._score(affinity, ring), -number, ring)
            for number, (affinity, ring) in enumerate(self._candidates)
            if ring.values
        ]
        scored.sort(key=lambda item: item[:2], reverse=True)
        self._order = _order_of([ring for _, _, ring in scored[:_RANKS]])
        self._pause = min(2 * self._pause + 1, _PATIENCE) if scored else 0
        self._left = self._pause

    def _score(self, affinity: float, ring: ValueHistory) -> float:
        prior = affinity if affinity > _BY_NAME else affinity * ring.looks_like_identifier()
        hits, misses = self._fared.get(ring.name, _UNKNOWN)
        return (prior * _PRIOR + hits) / (_PRIOR + hits + misses)


def _order_of(ranked: list[ValueHistory]) -> list[tuple[ValueHistory, int]]:
    """(ring, depth) in the order in which indices try them, `_REACH` at most.

    The best ring's newest first, but the second ring's newest before the best ring's third, because the best ring may
    be the wrong one.
    """
    sizes = [(2 * rank, len(ring.values), ring) for rank, ring in enumerate(ranked)]
    wanted = min(sum(size for _, size, _ in sizes), _REACH)
    order: list[tuple[ValueHistory, int]] = []
    turn = 0
    while len(order) < wanted:
        order += [(ring, turn - start) for start, size, ring in sizes if 0 <= turn - start < size]
        turn += 1
    return order


def _words_of(pointer: str) -> str:
    """A place in a body by its names: `/rooms/0/id` asks for the id of a room."""
    return "_".join(part for part in pointer.split("/") if part and not part.isdigit())


def _consumer_of(
    operation: Operation, use: ResourceUse, location: Location, name: str
) -> _Consumer:
    kinds: tuple[type[Scalar], ...] = (str, int, float, bool)
    as_text = False
    is_path = location is Location.PATH
    if is_path:
        kinds, as_text = variable_kinds(operation, name)
    for parameter in operation.parameters:
        if parameter.name == name and parameter.location is location:
            kinds, as_text = fitting_kinds(parameter.schema.raw)
    owner = use.owner(name) if is_path else use.resource
    return _Consumer(name, owner, is_path, kinds, as_text)


def variable_kinds(operation: Operation, name: str) -> tuple[tuple[type[Scalar], ...], bool]:
    """Kinds of values by which a variable of a resource is named, and whether integers must be given as text."""
    location, at = place_of(operation, name)
    if location is Location.BODY:
        return fitting_kinds(_body_schema(operation, at))
    for parameter in operation.parameters:
        if parameter.name == at and parameter.location is location:
            return fitting_kinds(parameter.schema.raw)
    return (str, int), False


def _body_schema(operation: Operation, pointer: str) -> object:
    """The schema of a place in the body, as far as plain properties and references lead there."""
    body = next(iter(operation.bodies), None)
    raw: Any = None if body is None else body.schema.raw
    for token in pointer.split("/")[1:]:
        raw = _properties(body, raw).get(token) if body is not None else None
    return raw


def _properties(body: Body, raw: Any) -> Mapping[str, Any]:
    for _ in range(_STEPS):
        if not isinstance(raw, dict):
            return {}
        if "$ref" in raw:
            raw, _at = body.schema.document.resolve(raw["$ref"], at=body.pointer)
        elif "anyOf" in raw:
            raw = raw["anyOf"][0]
        else:
            break
    found = raw.get("properties")
    return found if isinstance(found, dict) else {}


def fitting_kinds(raw: object) -> tuple[tuple[type[Scalar], ...], bool]:
    """Kinds of values that a schema takes, and whether integers must be given as text."""
    named = raw.get("type") if isinstance(raw, dict) else None
    types = set(named) if isinstance(named, list) else {named}
    if types & {None, "object", "array"}:
        return (str, int, float, bool), False
    table: dict[str, tuple[type[Scalar], ...]] = {
        "integer": (int,),
        "number": (int, float),
        "boolean": (bool,),
        "string": (str, int),
    }
    kinds = tuple({kind for name in sorted(map(str, types)) for kind in table.get(name, ())})
    return kinds or (str, int, float, bool), not types & {"integer", "number"} and "string" in types
