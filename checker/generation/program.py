"""One operation, compiled: drawn thousands of times, from any source."""

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any

from checker.core.case import NOT_SET, Case
from checker.core.errors import Unsatisfiable
from checker.core.meta import (
    POSITIVE_RANDOM,
    CaseMetadata,
    ComponentProvenance,
    GenerationInfo,
    GenerationMode,
    Origin,
    PhaseInfo,
)
from checker.core.operation import Location, Operation
from checker.core.pool import PooledValue, ValuePool
from checker.generation.components import PartCompiler, refuse_unknown
from checker.generation.hooks import NO_HOOKS, NO_PART, ComponentHooks, call, hooked
from checker.generation.settings import GenerationSettings
from checker.generation.sources import Source
from checker.generation.turn import Budget, Draw, Rejected, Turn

__all__ = [
    "GenerationSettings",
    "OperationProgram",
    "PooledValue",
    "ValuePool",
    "compile_operation",
]

_ATTEMPTS = 20
_POOLED = ComponentProvenance(origin=Origin.POOL)
_ORDER = (Location.PATH, Location.HEADER, Location.COOKIE, Location.QUERY)


class OperationProgram:
    """Draws cases of one operation. Not for two threads at a time."""

    __slots__ = (
        "_body", "_cookies", "_filters", "_headers", "_maps", "_path", "_present", "_query", "_turn", "left_out",
        "opaque", "operation",
    )  # fmt: skip

    def __init__(
        self,
        operation: Operation,
        parts: Mapping[Location, Draw],
        turn: Turn,
        compiler: PartCompiler,
    ) -> None:
        self.operation = operation
        self.opaque: Mapping[str, str] = compiler.opaque
        """JSON pointer of each schema node that is drawn and filtered -> the keyword that is not looked into."""
        self.left_out: Mapping[str, str] = compiler.left_out
        """JSON pointer of each optional part that no value can satisfy -> why."""
        self._turn = turn
        self._path = parts.get(Location.PATH)
        self._headers = parts.get(Location.HEADER)
        self._cookies = parts.get(Location.COOKIE)
        self._query = parts.get(Location.QUERY)
        self._body = parts.get(Location.BODY)
        self._present = dict.fromkeys(
            (location for location in _ORDER if location in parts), POSITIVE_RANDOM
        )
        self._filters: list[Callable[[Case], bool]] = []
        self._maps: list[Callable[[Case], Case]] = []

    def draw(
        self, source: Source, *, case_id: str, phase: PhaseInfo, pool: ValuePool | None = None
    ) -> Case:
        """One case. Raises `Unsatisfiable`, `BudgetSpent` and `HookError`."""
        started = perf_counter()
        turn = self._turn
        for _ in range(_ATTEMPTS):
            turn.begin(pool)
            try:
                case = self._drawn(source, case_id, phase)
            except Rejected as error:
                last = error.pointer
            else:
                if not self._filters or all(accepts(case) for accepts in self._filters):
                    break
                last = "hook filter_case"
            source.abandon()
        else:
            raise Unsatisfiable(
                last,
                f"{_ATTEMPTS} cases had no value that is admitted here; make it easier to satisfy",
            )
        for change in self._maps:
            case = change(case)
        meta = case.meta
        if meta is not None:
            meta.generation.time = perf_counter() - started
        return case

    def _drawn(self, source: Source, case_id: str, phase: PhaseInfo) -> Case:
        components = self._present.copy()
        path = self._path(source) if self._path is not None else None
        headers = self._headers(source) if self._headers is not None else None
        cookies = self._cookies(source) if self._cookies is not None else None
        query = self._query(source) if self._query is not None else None
        body: Any = NOT_SET
        media_type = None
        if self._body is not None:
            body, media_type = self._body(source)
            if body is not NOT_SET:
                components[Location.BODY] = POSITIVE_RANDOM
        bindings = self._turn.bindings
        for binding in bindings:
            components[binding.location] = _POOLED
        return Case(
            self.operation,
            case_id,
            path_parameters=path,
            query=query,
            headers=headers,
            cookies=cookies,
            body=body,
            media_type=media_type,
            meta=CaseMetadata(
                GenerationInfo(GenerationMode.POSITIVE), components, phase, tuple(bindings)
            ),
        )

    def add_case_hooks(self, hooks: ComponentHooks) -> None:
        """Filter and change whole cases."""
        mine, context = hooks.case, hooks.context
        self._filters.extend(partial(call, hook, "filter_case", context) for hook in mine.filter)
        self._maps.extend(partial(call, hook, "map_case", context) for hook in mine.map)


def compile_operation(
    operation: Operation,
    settings: GenerationSettings,
    *,
    hooks: ComponentHooks = NO_HOOKS,
    budget: Budget | None = None,
) -> OperationProgram:
    """The draw program of an operation. Raises `Unsatisfiable`, `BudgetSpent` and `HookError`."""
    refuse_unknown(settings)
    turn = Turn()
    compiler = PartCompiler(operation, settings, turn, budget or Budget())
    declared = {parameter.location for parameter in operation.parameters}
    parts: dict[Location, Draw] = {}
    for location in _ORDER:
        is_hooked = getattr(hooks, location.container) is not NO_PART and bool(
            getattr(hooks, location.container)
        )
        if location in declared or is_hooked:
            draw = compiler.parameters(location)
            parts[location] = hooked(draw, location.container, hooks, turn) if is_hooked else draw
    draw, has_body = compiler.body()
    if has_body:
        parts[Location.BODY] = _hooked_body(draw, hooks, turn)
    program = OperationProgram(operation, parts, turn, compiler)
    program.add_case_hooks(hooks)
    return program


def _hooked_body(draw: Draw, hooks: ComponentHooks, turn: Turn) -> Draw:
    """Hooks see the value only; the media type stays."""
    if not hooks.body:
        return draw
    media_types: list[str | None] = [None]

    def value(source: Source) -> Any:
        drawn, media_types[0] = draw(source)
        return drawn

    changed = hooked(value, "body", hooks, turn)

    def with_media_type(source: Source) -> tuple[Any, str | None]:
        drawn = changed(source)
        return drawn, media_types[0]

    return with_media_type
