"""Operations as Hypothesis strategies, with the configuration and the hooks as they are when a case is drawn."""

from collections.abc import Callable
from typing import Any

from checker.config.config import Config
from checker.config.settings import modes_of
from checker.core.case import Case
from checker.core.digests import digest
from checker.core.errors import NotAvailableYet
from checker.core.hooks import GLOBAL_HOOKS, HookContext
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.registry import FORMATS
from checker.generation.hooks import ComponentHooks
from checker.generation.settings import GenerationSettings, mode_of
from checker.generation.sources.choices import Source
from checker.generation.sources.hypothesis import strategy_of
from checker.kinds.protocol import ApiOperation, CaseProgram


def case_strategy(
    operation: ApiOperation, config: Config, finish: Callable[[Case], Case], **options: Any
) -> Any:
    """Strategy of cases of one operation; `finish` is the last to touch each of them.

    `generation_mode` stands above the configuration. Raises `NotAvailableYet` for any other option.
    """
    mode = options.pop("generation_mode", None)
    for name in options:
        raise NotAvailableYet(f"as_strategy({name}=...)")
    programs = _Programs(operation, config, None if mode is None else GenerationMode(mode))

    def draw(source: Source) -> Case:
        case = programs.current().draw(source, case_id="", phase=PhaseInfo("fuzzing"))
        # The choices name a case: the same one has the same id, in a replay and under `derandomize`.
        case.id = digest("drawn", repr(source.choices))[:12]
        return finish(case)

    return strategy_of(draw, f"<cases of {operation.label}>")


class _Programs:
    """The compiled operation; compiled again when what it depends on has changed."""

    def __init__(
        self, operation: ApiOperation, config: Config, mode: GenerationMode | None
    ) -> None:
        self._operation = operation
        self._config = config
        self._mode = mode
        self._compiled: tuple[GenerationSettings, ComponentHooks, CaseProgram] | None = None

    def current(self) -> CaseProgram:
        """Raises `Unsatisfiable`, `BudgetSpent` and `HookError`."""
        settings = _settings(self._config, self._mode)
        hooks = ComponentHooks.from_registry(GLOBAL_HOOKS, HookContext(self._operation))
        if self._compiled is None or self._compiled[:2] != (settings, hooks):
            program = self._operation.compile(settings, hooks=hooks)
            self._compiled = (settings, hooks, program)
        return self._compiled[2]


def _settings(config: Config, mode: GenerationMode | None) -> GenerationSettings:
    generation = config.generation
    return GenerationSettings(
        mode=mode or mode_of(modes_of(generation.mode)),
        allow_x00=generation.allow_x00,
        codec=generation.codec,
        exclude_header_characters=generation.exclude_header_characters,
        allow_extra_parameters=generation.allow_extra_parameters,
        overrides=config.overrides(),
        formats=dict(FORMATS),
    )
