"""User hooks around the draws of the parts of a case. Choices of hooks are recorded like all other choices."""

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import NOT_SET, Case, drop_headers
from checker.core.errors import HookExecutionError
from checker.core.hooks import COMPONENTS, Hook, HookContext, HookSource
from checker.core.meta import ANYTHING
from checker.core.request import Location
from checker.generation.sources.basic import Strategy, draw_strategy, finished, hypothesis
from checker.generation.sources.choices import Source
from checker.generation.sources.context import HOOK, Draw, DrawContext, retried


class PartHooks(Struct, frozen=True):
    """Hooks of one part. Each takes the context and the value; `before_generate` takes the context and the strategy."""

    before_generate: tuple[Hook, ...] = ()
    filter: tuple[Hook, ...] = ()
    map: tuple[Hook, ...] = ()
    flatmap: tuple[Hook, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.filter) or self.changes

    @property
    def changes(self) -> bool:
        """Whether hooks may return values that the schema does not admit."""
        return bool(self.before_generate or self.map or self.flatmap)


NO_PART = PartHooks()


class ComponentHooks(Struct, frozen=True):
    """Hooks of all parts of a case."""

    context: object = None  # First argument of every hook.
    path_parameters: PartHooks = NO_PART
    headers: PartHooks = NO_PART
    cookies: PartHooks = NO_PART
    query: PartHooks = NO_PART
    body: PartHooks = NO_PART
    case: PartHooks = NO_PART
    examples: tuple[Hook, ...] = ()  # `before_add_examples` hooks. Each takes the context and a list of cases.

    @classmethod
    def from_registry(cls, registry: HookSource, context: HookContext) -> "ComponentHooks":
        """Return the hooks for parts of cases of the operation that `context` names."""
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
        """Whether some hook replaces a draw. Such a hook has no effect on listed cases."""
        parts = (getattr(self, part) for part in (*COMPONENTS, "case"))
        return any(one.before_generate or one.flatmap for one in parts)

    def finished(self, case: Case) -> Case | None:
        """Return a listed case after the `filter` and `map` hooks of its parts, then of the case; None if a hook rejects it. Raises `HookError`."""
        for part in COMPONENTS:
            mine: PartHooks = getattr(self, part)
            value = getattr(case, part)
            if not mine or value is NOT_SET:
                continue
            if not all(call(hook, f"filter_{part}", self.context, value) for hook in mine.filter):
                return None
            for hook in mine.map:
                value = call(hook, f"map_{part}", self.context, value)
            setattr(case, part, _part_of(part, f"map_{part}", value))
            if mine.map:
                _mark_changed(case, part)
        if not all(call(hook, "filter_case", self.context, case) for hook in self.case.filter):
            return None
        for hook in self.case.map:
            case = called_for_case(hook, "map_case", self.context, case)
        if self.case.map:
            _mark_changed(case, None)
        return case


def _mark_changed(case: Case, container: str | None) -> None:
    """Record in the provenance that hooks may have changed any value of one part, or of all parts."""
    if case.meta is not None:
        case.meta.components = {
            place: replace(one, outside=(ANYTHING,)) if container in (None, place.container) else one
            for place, one in case.meta.components.items()
        }


NO_HOOKS = ComponentHooks()


def is_hooked(location: Location, hooks: ComponentHooks) -> bool:
    """Whether users have hooks for a part."""
    return bool(getattr(hooks, location.container))


def hooked(draw: Draw, location: Location, hooks: ComponentHooks, context: DrawContext) -> Draw:
    """Draws a part of a request after its hooks: `before_generate`, `filter`, `map`, `flatmap`, in this order.

    A body is drawn as `(body, media type)`; the hooks see only the value.
    """
    part = location.container
    mine: PartHooks = getattr(hooks, part)
    if not mine:
        return draw
    media_types: list[str | None] = [None]

    def body(source: Source) -> Any:
        drawn, media_types[0] = draw(source)
        return drawn

    changed = _before_generate(body if location is Location.BODY else draw, part, mine, hooks.context)
    if mine.filter:
        name = f"filter_{part}"

        def accepts(value: Any) -> bool:
            return value is NOT_SET or all(call(hook, name, hooks.context, value) for hook in mine.filter)

        changed = retried(changed, accepts, context, f"{HOOK}{name}")
    for hook in mine.map:
        changed = _mapped(changed, partial(call, hook, f"map_{part}", hooks.context))
    changed = _flat_mapped(changed, part, mine, hooks.context)
    if location is Location.BODY:
        # The value is drawn first, because drawing it sets the media type.
        return lambda source: (changed(source), media_types[0])
    last = "flatmap" if mine.flatmap else "map" if mine.map else "before_generate"
    return finished(changed, partial(_part_of, part, f"{last}_{part}"))


def shaped(draw: Draw, hooks: ComponentHooks) -> Draw:
    """Draws a whole case after its hooks: `before_generate_case`, then `flatmap_case`."""
    return _flat_mapped(_before_generate(draw, "case", hooks.case, hooks.context), "case", hooks.case, hooks.context)


def call(hook: Hook, name: str, context: object, value: Any) -> Any:
    """Return the result of a hook. Raises `HookError` for any exception in the hook."""
    try:
        return hook(context, value)
    except Exception as error:
        raise HookExecutionError(name, error) from error


def called_for_case(hook: Hook, name: str, context: object, value: Any) -> Case:
    """Return the case that a hook returns. Raises `HookError`."""
    with value.dressed() as added:
        found = call(hook, name, context, value)
    if not isinstance(found, Case):
        raise HookExecutionError(name, f"gave {found!r:.80}; it has to return the case")
    # A hook may return another case than it received.
    case: Case = found
    drop_headers(case, added)
    return case


def _part_of(part: str, name: str, value: Any) -> Any:
    """Return a part after its hooks; None from them means that the case has no parameters in that location. Raises `HookError`."""
    if part == "body" or (isinstance(value, Mapping) and all(isinstance(key, str) for key in value)):
        return value
    if value is not None:
        raise HookExecutionError(name, f"gave {value!r:.80}; it has to return a dict of names and values, or None")
    return {}


def _strategy(hook: Hook, name: str, context: object, value: Any) -> Strategy:
    found = call(hook, name, context, value)
    if not isinstance(found, hypothesis.SearchStrategy):
        raise HookExecutionError(name, f"gave {found!r:.80}; it has to return a strategy")
    return found


def _before_generate(draw: Draw, part: str, mine: PartHooks, context: object) -> Draw:
    if not mine.before_generate:
        return draw
    strategy: Any = hypothesis.DrawnStrategy(draw, f"<{part}>")
    for hook in mine.before_generate:
        strategy = _strategy(hook, f"before_generate_{part}", context, strategy)
    return partial(draw_strategy, strategy)


def _mapped(draw: Draw, change: Callable[[Any], Any]) -> Draw:
    def drawn(source: Source) -> Any:
        value = draw(source)
        # A body that is left out is not mapped.
        return value if value is NOT_SET else change(value)

    return drawn


def _flat_mapped(draw: Draw, part: str, mine: PartHooks, context: object) -> Draw:
    def flat(draw: Draw, hook: Hook) -> Draw:
        def drawn(source: Source) -> Any:
            value = draw(source)
            if value is NOT_SET:
                return value
            return draw_strategy(_strategy(hook, f"flatmap_{part}", context, value), source)

        return drawn

    return reduce(flat, mine.flatmap, draw)
