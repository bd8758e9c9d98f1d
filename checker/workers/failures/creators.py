"""Creates the resources that a failing sequence names, so that its commands reproduce the failure on a fresh server."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice

from msgspec.structs import replace

from checker.checks.context import JudgedInteraction
from checker.core.digests import digest, digest_int
from checker.core.errors import CheckerError
from checker.core.meta import Binding, Drawn, PhaseInfo, Step
from checker.core.operation import Label, Place
from checker.core.phases import COVERAGE, FUZZING
from checker.core.request import Location
from checker.core.resource_names import identifier_in, is_identifier, normalised, resource_of, words
from checker.core.resources import CREATING, REMOVING, SAFE, ResourceModel, ResourceUse, place_of, variable_at
from checker.core.response import Response
from checker.corpus.needs import place_of_name
from checker.generation.sources.context import Rejected
from checker.health import made_paths, path_of
from checker.phases.bindings import has_place, held_by, resolved
from checker.phases.case_factory import CaseFactory, Exhausted, GeneratedCase
from checker.phases.case_parts import literal_of
from checker.phases.listing import SMALLEST
from checker.values.harvest import value_at
from checker.values.producers import is_of_request, request_pointer, sent_value
from checker.workers.failures.fresh_names import FreshNames
from checker.workers.jobs import Job
from checker.workers.recording.unconfirmed import JudgedCase

_PHASE = PhaseInfo(FUZZING.name)
_MOST = 5  # Resources that are created for one failure.
_MOST_TRIES = 4
"""Most cases that are tried for one creation: the smallest case, then drawn cases if the smallest is refused as invalid or fails."""
_INVALID = frozenset((400, 422))
_MOST_SITUATIONS = 5  # Requests that are tried between the creations and the failing request, one at a time.
_MOST_VALUES, _MOST_CHANGES = 5, 12  # Most tried changes of a resource: by one operation, and by all of them.
_MOST_LISTED = 40  # Boundary cases of an operation that are searched for valid ones.
_SHOWN = "$response.body#"
_NAMING = (Location.PATH, Location.BODY)
Cases = list[GeneratedCase]
Send = Callable[[GeneratedCase, Sequence[JudgedCase]], Job[JudgedCase]]
"""Sends a step after earlier steps, with the values of their responses."""


def named_by(made: GeneratedCase) -> list[Binding]:
    """Return the values of earlier responses that may name a resource in a request.

    A value with an expression replaces a drawn value at the same place. Other parts of a request, such as a version, do not
    name resources.
    """
    replaced = {(one.location, one.name) for one in made.bindings if one.expression}
    return [
        one
        for one in held_by(made.case, made.bindings)
        if not one.stands_alone
        if one.expression or (one.location, one.name) not in replaced
        if one.location in _NAMING or is_identifier(normalised(one.name))
    ]


def makes_its_resources(model: ResourceModel, chain: Sequence[GeneratedCase]) -> bool:
    """Whether all resources that the steps of a sequence name were created by its earlier steps.

    A read only shows resources of other requests, if an operation can create such resources.
    """
    return not any(drawn_names(model, made) or _takes_listed(model, made) for made in chain) and _takes_all(chain)


def takes_filled(model: ResourceModel, chain: Sequence[GeneratedCase], lists_filled: Collection[Label]) -> bool:
    """Whether a sequence uses a name from a list that was empty earlier, and no step of the sequence can have filled the list."""
    # On Oscar, 8 of 271 findings named a member of a list that the run had filled. On a fresh server the list is empty,
    # and no operation creates a member with that name.
    if any(made.label in model.uses and model.uses[made.label].method not in SAFE for made in chain[:-1]):
        return False
    return any(one.producer in lists_filled for made in chain for one in named_by(made))


def _takes_listed(model: ResourceModel, made: GeneratedCase) -> bool:
    """Whether a path names a resource that a read returned and that some operation creates."""
    use = model.uses.get(made.label)
    # A job that another request of the run had started was taken for a resource of the sequence, because a read
    # returned it (pygeoapi).
    return use is not None and any(
        model.uses[one.producer].method in SAFE and any(map(model.makes, model.makers(use.owner(variable))))
        for one in named_by(made)
        if (variable := variable_at(made.case.operation, (one.location, one.name))) is not None
    )


def _takes_all(chain: Sequence[GeneratedCase]) -> bool:
    labels = [made.label for made in chain]
    taken = [(number, one) for number, made in enumerate(chain) for one in named_by(made)]
    return bool(taken) and all(
        0 <= one.step < number if one.expression else one.producer in labels[:number] for number, one in taken
    )


def are_linked(chain: Sequence[GeneratedCase], sent: Sequence[JudgedInteraction]) -> bool:
    """Whether each resource that a sequence names was in the response to one of its earlier steps."""
    return _takes_all(chain) and all(
        resolved(one, sent[:number]) is not one for number, made in enumerate(chain) for one in named_by(made)
    )


def situations(factory: CaseFactory, model: ResourceModel, chain: Cases) -> Iterator[Cases]:
    """Yield variants of a sequence, with the creations of its resources first and one further request before the last.

    The further request is the last request itself, one that removes or changes its resource, one that creates another
    resource in the same collection, or one that changes the resource to another value: an order may have to be paid first.
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
    bindings: tuple[Binding, ...] = ()
    for one in last.bindings:
        if one.location is Location.PATH and not one.expression and one.pointer.startswith("/"):
            # The same value, given by an expression.
            at = max((number for number, made in enumerate(before) if made.label == one.producer), default=-1)
            bindings += (replace(one, expression=json.dumps(_SHOWN + one.pointer), step=at),)
        elif one.location is Location.PATH:
            bindings += (one,)
    others = others[:_MOST_SITUATIONS]
    for other in others:
        with suppress(CheckerError, Rejected):
            further = last if other.label == last.label else replace(_smallest(factory, other.label), bindings=bindings)
            yield [*before, further, last]
    for made in beside:
        yield [*before, made, last]
    changes = (one for other in others for one in islice(_valid_cases(factory, other.label), _MOST_VALUES))
    for further in islice(changes, _MOST_CHANGES):
        yield [*before, replace(further, bindings=bindings), last]


class Creations:
    """Creates the resources that one sequence names. Each is created once, because its name is known only from the response."""

    def __init__(self, factory: CaseFactory, model: ResourceModel, names: FreshNames, send: Send) -> None:
        self._factory = factory
        self._model = model
        self._names = names
        self._send = send
        self._made: dict[Label, int] = {}
        self._begun: set[Label] = set()
        self.shots: list[JudgedCase] = []
        """The creations, in order."""

    def before(self, chain: Sequence[GeneratedCase]) -> Job[Cases]:
        """Create the resources that a sequence names, and return its steps with their names; no steps if a creation is unknown or refused."""
        try:
            linked: Cases = []
            for _ in range(2):
                # The second pass finds all resources created, so the indices of later steps are known.
                linked = []
                for number, made in enumerate(chain):
                    linked.append((yield from self._linked(chain[:number], made)))
        except (CheckerError, Rejected, LookupError):
            return []
        return linked if self.shots else []

    def _linked(self, earlier: Sequence[GeneratedCase], made: GeneratedCase) -> Job[GeneratedCase]:
        """Return a step with the names of created resources. Raises `LookupError` if a resource has no known creation."""
        labels, wanted = [one.label for one in earlier], named_by(made)
        bindings = []
        for one in held_by(made.case, made.bindings):
            bindings.append((yield from self._created(one, made, labels)) if one in wanted else one)
        drawn = drawn_names(self._model, made)
        for variable in drawn:
            # Another request of the run may have created a resource with this name.
            creator = self._creator(self._model.uses[made.label], variable)
            if creator is None:
                raise LookupError(variable)
            at = yield from self._add(creator)
            bindings.append(self._taken(at, made.label, place_of(made.case.operation, variable)))
        recipe = literal_of(made.case) if drawn else made.recipe
        phase = made.case.meta.phase if made.case.meta is not None else _PHASE
        step = replace(made.step, recipe=recipe, bindings=tuple(bindings))
        return self._factory.remake(step, name=made.case.id, phase=phase)

    def _created(self, binding: Binding, made: GeneratedCase, earlier: Sequence[Label]) -> Job[Binding]:
        """Return the binding of a step to the creation of its resource, before the sequence or inside it. Raises `LookupError`."""
        producer, label = self._model.uses[binding.producer], made.label
        if binding.producer in earlier and producer.method == "POST":
            return replace(binding, step=binding.step + len(self.shots)) if binding.step >= 0 else binding
        place = binding.location, binding.name
        variable = variable_at(made.case.operation, place)
        use = self._model.uses[label]
        creator = self._in_body(label).get(place) if variable is None else self._creator(use, variable)
        if creator is None and (self._creates(producer) or producer.method in SAFE):
            # If no operation creates the resource, a fresh target has it, and the request that returned it finds it again.
            creator = binding.producer
        if creator is None:
            raise LookupError(binding.name)
        at = yield from self._add(creator)
        taken = self._taken(at, label, place, binding.pointer if creator == binding.producer else "")
        # A drawn case takes its values from bindings while it is drawn. Values with an expression are set afterwards.
        return taken if binding.expression else replace(taken, index=binding.index, expression="", step=-1)

    def _creator(self, use: ResourceUse, variable: str) -> Label | None:
        """Return the operation that creates the resource of a path variable: the nearest one, preferably one whose server chooses the name."""
        owner = use.owner(variable)
        found = [
            one
            for one in self._model.uses.values()
            if one.resource == owner and one.label != use.label and self._creates(one)
        ]
        # A name that the server chooses is known from the response and never in use already.
        found.sort(key=lambda one: (one.is_member, not use.path.startswith(f"{one.path.rstrip('/')}/"), len(one.path)))
        return found[0].label if found else None

    def _creates(self, use: ResourceUse) -> bool:
        """Whether an operation creates a resource.

        `PUT /accounts/{name}` does if no other operation creates accounts; then clients choose the name.
        """
        return self._model.makes(use.label)

    def _in_body(self, label: Label) -> Mapping[Place, Label]:
        """Return the places in an operation's body that name a resource, each with the operation that creates it."""
        named, found = self._model.naming_places.get(label, ()), dict[Place, Label]()
        for one in self._model.transitions:
            source = self._model.uses[one.source]
            if one.target != label or source.label == label or not self._creates(source):
                continue
            for value in one.values:
                place = value.location, value.name
                if value.shown_pointer is None or value.location is not Location.BODY or value.name not in named:
                    continue
                # The operation with the shortest path needs the fewest other creations.
                if place not in found or len(source.path) < len(self._model.uses[found[place]].path):
                    found[place] = one.source
        return found

    def _taken(self, at: int, label: Label, place: Place, known: str = "") -> Binding:
        """Return the binding of a place to the name of a created resource. Raises `LookupError` if no response contains the name."""
        shot = self.shots[at]
        outcome, operation = shot.verdict.outcome, shot.made.case.operation
        if not isinstance(outcome, Response):
            raise LookupError(place)
        shown = [
            value.shown_pointer
            for one in self._model.transitions_to(label, shot.made.label)
            for value in one.values
            if (value.location, value.name) == place and value.shown_pointer is not None
        ]
        for pointer in filter(None, (known, *shown, self._shown_in(shot, outcome, place[1].rpartition("/")[2]))):
            value = (
                sent_value(shot.made.case, pointer)
                if is_of_request(pointer)
                else value_at(outcome, pointer, operation.read_answer)
            )
            if value is not None:
                expression = json.dumps(_SHOWN + pointer) if pointer.startswith("/") and "*" not in pointer else ""
                return Binding(*place, shot.made.label, pointer, 0, value, expression, at if expression else -1)
        raise LookupError(place)

    def _shown_in(self, shot: JudgedCase, outcome: Response, name: str) -> str:
        """Return where a creation states the name of its resource: in its response, or in its own request; empty if nowhere."""
        use, request = self._model.uses[shot.made.label], shot.verdict.request
        if use.is_member:
            return request_pointer(use.owners[-1][0])
        if request is None:
            return ""
        path = path_of(request)
        for made in made_paths(path, outcome, [name]):
            if pointer := place_of_name(made, path, outcome):
                return pointer
        body = shot.made.case.body
        sent = identifier_in(body, [name]) if isinstance(body, dict) else None
        return next((request_pointer(f"/{key}") for key, value in body.items() if value == sent), "") if sent else ""

    def _add(self, label: Label) -> Job[int]:
        """Create a resource, and return the index of its creation. Raises `LookupError`, `Rejected` and the errors of making a case."""
        if label in self._made:
            return self._made[label]
        if label in self._begun or len(self._begun) >= _MOST:
            raise LookupError(label)
        self._begun.add(label)
        # LoopBack refuses the smallest body of `POST /todos`, which has an empty title, with 422. The drawn cases
        # depend only on the operation, so every worker sends the same ones.
        for number in range(_MOST_TRIES):
            if not number:
                made = _smallest(self._factory, label)
            else:
                # Many services refuse the empty text in the smallest case. Other texts are left out as well; an
                # identifier may name a resource that `_in_body` does not know.
                name = digest("creator", label, str(number))[:12]
                seed = digest_int("creator", label)
                made = self._factory.make_step(label, (seed, number, 0), _PHASE, (), is_wrong=False)
                kept = tuple(one for one in made.bindings if is_identifier("".join(words(one.name)[-1:])))
                made = self._factory.remake(Step(label, literal_of(made.case), kept), name=name, phase=_PHASE)
            shot = yield from self._tried(made)
            if shot.said_status not in _INVALID and shot.said_status < 500:
                break
        if not 200 <= shot.said_status < 300 and self._model.uses[label].method not in SAFE:
            raise LookupError(label)
        self._made[label] = len(self.shots)
        self.shots.append(shot)
        return self._made[label]

    def _tried(self, made: GeneratedCase) -> Job[JudgedCase]:
        """Send a case that creates a resource, after creating the resources that it names. Raises `LookupError` in the same cases as `_add`."""
        label, use = made.label, self._model.uses[made.label]
        wanted = {
            place: creator
            for place, creator in self._in_body(label).items()
            if has_place(made.case, Binding(*place, creator, "", 0, ""))
        }
        is_client_named = use.is_member and self._creates(use)
        for variable, _ in use.owners[:-1] if is_client_named else use.owners:
            creator = self._creator(use, variable)
            if creator is None:
                raise LookupError(variable)
            wanted[place_of(made.case.operation, variable)] = creator
        bindings = [one for one in made.bindings if (one.location, one.name) not in wanted]
        for place, creator in wanted.items():
            at = yield from self._add(creator)
            bindings.append(self._taken(at, label, place))
        self._names.served |= {label}
        if is_client_named:
            self._names.renew(label, place_of(made.case.operation, use.owners[-1][0]))
        return (yield from self._send(replace(made, bindings=tuple(bindings)), self.shots))


def drawn_names(model: ResourceModel, made: GeneratedCase, *, with_own: bool = False) -> list[str]:
    """Return the path variables with drawn values that name resources which other requests create.

    The name of the resource that the request itself creates is included only `with_own`. A drawn name after the last
    name from an earlier response is new. Before that name, the resource exists.
    """
    use, meta = model.uses.get(made.label), made.case.meta
    if use is None or (meta is not None and any(at is Location.PATH for at, _ in meta.broken)):
        return []
    bound = {(one.location, one.name) for one in named_by(made)}
    is_own = use.is_member and use.method in CREATING and not with_own
    names = [
        name
        for name, owner in (use.owners[:-1] if is_own else use.owners)
        if any(map(model.makes, model.makers(owner)))
    ]
    places = [place_of(made.case.operation, name) for name in names]
    last = max((number for number, place in enumerate(places) if place in bound), default=len(names))
    if use.method == "POST" and not use.is_member:
        # The operation creates a resource below all named resources.
        last = len(names)
    return [name for name, place in zip(names[:last], places, strict=False) if place not in bound]


def _valid_cases(factory: CaseFactory, label: Label) -> Iterator[GeneratedCase]:
    """Yield the valid boundary cases of an operation, as values: one for each value of an enumeration."""
    with suppress(CheckerError, Rejected):
        for number in range(_MOST_LISTED):
            made = factory.listed(label, 0, number, _PHASE, of=COVERAGE)
            if made.case.meta is not None and not made.case.meta.mode.is_negative:
                name = digest("creator", label, COVERAGE, str(number))[:12]
                yield factory.remake(Step(label, literal_of(made.case)), name=name, phase=_PHASE)


def _smallest(factory: CaseFactory, label: Label) -> GeneratedCase:
    """Return the smallest valid case of an operation, as values. Raises `Rejected` and the errors of making a case."""
    name = digest("creator", label)[:12]
    try:
        made = factory.listed(label, 0, 0, _PHASE, of=_PHASE.name + SMALLEST)
    except Exhausted:
        # If the usual case of an operation is its smallest, there is no separate smallest case.
        made = factory.simplest(Step(label, Drawn((), "")), name=name, phase=_PHASE, is_valid=True)
    return factory.remake(Step(label, literal_of(made.case)), name=name, phase=_PHASE)
