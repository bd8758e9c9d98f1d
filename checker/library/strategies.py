"""Operations as Hypothesis strategies, with the configuration and the hooks as they are when a case is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from checker.config.config import Config
from checker.config.operation_settings import OperationSettings
from checker.core.case import Case
from checker.core.digests import digest
from checker.core.errors import NotAvailableYet
from checker.core.hooks import GLOBAL_HOOKS, HookContext
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.operation import Operation
from checker.core.phases import FUZZING
from checker.core.registry import FORMATS
from checker.generation.hooks import ComponentHooks
from checker.generation.settings import GenerationSettings, mode_of
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Rejected
from checker.generation.sources.hypothesis import strategy_of
from checker.kinds.protocol import ApiOperation, CaseProgram
from checker.phases.novelty import key_of

_MOST_SEEN = 1_000_000
"""Requests that a strategy remembers; then it starts again."""


def case_strategy(
    operation: ApiOperation,
    config: Config,
    settings_of: Callable[[Operation], OperationSettings],
    finish: Callable[[Case], Case],
    **options: Any,
) -> Any:
    """Strategy of cases of one operation; `finish` is the last to touch each of them.

    `generation_mode` stands above the configuration. Raises `NotAvailableYet` for any other option.
    """
    mode = options.pop("generation_mode", None)
    for name in options:
        raise NotAvailableYet(f"as_strategy({name}=...)")
    asked = _Asked(config, settings_of, None if mode is None else GenerationMode(mode))
    programs, seen = _Programs(operation, asked), _Seen()

    def draw(source: Source) -> Case:
        case = programs.current().draw(source, case_id="", phase=PhaseInfo(FUZZING.name))
        # The choices name a case: the same one has the same id, in a replay and under `derandomize`.
        case.id = digest("drawn", repr(source.choices))[:12]
        if settings_of(operation).unique_inputs and seen.is_repeated(case):
            raise Rejected("its request was made before")
        return finish(case)

    return strategy_of(draw, f"<cases of {operation.label}>")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What cases depend on, as it is at a moment."""

    config: Config
    settings_of: Callable[[Operation], OperationSettings]
    mode: GenerationMode | None

    def of(self, operation: Operation) -> GenerationSettings:
        """How cases of an operation are to be made now."""
        own = self.settings_of(operation)
        return GenerationSettings(
            mode=self.mode or mode_of(own.modes),
            allow_x00=own.allow_x00,
            codec=own.codec,
            exclude_header_characters=own.exclude_header_characters,
            allow_extra_parameters=own.allow_extra_parameters,
            overrides=self.config.overrides(),
            formats=dict(FORMATS),
        )


class _Seen:
    """Requests that a strategy has made, each with the case that was the first to make it.

    Hypothesis draws a case again to replay and to shrink it; that is the same case, by its id.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}

    def is_repeated(self, case: Case) -> bool:
        """Whether another case made this request before."""
        if len(self._first) >= _MOST_SEEN:
            self._first.clear()
        return self._first.setdefault(key_of(case), case.id) != case.id


class _Programs:
    """The compiled operation; compiled again when what it depends on has changed."""

    def __init__(self, operation: ApiOperation, asked: _Asked) -> None:
        self._operation = operation
        self._asked = asked
        self._compiled: tuple[GenerationSettings, ComponentHooks, CaseProgram] | None = None

    def current(self) -> CaseProgram:
        """Raises `Unsatisfiable`, `BudgetSpent` and `HookError`."""
        settings = self._asked.of(self._operation)
        hooks = ComponentHooks.from_registry(GLOBAL_HOOKS, HookContext(self._operation))
        if self._compiled is None or self._compiled[:2] != (settings, hooks):
            program = self._operation.compile(settings, hooks=hooks)
            self._compiled = (settings, hooks, program)
        return self._compiled[2]
