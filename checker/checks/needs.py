"""Which requests the chosen checks have anything to say of: others are not sent."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from checker.checks.check import Applies, InteractionKind
from checker.checks.custom import CUSTOM_CHECKS
from checker.checks.table import BUILT_IN
from checker.core.meta import GenerationMode
from checker.core.operation import Operation
from checker.core.scenarios import REQUEST_SHAPES

_OF_SHAPES = GenerationMode.NEGATIVE
"""Mode of the cases that have such a scenario."""


class Needs(Struct, frozen=True):
    """What is judged of an operation."""

    modes: frozenset[GenerationMode]
    """Of requests that are requests to the operation."""
    shapes: frozenset[str]
    """Scenarios of those that are none, by their method or the type of their body."""


def needs_of(names: Iterable[str], operation: Operation) -> Needs:
    """What the checks of these names, users' own included, judge of an operation."""
    asked = [one for one in _applying(names) if one.to_operation(operation)]

    def is_judged(mode: GenerationMode, scenario: str | None = None) -> bool:
        kind = InteractionKind(0, operation.method, mode=mode, scenario=scenario)
        return any(one.to_request(kind) for one in asked)

    return Needs(
        frozenset(mode for mode in GenerationMode if is_judged(mode)),
        frozenset(shape for shape in REQUEST_SHAPES if is_judged(_OF_SHAPES, shape)),
    )


def _applying(names: Iterable[str]) -> Iterator[Applies]:
    for name in names:
        known = BUILT_IN.get(name) or CUSTOM_CHECKS.get(name)
        if known is not None:
            yield known.applies
