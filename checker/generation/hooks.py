"""Users' functions around the drawing of each part of a case. Their choices are recorded like ours."""

from collections.abc import Callable
from typing import Any

from hypothesis.strategies import SearchStrategy
from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import NOT_SET, Case
from checker.core.errors import HookExecutionError
from checker.core.hooks import COMPONENTS, Hook, HookContext, HookSource
from checker.core.meta import ANYTHING
from checker.generation.sources.basic import finished
from checker.generation.sources.choices import Source
from checker.generation.sources.context import HOOK, Draw, DrawContext, retried
from checker.generation.sources.hypothesis import Strategy, draw_strategy, strategy_of


class PartHooks(Struct, frozen=True):
    """Hooks of one part; each takes the context and the value, `before_generate` the context and the strategy."""

    before_generate: tuple[Hook, ...] = ()
    filter: tuple[Hook, ...] = ()
    map: tuple[Hook, ...] = ()
    flatmap: tuple[Hook, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.filter) or self.changes

    @property
    def changes(self) -> bool:
        """Whether there may be values that only users know."""
        return bool(self.before_generate or self.map or self.flatmap)


NO_PART = PartHooks()


class ComponentHooks(Struct, frozen=True):
    """Hooks of all parts of a case."""

    context: object = None
    """First argument of every hook."""
    path_parameters: PartHooks = NO_PART
    headers: PartHooks = NO_PART
    cookies: PartHooks = NO_PART
    query: PartHooks = NO_PART
    body: PartHooks = NO_PART
    case: PartHooks = NO_PART
    examples: tuple[Hook, ...] = ()
    """`before_add_examples`: each takes the context and a list of cases."""

    @classmethod
    def from_registry(cls, registry: HookSource, context: HookContext) -> "ComponentHooks":
        """Hooks that are registered for parts of cases of the operation of a context."""
        if registry.is_empty:
            # Asked for each case that Hypothesis draws, of 25 names in each registry.
            return cls(context)
        parts = {
            part: PartHooks(
                registry.named(f"before_generate_{part}", context),
                registry.named(f"filter_{part}", context),
                registry.named(f"map_{part}", context),
                registry.named(f"flatmap_{part}", context),
            )
            for part in (*COMPONENTS, "case")
        }
        return cls(context, examples=registry.named("before_add_examples"), **parts)

    @property
    def shapes_drawing(self) -> bool:
        """Whether some hook decides what is drawn, and so means nothing to a case that is not drawn."""
        parts = (getattr(self, part) for part in (*COMPONENTS, "case"))
        return any(one.before_generate or one.flatmap for one in parts)

    def with_parts(self, case: Case) -> Case | None:
        """Return a case that takes the place of a drawn one after `filter` and `map` hooks of its parts; None if one refuses it.

        Raises `HookError`.
        """
        for part in COMPONENTS:
            mine: PartHooks = getattr(self, part)
            value = getattr(case, part)
            if not mine or value is NOT_SET:
                continue
            if not all(call(hook, f"filter_{part}", self.context, value) for hook in mine.filter):
                return None
            for hook in mine.map:
                value = call(hook, f"map_{part}", self.context, value)
            setattr(case, part, value)
            if mine.map:
                self._is_from_anywhere(case, part)
        return case

    def _is_from_anywhere(self, case: Case, part: str) -> None:
        """Note that the values of a part may be from anywhere."""
        if case.meta is not None:
            case.meta.components = {
                place: replace(one, outside=(ANYTHING,)) if place.container == part else one
                for place, one in case.meta.components.items()
            }

    def finished(self, case: Case) -> Case | None:
        """A case that was not drawn, as the user wants it; None if he does not. Raises `HookError`."""
        if not all(call(hook, "filter_case", self.context, case) for hook in self.case.filter):
            return None
        for hook in self.case.map:
            case = called_for_case(hook, "map_case", self.context, case)
        if self.case.map and case.meta is not None:
            # What hooks give may be from anywhere.
            parts = case.meta.components.items()
            case.meta.components = {place: replace(part, outside=(ANYTHING,)) for place, part in parts}
        return case


NO_HOOKS = ComponentHooks()


def hooked(draw: Draw, part: str, hooks: ComponentHooks, context: DrawContext) -> Draw:
    """Draws a part of a request as users want it: `before_generate`, `filter`, `map`, `flatmap`, in this order."""
    mine: PartHooks = getattr(hooks, part)
    hook_context = hooks.context
    if mine.before_generate:
        strategy = strategy_of(draw, f"<{part}>")
        for hook in mine.before_generate:
            strategy = _called_for_strategy(hook, f"before_generate_{part}", hook_context, strategy)
        draw = _from_strategy(strategy)
    if mine.filter:
        accepts = _accepted_by(mine.filter, f"filter_{part}", hook_context)
        draw = retried(draw, accepts, context, f"{HOOK}filter_{part}")
    for hook in mine.map:
        draw = _mapped(draw, hook, f"map_{part}", hook_context)
    for hook in mine.flatmap:
        draw = _flat_mapped(draw, hook, f"flatmap_{part}", hook_context)
    return draw if part == "body" else finished(draw, _named)


def shaped(draw: Draw, hooks: ComponentHooks) -> Draw:
    """Draws a whole case as users want it: `before_generate_case`, then `flatmap_case`."""
    mine, context = hooks.case, hooks.context
    if mine.before_generate:
        strategy = strategy_of(draw, "<case>")
        for hook in mine.before_generate:
            strategy = _called_for_strategy(hook, "before_generate_case", context, strategy)
        draw = _from_strategy(strategy)
    for hook in mine.flatmap:
        draw = _flat_mapped(draw, hook, "flatmap_case", context)
    return draw


def _named(values: dict[str, Any] | None) -> dict[str, Any]:
    """Parameters by name; a hook that gives nothing leaves none."""
    return {} if values is None else values


def call(hook: Hook, name: str, context: object, value: Any) -> Any:
    """Return the result of a hook. Raises `HookError` for every exception of the hook."""
    try:
        return hook(context, value)
    except Exception as error:
        raise HookExecutionError(name, error) from error


def called_for_case(hook: Hook, name: str, context: object, value: Any) -> Case:
    """The case that a hook returns. Raises `HookError`."""
    found = call(hook, name, context, value)
    if not isinstance(found, Case):
        raise HookExecutionError(name, f"gave {found!r:.80}; it has to return the case")
    return found


def _called_for_strategy(hook: Hook, name: str, context: object, value: Any) -> Strategy:
    found = call(hook, name, context, value)
    if not isinstance(found, SearchStrategy):
        raise HookExecutionError(name, f"gave {found!r:.80}; it has to return a strategy")
    return found


def _from_strategy(strategy: Any) -> Draw:
    return lambda source: draw_strategy(strategy, source)


def _accepted_by(hooks: tuple[Hook, ...], name: str, context: object) -> Callable[[Any], bool]:
    return lambda value: value is NOT_SET or all(call(hook, name, context, value) for hook in hooks)


def _mapped(draw: Draw, hook: Hook, name: str, context: object) -> Draw:
    def drawn(source: Source) -> Any:
        value = draw(source)
        # Where a body is left out there is nothing to map.
        return value if value is NOT_SET else call(hook, name, context, value)

    return drawn


def _flat_mapped(draw: Draw, hook: Hook, name: str, context: object) -> Draw:
    def drawn(source: Source) -> Any:
        value = draw(source)
        if value is NOT_SET:
            return value
        return draw_strategy(_called_for_strategy(hook, name, context, value), source)

    return drawn


def hooked_body(draw: Draw, hooks: ComponentHooks, context: DrawContext) -> Draw:
    """Hooks see the value only; the media type stays."""
    if not hooks.body:
        return draw
    media_types: list[str | None] = [None]

    def value(source: Source) -> Any:
        drawn, media_types[0] = draw(source)
        return drawn

    changed = hooked(value, "body", hooks, context)

    def with_media_type(source: Source) -> tuple[Any, str | None]:
        drawn = changed(source)
        return drawn, media_types[0]

    return with_media_type
