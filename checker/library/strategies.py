"""Operations as Hypothesis strategies, with the configuration and the hooks as they are when a case is drawn."""

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from checker.config.operation_settings import OperationSettings
from checker.config.overrides import Overrides
from checker.core.case import Case
from checker.core.digests import digest
from checker.core.hooks import HookContext, HookSource
from checker.core.meta import GenerationMode, PhaseInfo, ValuePool
from checker.core.operation import Operation
from checker.core.phases import FUZZING
from checker.core.registry import FORMATS
from checker.generation.hooks import ComponentHooks
from checker.generation.settings import GenerationSettings, mode_of
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Rejected
from checker.generation.sources.hypothesis import strategy_of
from checker.kinds.protocol import ApiOperation, CaseProgram
from checker.phases.case_factory import key_of

_MOST_SEEN = 1_000_000
"""Requests that a strategy remembers; then it starts again."""


def case_strategy(
    programs: "Programs",
    settings_of: Callable[[Operation], OperationSettings],
    finish: Callable[[Case], Case],
    pool: ValuePool | None,
) -> Any:
    """Strategy of cases of one operation; `finish` is the last to touch each of them, values of `pool` may stand in them."""
    seen = _Seen()
    operation = programs.operation

    def draw(source: Source) -> Case:
        phase = PhaseInfo(FUZZING.name)
        case = programs.current().draw(source, case_id="", phase=phase, pool=pool)
        # The choices name a case: the same one has the same id, in a replay and under `derandomize`.
        case.id = digest("drawn", repr(source.choices))[:12]
        if settings_of(operation).cases.unique_inputs and seen.is_repeated(case):
            raise Rejected("its request was made before")
        return finish(case)

    return strategy_of(draw, f"<cases of {operation.label}>")


_PARTS = ("path_parameters", "query", "headers", "cookies", "body")


def with_parts(cases: Any, parts: Mapping[str, Any]) -> Any:
    """Strategy of cases with other parts: each a strategy of values, or the value. Raises `TypeError` for an unknown one."""
    unknown = [name for name in parts if name not in _PARTS]
    if unknown:
        raise TypeError(f"as_strategy() takes {', '.join(_PARTS)}, got {', '.join(unknown)}")

    def put(case: Case, values: dict[str, Any]) -> Case:
        for name, value in values.items():
            setattr(case, name, value)
        return case

    drawn = {name: one if isinstance(one, st.SearchStrategy) else st.just(one) for name, one in parts.items()}
    return st.builds(put, cases, st.fixed_dictionaries(drawn))


def generation_settings(
    overrides: Overrides,
    own: OperationSettings,
    mode: GenerationMode | None,
    schema: Any = None,
    *,
    in_test: bool = False,
) -> GenerationSettings:
    """Return the generation settings of an operation; `mode` takes precedence over the configuration.

    `overrides` are values in place of generated ones.

    `schema` may have formats of its own, and values that cases take. Tests of an API have data of all configured kinds, as
    runs have; strategies whose user names no kind have valid data, unless something is configured.
    """
    usual = own.cases.modes if in_test else own.modes_in_python
    more = {}
    if schema is not None:
        more = schema.get_custom_format_strategies(schema.config.generation, mode)
    has_values = schema is not None and schema.engine.extra_data is not None
    return replace(
        GenerationSettings.of(own, mode or mode_of(usual)),
        overrides=overrides,
        formats={**FORMATS, **more},
        reuse=has_values,
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


class Programs:
    """A compiled operation; compiled again when what it depends on has changed."""

    def __init__(self, operation: ApiOperation, settings: Callable[[], GenerationSettings], hooks: HookSource) -> None:
        """`settings` are those of now."""
        self.operation = operation
        self._settings = settings
        self._hooks = hooks
        self._compiled: tuple[GenerationSettings, ComponentHooks, CaseProgram] | None = None

    def current(self) -> CaseProgram:
        """Raises `Unsatisfiable`, `SerializationError`, `BudgetSpent` and `HookError`."""
        settings = self._settings()
        hooks = ComponentHooks.from_registry(self._hooks, HookContext(self.operation))
        if self._compiled is None or self._compiled[:2] != (settings, hooks):
            program = self.operation.compile(settings, hooks=hooks)
            self._compiled = (settings, hooks, program)
        return self._compiled[2]
