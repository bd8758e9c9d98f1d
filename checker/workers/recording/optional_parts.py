"""Optional parts of requests with which nothing is accepted: what is refused whatever their values are."""

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from checker.core.case import Case
from checker.core.constraints import SELDOM, Constraint, part_of
from checker.core.locations import Location
from checker.core.operation import Operation
from checker.transport.wire.outline import outline_of

_ENOUGH = 5
"""Refusals of cases with a part, where some without it were accepted and none with it."""
_Place = tuple[str, tuple[str, ...]]
"""Location and path, as constraints have them."""


class _Counts(Struct):
    """Of one operation."""

    doubtful: set[_Place]
    """Optional parts that no accepted case had."""
    refused: Counter[_Place] = field(default_factory=Counter)
    """Cases with a part that were refused."""
    spared: set[_Place] = field(default_factory=set)
    """Parts that accepted cases were without."""
    told: set[_Place] = field(default_factory=set)


class OptionalParts(Struct):
    """Counts valid cases by the optional parameters and top properties that they have."""

    _operations: dict[str, _Counts] = field(default_factory=dict)

    def count(self, case: Case, *, is_accepted: bool) -> list[tuple[Constraint, bool]]:
        """Take note of what became of a case; what is mostly to be left out from now on, and (True) what is not, after all.

        What holds once all cases are counted does not depend on their order.
        """
        counts = self._of(case.operation)
        if not counts.doubtful:
            return []
        present = {place for place in counts.doubtful if _has(case, *place)}
        refuted: set[_Place] = set()
        if is_accepted:
            refuted = present & counts.told
            counts.doubtful -= present
            counts.spared |= counts.doubtful
        else:
            counts.refused.update(present)
        candidates = (counts.spared & counts.doubtful) - counts.told
        found = {place for place in candidates if counts.refused[place] >= _ENOUGH}
        counts.told |= found
        return [(Constraint(*place, SELDOM), place in refuted) for place in sorted(found | refuted)]

    def _of(self, operation: Operation) -> _Counts:
        found = self._operations.get(operation.label)
        if found is None:
            places = set(_optional_places(operation))
            found = self._operations[operation.label] = _Counts(places)
        return found


def _optional_places(operation: Operation) -> Iterator[_Place]:
    for parameter in operation.parameters:
        if not parameter.required and parameter.location is not Location.PATH:
            yield parameter.location.value, (parameter.name,)
    for body in operation.bodies:
        if body.write is None:
            for name in outline_of(body.schema).names:
                yield Location.BODY.value, (name,)


def _has(case: Case, location: str, path: tuple[str, ...]) -> bool:
    part = part_of(case, Location(location))
    return isinstance(part, Mapping) and path[0] in part
