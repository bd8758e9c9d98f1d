"""The value pool of `run`: values of earlier layers in the order of recipes, the same for every worker."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from msgspec.structs import replace

from checker.core.case import Case
from checker.core.operation import Label, Operation
from checker.core.phases import CaseSource, phase_named, phase_names
from checker.core.resources import REMOVING, ResourceModel, status_of
from checker.core.response import Response
from checker.corpus.records import Record, ValueGone, ValueSeen
from checker.values.consumers import OperationView
from checker.values.harvest import DEEP
from checker.values.history import Instance
from checker.values.pool import LiveValues
from checker.values.producers import NEAR

_KEPT = 16
"""Values of one place in the answers to one task: those of its first cases."""
_READ = 64
"""Cases of one task whose answers are read."""

Place = tuple[int, int]
"""(phase, layer): everything before it may be used in it."""
_NOWHERE: Place = (-1, -1)
Key = tuple[Place, int, int]
"""(place, order of the operation, index of the case): who comes first."""


@dataclass(slots=True)
class LayeredValues:
    """Values by the phase and layer in which they were seen. One object for each worker; journals carry the values of other workers.

    What may be used is what was seen before the layer of a task, so it is known when the layer begins, and it is taken in
    by operation and index, so nobody's haste decides.
    """

    model: ResourceModel
    names: Callable[[Label], Iterable[str]]
    unordered: Collection[str] = ()
    """Phases whose operations are all worked on at once."""
    is_secret: Callable[[str], bool] = lambda text: False
    """Whether a value must not be written."""
    _values: LiveValues = field(init=False)
    _place: Place = _NOWHERE
    _coming: list[tuple[Key, ValueSeen | ValueGone]] = field(default_factory=list)
    """Of this layer and later ones, in order."""
    _places: dict[tuple[str, Label], Place] = field(default_factory=dict)
    """(phase, operation) -> its place: values come by the thousand, from a few of these."""
    _lowest: dict[tuple[str, str, str], dict[Instance, int]] = field(default_factory=dict)
    """(phase, operation, pointer) -> value -> lowest index that showed it: what this worker has written down."""
    _order: Mapping[Label, int] = field(init=False)

    def __post_init__(self) -> None:
        self._values = LiveValues(self.model, self.names, self.is_secret)
        self._order = {label: place for place, label in enumerate(self.model.ordered)}

    def view(self, operation: Operation) -> OperationView:
        """The pool as `operation` may use it."""
        return self._values.view(operation)

    def place_of(self, phase: str, label: Label) -> Place:
        """Return the phase and layer of the tasks of an operation; sequences are all in one layer."""
        if phase in self.unordered or phase_named(phase).source is CaseSource.CHAINED:
            return phase_names().index(phase), 0
        return phase_names().index(phase), self.model.layers.get(label, 0)

    def begin(self, place: Place, news: Callable[[], Iterable[Record]], *, is_resumed: bool = False) -> None:
        """A task of this place begins; `news` gives records of all workers that were not given before.

        Another worker may have begun a task that is resumed: then the news are read in any case.
        """
        is_new = place > self._place
        if is_new or is_resumed:
            self._coming += (
                (self._key(one), one) for one in news() if isinstance(one, ValueSeen | ValueGone) and one.phase
            )
        if not is_new:
            return
        self._place = place
        self._coming.sort(key=itemgetter(0))
        count = bisect_left(self._coming, place, key=lambda pair: pair[0][0])
        ready = [one for _, one in self._coming[:count]]
        del self._coming[:count]
        for one in _first(ready):
            self._values.absorb(one)
        self._values.forget_rankings()
        self._lowest.clear()

    def observe(self, case: Case, response: Response, phase: str, index: int) -> list[ValueSeen | ValueGone]:
        """Add the values of a response that later layers may use."""
        operation = case.operation
        if index >= _READ:
            return []
        succeeded = 200 <= status_of(operation, response) < 300
        found: list[ValueSeen | ValueGone] = []
        if operation.resource_method == REMOVING:
            gone = self._values.gone(case, succeeded=succeeded)
            found += [replace(one, phase=phase, index=index) for one in gone]
        if not succeeded:
            return found
        if operation.label not in self.model.producers:
            # The plan waits for producers alone: of others it would depend on their haste what is known.
            return found
        depth = NEAR if operation.resource_method == "POST" and index >= _KEPT else DEEP
        for pointer, value, above in self._values.leaves(case, response, depth):
            known = self._lowest.setdefault((phase, operation.label, pointer), {})
            if index < known.get((value, above), _READ) and _is_low(known, index):
                known[value, above] = index
                found.append(ValueSeen(operation.label, pointer, value, case.id, phase, index, above))
        return found

    def _key(self, one: ValueSeen | ValueGone) -> Key:
        label = Label(one.producer if isinstance(one, ValueSeen) else one.label)
        place = self._places.get((one.phase, label))
        if place is None:
            place = self._places[one.phase, label] = self.place_of(one.phase, label)
        return place, self._order.get(label, 0), one.index


def _is_low(known: Mapping[Instance, int], index: int) -> bool:
    """Whether it is one of the first cases that showed something there: later answers may come before earlier ones."""
    return len(known) < _KEPT or sum(other < index for other in known.values()) < _KEPT


def _first(ready: Iterable[ValueSeen | ValueGone]) -> Iterable[ValueSeen | ValueGone]:
    """The first values of each place, each once; what one case removed, or tried to, once."""
    seen: dict[tuple[str, str, str], set[Instance]] = {}
    removals: set[tuple[str, str, int]] = set()
    for one in ready:
        if isinstance(one, ValueSeen):
            known = seen.setdefault((one.phase, one.producer, one.pointer), set())
            value = (one.value, one.above)
            if value in known or len(known) >= _KEPT:
                continue
            known.add(value)
        else:
            removal = (one.phase, one.label, one.index)
            if removal in removals:
                continue
            removals.add(removal)
        yield one
