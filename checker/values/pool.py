"""The pool of values: scalars of responses, offered to the parameters that may take them.

`fuzz` uses a value at once (`ValuePool`), `run` in the layers after the one that showed it (`LayeredPool`).
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache, cached_property
from itertools import repeat
from operator import itemgetter

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core import resource_names
from checker.core.case import NOT_SET, Case
from checker.core.constraints import Constraint
from checker.core.meta import Binding
from checker.core.operation import Label, Operation
from checker.core.phases import CaseSource, phase_named, phase_number
from checker.core.request import Location
from checker.core.resource_names import Resource
from checker.core.resources import (
    CREATING,
    REMOVING,
    ResourceModel,
    ResourceUse,
    named_values,
    place_of,
    telling_variables,
    variable_at,
)
from checker.core.response import Response
from checker.corpus.records import Above, CaseFared, Record, ResourceChanged, ValueGone, ValueSeen, agree
from checker.corpus.secrets import NO_SECRETS, Secrets
from checker.values.consumers import GONE_STATUSES, Field, OperationView, is_name_missing
from checker.values.harvest import DEEP, LOCATION, Places, ResponsePlace, field_of, is_integer, sent_scalars
from checker.values.history import LONGEST_TEXT, SCALARS, Instance, Origin, Rings, Scalar, Taken, ValueHistory
from checker.values.locations import DescribedPaths
from checker.values.producers import (
    NEAR,
    NO_FORMATS,
    Ancestry,
    Producer,
    Worth,
    ancestries,
    body_pointer,
    is_of_request,
    key_of,
    names_given,
    pointers_taken,
    sent_value,
)
from checker.values.states import ResourceStates

ValueRecord = ValueSeen | ValueGone | ResourceChanged
# Journals grow by each record, and every worker reads all of them.
_RECORDS = 32
_RINGS = 2000
_SAMPLE = 64
_PLENTY = 16
# Most removed resources whose later appearance counts as stale.
_TOMBSTONES = 10_000
_MOST_FARED = 64  # Cases of one operation that decide which field gives the values of its path.

_KEPT = 16  # Values of one place that are kept of one task: those of its first cases.
_READ = 64  # Cases of one task whose responses are read for values.

Place = tuple[int, int]  # (phase, layer). A case may use the values of all places before its own.
_NOWHERE: Place = (-1, -1)
_EVERYWHERE: Place = (1 << 30, 0)
Key = tuple[Place, int, int]  # (place, order of the operation, index of the case): the sort key of values.
_UNSETTLED = ValueHistory((), "", bool)  # Stands for a ring that has not been looked up yet.
RingKey = tuple[Resource, str, type[Scalar]]


class ValuePool:
    """Values of successful responses, by the resource and field where they were seen. One for each worker."""

    def __init__(
        self, model: ResourceModel, names: Callable[[Label], Iterable[str]], secrets: Secrets = NO_SECRETS
    ) -> None:
        """`model`: of all selected operations; `names`: the parameters of an operation.

        Values that contain one of the `secrets` are dropped: the pool is written to disk, and its values are sent to other
        operations.
        """
        self._is_secret = secrets.holds
        self._model = model
        self._names = names
        self._telling = telling_variables(model)
        self._links = cache(self._linked_to)
        self._described = DescribedPaths(use.path for use in model.uses.values())
        self._forget()

    def _forget(self) -> None:
        self._rings: dict[RingKey, ValueHistory] = {}
        self._ordered = Rings()
        self._nested: dict[str, dict[int, ValueHistory]] = {}
        """Collection -> rings with values whose contexts name its members, by identity."""
        self._gone: dict[tuple[str, Scalar, Above], None] = {}
        """Removed (noun, value, context). A response that shows one of them again may be stale."""
        self._views: dict[Label, OperationView] = {}
        self._states = ResourceStates()

    def _shown(
        self, source: Producer, case: Case, response: Response, depth: int, least: Worth = Worth.VALUE
    ) -> list[tuple[ResponsePlace, Scalar, Above]]:
        """Return the values of a response with at least this worth, with their contexts, without secrets."""
        ends: list[int] | None = [] if source.ancestry.foreign else None
        names: list[tuple[ResponsePlace, Scalar]] = []
        found = source.places.leaves(response, depth, case.operation.read_answer, ends, names)
        located = list(self._located(source, response, found))
        # If no described path matches a URL, its last segment may still be an identifier.
        is_read = any(place.origin[1].startswith(LOCATION.lower()) for place, _, _ in located)
        above, is_secret = self._above(source, case), self._is_secret
        contexts = self._by_foreign_keys(source.ancestry, above, case, (found, ends)) if ends else repeat(above)
        shown: set[str] = set()
        kept = []
        for (place, value), context in zip(found, contexts, strict=False):
            worth = place.worth
            if worth is None:
                worth = place.worth = source.worth(place)
            if worth < least or (is_read and place.origin[1] == LOCATION):
                continue
            if place.hidden_by:
                shown = shown or {one.origin[1] for one, _ in found}
                if source.is_hidden(place, shown):
                    continue
            if value.__class__ is not str or not is_secret(value):
                kept.append((place, value, context))
        kept += (
            (place, name, above) for place, name in names if source.worth(place) >= least and not is_secret(f"{name}")
        )
        for place in source.given:
            # The request names its new resource itself, and the response does not repeat the name.
            sent = sent_value(case, place.origin[1])
            is_kept = not isinstance(sent, str) or not (len(sent) > LONGEST_TEXT or is_secret(sent))
            if is_kept and isinstance(sent, SCALARS):
                located.append((place, sent, above))
        kept += (one for one in located if source.worth(one[0]))
        return kept

    def _located(
        self, source: Producer, response: Response, found: Iterable[tuple[ResponsePlace, Scalar]]
    ) -> Iterator[tuple[ResponsePlace, Scalar, Above]]:
        """Yield the members that URLs of a response name, without secrets."""
        for place, value, above in source.places.members(self._described, response, found):
            if not any(self._is_secret(f"{one}") for one in (value, *(name for _, name in above))):
                yield place, value, above

    def _located_in_refusal(
        self, source: Producer, case: Case, response: Response
    ) -> Iterator[tuple[ResponsePlace, Scalar, Above]]:
        """Yield the members that URLs in a response without success name, except those in the request itself."""
        is_read = self._described.may_be_in(response.readable.content)
        found = source.places.leaves(response, DEEP, case.operation.read_answer) if is_read else ()
        sent = {f"{value}" for value in (*named_values(case).values(), *sent_scalars(case), *case.query.values())}
        for place, value, above in self._located(source, response, found):
            if f"{value}" not in sent and source.worth(place):
                yield place, value, above

    def _above(self, source: Producer, case: Case) -> Above:
        return tuple(one for one in source.ancestry.above(case) if not self._is_secret(one[1]))

    def _by_foreign_keys(
        self,
        ancestry: Ancestry,
        above: Above,
        case: Case,
        groups: tuple[Sequence[tuple[ResponsePlace, Scalar]], Sequence[int]],
    ) -> Iterator[Above]:
        found, ends = groups
        sent = ancestry.sent(case)
        begin = 0
        for end in (*ends, len(found)):
            own = ancestry.named((place.name, value) for place, value in found[begin:end])
            named = ((key, name) for key, name in {**sent, **own}.items() if not self._is_secret(name))
            yield from repeat((*above, *named), end - begin)
            begin = end

    def _gone_by(self, case: Case, *, succeeded: bool = True) -> list[ValueGone]:
        """Return the records of the resources that a DELETE removed or tried to remove: one resource, or all known members of a collection.

        The values of removed resources stay in the pool until a record is absorbed.
        """
        operation, source = case.operation, self._sources.get(case.operation.label)
        if source is None:
            return []
        path, above = operation.resource_path, self._above(source, case)
        is_member = resource_names.ends_with_variable(path)
        values: Iterable[object] = (named_values(case).get(resource_names.variables_of(path)[-1]),) if is_member else ()
        # A condition may select some of the members.
        if not is_member and succeeded and not case.query and case.body is NOT_SET:
            owned = {one for use in self._model.uses.values() for one in use.owners if one[1] == source.resource}
            fields = {field for one in owned for _, field in resource_names.spellings(*one)}
            rings = self._ordered.since(0, (("noun", resource_names.noun_of(source.resource)),)) if fields else ()
            naming = [ring for ring in rings if ring.name in fields or resource_names.is_identifier(ring.name)]
            values = dict.fromkeys(value for ring in naming for value, context in ring.values if agree(context, above))
        return [
            ValueGone(value, case.id, operation.label, above=above, succeeded=succeeded)
            for value in values
            if isinstance(value, SCALARS)
        ]

    def forget_rankings(self) -> None:
        """Rank all values again at their next use, so that the sequence does not depend on when they were ranked last."""
        self._views.clear()

    def view(
        self, operation: Operation, given: Collection[Binding] = (), demands: Sequence[Constraint] = ()
    ) -> OperationView:
        """Return the pool as `operation` uses it for the next case, in which the values `given` are already chosen.

        `demands`: constraints of the target on its path.
        """
        view = self._view_of(operation)
        if given or view.is_used or demands is not view.demands:
            view.begin(given, demands)
        return view

    def _view_of(self, operation: Operation) -> OperationView:
        view = self._views.get(operation.label)
        if view is None:
            view = self._views[operation.label] = OperationView(
                self._ordered,
                operation,
                self._use(operation),
                self._telling,
                self._links(operation.label),
                self._states,
                self._described,
                self.own_names(operation.label),
            )
        return view

    def own_names(self, label: Label) -> frozenset[str]:
        """Return pointers to the places in the body of an operation that name the new resource."""
        return frozenset(body_pointer(one.origin[1]) for one in self._given.get(label, ()))

    def _linked_to(self, target: Label) -> Mapping[tuple[Location, str], frozenset[Field]]:
        """Return place of a request -> fields of responses from which transitions take its value."""
        found: dict[tuple[Location, str], set[Field]] = {}
        for source in self._model.sources.get(target, ()):
            # The list of all producers is not used here. Making it takes longer than the first request, so it is made
            # after the first response.
            places = Places(source, self._model.uses[source].resource, self._owners)
            for value in (value for one in self._model.transitions_to(target, source) for value in one.values):
                if (pointer := value.shown_pointer) is not None:
                    is_body = value.location is Location.BODY
                    name = resource_names.place_word(value.name, self._telling) if is_body else value.name
                    field = places.resource_at(pointer), field_of(pointer)
                    found.setdefault((value.location, name), set()).add(field)
        return {place: frozenset(fields) for place, fields in found.items()}

    def begin(
        self, phase: str, label: Label, news: Iterable[Record], *, is_resumed: bool = False, is_slow: bool = False
    ) -> None:
        """Prepare for a task. `news` yields the new records of all workers. It is only read if the task may use them."""

    def observe(self, case: Case, response: Response, phase: str = "", index: int = 0) -> list[ValueRecord]:
        """Learn from the response to a case; return records for other workers. `phase` and `index` are those of the case."""
        operation, status = case.operation, case.operation.status_of(response)
        use, source = self._use(operation), self._sources.get(operation.label)
        found: list[ValueRecord] = []
        if case.meta is not None and case.meta.bindings:
            self._consumed(case, case.meta.bindings, status, is_missing=is_name_missing(case, response, status))
            if use.owners and not case.meta.mode.is_negative:
                found += self._changes(case, case.meta.bindings, use, status)
        if use.method == REMOVING:
            is_gone = 200 <= status < 300
            for gone in self._gone_by(case, succeeded=is_gone):
                self._note_removal(gone)
                found += [gone] if is_gone else []
        if not 200 <= status < 300:
            located = (
                list(self._located_in_refusal(source, case, response)) if source and source.reads_refusal() else []
            )
            if source is not None and located:
                source.located()
                found += self._harvest(case, source, located)
            return found
        depth = source.depth(use.method) if source is not None else 0
        if source is not None and depth:
            # Once an operation shows nothing new, only names of new resources are read. If no field is known to be the
            # name, any value is read.
            shown = self._shown(source, case, response, depth, Worth.VALUE if depth == DEEP else Worth.NAME)
            found += self._harvest(case, source, shown or self._shown(source, case, response, depth))
        return found

    def absorb(self, record: ValueRecord) -> None:
        """Add a record of another worker."""
        if isinstance(record, ResourceChanged):
            use = self._model.uses.get(Label(record.label))
            if use is not None and use.owners:
                taken = Taken(record.value, record.above, (Label(record.producer), record.pointer))
                self._states.changed(use.label, key_of(use.owners[-1][1]), taken)
            return
        if isinstance(record, ValueGone):
            self._note_removal(record)
            return
        source = self._sources.get(Label(record.producer))
        if source is not None:
            name = field_of(record.pointer)
            resource = source.places.resource_at(record.pointer)
            ring = self._ring(resource, name, type(record.value), source.formats.get(record.pointer, ""))
            if ring is not None:
                origin = (Label(record.producer), record.pointer)
                is_made = self._model.uses[origin[0]].method in CREATING
                self._add(ring, (record.value, record.above), origin, is_made=is_made)

    @cached_property
    def _owners(self) -> frozenset[str]:
        """Nouns of the collections that variables of paths choose from."""
        return frozenset(resource_names.noun_of(owner) for use in self._model.uses.values() for _, owner in use.owners)

    @cached_property
    def _given(self) -> Mapping[Label, tuple[ResponsePlace, ...]]:
        """Operation -> places in its requests that name the new resource."""
        return names_given(self._model)

    @cached_property
    def _sources(self) -> dict[Label, Producer]:
        """All operations as producers. The sources are computed when the first value arrives, not at the start."""
        uses = self._model.uses
        owners = self._owners
        linked, naming = pointers_taken(self._model), pointers_taken(self._model, by_paths=True)
        wanted = frozenset(self._wanted_names())
        variables = {one for use in uses.values() for one in use.owners}
        spelled = {name for one in variables for _, name in resource_names.spellings(*one)}
        names = resource_names.IDENTIFIERS | spelled
        found = {}
        for use, ancestry in ancestries(self._model):
            feeds = resource_names.noun_of(use.resource) in owners
            found[use.label] = Producer(
                use.resource,
                feeds,
                wanted,
                Places(use.label, use.resource, owners),
                ancestry,
                self._given.get(use.label, ()),
                linked.get(use.label, frozenset()),
                naming.get(use.label, frozenset()),
                names,
                bool(owners),
                self._model.formatted.get(use.label, NO_FORMATS),
            )
        return found

    def _wanted_names(self) -> Iterator[str]:
        """Yield the names of fields that some parameter takes from any collection."""
        asked: set[str] = set()
        for label, use in self._model.uses.items():
            for parameter in self._names(label):
                if parameter in asked:
                    continue
                if not resource_names.is_identifier(resource_names.normalised(parameter)):
                    # Other names mean the same under every path; the spellings of `id` depend on the path.
                    asked.add(parameter)
                owner = use.owner(parameter)
                for noun, name in resource_names.spellings(parameter, owner):
                    if not noun and not resource_names.is_identifier(name):
                        yield name

    def _harvest(
        self, case: Case, source: Producer, leaves: Iterable[tuple[ResponsePlace, Scalar, Above]]
    ) -> Iterator[ValueSeen | ValueGone]:
        records = 0
        sent = sent_scalars(case)
        is_fresh = False
        is_made = case.operation.resource_method in CREATING
        for place, value, above in leaves:
            ring = place.rings.get(value.__class__, _UNSETTLED)
            if ring is _UNSETTLED:
                kind = value.__class__
                ring = self._ring(place.resource, place.name, kind, source.formats.get(place.origin[1], ""))
                place.rings = {**place.rings, kind: ring}
            if ring is None:
                continue
            if value in sent and not is_of_request(place.origin[1]):
                ring.echoed += 1
            if self._add(ring, (value, above), place.origin, is_made=is_made):
                is_scarce = len(ring.values) <= _PLENTY
                is_fresh |= is_scarce
                # Once a ring is well filled, other workers need only a sample: journals grow by each record.
                if records < _RECORDS and (is_scarce or ring.seen % _SAMPLE == 0):
                    records += 1
                    yield ValueSeen(*place.origin, value, case.id, above=above)
        source.learned(is_fresh=is_fresh)

    def _add(self, ring: ValueHistory, value: Instance, origin: Origin, *, is_made: bool) -> bool:
        is_new = ring.add(value, origin)
        if is_made:
            use = self._model.uses[origin[0]]
            if use.method == "POST" and use.resource == ring.resource:
                ring.made.add(value)
        if is_new:
            for collection, _ in value[1]:
                self._nested.setdefault(collection, {})[id(ring)] = ring
            if self._gone and (ring.noun, *value) in self._gone:
                if is_made:
                    del self._gone[ring.noun, *value]
                else:
                    ring.attempted(value, succeeded=True)
        return is_new

    def _ring(self, resource: Resource, name: str, kind: type[Scalar], form: str = "") -> ValueHistory | None:
        key = (resource, name, kind)
        ring = self._rings.get(key)
        if ring is None:
            if len(self._rings) >= _RINGS:
                return None
            ring = self._rings[key] = ValueHistory(*key, format=form)
            self._ordered.append(ring)
        return ring

    def _consumed(self, case: Case, bindings: tuple[Binding, ...], status: int, *, is_missing: bool) -> None:
        operation = case.operation
        if is_missing or status < 400:
            self._view_of(operation).consumed(bindings, is_missing=is_missing)
        if not is_missing:
            return
        for binding in self._view_of(operation).blamed(bindings):
            variable = variable_at(operation, (binding.location, binding.name))
            if variable is not None:
                above = self._around(case, variable)
                source, value = self._sources.get(binding.producer), binding.literal
                if source is not None and isinstance(value, SCALARS):
                    for kind, reading in _readings(value):
                        resource = source.places.resource_at(binding.pointer)
                        ring = self._rings.get((resource, field_of(binding.pointer), kind))
                        if ring is not None:
                            for one in ring.same(reading, above):
                                ring.missed(one)

    def _changes(
        self, case: Case, bindings: Iterable[Binding], use: ResourceUse, status: int
    ) -> Iterator[ResourceChanged]:
        """Learn from the result of a valid request for a resource that an earlier response showed.

        Yields a record if the resource is now in a state that few resources are in: journals grow by each record.
        """
        variable, owner = use.owners[-1]
        place = place_of(case.operation, variable)
        for one in bindings:
            if (one.location, one.name) == place and isinstance(one.literal, SCALARS):
                taken = Taken(one.literal, self._around(case, variable), (one.producer, one.pointer))
                is_news = self._states.note(use, key_of(owner), taken, status)
                if is_news and self._states.is_rare(key_of(owner), taken):
                    yield ResourceChanged(use.label, taken.value, taken.above, *taken.origin)

    def _around(self, case: Case, variable: str) -> Above:
        """Return the resources that a request names beside one variable, without secrets."""
        values = named_values(case)
        others = [one for one in self._use(case.operation).owners if one[0] != variable and one[0] in values]
        found = ((key_of(owner), f"{values[name]}") for name, owner in others)
        return tuple(one for one in found if not self._is_secret(one[1]))

    def _use(self, operation: Operation) -> ResourceUse:
        found = self._model.uses.get(operation.label)
        return found or ResourceUse.of(operation.label, operation.resource_method, operation.resource_path)

    def _note_removal(self, gone: ValueGone) -> None:
        source = self._sources.get(Label(gone.label))
        if source is None:
            return
        noun = resource_names.noun_of(source.resource)
        rings = self._ordered.since(0, (("noun", noun),))
        for kind, value in _readings(gone.value):
            for ring in rings:
                for one in ring.same(value, gone.above) if ring.kind is kind else ():
                    if not gone.succeeded:
                        ring.attempted(one)
                        continue
                    ring.remove(one)
                    self._gone[noun, *one] = None
                    if len(self._gone) > _TOMBSTONES:
                        del self._gone[next(iter(self._gone))]
        if gone.succeeded:
            removed = (key_of(source.resource), f"{gone.value}")
            self._states.forget(removed[0], gone.value, gone.above)
            for ring in self._nested.get(removed[0], {}).values():
                # Resources below a removed resource are gone as well.
                if removed[1] not in ring.named.get(removed[0], ()):
                    continue
                for context in [one for one in ring.contexts if removed in one and agree(one, gone.above)]:
                    ring.forget_context(context)


class LayeredPool(ValuePool):
    """The pool of `run`: values of earlier layers in a fixed order, so that every worker sees the same values.

    A layer uses the values of the layers before it. All of them are known when the layer begins, and they are sorted by
    operation and case index: the speed of a worker does not change any request. Journals carry the values between workers.
    """

    def __init__(
        self,
        model: ResourceModel,
        names: Callable[[Label], Iterable[str]],
        secrets: Secrets = NO_SECRETS,
        *,
        unordered: Collection[str] = (),
        mixes_phases: bool = False,
    ) -> None:
        """`unordered`: phases that work on all operations at once; the other arguments as in `ValuePool`.

        `mixes_phases`: whether the rest of a phase runs after later phases, as with a time limit.
        """
        super().__init__(model, names, secrets)
        self._unordered = unordered
        self.mixes_phases = mixes_phases
        self._place = _NOWHERE
        self._coming: list[tuple[Key, ValueSeen | ValueGone | CaseFared]] = []
        """Values of this and later layers, in order."""
        self._known: list[tuple[Key, ValueSeen | ValueGone | CaseFared]] = []
        """Values of earlier layers, in order."""
        self._behind: dict[Label, LayeredPool] = {}
        """Operation whose tasks may run later than their layer -> the pool of its own layer."""
        self._pools: dict[Place, LayeredPool] = {}  # The pools of `_behind`: operations of one layer share one.
        self._places: dict[tuple[str, Label], Place] = {}
        """(phase, operation) -> its place. A cache: values come by the thousand, from few operations."""
        self._lowest: dict[tuple[str, Label], dict[str, _FirstValues]] = {}
        """(phase, operation) -> pointer -> values that this worker has recorded."""
        self._order = {label: place for place, label in enumerate(model.ordered)}
        self._fared: dict[str, dict[Key, tuple[str, str, bool]]] = {}
        """Operation -> its cases in earlier layers -> (variable, field that gave its value, whether no resource was there).

        Keyed by case, because the case of a dead worker is sent and recorded again.
        """

    def place_of(self, phase: str, label: Label) -> Place:
        """Return the phase and layer of an operation's tasks. All sequences are in one layer; an earlier run is before all phases."""
        place = self._places.get((phase, label))
        if place is None:
            number = phase_number(phase)
            has_layers = number >= 0 and phase not in self._unordered
            is_layered = has_layers and phase_named(phase).source is not CaseSource.CHAINED
            place = number, self._model.layers.get(label, 0) if is_layered else 0
            self._places[phase, label] = place
        return place

    def is_awaited(self, label: Label) -> bool:
        """Whether later layers wait for an operation even if it is slow."""
        return label in self._model.producers

    def names_resource(self, label: Label) -> bool:
        """Whether the path of an operation names a resource that other operations create or list."""
        use = self._model.uses.get(label)
        return use is not None and bool(use.owners) and bool(self._model.makers(use.owners[-1][1]))

    def begin(
        self, phase: str, label: Label, news: Iterable[Record], *, is_resumed: bool = False, is_slow: bool = False
    ) -> None:
        """Take in the values of the layers before a task.

        A resumed task always reads the news, because another worker may have begun it. A slow task runs beside tasks of
        later layers and gets its own pool, without their values. If phases are mixed, time decides what a task sends anyway,
        so it takes in all known values: sequences have removed some of the resources that earlier layers showed.
        """
        place = self.place_of(phase, label)
        is_new = place > self._place
        if is_new or is_resumed or self.mixes_phases:
            for one in news:
                if isinstance(one, ValueSeen | ValueGone | CaseFared) and one.phase:
                    of = Label(one.producer if isinstance(one, ValueSeen) else one.label)
                    key = self.place_of(one.phase, of), self._order.get(of, 0), one.index
                    self._coming.append((key, one))
        if not self.mixes_phases and (is_slow or place < self._place):
            if place not in self._pools:
                self._pools[place] = self._as_of(place)
            self._behind[label] = self._pools[place]
            return
        self._behind.pop(label, None)
        if not (is_new or self.mixes_phases):
            return
        self._place = max(place, self._place)
        self._coming.sort(key=itemgetter(0))
        upto = _EVERYWHERE if self.mixes_phases else self._place
        count = bisect_left(self._coming, upto, key=lambda pair: pair[0][0])
        ready = self._coming[:count]
        del self._coming[:count]
        self._take_in(ready)
        if not self.mixes_phases:
            self._known += ready
        if is_new or ready:
            self.forget_rankings()
            self._lowest.clear()

    def _as_of(self, place: Place) -> "LayeredPool":
        """Return a pool with the values of the layers before a place only."""
        pool = copy(self)
        pool._forget()
        pool._fared, pool._behind = {}, {}
        pool._take_in(sorted((one for one in (*self._known, *self._coming) if one[0][0] < place), key=itemgetter(0)))
        return pool

    def _take_in(self, ready: Sequence[tuple[Key, ValueSeen | ValueGone | CaseFared]]) -> None:
        for one in _first(one for _, one in ready if not isinstance(one, CaseFared)):
            self.absorb(one)
        for key, case in ready:
            is_gone = isinstance(case, CaseFared) and case.status in GONE_STATUSES
            if isinstance(case, CaseFared) and case.taken[0] and (is_gone or case.status < 400):
                fared = self._fared.setdefault(case.label, {})
                if len(fared) < _MOST_FARED:
                    fared.setdefault(key, (*case.taken, is_gone))

    def _view_of(self, operation: Operation) -> OperationView:
        behind = self._behind.get(operation.label)
        if behind is not None:
            return behind._view_of(operation)
        is_new = operation.label not in self._views
        view = super()._view_of(operation)
        view.is_layered = True
        # The pool knows how values of fields fared in earlier layers.
        for variable, name, is_missing in self._fared.get(operation.label, {}).values() if is_new else ():
            view.fared(place_of(operation, variable), name, is_missing=is_missing)
        return view

    def observe(self, case: Case, response: Response, phase: str = "", index: int = 0) -> list[ValueRecord]:
        """Return records of the values in a response, which later layers may use."""
        operation = case.operation
        if index >= _READ:
            return []
        succeeded = 200 <= operation.status_of(response) < 300
        found: list[ValueRecord] = []
        if operation.resource_method == REMOVING:
            gone = self._gone_by(case, succeeded=succeeded)
            found += [replace(one, phase=phase, index=index) for one in gone]
        source = self._sources.get(operation.label)
        if source is None or not source.is_read or not self.is_awaited(operation.label):
            # The plan waits for producers only. Which values of other operations are known would depend on their speed.
            return found
        depth = NEAR if operation.resource_method == "POST" and index >= _KEPT else DEEP
        first = self._lowest.setdefault((phase, operation.label), {})
        # Only the URLs of a response without success are read.
        part = (source, case, response)
        for place, value, above in self._shown(*part, depth) if succeeded else self._located_in_refusal(*part):
            pointer = place.origin[1]
            known = first.get(pointer)
            if known is None:
                known = first[pointer] = _FirstValues()
            if index <= known.limit and known.is_first((value, above), index):
                found.append(ValueSeen(operation.label, pointer, value, case.id, phase, index, above))
        return found


class _FirstValues(Struct):
    """The values of one place in the responses of a task, each with the lowest case index that showed it."""

    limit: int = _READ
    """Highest case index that may be among the first 16 with a value, because responses may arrive in any order."""
    _lowest: dict[Instance, int] = field(default_factory=dict)

    def is_first(self, value: Instance, index: int) -> bool:
        """Add a value whose index is below the limit; return False if a case with a lower index has shown it."""
        if index >= self._lowest.get(value, _READ):
            return False
        self._lowest[value] = index
        if len(self._lowest) >= _KEPT:
            self.limit = sorted(self._lowest.values())[_KEPT - 1]
        return True


def _first(ready: Iterable[ValueSeen | ValueGone]) -> Iterable[ValueSeen | ValueGone]:
    """Yield the first values of each place, and the removals by each case, without repetitions."""
    seen: dict[tuple[str, str, str], set[Instance]] = {}
    removals: set[tuple[str, str, int, Scalar]] = set()
    for one in ready:
        if isinstance(one, ValueSeen):
            known = seen.setdefault((one.phase, one.producer, one.pointer), set())
            value = (one.value, one.above)
            if value in known or len(known) >= _KEPT:
                continue
            known.add(value)
        else:
            removal = (one.phase, one.label, one.index, one.value)
            if removal in removals:
                continue
            removals.add(removal)
        yield one


def _readings(value: Scalar) -> Iterator[tuple[type[Scalar], Scalar]]:
    """Yield the possible types of a value. In Python, 1, 1.0 and True are equal."""
    if not isinstance(value, str):
        for kind in (int, float, bool):
            yield kind, value
        return
    yield str, value
    if is_integer(value):
        yield int, int(value)
