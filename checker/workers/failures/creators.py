"""The creations of the resources that a failing sequence names, so that its commands show the failure on a fresh server."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec.structs import replace

from checker.core.digests import digest
from checker.core.errors import CheckerError
from checker.core.meta import Binding, Drawn, PhaseInfo, Step
from checker.core.operation import Label
from checker.core.phases import FUZZING
from checker.core.request import Location
from checker.core.resource_names import resource_of
from checker.core.resources import CREATING, REMOVING, SAFE, ResourceModel, ResourceUse, TakenValue, naming_places
from checker.generation.sources.context import Rejected
from checker.phases.bindings import SentCase, has_place, held_by, resolved
from checker.phases.case_factory import CaseFactory, Exhausted, GeneratedCase
from checker.phases.case_parts import literal_of
from checker.phases.listing import SMALLEST

_PHASE = PhaseInfo(FUZZING.name)
_MOST = 5
"""Most resources that are created for one failure."""
_MOST_SITUATIONS = 5
"""Most requests that are tried between the creations and the failing request, one at a time."""
_SHOWN = "$response.body#"
Place = tuple[Location, str]
Cases = list[GeneratedCase]


def with_creators(factory: CaseFactory, model: ResourceModel, chain: Sequence[GeneratedCase]) -> Cases:
    """Return a sequence after the smallest creation of each resource that it names; empty if there are none, or one is unknown.

    A resource that a list or another request showed is created by the `POST` to its collection.
    """
    creations = _Creations(factory, model)
    try:
        for _ in range(2):
            # The second time all creations are known, so that the indices of later steps are.
            linked = [creations.linked(chain[:number], made) for number, made in enumerate(chain)]
    except (CheckerError, Rejected, LookupError):
        return []
    return [*creations.steps, *linked] if creations.steps else []


def situations(factory: CaseFactory, model: ResourceModel, chain: Cases) -> Iterator[Cases]:
    """Yield the sequence of `with_creators` with one further request before its last one.

    That is the last request itself, one that removes or changes its resource, or one that creates another resource beside it.
    """
    *before, last = chain
    use = model.uses.get(last.label)
    if use is None or not use.owners:
        return
    path = use.path.rpartition("}")[0] + "}"
    others = [
        other
        for other in model.uses.values()
        if other.method not in SAFE and other.owners == use.owners and other.path.startswith(path)
    ]
    others.sort(key=lambda other: (other.label != last.label, other.method != REMOVING))
    beside = [made for made in before if model.uses[made.label].resource == resource_of(path)]
    bindings = tuple(_set_over(one, before) for one in last.bindings if one.location is Location.PATH)
    for other in others[:_MOST_SITUATIONS]:
        with suppress(CheckerError, Rejected):
            further = last if other.label == last.label else replace(_smallest(factory, other.label), bindings=bindings)
            yield [*before, further, last]
    for made in beside:
        yield [*before, made, last]


def _set_over(binding: Binding, before: Cases) -> Binding:
    """Return a binding as one with an expression."""
    if binding.expression:
        return binding
    at = max((number for number, one in enumerate(before) if one.label == binding.producer), default=-1)
    return replace(binding, expression=json.dumps(_SHOWN + binding.pointer), step=at)


def are_linked(chain: Sequence[GeneratedCase], sent: Sequence[SentCase]) -> bool:
    """Whether each resource that a sequence names was found in the response to its creation."""
    return all(
        resolved(one, sent[:number]) is not one
        for number, made in enumerate(chain)
        for one in made.bindings
        if not one.stands_alone
    )


class _Creations:
    """The creations before one sequence, each once."""

    def __init__(self, factory: CaseFactory, model: ResourceModel) -> None:
        self._factory = factory
        self._model = model
        self._named = naming_places(model)
        self._made: dict[Label, int] = {}
        self._begun: set[Label] = set()
        self.steps: Cases = []

    def linked(self, earlier: Sequence[GeneratedCase], made: GeneratedCase) -> GeneratedCase:
        """Return a step with values of the creations. Raises `LookupError` if the creation of a resource is unknown."""
        labels = [one.label for one in earlier]
        held = held_by(made.case, made.bindings)
        return replace(
            made, bindings=tuple(one if one.stands_alone else self._created(one, made.label, labels) for one in held)
        )

    def _created(self, binding: Binding, label: Label, earlier: Sequence[Label]) -> Binding:
        """Return a binding of an operation to the creation of its resource: one before the sequence, or in it."""
        use = self._model.uses[binding.producer]
        if binding.producer in earlier and use.method == "POST":
            return replace(binding, step=binding.step + len(self.steps)) if binding.step >= 0 else binding
        producer, pointer = self._origin(label, binding)
        at = self._add(producer)
        linked = replace(binding, producer=producer, pointer=pointer)
        # A drawn case takes its values from its bindings while it is drawn; those with an expression are set afterwards.
        return replace(linked, expression=json.dumps(_SHOWN + pointer), step=at) if binding.expression else linked

    def _origin(self, label: Label, binding: Binding) -> tuple[Label, str]:
        """Return the creation of the resource of a value, and where its response shows the value. Raises `LookupError`."""
        own = self._model.uses[binding.producer]
        known = dict(self._wanted(label)).get((binding.location, binding.name))
        if known is not None:
            return known[0], known[1].shown_pointer or ""
        if self._creates(own):
            return binding.producer, binding.pointer
        if own.method not in SAFE or not binding.pointer.startswith("/"):
            raise LookupError(binding.name)
        path = own.path.rstrip("/")
        collection = path.rpartition("/")[0] if own.is_member else path
        uses = self._model.uses.values()
        creators = [one for one in uses if one.path.rstrip("/") == collection and one.method in CREATING]
        if not creators:
            # Nothing creates the resource, so that it is there on a fresh target: the request that showed it finds it again.
            return binding.producer, binding.pointer
        return creators[0].label, f"/{binding.pointer.rpartition('/')[2]}"

    def _creates(self, use: ResourceUse) -> bool:
        """Whether an operation creates a resource: clients name those of `POST /accounts/{name}`, if nothing else creates them."""
        return (use.method == "POST" or not use.is_member) and self._model.makes(use.label)

    def _wanted(self, label: Label) -> Iterator[tuple[Place, tuple[Label, TakenValue]]]:
        """Yield the places of an operation that name a resource, with the creation of it and the value of that."""
        use = self._model.uses[label]
        owners = dict(use.owners)
        named = self._named.get(label, ())
        found: dict[Place, tuple[Label, TakenValue]] = {}
        for one in self._model.transitions:
            source = self._model.uses[one.source]
            if one.target != label or source.label == label or not self._creates(source):
                continue
            for value in one.values:
                is_owned = value.location is Location.PATH and owners.get(value.name) == source.resource
                is_named = value.location is Location.BODY and value.name in named
                if value.shown_pointer is not None and (is_owned or is_named):
                    known = found.get((value.location, value.name))
                    if known is None or len(source.path) < len(self._model.uses[known[0]].path):
                        found[value.location, value.name] = one.source, value
        yield from found.items()

    def _add(self, label: Label) -> int:
        """Return the index of the creation of a resource. Raises `LookupError`, `Rejected` and the errors of making a case."""
        if label in self._made:
            return self._made[label]
        if label in self._begun or len(self._begun) >= _MOST:
            raise LookupError(label)
        self._begun.add(label)
        made = _smallest(self._factory, label)
        bindings = []
        for (location, name), (source, value) in self._wanted(label):
            one = Binding(location, name, source, value.shown_pointer or "", 0, "", json.dumps(value.value))
            if has_place(made.case, one):
                bindings.append(replace(one, step=self._add(source)))
        use = self._model.uses[label]
        above = use.owners[:-1] if use.is_member else use.owners
        if {name for name, _ in above} - {one.name for one in bindings}:
            raise LookupError(label)
        self._made[label] = len(self.steps)
        self.steps.append(replace(made, bindings=tuple(bindings)))
        return self._made[label]


def _smallest(factory: CaseFactory, label: Label) -> GeneratedCase:
    """Return the smallest valid case of an operation, by its values. Raises `Rejected` and the errors of making a case."""
    name = digest("creator", label)[:12]
    try:
        made = factory.listed(label, 0, 0, _PHASE, of=_PHASE.name + SMALLEST)
    except Exhausted:
        # An operation without parameters and body has no list.
        made = factory.simplest(Step(label, Drawn((), "")), name=name, phase=_PHASE)
    return factory.remake(Step(label, literal_of(made.case)), name=name, phase=_PHASE)
