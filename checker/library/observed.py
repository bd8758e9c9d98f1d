"""Places of created resources in responses, and the transitions that follow from them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from checker.core.operation import Label, Operation
from checker.core.resource_names import variables_of
from checker.core.resources import TakenValue, Transition, place_of
from checker.core.response import Response
from checker.core.system import later

if TYPE_CHECKING:
    import checker.phases.known_resources as known_resources
else:
    known_resources = later("checker.phases.known_resources")

MOST_OBSERVED: Final = 20
"""Answers of one operation that are kept."""


class Observation(Struct, frozen=True):
    """An answer that says where something is."""

    operation: Operation
    status: int
    location: str
    """Its `Location` (RFC 9110, 10.2.2)."""


def observe(known: list[Observation], operation: Operation, response: Response) -> None:
    """Keep where an answer says that something is, for the first few of each operation."""
    for location in response.headers.get("location", ()):
        if sum(one.operation.label == operation.label for one in known) < MOST_OBSERVED:
            known.append(Observation(operation, response.status_code, location))


def located_transitions(observations: Iterable[Observation], operations: Sequence[Operation]) -> Iterator[Transition]:
    """From each answer to the operations whose path, or a path above it, its `Location` names."""
    seen: set[tuple[Label, int, Label]] = set()
    for one in observations:
        for target in operations:
            key = (one.operation.label, one.status, target.label)
            values = tuple(_located(one.location, target))
            if values and key not in seen:
                seen.add(key)
                yield Transition("Location", key[0], str(one.status), target.label, values)


def _located(url: str, target: Operation) -> Iterator[TakenValue]:
    """Yield the variables of an operation that a URL gives."""
    path = target.resource_path
    for name in variables_of(path):
        for pattern in known_resources.located_patterns(path, name):
            if re.search(pattern, url):
                expression = f"$response.header.Location#regex:{pattern}"
                yield TakenValue(*place_of(target, name), expression)
                break
