"""The engine of the operations of a run: what gives user code `case.call()`, `operation.as_strategy()` and their like."""

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any, Final, cast

from msgspec import Struct, field

from checker.checks.custom import ClassCheck
from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.case import Engine
from checker.core.request import BaseUrl
from checker.corpus.secrets import Secrets
from checker.kinds.protocol import ApiSchema
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.starting.subject import TestedDescription
from checker.workers.users import ALL_SCHEMAS, UsersCode

_ENGINES: Final = "checker.library.run_engine"
"""Stands on a higher floor, and its import takes 0.2 CPU-seconds: only runs whose user code asks for something import it."""


class RunParts(Struct):
    """The parts of a run that its engine uses."""

    schema: ApiSchema
    """Configured with the settings of the run."""
    settings: RunSettings
    operations: OperationResolver
    origin: BaseUrl
    schemes: SchemeCredentials
    classes: tuple[ClassCheck, ...]
    keeper: CredentialKeeper | None = None
    secrets: Secrets = field(default_factory=Secrets)


def give_engine(subject: TestedDescription, users: UsersCode = ALL_SCHEMAS) -> RunParts:
    """Give the selected operations the engine of the loaded schema, or one of the run that is made when user code first needs it.

    Return what the latter is made of: the caller adds credentials and secrets before user code sees a case.
    """
    parts = RunParts(
        subject.description.schema,
        subject.settings,
        subject.operations,
        subject.origin,
        subject.schemes,
        subject.classes.checks,
    )
    later = _LaterEngine(lambda: import_module(_ENGINES).RunEngine(parts))
    subject.selected.engine = users.engine or cast("Engine", later)
    return parts


class _LaterEngine:
    """Implements `checker.core.engine.Engine` by one that is made when a member is first asked for."""

    def __init__(self, make: Callable[[], Engine]) -> None:
        self._make = make

    @cached_property
    def _engine(self) -> Engine:
        return self._make()

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles look for special methods, which must not make the engine.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._engine, name)
