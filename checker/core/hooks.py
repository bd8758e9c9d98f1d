"""Users' functions around making, sending and judging cases: names, signatures, registry."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeVar, overload

from checker.core.errors import NotAvailableYet

Hook = Callable[..., Any]
Registered = TypeVar("Registered", bound=Hook)


@dataclass(frozen=True, slots=True)
class HookContext:
    """The first argument of every hook."""

    operation: Any = None
    """None for hooks that run before operations exist."""


@dataclass(frozen=True, slots=True)
class HookName:
    """What a hook of this name receives."""

    arguments: tuple[str, ...]
    """After the context."""
    is_available: bool = True


COMPONENTS = ("path_parameters", "headers", "cookies", "query", "body")
"""Parts of a case, in the order in which they are drawn."""


def _names() -> dict[str, HookName]:
    table = {
        "before_load_schema": HookName(("raw_schema",), is_available=False),
        "after_load_schema": HookName(("schema",), is_available=False),
        "before_process_path": HookName(("path", "methods"), is_available=False),
        "before_init_operation": HookName(("operation",), is_available=False),
        "before_add_examples": HookName(("examples",)),
        "before_call": HookName(("case", "kwargs")),
        "after_call": HookName(("case", "response")),
        "after_validate": HookName(("case", "response", "results"), is_available=False),
        "after_network_error": HookName(("case", "request"), is_available=False),
        "filter_failure": HookName(("failure", "case", "response"), is_available=False),
    }
    for part in (*COMPONENTS, "case"):
        is_component = part != "case"
        table[f"before_generate_{part}"] = HookName(("strategy",), is_component)
        table[f"filter_{part}"] = HookName((part,))
        table[f"map_{part}"] = HookName((part,))
        table[f"flatmap_{part}"] = HookName((part,), is_component)
    return table


HOOK_NAMES = _names()
"""Every hook that there is."""


@dataclass(frozen=True, slots=True)
class _Entry:
    function: Hook
    """As the user wrote it."""
    call: Hook
    """Takes exactly the context and the arguments of `HOOK_NAMES`."""


@dataclass(slots=True)
class HookRegistry:
    """Hooks of one scope, by name, in the order of registration."""

    _entries: dict[str, list[_Entry]] = field(default_factory=dict)

    def register(self, function: Hook, name: str | None = None) -> None:
        """Add a hook; its name defaults to the function's. Raises `TypeError` for a wrong name or signature."""
        if name is None:
            name = str(getattr(function, "__name__", function))
        known = HOOK_NAMES.get(name)
        if known is None:
            near = get_close_matches(name, HOOK_NAMES, n=1)
            hint = f". Did you mean '{near[0]}'?" if near else ""
            raise TypeError(f"There is no hook with name '{name}'{hint}")
        call = _checked(function, name, known)
        if not known.is_available:
            raise NotAvailableYet(f"hook {name}")
        self._entries.setdefault(name, []).append(_Entry(function, call))

    def named(self, name: str) -> tuple[Hook, ...]:
        """Hooks of this name; each takes the context and the arguments of `HOOK_NAMES`, by position."""
        return tuple(entry.call for entry in self._entries.get(name, ()))

    def get_all_by_name(self, name: str) -> list[Hook]:
        """Functions registered under this name, as they were written."""
        return [entry.function for entry in self._entries.get(name, ())]

    def unregister(self, function: Hook) -> None:
        """Forget a function under every name it has. Unknown functions are no error."""
        for entries in self._entries.values():
            entries[:] = [entry for entry in entries if entry.function is not function]

    def unregister_all(self) -> None:
        """Forget every hook."""
        self._entries.clear()


@dataclass(frozen=True, slots=True)
class HookDecorator:
    """`@hook`, `@hook("map_query")`: registers in one registry and gives the function back."""

    registry: HookRegistry

    @overload
    def __call__(self, hook: str) -> Callable[[Registered], Registered]: ...
    @overload
    def __call__(self, hook: Registered) -> Registered: ...
    def __call__(self, hook: Any) -> Any:
        """Register `hook`, or make a decorator that registers under the name `hook`."""
        if not isinstance(hook, str):
            self.registry.register(hook)
            return hook

        def named(function: Registered) -> Registered:
            self.registry.register(function, hook)
            return function

        return named

    def apply_to(self, *_: Any, **filters: Any) -> "HookDecorator":
        """Limit a hook to some operations."""
        raise NotAvailableYet("hook.apply_to")

    def skip_for(self, *_: Any, **filters: Any) -> "HookDecorator":
        """Keep a hook away from some operations."""
        raise NotAvailableYet("hook.skip_for")


GLOBAL_HOOKS = HookRegistry()
"""Hooks of `@checker.hook`: they run for every operation, before those of schemas and tests."""

hook = HookDecorator(GLOBAL_HOOKS)


def _checked(function: Hook, name: str, known: HookName) -> Hook:
    parameters = list(inspect.signature(function).parameters.values())
    expected = len(known.arguments) + 1
    if len(parameters) != expected:
        raise TypeError(
            f"Hook '{name}' takes {expected} arguments but {len(parameters)} is defined"
        )
    if name == "before_call" and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        return _spreading(function)
    return function


def _spreading(function: Hook) -> Hook:
    """`before_call(ctx, case, **kwargs)`: Python copies the mapping, so a returned mapping is taken as the change."""

    @functools.wraps(function)
    def call(context: HookContext, case: Any, kwargs: dict[str, Any]) -> None:
        changed = function(context, case, **kwargs)
        if isinstance(changed, dict):
            kwargs.update(changed)

    return call
