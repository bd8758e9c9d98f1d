"""The safety level of a run: operations and requests that it leaves out."""

from enum import StrEnum
from typing import Final, Protocol

from msgspec import Struct, field

from checker.core.case import Case
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.resources import REMOVING, SAFE
from checker.core.response import Outcome, Response
from checker.health.made import MadeResources, made_paths
from checker.health.signs import looks_dangerous

_CREATING: Final = "POST"


class Safety(StrEnum):
    """The safety level of a run."""

    READ_ONLY = "read-only"
    """It sends nothing that changes anything."""
    CREATE_OWN = "create-own"
    """It creates, and changes and deletes what it has created."""
    FULL = "full"
    """Anything."""


class Described(Protocol):
    """The facts about an operation that decide whether it takes part."""

    @property
    def path(self) -> str: ...
    @property
    def operation_id(self) -> str | None: ...
    @property
    def resource_method(self) -> str: ...
    @property
    def resource_path(self) -> str: ...


def leaves_out(level: Safety, operation: Described) -> bool:
    """Whether no request to an operation is allowed."""
    if level is Safety.FULL:
        return False
    if looks_dangerous(operation.path, operation.operation_id):
        return True
    if operation.resource_method in SAFE:
        return False
    # Whoever is not told by the path what a request is about can only let through what makes something new.
    is_told = operation.path == operation.resource_path
    return level is Safety.READ_ONLY or not (is_told or operation.resource_method == _CREATING)


def _reads(case: Case) -> bool:
    """Whether a request only reads, as far as its method tells, or what its operation does to its resource."""
    operation = case.operation
    is_declared = case.method == operation.method
    return (operation.resource_method if is_declared else case.method) in SAFE


class SafetyGate(Struct):
    """Holds back requests that the level forbids. It stands before every send of a case."""

    level: Safety = Safety.FULL
    made: MadeResources = field(default_factory=MadeResources)
    children: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Path template -> variables of the templates right below it: `/users` -> `id`."""

    def refuses(self, case: Case, request: WireRequest) -> bool:
        """Whether a request must not be sent."""
        if self.level is Safety.FULL or _reads(case):
            return False
        if self.level is Safety.READ_ONLY:
            return True
        operation = case.operation
        if case.method == operation.method:
            if operation.path != operation.resource_path:
                # Only what makes something new takes part.
                return False
            if case.method == _CREATING and "{" not in operation.path:
                return False
        return not self.made.owns(path_of(request))

    def observe(self, case: Case, request: WireRequest, outcome: Outcome) -> None:
        """Take note of what an answer says was made, or is gone."""
        if self.level is not Safety.CREATE_OWN or not isinstance(outcome, Response):
            return
        is_done = 200 <= outcome.status_code < 300
        if is_done and request.method == _CREATING:
            names = self.children.get(case.operation.path, ())
            for path in made_paths(path_of(request), outcome, names):
                self.made.add(path, Label(case.operation.label))
        elif request.method == REMOVING and (is_done or outcome.status_code in (404, 410)):
            self.made.remove(path_of(request))


def path_of(request: WireRequest) -> str:
    """Of a request as it is sent, base path included, without its query."""
    return request.path.decode("latin-1").rstrip("/")
