"""Parameters as consumers of values: which rings each may take from, best first, and how that went."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from checker.core.meta import Binding
from checker.core.operation import Location, Operation
from checker.core.pool import PooledValue
from checker.corpus import matching
from checker.corpus.harvest import field_of
from checker.corpus.matching import Resource
from checker.corpus.rings import Ring, Scalar, Seen

# Prior weight of the affinity, in consumptions.
_PRIOR = 4.0
_BY_NAME = 0.8
_RANKS = 24
# (rank of the ring, depth in it) in the order in which indices try them: the best ring's newest first, but the
# second ring's newest before the best ring's third, because the best ring may be the wrong one.
_ORDER = sorted(
    ((rank, depth) for rank in range(_RANKS) for depth in range(64)),
    key=lambda pair: (2 * pair[0] + pair[1], pair),
)[:600]


class OperationView:
    """The pool as one operation may use it."""

    def __init__(self, rings: Sequence[Ring], operation: Operation) -> None:
        self._rings = rings
        self._operation = operation
        self._consumers: dict[tuple[Location, str], _Consumer] = {}

    def pick(self, location: Location, name: str, index: int) -> PooledValue | None:
        """A value for this parameter: the best and newest for index 0, less likely ones above."""
        consumer = self._consumer(location, name)
        rings = consumer.ranked(self._rings)
        count = 0
        for rank, depth in _ORDER if rings else ():
            if rank < len(rings) and depth < len(rings[rank].values):
                if count == index:
                    return consumer.offer(rings[rank].newest(depth), index)
                count += 1
        if count:
            # Beyond the last one: from the beginning again.
            return self.pick(location, name, index % count)
        return None

    def consumed(self, binding: Binding, *, is_missing: bool, is_success: bool) -> None:
        """Learn whether a field's values are what this parameter asks for."""
        consumer = self._consumer(binding.location, binding.name)
        field_name = matching.normalised(field_of(binding.pointer))
        if is_success:
            consumer.fared(field_name, 1, 0)
        elif is_missing:
            consumer.fared(field_name, 0, 1)

    def _consumer(self, location: Location, name: str) -> "_Consumer":
        consumer = self._consumers.get((location, name))
        if consumer is None:
            consumer = _consumer_of(self._operation, location, name)
            self._consumers[location, name] = consumer
        return consumer


@dataclass(slots=True)
class _Consumer:
    """One parameter: which rings it may take from, best first, and how their values fared."""

    name: str
    owner: Resource
    is_path: bool
    kinds: tuple[type[Scalar], ...]
    """Kinds of values that fit."""
    as_text: bool
    """Whether an integer must be given as text."""
    _fared: dict[str, tuple[int, int]] = field(default_factory=dict)
    _candidates: list[tuple[float, Ring]] = field(default_factory=list)
    """(affinity, ring); the affinity never changes."""
    _examined: int = 0
    _ranked: list[Ring] = field(default_factory=list)
    _picks: int = 0

    def ranked(self, rings: Sequence[Ring]) -> list[Ring]:
        """Rings with values for this parameter, best first; ranked again now and then, for rings change."""
        self._picks += 1
        if len(rings) > self._examined:
            self._examine(rings)
        elif self._ranked and self._picks % 16:
            return self._ranked
        scored = [
            (self._score(affinity, ring), -number, ring)
            for number, (affinity, ring) in enumerate(self._candidates)
            if ring.values
        ]
        scored.sort(key=lambda item: item[:2], reverse=True)
        self._ranked = [ring for _, _, ring in scored[:_RANKS]]
        return self._ranked

    def offer(self, seen: Seen, index: int) -> PooledValue:
        """A value as this parameter takes it."""
        value = seen.value
        if self.as_text and not isinstance(value, str):
            value = str(value)
        return PooledValue(value, seen.producer, seen.pointer, index)

    def fared(self, field_name: str, hits: int, misses: int) -> None:
        """Count a consumption."""
        known = self._fared.get(field_name, (0, 0))
        self._fared[field_name] = (known[0] + hits, known[1] + misses)
        if misses:
            self._ranked = []

    def _examine(self, rings: Sequence[Ring]) -> None:
        for ring in rings[self._examined :]:
            affinity = matching.affinity(self.name, self.owner, ring.name, ring.resource)
            # Any scalar of the collection may be what a path parameter asks for; others ask by name alone.
            if ring.kind in self.kinds and affinity > (0.0 if self.is_path else _BY_NAME):
                self._candidates.append((affinity, ring))
        self._examined = len(rings)

    def _score(self, affinity: float, ring: Ring) -> float:
        prior = affinity if affinity > _BY_NAME else affinity * ring.looks_like_identifier()
        hits, misses = self._fared.get(ring.name, (0, 0))
        return (prior * _PRIOR + hits) / (_PRIOR + hits + misses)


def _consumer_of(operation: Operation, location: Location, name: str) -> _Consumer:
    kinds: tuple[type[Scalar], ...] = (str, int, float, bool)
    as_text = False
    for parameter in operation.parameters:
        if parameter.name == name and parameter.location is location:
            kinds, as_text = _fitting(parameter.schema.raw)
    is_path = location is Location.PATH
    path = operation.path
    owner = matching.owner_of(path, name) if is_path else matching.resource_of(path)
    if location is Location.BODY:
        # A pointer: `/rooms/0/id` asks for the id of a room.
        name = "_".join(part for part in name.split("/") if part and not part.isdigit())
    return _Consumer(name, owner, is_path, kinds, as_text)


def _fitting(raw: object) -> tuple[tuple[type[Scalar], ...], bool]:
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
