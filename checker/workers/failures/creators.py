"""The creations of the resources that a failing case names, so that its commands show the failure on a fresh server."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from checker.core.digests import digest
from checker.core.errors import CheckerError
from checker.core.meta import Binding, Drawn, PhaseInfo, Step
from checker.core.operation import Label, Operation
from checker.core.phases import FUZZING
from checker.core.request import Location
from checker.core.resource_names import variables_of
from checker.core.resources import CREATING, SAFE, ResourceModel
from checker.generation.sources.context import Rejected
from checker.phases.bindings import SentCase, resolved
from checker.phases.case_factory import CaseFactory, Exhausted, GeneratedCase
from checker.phases.listing import SMALLEST

_PHASE = PhaseInfo(FUZZING.name)
_MOST = 3
"""Most resources that are created for one failure."""


def with_creators(factory: CaseFactory, model: ResourceModel, last: GeneratedCase) -> list[GeneratedCase]:
    """Return a case after the smallest creation of each resource that it names; empty if the creation of one of them is unknown.

    A resource that a list showed is created by the `POST` to the path of that list.
    """
    found = [(one, _creation_of(factory.operations, model, one)) for one in _references(last)]
    makers = {label: pointer for _, creation in found if creation is not None for label, pointer in (creation,)}
    if not found or len(makers) > _MOST or any(creation is None for _, creation in found):
        return []
    # The creation of a parent comes before those below it.
    labels = sorted(makers, key=lambda label: factory.operations[label].path.count("/"))
    steps: list[GeneratedCase] = []
    try:
        for label in labels:
            made = _smallest(factory, label)
            parents = _parents(factory.operations, label, labels[: len(steps)], makers)
            if parents is None:
                return []
            steps.append(replace(made, bindings=parents))
    except (CheckerError, Rejected):
        return []
    linked = {
        one: replace(one, producer=creation[0], pointer=creation[1], expression="", step=-1)
        for one, creation in found
        if creation is not None
    }
    return [*steps, replace(last, bindings=tuple(linked.get(one, one) for one in last.bindings))]


def are_linked(case: GeneratedCase, before: Sequence[SentCase]) -> bool:
    """Whether each resource that a case names was found in the response to its creation."""
    return all(resolved(one, before) is not one for one in _references(case))


def _references(made: GeneratedCase) -> Iterator[Binding]:
    """Yield the values of earlier responses that a case still has: a smaller one may have lost some."""
    for one in made.bindings:
        if one.stands_alone:
            continue
        is_kept = one.location is Location.BODY
        if is_kept or str(getattr(made.case, one.location.container).get(one.name)) == str(one.literal):
            yield one


def _creation_of(
    operations: Mapping[Label, Operation], model: ResourceModel, binding: Binding
) -> tuple[Label, str] | None:
    """Return the operation that creates the resource of a value, and where its response shows the value."""
    producer = operations.get(binding.producer)
    if producer is None:
        return None
    if producer.resource_method in CREATING:
        return producer.label, binding.pointer
    if producer.resource_method not in SAFE or not binding.pointer.startswith("/"):
        return None
    path = producer.resource_path.rstrip("/")
    collection = path.rpartition("/")[0] if path.endswith("}") else path
    # Reading all operations of a large description takes seconds. The model knows their paths.
    for label in [use.label for use in model.uses.values() if use.path.rstrip("/") == collection]:
        if label in operations and operations[label].resource_method == "POST":
            return label, f"/{binding.pointer.rpartition('/')[2]}"
    return None


def _smallest(factory: CaseFactory, label: Label) -> GeneratedCase:
    """Return the smallest valid case of an operation. Raises `Rejected` and the errors of making a case."""
    with suppress(Exhausted):
        return factory.listed(label, 0, 0, _PHASE, of=_PHASE.name + SMALLEST)
    # An operation without parameters and body has no list.
    return factory.simplest(Step(label, Drawn((), "")), name=digest("creator", label)[:12], phase=_PHASE)


def _parents(
    operations: Mapping[Label, Operation], label: Label, before: Sequence[Label], makers: Mapping[Label, str]
) -> tuple[Binding, ...] | None:
    """Return the bindings of the variables in the path of a creation; None if one of them is not created before it."""
    path, found = operations[label].path, []
    for name in variables_of(path):
        above = path.partition(f"{{{name}}}")[0].rstrip("/")
        maker = next((one for one in before if operations[one].path.rstrip("/") == above), None)
        if maker is None:
            return None
        found.append(Binding(Location.PATH, name, maker, makers[maker], 0, ""))
    return tuple(found)
