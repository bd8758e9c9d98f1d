"""The live value pool of `fuzz`: what servers said, offered to the parameters that may mean it."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from checker.core import resource_names
from checker.core.case import Case
from checker.core.meta import Binding
from checker.core.operation import Label, Operation
from checker.core.resource_names import Resource
from checker.core.resources import (
    REMOVING,
    ResourceModel,
    ResourceUse,
    named_values,
    status_of,
    variable_at,
)
from checker.core.response import Response
from checker.corpus.consumers import OperationView
from checker.corpus.harvest import (
    DEEP,
    AnswerPlace,
    Places,
    field_of,
    is_integer,
    last_parameter,
    sent_scalars,
    value_at,
)
from checker.corpus.learned import ValueGone, ValueSeen
from checker.corpus.value_history import SCALARS, Scalar, ValueHistory

_RECORDS = 32
_RINGS = 2000
_SAMPLE = 64
_PLENTY = 16
_LONGEST_PAUSE = 63
_NEAR = 2
_GONE_STATUSES = (404, 410)
__all__ = ["LiveValues", "value_at"]

_UNSETTLED = ValueHistory((), "", bool)
"""Stands for a place of which it is not known yet where its values belong."""
RingKey = tuple[Resource, str, type[Scalar]]


class LiveValues:
    """Values of successful answers, by the resource and field where they were seen. One for each worker."""

    def __init__(
        self,
        model: ResourceModel,
        names: Callable[[Label], Iterable[str]],
        is_secret: Callable[[str], bool] = lambda text: False,
    ) -> None:
        """`model` of all operations that may be asked, `names` of the parameters of one.

        What `is_secret` is never kept: values are written down, and sent to others than whom they were meant for.
        """
        self._is_secret = is_secret
        self._model = model
        self._names = names
        self._rings: dict[RingKey, ValueHistory] = {}
        self._by_noun: dict[tuple[str, type[Scalar]], list[ValueHistory]] = {}
        """Those of one kind, by what the things of their resources are called."""
        self._ordered: list[ValueHistory] = []
        self._views: dict[Label, OperationView] = {}

    def forget_rankings(self) -> None:
        """Have the values ranked anew: when they were ranked last must not matter."""
        self._views.clear()

    def leaves(
        self, operation: Operation, response: Response, depth: int
    ) -> list[tuple[str, Scalar]]:
        """(pointer, value) of what an answer holds that somebody may ask for."""
        source = self._sources.get(operation.label)
        if source is None or not (source.feeds or source.wanted):
            return []
        return [
            (place.origin[1], value)
            for place, value in self._harmless(source, operation, response, depth)
            if source.feeds or place.name in source.wanted
        ]

    def _harmless(
        self, source: "_Producer", operation: Operation, response: Response, depth: int
    ) -> list[tuple[AnswerPlace, Scalar]]:
        """What an answer holds, without what must not be written."""
        found = source.places.leaves(response, depth, operation.read_answer)
        return [one for one in found if not isinstance(one[1], str) or not self._is_secret(one[1])]

    def gone(self, case: Case) -> list[ValueGone]:
        """What a DELETE that succeeded took away; it stays in the pool."""
        name = last_parameter(case.operation.resource_path)
        value = named_values(case).get(name) if name is not None else None
        return (
            [ValueGone(value, case.id, case.operation.label)] if isinstance(value, SCALARS) else []
        )

    def view(self, operation: Operation) -> OperationView:
        """The pool as `operation` may use it."""
        view = self._views.get(operation.label)
        if view is None:
            view = self._views[operation.label] = OperationView(
                self._ordered, operation, self._use(operation)
            )
        return view

    def observe(self, case: Case, response: Response) -> list[ValueSeen | ValueGone]:
        """Learn from an answer; what is new and worth telling to peers."""
        operation, status = case.operation, status_of(case.operation, response)
        if case.meta is not None and case.meta.bindings:
            self._consumed(operation, case.meta.bindings, status)
        if not 200 <= status < 300:
            return []
        found: list[ValueSeen | ValueGone] = []
        if operation.resource_method == REMOVING:
            found += self._deleted(case)
        source = self._sources.get(operation.label)
        depth = source.depth(operation.resource_method) if source is not None else 0
        if source is not None and depth:
            found += self._harvest(case, source, self._harmless(source, operation, response, depth))
        return found

    def absorb(self, record: ValueSeen | ValueGone) -> None:
        """Learn what a peer learned."""
        if isinstance(record, ValueGone):
            source = self._sources.get(Label(record.label))
            if source is not None:
                self._remove(record.value, source.resource)
            return
        source = self._sources.get(Label(record.producer))
        if source is not None:
            name = field_of(record.pointer)
            self._add(source, name, record.value, record.pointer, Label(record.producer))

    @cached_property
    def _sources(self) -> dict[Label, "_Producer"]:
        """All operations as producers. Their parameters are looked at when there is a first value to learn."""
        uses = self._model.uses
        owners = {resource_names.noun_of(owner) for use in uses.values() for _, owner in use.owners}
        wanted = frozenset(self._wanted_names())
        found = {}
        for label, use in uses.items():
            feeds = resource_names.noun_of(use.resource) in owners
            found[label] = _Producer(use.resource, feeds, wanted, Places(label))
        return found

    def _wanted_names(self) -> Iterator[str]:
        """Fields that some parameter asks for by name, from any resource."""
        asked: set[str] = set()
        for label, use in self._model.uses.items():
            for parameter in self._names(label):
                if parameter in asked:
                    continue
                if not resource_names.is_identifier(resource_names.normalised(parameter)):
                    # Only of an `id` it depends on the path what it is called elsewhere.
                    asked.add(parameter)
                owner = use.owner(parameter)
                for noun, name in resource_names.spellings(parameter, owner):
                    if not noun and not resource_names.is_identifier(name):
                        yield name

    def _harvest(
        self, case: Case, source: "_Producer", leaves: list[tuple[AnswerPlace, Scalar]]
    ) -> Iterator[ValueSeen | ValueGone]:
        records = 0
        sent = sent_scalars(case)
        is_fresh = False
        for place, value in leaves:
            ring = place.rings.get(value.__class__, _UNSETTLED)
            if ring is _UNSETTLED:
                ring = self._settle(source, place, value.__class__)
            if ring is None:
                continue
            if value in sent:
                ring.echoed += 1
            if ring.add(value, place.origin):
                is_scarce = len(ring.values) <= _PLENTY
                is_fresh |= is_scarce
                # Peers need no more than a sample once there is plenty.
                if records < _RECORDS and (is_scarce or ring.seen % _SAMPLE == 0):
                    records += 1
                    yield ValueSeen(*place.origin, value, case.id)
        source.learned(is_fresh=is_fresh)

    def _settle(
        self, source: "_Producer", place: AnswerPlace, kind: type[Scalar]
    ) -> ValueHistory | None:
        """The ring for what stands at a place, from now on."""
        is_wanted = source.feeds or place.name in source.wanted
        ring = self._ring(source.resource, place.name, kind) if is_wanted else None
        place.rings[kind] = ring
        return ring

    def _add(
        self, source: "_Producer", name: str, value: Scalar, pointer: str, producer: Label
    ) -> None:
        ring = self._ring(source.resource, name, type(value))
        if ring is not None:
            ring.add(value, (producer, pointer))

    def _ring(self, resource: Resource, name: str, kind: type[Scalar]) -> ValueHistory | None:
        key = (resource, name, kind)
        ring = self._rings.get(key)
        if ring is None:
            if len(self._rings) >= _RINGS:
                return None
            ring = self._rings[key] = ValueHistory(*key)
            self._by_noun.setdefault((ring.noun, kind), []).append(ring)
            self._ordered.append(ring)
        return ring

    def _consumed(self, operation: Operation, bindings: tuple[Binding, ...], status: int) -> None:
        is_missing = status in _GONE_STATUSES
        if is_missing or status < 400:
            self.view(operation).consumed(bindings, is_missing=is_missing)
        for binding in bindings if is_missing else ():
            place = (binding.location, binding.name)
            ring = None if variable_at(operation, place) is None else self._ring_of(binding)
            if ring is not None:
                ring.missed(binding.literal)  # type: ignore[arg-type]

    def _ring_of(self, binding: Binding) -> ValueHistory | None:
        source = self._sources.get(binding.producer)
        if source is None or not isinstance(binding.literal, SCALARS):
            return None
        return self._rings.get((source.resource, field_of(binding.pointer), type(binding.literal)))

    def _deleted(self, case: Case) -> Iterator[ValueGone]:
        for gone in self.gone(case):
            self._remove(gone.value, self._use(case.operation).resource)
            yield gone

    def _use(self, operation: Operation) -> ResourceUse:
        found = self._model.uses.get(operation.label)
        return found or ResourceUse.of(
            operation.label, operation.resource_method, operation.resource_path
        )

    def _remove(self, value: Scalar, resource: Resource) -> None:
        noun = resource_names.noun_of(resource)
        for kind, gone in _readings(value):
            for ring in self._by_noun.get((noun, kind), ()):
                if gone in ring.values:
                    ring.remove(gone)


def _readings(value: Scalar) -> Iterator[tuple[type[Scalar], Scalar]]:
    """What a value may have been seen as. Python takes 1, 1.0 and True for the same."""
    if not isinstance(value, str):
        for kind in (int, float, bool):
            yield kind, value
        return
    yield str, value
    if is_integer(value):
        yield int, int(value)


class _Producer(Struct):
    """One operation as a producer: whether its answers are worth reading."""

    resource: Resource
    feeds: bool
    """Whether some path parameter chooses from this collection: then every scalar may be a name."""
    wanted: frozenset[str]
    """Field names that some parameter asks for, wherever they are seen."""
    places: Places
    _pause: int = 0
    """Answers not to read fully after one that taught nothing: twice as many each time."""
    _left: int = 0

    def depth(self, method: str) -> int:
        """How deep to read the next answer: ever less often at all, once an operation shows nothing new."""
        if not self.feeds and not self.wanted:
            return 0
        self._left -= 1
        if self._left < 0:
            return DEEP
        # What names a new thing is needed at once, and stands near the top.
        return _NEAR if method == "POST" else 0

    def learned(self, *, is_fresh: bool) -> None:
        """Note whether the answer taught anything."""
        if is_fresh:
            self._pause = self._left = 0
        elif self._left < 0:
            self._pause = self._left = min(2 * self._pause + 1, _LONGEST_PAUSE)
