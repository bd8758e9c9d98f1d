"""Sequences of the stateful phase and of fuzzing: each response leads to a request that uses its values."""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.context import JudgedInteraction
from checker.config.settings import SequenceSettings
from checker.core.case import NOT_SET, Case
from checker.core.errors import CheckerError
from checker.core.meta import Binding, PhaseInfo
from checker.core.operation import Label, Place
from checker.core.phases import CaseSource
from checker.core.request import Location
from checker.core.resource_names import Resource
from checker.core.resources import ACCEPTED, CREATING, READING, REMOVING, ResourceModel, ResourceUse
from checker.core.response import Response
from checker.corpus.secrets import NO_SECRETS, Secrets
from checker.generation.boundaries.values import likeness
from checker.phases.bindings import shown_place
from checker.phases.case_factory import WRONG_STEPS, CaseFactory, GeneratedCase, is_safe
from checker.phases.known_resources import (
    DECLARED,
    KnownResources,
    PathVariable,
    ResponseKind,
    SequenceModel,
    ShownStep,
    StepTarget,
    ValueOrigin,
)
from checker.values.history import LONGEST_TEXT, SCALARS
from checker.values.locations import DescribedPaths

# Four random steps rarely go in one direction: a resource three collections down that stays after its deletion was
# missed with four of four seeds.
_AIMED: Final = 3  # Every third sequence heads for one operation.


class SequenceGoals(Struct, dict=True):
    """Goals of sequences: operations deep below the first one, and those whose bodies name members of several collections."""

    model: ResourceModel
    _goals: dict[Label, Sequence[Label]] = field(default_factory=dict)
    """First operation of a sequence -> its possible goals."""

    def next_step(self, steps: Sequence[ShownStep], index: int) -> Label | None:
        """Return the next step of sequence `index` on the way to its goal; None if it has arrived, or has no goal.

        A goal that removed a resource is followed by reading the resource again.
        """
        if index % _AIMED:
            return None
        root = steps[0].use.label
        goals = self._goals.get(root)
        if goals is None:
            uses = self.model.uses
            deep = [use for use in uses.values() if len(use.owners) > 1 and root in self.model.makers(use.owners[0][1])]
            deep.sort(key=lambda use: (use.method != REMOVING, -len(use.owners)))
            labels = dict.fromkeys(use.label for use in deep)
            made = uses[root].resource
            labels |= dict.fromkeys(one for one in self._joining if made in self._collections[one] and one != root)
            goals = self._goals[root] = list(labels)
        if not goals:
            return None
        goal = goals[index // _AIMED % len(goals)]
        sent = {step.use.label for step in steps if step.succeeded}
        if goal in sent:
            use, last = self.model.uses[goal], steps[-1]
            if use.method != REMOVING or last.use.label != goal or not last.succeeded:
                return None
            others = (self.model.uses[label] for label in self.model.on(use.resource))
            return next((one.label for one in others if reads_member(one)), None)
        for _, owner in self.model.uses[goal].owners:
            makers = self.model.makers(owner)
            if makers and sent.isdisjoint(makers):
                return makers[0]
        tried = {step.use.label for step in steps}
        for collection in self._collections.get(goal, ()):
            ways = self._ways_to(collection)
            # An operation that was refused is not tried again.
            if tried.isdisjoint(ways):
                return ways[0]
        return goal

    @cached_property
    def _joining(self) -> Sequence[Label]:
        """The operations whose bodies name members of several collections."""
        return [label for label in self.model.uses if len(self._collections.get(label, ())) > 1]

    @cached_property
    def _collections(self) -> Mapping[Label, Sequence[Resource]]:
        """Operation -> collections whose members its body names, if some operation provides members."""
        named = self.model.named_collections.items()
        return {label: [one for one in found if self._ways_to(one)] for label, found in named}

    def _ways_to(self, collection: Resource) -> Sequence[Label]:
        """Return the operations that make members of a collection without their names, else those that list them."""
        uses = [self.model.uses[label] for label in self.model.on(collection)]
        free = [use for use in uses if not use.owners]
        makers = [use.label for use in free if use.method in CREATING]
        return makers or [use.label for use in free if use.method in READING]


def reads_member(use: ResourceUse) -> bool:
    """Whether an operation reads one resource."""
    return use.method == "GET" and use.is_member


_LATEST, _REMOVED = 0.7, 0.8
"""Probability that a value comes from the last step that has one, or from the resource that was just removed."""
_BODY, _OPTIONAL, _REQUIRED = 0.85, 0.5, 0.9
"""Probabilities that inferred values are set into bodies, optional parameters and required parameters."""
_TWICE = 0.5  # Probability that two parts of a request take the same value if no other is known.
# No file was copied onto itself in 500,000 requests, because values of bodies come from responses that fit their names.
_ITSELF = 1 / 32  # Probability that a body value from an earlier response is replaced by that of the path.
_SAME_SCOPE = 0.9  # Probability that a step keeps the tenant or workspace of the sequence.
_WEIGHTS: Final = {"GET": 3.0, "PUT": 3.0, "PATCH": 3.0, "POST": 3.0, REMOVING: 2.0}
_AGAIN: Final = 8.0  # Weight of reading the resource that was just removed.
_ELSEWHERE: Final = 0.4
_NEEDED: Final = 1.5  # Weight of creating another resource, and of one that later steps can use.
# Without this, 72 of 100 requests contained a value whose responses had all been 404, up to seven times in a sequence of ten.
_MOST_REFUSALS: Final = 2
"""Refusals after which a sequence no longer uses a value; a single one may be about other parts of the request."""
_TRIES: Final = 32  # Operations that are tried for a step: most sequences lack a value for the path of most operations.
_ELEMENTS: Final = 4  # Elements of a list whose values sequences take.
# When each sequence took the first element, one item of a read-only service was requested 97 times and no other at all.
_SAME_ELEMENT: Final = 5
"""Sequences in a row that take the same element. First comes the first element, which a fresh server usually has again."""
_KEPT: Final = 96
"""Sequences whose known values are kept: more than run at the same time, including those that `fuzz` keeps."""


def unchanged(sequence: Sequence[JudgedInteraction]) -> list[Case]:
    """Return the safe requests since the last step that may have changed something; none while a job may be running (202)."""
    found: list[Case] = []
    for step in reversed(sequence):
        status = step.case.operation.status_of(step.outcome) if isinstance(step.outcome, Response) else 0
        if status == ACCEPTED:
            return []
        if is_safe(step.case):
            found.append(step.case)
        elif not 400 <= status < 500:
            break
    return found


class SequenceBuilder(Struct, dict=True):
    """Chooses the steps of sequences by the seed of the task, the number of the sequence, and its earlier responses alone.

    No other state has an effect, so that another worker continues a sequence in the same way.
    """

    factory: CaseFactory
    model: ResourceModel
    rules: SequenceSettings
    host: str
    secrets: Secrets = NO_SECRETS  # Values that must not be sent to other operations.
    _sequences: OrderedDict[int, KnownResources] = field(default_factory=OrderedDict)
    """Keyed by the identity of the first interaction. In `fuzz`, each step has an index of its own."""
    _dead: set[Label] = field(default_factory=set)
    _following: dict[ResponseKind, Mapping[Label, float]] = field(default_factory=dict)
    _chance: Random = field(default_factory=Random)  # Seeded anew for each step.

    def follow(
        self,
        sequence: Sequence[JudgedInteraction],
        seed: int,
        index: int,
        phase: PhaseInfo,
        *,
        tried: Mapping[Label, int] | None = None,
    ) -> GeneratedCase | None:
        """Return the next step of sequence `index`; None if nothing follows.

        `tried`: in `fuzz`, how often each operation followed sequences like this one, whose length is not limited here.
        """
        # All that is known of a sequence is read from its interactions. Keeping the values only saves time: another
        # worker, or this one after `_KEPT` other sequences, finds the same step.
        place, made = len(sequence), None
        known = self._sequences.pop(id(sequence[0]), None)
        if (tried is not None or place < self.rules.max_steps) and isinstance(sequence[-1].outcome, Response):
            known = known or KnownResources(self._shared)
            known.turn = index // _SAME_ELEMENT % _ELEMENTS
            known.read(sequence)
            made = self._next(known, sequence, (seed, index, place), phase, tried or {})
        if made is not None and known is not None:
            # The known steps keep the interaction alive, so no other object can get its identity.
            self._sequences[id(sequence[0])] = known
            if len(self._sequences) > _KEPT:
                self._sequences.popitem(last=False)
        return made

    def _next(
        self,
        known: KnownResources,
        sequence: Sequence[JudgedInteraction],
        recipe: tuple[int, int, int],
        phase: PhaseInfo,
        tried: Mapping[Label, int],
    ) -> GeneratedCase | None:
        """Return the step of (seed, index of the sequence, place in it); None if no operation can follow.

        A safe request is not sent twice while no step between may have changed something.
        """
        seed, index, place = recipe
        chance = self._chance
        chance.seed(seed + (index << 8) + place)
        weights, dead = self._weights(known), self._dead
        weights = {
            label: weight / (1 + tried.get(label, 0)) ** 2 for label, weight in weights.items() if label not in dead
        }
        # A goal replaces the choice, not the weights. If the goal cannot be reached now, the next step is random.
        aim = self._goals.next_step(known.steps, index)
        if aim is not None and aim not in self._dead and tried.get(aim, 0) < _AIMED:
            weights.setdefault(aim, 1.0)
        known_reads = unchanged(sequence)
        for _ in range(_TRIES):
            if not weights:
                return None
            target = aim if aim in weights else self._chosen(weights, chance, index, place)
            del weights[target]
            bindings = self._bindings(known, self._shared.target(target), chance, is_aimed=target == aim)
            if bindings is None:
                continue
            # Each step towards a goal has to succeed.
            is_wrong = target != aim and chance.random() < WRONG_STEPS
            try:
                made = self.factory.make_step(target, recipe, phase, bindings, is_wrong=is_wrong)
            except CheckerError:
                # Why no case of the operation can be made is reported by its own task; sequences skip it.
                self._dead.add(target)
                continue
            # A step without values of the sequence may be left out like any other case.
            is_free = target != aim and not (bindings or is_wrong)
            if is_free and self.factory.learner.is_left_out(made, phase.name, index, 0, CaseSource.CHAINED):
                continue
            alike = [one for one in known_reads if one.operation.label == target]
            if not (alike and is_safe(made.case) and likeness(made.case) in map(likeness, alike)):
                return made
        return None

    @cached_property
    def _shared(self) -> SequenceModel:
        described = DescribedPaths(use.path for use in self.model.uses.values())
        return SequenceModel(self.model, self.factory.operations, self.rules.algorithms, self.host, described)

    @cached_property
    def _goals(self) -> SequenceGoals:
        return SequenceGoals(self.model)

    def _chosen(self, weights: dict[Label, float], chance: Random, index: int, place: int) -> Label:
        """Return a random operation; for the second steps of the first sequences, each possible operation in turn."""
        labels = list(weights)
        if place == 1 and index < 2 * len(labels):
            return labels[index % len(labels)]
        return chance.choices(labels, [weights[label] for label in labels])[0]

    def _weights(self, known: KnownResources) -> Mapping[Label, float]:
        """Return the operations that can use earlier responses, and those that create near them. Each further response raises a weight."""
        found: dict[Label, float] = {}
        steps, leading = known.steps, dict[Label, int]()
        for step, shown in enumerate(steps):
            following = self._following.get(shown.kind)
            found |= self._after(shown.kind) if following is None else following
            for target in shown.kind.transitions:
                leading[target] = leading.get(target, 0) + 1
            for target in known.located_targets(step) if shown.targets is None else shown.targets:
                found.setdefault(target, 2 * self._weight(target))
        for target, count in leading.items():
            if target in found:
                found[target] *= count
        near = self.model.creating_near.get(steps[0].use.label, ()) if found else ()
        if others := [target for target in near if target not in found]:
            sources = self.model.sources
            wanted = {source for target in found if target in sources for source in sources[target]}
            found |= {target: _NEEDED if target in wanted else _ELSEWHERE for target in others}
        last = steps[-1].use
        if last.method == REMOVING and steps[-1].succeeded:
            for target in found:
                use = self.model.uses[target]
                if use.resource == last.resource and reads_member(use):
                    found[target] = _AGAIN
        for target, count in Counter([one.use.label for one in steps]).items():
            if target in found:
                found[target] /= 1 + count
        return found

    def _weight(self, target: Label) -> float:
        return _WEIGHTS.get(self.model.uses[target].method, 1.0)

    def _after(self, kind: ResponseKind) -> Mapping[Label, float]:
        """Return the operations that can use a response, those on its resource after a success, and targets of links, with their weights."""
        found: dict[Label, float] = {}
        targets = (*self.model.followers(kind.use.label), *self.model.on(kind.use.resource)) if kind.succeeded else ()
        for label in targets:
            # Some requests remove all members of a collection, which other sequences and tasks use.
            operation = self.factory.operations.get(label) if self.model.is_removal_of_all(label) else None
            if operation is None or operation.body_required or any(one.required for one in operation.parameters):
                found[label] = self._weight(label)
        found |= {one: 2 * self._weight(one) for one in kind.declared}
        self._following[kind] = found
        return found

    def _bindings(
        self, known: KnownResources, target: StepTarget, chance: Random, *, is_aimed: bool
    ) -> tuple[Binding, ...] | None:
        """Return values of the path, all from resources that belong together, and those of links; None if one is missing."""
        found: dict[Place, Binding] = {}
        anchor: int | None = None
        for variable in target.variables:
            sources = self._usable(known, target.use.label, known.sources(target, variable))
            if not sources:
                return None
            if anchor is None and variable.is_careful:
                sources = self._made(known, target, variable, sources)
            same = [one for one in sources if one.step == anchor]
            while sources:
                # Usually the newest of the surest sources; after a removal usually the removed resource.
                some, last = same or sources, len(known.steps) - 1
                is_removed = known.steps[last].use.method == REMOVING and chance.random() < _REMOVED
                removed = [one for one in some if is_removed and one.step == last]
                best = max(one.score for one in some)
                sure = [one for one in some if one.score >= min(best, 1.0) - 0.1]
                if removed:
                    source = removed[0]
                elif chance.random() < _LATEST:
                    source = max(sure, key=lambda one: one.step)
                else:
                    source = chance.choice(sure)
                binding = self._binding(known, variable.place, source, variable)
                if binding is not None:
                    break
                sources = [one for one in sources if one is not source]
                same = [one for one in same if one is not source]
            else:
                return None
            found[variable.place] = binding
            anchor = source.step if anchor is None else anchor
        self._bind_beside(known, target, chance, found, is_aimed=is_aimed)
        return tuple(found.values())

    def _bind_beside(
        self, known: KnownResources, target: StepTarget, chance: Random, found: dict[Place, Binding], *, is_aimed: bool
    ) -> None:
        """Add values of links outside of the path, of the scope, of conditional headers; for a goal also all values of the body."""
        doubles: dict[Place, Binding] = {}
        given = {(one.step, one.expression) for one in found.values()}
        # Either all references of a body are set or none, because references from the pool, or from one step, belong
        # together. A line of a basket names a product and a stock record of that product;
        # when each was chosen by itself, hardly any combination existed.
        has_body = is_aimed or chance.random() < _BODY
        steps = {one.step for one in found.values()}
        for step, is_inferred, key, expression in sorted(
            known.beside(target.use.label), key=lambda one: one[0] not in steps
        ):
            if key in found:
                continue
            is_likely = has_body if key[0] is Location.BODY else chance.random() < _OPTIONAL
            if is_inferred and not is_likely:
                continue
            taken = self._binding(known, key, ValueOrigin(step, expression, DECLARED))
            if taken is not None:
                origin = taken.step, taken.expression
                (doubles if origin in given else found)[key] = taken
                given.add(origin)
        for key, double in doubles.items():
            # Two places may name members of one collection, such as the source and target of a transfer.
            if key not in found and chance.random() < _TWICE:
                found[key] = double
        own = [] if is_aimed else [one for (location, _), one in found.items() if location is Location.PATH]
        named = [key for key in found if key[0] is Location.BODY] if own else []
        for key in named:
            # This copies a file onto itself: the body names the resource of the path.
            if chance.random() < _ITSELF and type(found[key].literal) is type(own[-1].literal):
                found[key] = replace(own[-1], location=Location.BODY, name=key[1])
        for place, source in known.scopes(target):
            same = None if place in found else self._binding(known, place, source)
            if same is not None and chance.random() < _SAME_SCOPE:
                found[place] = same
        for place, is_required, source in known.validators(target):
            condition = None if place in found else self._binding(known, place, source)
            if condition is not None and chance.random() < (_REQUIRED if is_required else _OPTIONAL):
                found[place] = condition

    def _usable(self, known: KnownResources, target: Label, sources: list[ValueOrigin]) -> list[ValueOrigin]:
        """Return the sources whose values this operation did not refuse earlier in the sequence, else those with few refusals.

        A value is left out after `_MOST_REFUSALS` refusals by this operation, or by any operation if the refusals say
        that it does not exist. Without another value, the sequence continues with another operation, for example one that creates a resource.
        """
        # Only refusals of the same sequence count. Rating links over all sequences changed one step of ten thousand,
        # and would make a sequence depend on others.
        refusals = [one for one in known.steps if one.used] if self.rules.link_calibration else []
        if not refusals:
            return sources
        refused: set[tuple[int, str]] = set()
        counts: Counter[tuple[int, str]] = Counter()
        for shown in refusals:
            if shown.use.label == target:
                refused |= shown.used
            if shown.use.label == target or shown.is_missing:
                counts.update(shown.used)
        usable = [one for one in sources if counts[known.first_place(one)] < _MOST_REFUSALS]
        return [one for one in usable if known.first_place(one) not in refused] or usable

    def _made(
        self, known: KnownResources, target: StepTarget, variable: PathVariable, sources: list[ValueOrigin]
    ) -> list[ValueOrigin]:
        """Return the sources of members that this sequence created or a declared link names; all if no operation creates members.

        Other sequences and tasks need the members that were there before, and one of them may be the account of the
        run. Some services answer a creation under a taken name with the existing member.
        """
        makers = self.model.makers(variable.owner)
        if not any(self.model.uses[one].method in CREATING for one in makers):
            return sources
        own = {step for step, shown in enumerate(known.steps) if shown.use.label in makers}
        found = [one for one in sources if one.score == DECLARED or known.first_place(one)[0] in own]
        if self.factory.values is None:
            return found
        values = self.factory.values.view(target.operation, (), ())
        return [one for one in found if not values.was_shown(variable.place, known.value(one))]

    def _binding(
        self, known: KnownResources, place: Place, source: ValueOrigin, variable: PathVariable | None = None
    ) -> Binding | None:
        """Return the binding of a place to the value of a source; None if it has no usable value.

        `variable` is the path variable that the value identifies, if any.
        """
        location, name = place
        value = known.value(source)
        if value is NOT_SET or value is None or self.secrets.is_in(value):
            return None
        if location is not Location.BODY or variable is not None:
            if not isinstance(value, SCALARS) or not 0 < len(str(value)) <= LONGEST_TEXT:
                return None
            if variable is not None and variable.as_text and not isinstance(value, str):
                value = str(value)
        step, expression = known.first_place(source)
        return Binding(location, name, known.steps[step].use.label, shown_place(expression), 0, value, expression, step)
