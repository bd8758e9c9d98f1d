"""The current configuration of a loaded schema."""

from collections.abc import Callable

from checker.checks.custom import CUSTOM_CHECKS
from checker.config.config import Config
from checker.config.filters import Selectable
from checker.config.operation_settings import OperationResolver, OperationSettings
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.core.operation import BrokenOperation, Operation


class LiveSettings:
    """Settings of a live configuration, resolved again when it, or the checks that there are, have changed."""

    def __init__(self, config: Config, location: str, changed: Callable[[], None]) -> None:
        """`changed` is called when they are other ones than before."""
        self._config = config
        self._location = location
        self._changed = changed
        self._resolved: tuple[tuple[object, ...], RunSettings, OperationResolver] | None = None

    @property
    def asked(self) -> tuple[RunSettings, OperationResolver]:
        """Return the settings of the run and of each operation. Raises `ConfigError`."""
        made_of = (self._config.revision, *CUSTOM_CHECKS)
        if self._resolved is None or self._resolved[0] != made_of:
            settings = run_settings(self._config, Invocation(self._location))
            self._resolved = (made_of, settings, OperationResolver(settings.operations))
            self._changed()
        return self._resolved[1:]

    @property
    def now(self) -> RunSettings:
        """Return the settings of the run. Raises `ConfigError`."""
        return self.asked[0]

    def of(self, operation: Operation) -> OperationSettings:
        """Return the settings of one operation. Raises `ConfigError`."""
        return self.asked[1].of(operation)

    def selects(self, entry: Selectable | BrokenOperation) -> bool:
        """Whether no `[[operations]]` block disables an operation."""
        settings, operations = self.asked
        if isinstance(entry, BrokenOperation):
            return settings.selection.matches_broken(entry)
        return settings.selection.matches(entry) and bool(operations.of(entry).phases)


class RunningSettings(LiveSettings):
    """The settings of a run that goes on: they do not change."""

    def __init__(self, settings: RunSettings, operations: OperationResolver) -> None:
        self._asked = settings, operations

    @property
    def asked(self) -> tuple[RunSettings, OperationResolver]:
        """The settings of the run, and those of each operation."""
        return self._asked
