"""Demands of the target that its description does not state. Demands are read from refusals, respected later, and dropped when refuted.

If no request with an optional part is ever accepted, this gives a demand as well: to omit the part.
"""

import json
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Final, NamedTuple, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.case import Case
from checker.core.constraints import ITEMS, MOSTLY, REQUIRED, SELDOM, USUAL, Constraint, is_broken, part_of, read
from checker.core.digests import digest
from checker.core.meta import GenerationMode, Listed
from checker.core.operation import Label, Operation
from checker.core.phases import CaseSource, phase_named, phase_number
from checker.core.request import CONTAINERS, Location
from checker.core.resources import REMOVING
from checker.core.response import Response
from checker.core.schema import tokens_of
from checker.core.security import UNAUTHORIZED
from checker.corpus.records import CaseFared, DemandHeard, PartsCounted
from checker.corpus.secrets import NO_SECRETS, Secrets
from checker.health import REFUSALS
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase, Learner
from checker.phases.case_parts import literal_of
from checker.refusals.reading import demands_in, may_complain
from checker.schema.views import Outline, outline_of, type_of
from checker.values.consumers import GONE_STATUSES, is_name_missing, names_in_path, taken_from
from checker.workers.observers.valid_cases import MOST_PARTS, ONE_IN, Moment, Named, ValidCases, reason_for
from checker.workers.recording.task_state import InFlight

# A module-level name is ten times faster than a member of an enumeration.
_NEGATIVE: Final = GenerationMode.NEGATIVE
_DEEPEST: Final = 3
_NAMED_AT: Final = (("components", "schemas"), ("definitions",))  # Where schemas have names.
_MOST_PARTS: Final = 200  # Number of parts of one operation, and of schemas that are searched for parts.


class CommonPart(NamedTuple):
    """A part of the requests to one operation."""

    key: str  # Equal for the same part of other operations.
    location: str
    path: tuple[str, ...]  # The place of the part, as in the path of constraints.
    is_within: bool = False
    """Whether it is a variable inside the path of other operations, which continues after it."""

    def holds(self, demand: Constraint) -> bool:
        """Whether a demand applies to this part, and other operations share the part to which the demand applies.

        At the end of a path, some operations accept ids and others names. Paths that continue accept either.
        """
        is_of_form = (demand.location, demand.keyword) == (_PATH, "format")
        is_inside = demand.location == self.location and demand.path[: len(self.path)] == self.path
        return is_inside and is_of_form is self.is_within


def common_parts(operation: Operation) -> tuple[CommonPart, ...]:
    """Return the parts that other operations may share, outermost first."""
    return tuple(islice(_parts(operation), _MOST_PARTS))


def _parts(operation: Operation) -> Iterator[CommonPart]:
    for one in operation.parameters:
        # A path variable is only the same if the path before it is the same.
        above = operation.path.partition("{" + one.name)[0] if one.location is Location.PATH else ""
        schema = json.dumps(one.schema.raw, sort_keys=True, default=str)
        key = digest(one.location.value, above, one.location.key(one.name), schema)
        yield CommonPart(key, one.location.value, (one.name,))
        if one.location is Location.PATH and not operation.path.endswith("{" + one.name + "}"):
            yield CommonPart(f"{key}/", one.location.value, (one.name,), is_within=True)
    level: list[tuple[tuple[str, ...], Outline]]
    level = [((), outline_of(body.schema)) for body in operation.bodies if body.write is None]
    for _ in range(_DEEPEST):
        below: list[tuple[tuple[str, ...], Outline]] = []
        for path, outline in level[:_MOST_PARTS]:
            pointers = (part.pointer for part in outline.facets())
            name = next((one for one in pointers if tokens_of(one)[:-1] in _NAMED_AT), None)
            if name is not None:
                yield CommonPart(name, Location.BODY.value, path)
            below += (((*path, inner), outline.property(inner)) for inner in outline.names)
            if outline.first("items") is not None:
                below.append(((*path, ITEMS), outline.item(0)))
        level = below


_ENOUGH = 5
"""Number of refusals after which a part is omitted: no case with the part was accepted, and some without it were.

The reverse makes the part required.
"""
_ENOUGH_OPERATIONS = 3
"""Number of operations after which a common parameter is omitted: they refuse cases with it and accept some without it, and no operation accepts it."""
_ENOUGH_ACCEPTED = 3  # Accepted cases that all have a part; fewer may have it by chance.
_MOST_NEEDED = 40
"""Most optional parts of an operation for which accepted cases without the part are searched. Journals contain the parts that a refused case lacks."""
_Place = tuple[str, str]  # Location and name.


class _Counts(Struct):
    doubtful: set[_Place]  # Optional parts that no accepted case had.
    needed: set[_Place]  # Optional parts that every accepted case had.
    refused: Counter[_Place] = field(default_factory=Counter)  # Cases with a doubtful part that were refused.
    refused_without: Counter[_Place] = field(default_factory=Counter)  # Cases without a needed part that were refused.
    spared: set[_Place] = field(default_factory=set)  # Parts that some accepted case lacked.
    accepted: int = 0  # Accepted cases that were counted, at least the first ones.
    told: set[Constraint] = field(default_factory=set)
    counted: set[int] = field(default_factory=set)  # Indices of the cases that are counted.


class OptionalParts(Struct):
    """Counts the valid cases of a phase by their optional parameters and top-level properties."""

    _operations: dict[str, _Counts] = field(default_factory=dict)

    def undecided(self, case: Case, *, is_accepted: bool) -> tuple[tuple[_Place, ...], tuple[_Place, ...]] | None:
        """Return (parts of this case that no accepted case had, parts that this case lacks and every accepted case had); None if there is nothing to count."""
        counts = self._of(case.operation)
        present = tuple(sorted(place for place in counts.doubtful if _has(case, *place)))
        absent = tuple(sorted(place for place in counts.needed if not _has(case, *place)))
        is_first = is_accepted and (not counts.doubtful <= counts.spared or counts.accepted < _ENOUGH_ACCEPTED)
        return (present, absent) if present or absent or is_first else None

    def count(
        self,
        operation: Operation,
        index: int,
        places: Iterable[_Place],
        absent: Iterable[_Place] = (),
        *,
        is_accepted: bool,
    ) -> list[tuple[Constraint, bool]]:
        """Count a case with these undecided parts; once per index, unless the index is negative.

        Return (demand to omit or to have a part, False), and (demand, True) for demands that this accepted case broke. The
        result after all cases does not depend on their order.
        """
        counts = self._of(operation)
        if index in counts.counted:
            return []
        if index >= 0:
            counts.counted.add(index)
        present, lacking = counts.doubtful.intersection(places), counts.needed.intersection(absent)
        refuted: set[Constraint] = set()
        if is_accepted:
            refuted = counts.told & {*_demands(present, SELDOM), *_demands(lacking, MOSTLY)}
            counts.doubtful -= present
            counts.spared |= counts.doubtful
            counts.needed -= lacking
            counts.accepted += 1
        else:
            counts.refused.update(present)
            counts.refused_without.update(lacking)
        seldom = {one for one in self.unwanted(operation) if counts.refused[one] >= _ENOUGH}
        mostly = {one for one in counts.needed if counts.refused_without[one] >= _ENOUGH}
        found = {*_demands(seldom, SELDOM), *(_demands(mostly, MOSTLY) if counts.accepted >= _ENOUGH_ACCEPTED else ())}
        found -= counts.told
        counts.told |= found
        return [(one, one in refuted) for one in sorted(found | refuted)]

    def unwanted(self, operation: Operation) -> set[_Place]:
        """Return the parts with which cases were refused and none was accepted, while some without them were accepted."""
        counts = self._of(operation)
        return {one for one in counts.spared & counts.doubtful if counts.refused[one]}

    def _of(self, operation: Operation) -> _Counts:
        found = self._operations.get(operation.label)
        if found is None:
            places = set(_optional_places(operation))
            needed = set(places) if len(places) <= _MOST_NEEDED else set()
            found = self._operations[operation.label] = _Counts(places, needed)
        return found


def _demands(places: Iterable[_Place], keyword: str) -> Iterator[Constraint]:
    return (Constraint(place[0], place[1:], keyword) for place in places)


def _optional_places(operation: Operation) -> Iterator[_Place]:
    for parameter in operation.parameters:
        if not parameter.required and parameter.location is not Location.PATH:
            yield parameter.location.value, parameter.name
    for body in operation.bodies:
        if body.write is None:
            for name in outline_of(body.schema).names:
                yield Location.BODY.value, name


def _has(case: Case, location: str, name: str) -> bool:
    part = getattr(case, CONTAINERS[location])
    # Most parts are `dict`, for which the test takes a tenth of the time. A null counts as an absent part.
    return (part.__class__ is dict or isinstance(part, Mapping)) and part.get(name) is not None


# A module-level name is ten times faster than a member of an enumeration.
_PATH: Final = Location.PATH.value
_READ = 64  # Cases of one task whose responses are read.
_COUNTED = 1_000  # Cases of one task whose optional parts are counted.
_KEPT = 32  # Accepted cases of one operation with which demands are compared.
_OPERATIONS = 4  # Operations whose cases are kept. A worker has few tasks at a time.
_MOST = 100  # Demands on one operation.
_MOST_USUAL: Final = (
    3  # Number of accepted values that are kept of one part. If a part has more, its value does not decide.
)
_MOST_FREE: Final = 10  # Parts of one operation whose accepted values are told: other demands need room, too.
_LONGEST_USUAL: Final = 200
_REFUSES: Final = Constraint("query", ("",), USUAL)
"""Marks an operation that refused a valid case. From then on its accepted values are used."""
_DOUBTS = 5
"""Number of complaints about cases that seem to respect a demand, after which a demand that cannot be evaluated counts as refuted."""
Learned = DemandHeard | PartsCounted | CaseFared
Place = tuple[int, int]  # (phase, layer), in the order of a run.
_UNORDERED: Final = 1 << 40
"""Index of demands that were heard while several cases of the operation were in flight. No case of the same task respects them."""
_LAST: Place = (1 << 30, 0)


class _At(NamedTuple):
    """The phase and index of an observed case."""

    phase: str
    case_index: int


_NEVER: Moment = (1 << 31, 0, 0)


class Layers(Protocol):
    """The order in which a run tests operations, and which resources operations return to each other."""

    mixes_phases: bool = False
    """Whether the rest of a task may run after later phases, as with a time limit. Such a task also respects the demands of those phases."""

    def place_of(self, phase: str, label: Label) -> Place:
        """Return the phase and layer of the tasks of an operation; an earlier run comes before all phases."""
        return phase_number(phase), 0

    def is_awaited(self, label: Label) -> bool:
        """Whether later layers wait for an operation even if it is slow. Only such operations teach others."""
        return True

    def names_resource(self, label: Label) -> bool:
        """Whether the path of an operation names a resource that other operations return, so that cases use known names."""
        return False

    def own_names(self, label: Label) -> Collection[str]:
        """Return pointers to the places in the body of an operation that name the new resource."""
        return ()


class PhasesAlone(Layers):
    """The layers of `fuzz`, in which no operation waits for another."""


class _Parts:
    """The parts of requests to one operation, computed on demand."""

    def __init__(self, operation: Operation, layers: Layers) -> None:
        self._operation = operation
        self._layers = layers

    @cached_property
    def common(self) -> tuple[CommonPart, ...]:
        return common_parts(self._operation)

    @cached_property
    def compared(self) -> tuple[_Place, ...]:
        """Return the optional parts, and the path variables whose values may have to be integers.

        The positions of the parts are the bits of the counted cases.
        """
        parameters = self._operation.parameters
        variables = ((one.location.value, one.name) for one in parameters if one.location is Location.PATH)
        places = dict.fromkeys((*variables, *_optional_places(self._operation)))
        return tuple(islice(places, MOST_PARTS))

    @cached_property
    def free(self) -> tuple[_Place, ...]:
        """Return the parts whose accepted values are recorded."""
        # Required parameters outside the path and required top-level body properties, if they are strings or numbers without
        # `enum`, `const` or `format`.
        places: dict[_Place, None] = {}
        for parameter in self._operation.parameters:
            if (
                parameter.required
                and parameter.location is not Location.PATH
                and _is_free(outline_of(parameter.schema))
            ):
                places[parameter.location.value, parameter.name] = None
        for body in self._operation.bodies:
            outline = outline_of(body.schema)
            for name in outline.required if body.write is None else ():
                if _is_free(outline.property(name)):
                    places[Location.BODY.value, name] = None
        # An accepted name is in use from then on.
        own = self._layers.own_names(self._operation.label) if places else ()
        free = (one for one in places if one[0] != Location.BODY.value or f"/{one[1]}" not in own)
        return tuple(islice(free, _MOST_FREE))


class DemandLearner(Struct, Learner):
    """Demands by the phase and layer in which they were heard. Each worker has one object; journals carry the demands between workers.

    In `run` a case respects demands on its operation from earlier phases, and demands on a part that it shares with
    producers of earlier layers, from any worker. Because of this, the speed of a worker does not decide what is sent.
    In `fuzz` a case respects all demands so far.
    """

    at_once: bool = False
    operations: Mapping[Label, Operation] = {}
    layers: Layers = field(default_factory=PhasesAlone)
    secrets: Secrets = NO_SECRETS
    _heard: dict[str, dict[Constraint, Moment]] = field(default_factory=dict)
    """Operation -> demand -> moment at which the demand was first heard."""
    _refuted: dict[str, dict[Constraint, Moment]] = field(default_factory=dict)
    _common: dict[str, dict[Constraint, dict[tuple[str, Constraint], None]]] = field(default_factory=dict)
    """Key of a common part -> demand with its path relative to that part -> (operation, demand) of the operations with it."""
    _parts: dict[str, _Parts] = field(default_factory=dict)
    _wanted: dict[tuple[str, str, int], tuple[int, Sequence[Constraint]]] = field(default_factory=dict)
    """(operation, phase, first index) -> (number of records at that time, demands to respect)."""
    _late: dict[tuple[str, str], tuple[int, Sequence[Constraint]]] = field(default_factory=dict)
    """(operation, phase) -> (first index that runs after later phases, demands that these cases respect)."""
    _records: int = 0  # Records that changed something.
    _accepted: OrderedDict[tuple[str, str], list[Case]] = field(default_factory=OrderedDict)
    """Parts by operation and phase, because it must not matter which worker tested the previous phase."""
    _usual: Counter[tuple[str, str, tuple[str, ...]]] = field(default_factory=Counter)
    """(operation, location, path) -> accepted values."""
    _written: set[tuple[str, Constraint, str, bool]] = field(default_factory=set)
    _doubts: Counter[tuple[str, Constraint, str]] = field(default_factory=Counter)
    _optional: dict[str, OptionalParts] = field(default_factory=dict)  # Keyed by phase.
    _shared: dict[str, dict[int, set[Label] | None]] = field(default_factory=dict)
    """Key of a common parameter -> phase -> operations that refuse it and accept requests without it; None once it was accepted."""
    _phase: str = ""
    _listing: dict[str, bool] = field(default_factory=dict)  # Phase -> whether it lists its cases.
    _valid: ValidCases = field(default_factory=ValidCases)

    def absorb(self, heard: Learned) -> None:
        """Take in a record of any worker, including this one."""
        if isinstance(heard, PartsCounted):
            operation = self.operations.get(Label(heard.label))
            if operation is not None:
                counts = self._optional.setdefault(heard.phase, OptionalParts())
                counts.count(operation, heard.index, heard.places, heard.absent, is_accepted=heard.is_accepted)
                self._share(operation, heard.phase, heard.places, is_accepted=heard.is_accepted)
            return
        if isinstance(heard, CaseFared):
            at = (*self.layers.place_of(heard.phase, Label(heard.label)), heard.index)
            # Some services answer 403 for resources that do not exist.
            is_gone = heard.status in UNAUTHORIZED or heard.status in GONE_STATUSES
            operation = self.operations.get(Label(heard.label))
            if operation is not None and operation.resource_method == REMOVING:
                is_gone = is_gone or 200 <= heard.status < 300
            is_known = bool(heard.taken[0])
            self._valid.count(
                heard.label,
                at,
                heard.reason,
                heard.parts,
                is_known=is_known,
                is_gone=is_gone,
                names=heard.names,
                place=heard.place,
            )
            return
        known = self._refuted if heard.is_refuted else self._heard
        label, demand = heard.label, heard.demand
        of_label = known.setdefault(label, {})
        if demand not in of_label and len(of_label) >= _MOST:
            return
        at = (*self.layers.place_of(heard.phase, Label(label)), heard.index)
        if demand not in of_label or at < of_label[demand]:
            if demand.keyword == USUAL:
                self._usual[label, demand.location, demand.path] += demand not in of_label
            of_label[demand] = at
            self._records += 1
            if heard.part and not heard.is_refuted:
                below, common = (
                    replace(demand, path=demand.path[heard.depth :]),
                    self._common.setdefault(heard.part, {}),
                )
                # Operations may accept different values. If there are very many, few are valid everywhere, so none is used.
                if demand.keyword != USUAL or below in common or len(common) < _MOST:
                    common.setdefault(below, {})[label, demand] = None

    def begin(self, phase: str, label: str = "", start: int = 0) -> None:
        """Note that a task of this phase begins, or continues with case `start`."""
        if phase != self._phase:
            # In this phase every worker knows the same, whichever tasks of earlier phases it had. Slow tasks of the
            # previous phase continue.
            going_on = (self._phase, phase)
            self._optional = {one: of for one, of in self._optional.items() if one in going_on}
        self._phase = phase
        if self.layers.mixes_phases and start:
            since, _ = self._late.get((label, phase), (start, ()))
            # The constraints stay the same for the whole turn, because every change recompiles the operation.
            held = {*self._holding(Label(label), _LAST, 0), *self._worse(Label(label), _NEVER)}
            self._late[label, phase] = since, self._respected(label, phase, held, _NEVER)

    def is_left_out(self, made: GeneratedCase, phase: str, index: int, judged: int, source: CaseSource) -> bool:
        """Whether valid case `index` is not worth sending, because the target refused too many similar ones. Cases below `judged` count.

        In `fuzz` all cases are sent; operations that refuse everything get fewer turns instead.
        """
        label = made.label
        if self.at_once or label not in self._valid.refused:
            return False
        is_late = (label, phase) in self._late and index >= self._late[label, phase][0]
        before = None if is_late else (*self._here(label, phase), judged)
        is_listed, operation = source is CaseSource.LISTED, made.case.operation
        learned = made.other.learned if isinstance(made.other, Listed) else ""
        # An earlier case of the list broke the same demand and was refused.
        if (
            is_listed
            and index % ONE_IN
            and any(one.keyword not in (SELDOM, MOSTLY) and is_broken(one, made.case) is True for one in read(learned))
        ):
            return True
        return self._valid.is_left_out(
            label,
            before,
            index,
            source=source,
            named=Named(
                names=names_in_path(made.case),
                is_invented=not is_listed and self.layers.names_resource(label) and not taken_from(made.case)[0],
                is_removal=operation.resource_method == REMOVING,
            ),
            place=_varied_place(made.case),
            is_bare=not (operation.parameters or operation.bodies),
        )

    def _here(self, label: Label, phase: str) -> Place:
        return _LAST if self.at_once else self.layers.place_of(phase, label)

    def wanted(self, label: Label, phase: str, index: int = 0) -> Sequence[Constraint]:
        """Return the demands that cases of an operation respect in a phase: the same object until something changes.

        With an index, demands from earlier cases of the same list are included.
        """
        since, late = self._late.get((label, phase), (0, ()))
        if since and index >= since:
            return late
        since = 0
        if index and not self._lists_cases(phase):
            since = index
        elif index:
            here = self._here(label, phase)
            moments = (*self._heard.get(label, {}).values(), *self._refuted.get(label, {}).values())
            since = max((at + 1 for *place, at in moments if at < index and (*place,) == here), default=0)
        count, found = self._wanted.get((label, phase, since), (-1, ()))
        if count != self._records:
            here = self._here(label, phase)
            worse = () if self._lists_cases(phase) else self._worse(label, (*here, since))
            now = self._respected(label, phase, {*self._holding(label, here, since), *worse}, (*here, since))
            found = found if now == found else now
            self._wanted[label, phase, since] = self._records, found
        return found

    def _respected(self, label: str, phase: str, held: set[Constraint], before: Moment) -> tuple[Constraint, ...]:
        """Return the demands that cases of a phase respect, among those that hold before a moment."""
        if self._lists_cases(phase):
            # Each listed case varies one part. Cases that vary other parts omit a part whose value was refused once, even if
            # another value of it was accepted.
            said = chain(self._heard.get(label, {}).items(), self._refuted.get(label, {}).items())
            seldom = {one for one, at in said if one.keyword == SELDOM and at < before}
            typed = {replace(one, keyword="type") for one in seldom}
            held = {one for one in held if replace(one, value="true") not in typed} | seldom
        # A part is not omitted if another demand explains its refusal: a demand on its value, or on another part.
        explained = {(one.location, one.path[:1]) for one in held if one.keyword != SELDOM}
        is_any_missing = any(one.keyword == MOSTLY for one in held)
        return tuple(
            sorted(
                one
                for one in held
                if one.keyword != SELDOM or not (is_any_missing or (one.location, one.path[:1]) in explained)
            )
        )

    def _lists_cases(self, phase: str) -> bool:
        """Whether a phase lists its cases. A case before the first phase belongs to no phase."""
        found = self._listing.get(phase)
        if found is None:
            found = phase_number(phase) >= 0 and phase_named(phase).source is CaseSource.LISTED
            self._listing[phase] = found
        return found

    def _parts_of(self, operation: Operation) -> _Parts:
        found = self._parts.get(operation.label)
        if found is None:
            found = self._parts[operation.label] = _Parts(operation, self.layers)
        return found

    def _common_parts(self, label: Label) -> tuple[CommonPart, ...]:
        operation = self.operations.get(label)
        return () if operation is None else self._parts_of(operation).common

    def _worse(self, label: Label, before: Moment) -> Iterator[Constraint]:
        """Yield demands to omit optional parts with which far fewer cases were accepted, and to send only integers if only integers were accepted."""
        operation = self.operations.get(label)
        parts = () if operation is None else self._parts_of(operation).compared
        for number, accepted in self._valid.worse_with(label, before) if parts else ():
            location, name = parts[number]
            if operation is None or location != _PATH:
                yield Constraint(location, (name,), SELDOM)
                continue
            if accepted:
                # One of the names may be a text, and no later case would use it.
                continue
            schema = next(one.schema for one in operation.parameters if (one.location, one.name) == (location, name))
            is_text = outline_of(schema).types == {"string"}
            keyword, value = ("pattern", "^[0-9]+$") if is_text else ("type", "integer")
            yield Constraint(location, (name,), keyword, json.dumps(value))

    def _holding(self, label: Label, here: Place, index: int) -> set[Constraint]:
        place, own = (*here, 0), (*here, index)
        found = {one for one in self._heard.get(label, ()) if self._holds(label, one, own)}
        for part in self._common_parts(label) if self._common else ():
            for below, heard in self._common.get(part.key, {}).items():
                if any(other != label and self._holds(other, one, place) for other, one in heard):
                    found.add(replace(below, path=(*part.path, *below.path)))
        for part in self._common_parts(label) if self._shared else ():
            phases = [labels for phase, labels in self._shared.get(part.key, {}).items() if phase < here[0]]
            if None not in phases and any(len(labels or ()) >= _ENOUGH_OPERATIONS for labels in phases):
                found.add(Constraint(part.location, part.path, SELDOM))
        values = Counter((one.location, one.path) for one in found if one.keyword == USUAL)
        many = {one for one in found if one.keyword == USUAL and values[one.location, one.path] > _MOST_USUAL}
        found -= {_REFUSES, *many}
        return found.difference(one for one, at in self._refuted.get(label, {}).items() if at < own)

    def _share(self, operation: Operation, phase: str, places: Collection[_Place], *, is_accepted: bool) -> None:
        """Count a case for the optional parameters that other operations share.

        The result at the end of a phase does not depend on the order of its cases.
        """
        label = operation.label
        if not self.layers.is_awaited(label):
            return
        at, unwanted = self.layers.place_of(phase, label)[0], self._optional[phase].unwanted(operation)
        for part in self._common_parts(label):
            if part.location == Location.BODY.value:
                continue
            known, place = self._shared.setdefault(part.key, {}), (part.location, part.path[0])
            labels = known.setdefault(at, set())
            if labels is None:
                continue
            if is_accepted and place in places:
                known[at] = None
            elif place in unwanted and label not in labels:
                labels.add(label)
            else:
                continue
            self._records += len(labels) >= _ENOUGH_OPERATIONS

    def _holds(self, label: str, demand: Constraint, place: Moment) -> bool:
        """Whether a demand was heard before a moment, and not refuted before it."""
        refuted = self._refuted.get(label, {}).get(demand)
        heard = self._heard[label]
        since = heard[demand]
        if demand.keyword == USUAL:
            # An accepted value only counts if the operation has also refused a case.
            since = max(since, heard.get(_REFUSES, _NEVER))
        return since < place and (refuted is None or refuted >= place)

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Learned]:
        """Return the new and the refuted demands of a response, and the counts of its case."""
        outcome, phase = verdict.outcome, flight.task.lease.phase
        if not isinstance(outcome, Response):
            return ()
        is_ordered = flight.task.row.source is CaseSource.DRAWN or flight.task.lease.ends_at_failure
        found = self.observe(flight.made, outcome, phase, flight.index, is_ordered=is_ordered)
        fared = None if self.at_once or not flight.is_counted else self._fared(flight, outcome, is_ordered=is_ordered)
        return found if fared is None else (*found, fared)

    def _fared(self, flight: InFlight, outcome: Response, *, is_ordered: bool) -> "CaseFared | None":
        """Return the result of a valid case."""
        case, label = flight.made.case, flight.made.label
        is_wrong = case.meta is not None and case.meta.mode is _NEGATIVE
        # Steps of a sequence have the same index, and only the sequence itself uses the resources that it creates.
        if is_wrong or flight.chain or case.other_method is not None or flight.index >= _COUNTED:
            return None
        phase, status = flight.task.lease.phase, flight.status
        reason = reason_for(case, outcome, status)
        if reason is None:
            return None
        # A service may refuse an unknown name with another status.
        status = GONE_STATUSES[0] if is_name_missing(case, outcome, status) else status
        index = flight.index + (0 if is_ordered else _UNORDERED)
        # Bits for the optional parts that the case has, and for path variables that are no natural numbers.
        parts, bit = 0, 1
        for location, name in self._parts_of(case.operation).compared:
            is_number = location == _PATH and f"{case.path_parameters.get(name)}".isdecimal()
            if not is_number and (location == _PATH or _has(case, location, name)):
                parts |= bit
            bit <<= 1
        found = CaseFared(
            label, phase, index, reason, parts, status, taken_from(case), names_in_path(case), _varied_place(case)
        )
        self.absorb(found)
        return found

    def observe(
        self, made: GeneratedCase, outcome: Response, phase: str, index: int, *, is_ordered: bool = False
    ) -> Sequence[DemandHeard | PartsCounted]:
        """Return the demands in the response to a case, new ones and refuted ones, then the count of the case.

        `is_ordered`: the cases of its task are sent one after the other, or block by block.
        """
        at = _At(phase, index if is_ordered else _UNORDERED)
        meta = made.case.meta
        is_read = index < _READ or self.at_once
        # Cases of a list that omit something come last.
        if meta is None or meta.mode is _NEGATIVE or not (is_read or made.other is not None):
            return ()
        status = made.case.operation.status_of(outcome)
        is_accepted = 200 <= status < 300
        is_complaint = not is_accepted and may_complain(status)
        found: list[DemandHeard | PartsCounted] = []
        if is_read and is_accepted:
            found += self._accept(made.case, at)
        elif is_read and is_complaint:
            found += self._complaint(made, outcome, at)
        if index < _COUNTED and (is_accepted or is_complaint or (status >= 500 and status not in REFUSALS)):
            found += self._left_out(made, at, index, is_accepted=is_accepted)
        return found

    def _left_out(
        self, made: GeneratedCase, at: _At, index: int, *, is_accepted: bool
    ) -> Iterator[DemandHeard | PartsCounted]:
        """Yield the parts to omit from most cases, the parts to have in most, then the count of the case."""
        counts = self._optional.setdefault(at.phase, OptionalParts())
        found = counts.undecided(made.case, is_accepted=is_accepted)
        if found is None:
            return
        # In `fuzz`, several tasks of an operation have the same indices.
        key = -1 if self.at_once else index
        for demand, is_refuted in counts.count(made.case.operation, key, *found, is_accepted=is_accepted):
            yield from self._tell(made.label, demand, at, refuted=is_refuted)
        self._share(made.case.operation, at.phase, found[0], is_accepted=is_accepted)
        if not self.at_once:
            yield PartsCounted(made.label, at.phase, index, is_accepted, *found)

    def _accept(self, case: Case, at: _At) -> Iterator[DemandHeard]:
        label = case.operation.label
        heard, wanted = self._heard.get(label), self.wanted(label, at.phase)
        if heard or wanted:
            for demand in {**(heard or {}), **dict.fromkeys(wanted)}:
                if is_broken(demand, case):
                    yield from self._tell(label, demand, at, refuted=True)
                    yield from self._typed(demand, case, at)
        if self._free_of(case.operation):
            # Later cases may use the values. The values are recorded before the operation refuses a case, because a worker that
            # continues the task does not know earlier cases. A list restarts with the first accepted case if that comes after
            # refused ones. Drawn cases respect the values of earlier blocks, whatever the order of responses within a block.
            known = self._heard.get(label, {})
            begins_again = _REFUSES in known and not any(one.keyword == USUAL and one != _REFUSES for one in known)
            is_early = self._lists_cases(at.phase) and not begins_again
            moment = at._replace(case_index=_UNORDERED) if is_early else at
            for location, name in self._free_of(case.operation):
                part = part_of(case, location)
                value = part.get(name) if isinstance(part, Mapping) else None
                is_told = isinstance(value, str | int | float) and len(f"{value}") <= _LONGEST_USUAL
                is_rare = is_told and self._usual[label, location, (name,)] <= _MOST_USUAL
                if is_rare and not self.secrets.is_in(value):
                    demand = Constraint(location, (name,), USUAL, json.dumps(value))
                    yield from self._tell(label, demand, moment, refuted=False)
        kept = self._accepted.setdefault((label, at.phase), [])
        self._accepted.move_to_end((label, at.phase))
        if len(kept) < _KEPT:
            kept.append(case)
        if len(self._accepted) > _OPERATIONS:
            self._accepted.popitem(last=False)

    def _free_of(self, operation: Operation) -> tuple[_Place, ...]:
        """Return the parts whose accepted values are recorded; none in `fuzz`, because each value would recompile a program."""
        return () if self.at_once else self._parts_of(operation).free

    def _complaint(self, made: GeneratedCase, outcome: Response, at: _At) -> Iterator[DemandHeard]:
        case, label = made.case, made.label
        if self._free_of(case.operation):
            yield from self._tell(label, _REFUSES, at, refuted=False)
        respected = read(made.learned)
        by_place: dict[tuple[str, tuple[str, ...]], list[Constraint]] = {}
        for demand in demands_in(case, outcome, declared_names(case.operation)):
            by_place.setdefault((demand.location, demand.path), []).append(demand)
        accepted = self._accepted.get((label, at.phase), ())
        for demands in by_place.values():
            # `between 3 and 10` gives two demands. A case breaks only one of them.
            is_lie = not any(self._may_break(label, demand, case, respected, at.phase) for demand in demands)
            for demand in demands:
                witness = next((one for one in accepted if is_broken(demand, one)), None)
                yield from self._tell(label, demand, at, refuted=is_lie or witness is not None, case=case)
                if witness is not None:
                    yield from self._typed(demand, witness, at)

    def _typed(self, demand: Constraint, case: Case, at: _At) -> Iterator[DemandHeard]:
        """Yield, in place of a demand to omit an untyped property, the demand for the type of its value in an accepted case."""
        body = next((one for one in case.operation.bodies if one.media_type == case.media_type), None)
        if demand.keyword == SELDOM and demand.location == Location.BODY and len(demand.path) == 1 and body is not None:
            types = type_of(case.body[demand.path[0]]) | {"null"}
            if not outline_of(body.schema).property(demand.path[0]).types <= types:
                typed = replace(demand, keyword="type", value=json.dumps(sorted(types)))
                yield from self._tell(case.operation.label, typed, at, refuted=False)

    def _may_break(
        self, label: str, demand: Constraint, case: Case, respected: Collection[Constraint], phase: str
    ) -> bool:
        """Whether a demand may be the reason for a refusal; False if cases that respect it are refused again and again."""
        broken = is_broken(demand, case)
        # The server may strip blanks before it tests for empty or short strings, which would explain the refusal.
        is_explained = demand.keyword in (REQUIRED, "minLength", "maxLength")
        if broken is not None or is_explained or demand not in respected:
            return broken is not False
        self._doubts[label, demand, phase] += 1
        return self._doubts[label, demand, phase] < _DOUBTS

    def _tell(
        self, label: Label, demand: Constraint, at: _At, *, refuted: bool, case: Case | None = None
    ) -> Iterator[DemandHeard]:
        key = (label, demand, at.phase, refuted)
        known = self._refuted if refuted else self._heard
        if key in self._written or len(known.get(label, ())) >= _MOST:
            return
        self._written.add(key)
        parts = (
            [part for part in self._common_parts(label) if part.holds(demand)] if self.layers.is_awaited(label) else []
        )
        part, depth = (parts[-1].key, len(parts[-1].path)) if parts else ("", 0)
        heard = DemandHeard(
            label, demand, at.phase, refuted, () if case is None else (literal_of(case),), part, depth, at.case_index
        )
        self.absorb(heard)
        yield heard


def _varied_place(case: Case) -> int:
    """Return a digest below 2**32 of the parameter or property that a list varies in a case; 0 for none."""
    data = {} if case.meta is None else case.meta.phase.data
    name, pointer = data.get("parameter"), data.get("location") or ""
    if not name:
        return 0
    if data.get("parameter_location") == Location.BODY.value:
        above, between, below = pointer.rpartition("/properties/")
        name = f"{above}{between}{below.partition('/')[0]}" if between else ""
    return int(digest(f"{data.get('parameter_location')}", name)[:8], 16) if name else 0


def _is_free(outline: Outline) -> bool:
    return outline.types <= {"string", "integer", "number"} and outline.first("enum", "const", "format") is None


def declared_names(operation: Operation) -> frozenset[str]:
    """Return the names of the body's properties, as spelled in the description."""
    return frozenset(name for body in operation.bodies for name in outline_of(body.schema).names)
