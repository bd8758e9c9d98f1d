"""Users' functions that are called when cases are made, sent and judged: names, signatures, registry."""

import functools
import inspect
from collections.abc import Callable, Iterable
from enum import StrEnum
from math import isfinite
from typing import Any, Final, Protocol, TypeVar, Unpack, overload

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import Case
from checker.core.errors import HookExecutionError, IncorrectUsage, MetricError, did_you_mean
from checker.core.operation_filter import FilterAttributes, OperationFilter, Predicate
from checker.core.registry import Registry
from checker.core.response import Response
from checker.core.user_code import RunningCode, refuse_coroutine, require, require_function, require_texts, takes

Hook = Callable[..., Any]
Registered = TypeVar("Registered", bound=Hook)
Tested = TypeVar("Tested", bound=Callable[..., Any])


class HookContext(Struct, frozen=True):
    """The first argument of every hook."""

    operation: Any = None
    """None for hooks that run before operations exist."""


class HookScope(StrEnum):
    """The scope of a hook."""

    GLOBAL = "global"  # `@checker.hook`: every operation of every schema.
    SCHEMA = "schema"  # `@schema.hook`: operations of one schema.
    TEST = "test"  # `@schema.hooks.apply(hook)`: one test.


_EVERYWHERE: Final = tuple(HookScope)
_GLOBAL_ONLY: Final = (HookScope.GLOBAL,)
_NOT_IN_TESTS: Final = (HookScope.GLOBAL, HookScope.SCHEMA)


class HookName(Struct, frozen=True):
    """The arguments of a hook, and the scopes in which it may be registered."""

    arguments: tuple[str, ...]  # The arguments after the context.
    effect: str  # One sentence for the documentation.
    scopes: tuple[HookScope, ...] = _EVERYWHERE
    has_operation: bool = True  # False for a hook that runs before operations exist and takes no filters.


COMPONENTS = ("path_parameters", "headers", "cookies", "query", "body")
"""Parts of a case, in the order in which they are drawn."""


def _names() -> dict[str, HookName]:
    table = {
        "before_load_schema": HookName(
            ("raw_schema",), "Changes the description before it is read.", _GLOBAL_ONLY, has_operation=False
        ),
        "after_load_schema": HookName(("schema",), "Sees the loaded description.", _GLOBAL_ONLY, has_operation=False),
        "before_process_path": HookName(("path", "methods"), "Changes the methods of one path.", has_operation=False),
        "before_init_operation": HookName(("operation",), "Changes one operation."),
        "before_add_examples": HookName(("examples",), "Adds or removes examples."),
        "before_call": HookName(
            ("case", "kwargs"), "Changes a case or the arguments of its request before it is sent.", _GLOBAL_ONLY
        ),
        "after_call": HookName(("case", "response"), "Sees each response.", _NOT_IN_TESTS),
        "after_validate": HookName(("case", "response", "results"), "Sees the results of the checks."),
        "after_network_error": HookName(("case", "request"), "Sees a request without a response.", _NOT_IN_TESTS),
        "filter_failure": HookName(("failure", "case", "response"), "Drops a failure if it returns False."),
    }
    for part in (*COMPONENTS, "case"):
        table[f"before_generate_{part}"] = HookName(("strategy",), "Returns the strategy that is used.")
        table[f"filter_{part}"] = HookName((part,), "Rejects a value if it returns False.")
        table[f"map_{part}"] = HookName((part,), "Returns the value that is sent.")
        table[f"flatmap_{part}"] = HookName((part,), "Returns a strategy that depends on the value.")
    return table


HOOK_NAMES = _names()  # All hooks.


class HookSource(Protocol):
    """A place where hooks are looked up."""

    def named(self, name: str, context: HookContext | None = None) -> tuple[Hook, ...]:
        """Return the hooks of this name, in the order in which they are called."""
        ...


RUNNING_HOOKS: Final = RunningCode("hooks")


def run_hooks(hooks: Iterable[Hook], name: str, *arguments: Any) -> None:
    """Call each with the same arguments, one after the other. Raises `HookExecutionError` for any exception.

    A hook is not called for requests that it sends itself.
    """
    for hook in hooks:
        if hook in RUNNING_HOOKS:
            continue
        try:
            with RUNNING_HOOKS.adding(hook):
                hook(*arguments)
        except Exception as error:
            raise HookExecutionError(name, error) from error


class _Entry(Struct, frozen=True):
    function: Hook  # As the user wrote it.
    call: Hook  # Takes exactly the context and the arguments of `HOOK_NAMES`.
    filter: OperationFilter

    def guarded(self) -> Hook:
        """Return a hook that runs `call` for operations that the filter admits, and does nothing for others."""
        if not self.filter:
            return self.call
        matches, call = self.filter.matches, self.call

        def guarded(context: HookContext, *arguments: Any) -> Any:
            return call(context, *arguments) if matches(context) else None

        return functools.wraps(call)(guarded)


TEST_HOOKS: Final = "_checker_hooks"  # Attribute of a test function: the registry of its own hooks.


class HookRegistry(Struct):
    """Hooks of one scope, by name, in the order of registration."""

    scope: HookScope = HookScope.GLOBAL
    entries: tuple[tuple[str, _Entry], ...] = ()  # (name, hook); another tuple after each change.

    def register(
        self,
        function: Hook,
        name: str | None = None,
        *,
        filter: OperationFilter = OperationFilter(),  # noqa: B008 - frozen
    ) -> None:
        """Add a hook; its name defaults to the function's.

        Raises `TypeError` for a wrong name or signature, `ValueError` for a wrong scope or a meaningless filter,
        `IncorrectUsage` for a coroutine function.
        """
        if name is None:
            name = str(getattr(function, "__name__", function))
        known = _hook_name(name)
        if self.scope not in known.scopes:
            allowed = ", ".join(scope.upper() for scope in known.scopes)
            raise ValueError(
                f"Cannot register hook '{name}' on {self.scope.upper()} scope. Use a different scope: {allowed}"
            )
        if filter and not known.has_operation:
            raise ValueError(f"Hook '{name}' runs before operations exist: it takes no filters")
        call = _checked(function, name, known)
        self.entries += ((name, _Entry(function, call, filter)),)

    def named(self, name: str, context: HookContext | None = None) -> tuple[Hook, ...]:
        """Return the hooks of this name; each takes the context and the arguments of `HOOK_NAMES`, by position.

        With a context, only the hooks for its operation are returned. Without one, each hook examines the context of its call.
        """
        entries = [entry for key, entry in self.entries if key == name]
        if context is None:
            return tuple(entry.guarded() for entry in entries)
        return tuple(entry.call for entry in entries if entry.filter.matches(context))

    @property
    def is_empty(self) -> bool:
        """Whether there are no hooks at all."""
        return not self.entries

    def get_all_by_name(self, name: str) -> list[Hook]:
        """Return the functions registered under this name, as they were written."""
        return [entry.function for key, entry in self.entries if key == name]

    def unregister(self, function: Hook) -> None:
        """Remove a function under all its names. Unknown functions are ignored."""
        self.entries = tuple(one for one in self.entries if one[1].function is not function)

    def unregister_all(self) -> None:
        """Remove all hooks."""
        self.entries = ()

    def extend(self, other: "HookRegistry") -> None:
        """Append the hooks of another registry."""
        self.entries += other.entries

    def copy(self) -> "HookRegistry":
        """Return a new registry with the current hooks."""
        return HookRegistry(self.scope, self.entries)

    def apply(self, function: Hook, *, name: str | None = None) -> Callable[[Tested], Tested]:
        """Decorate a test: the hook applies to that test alone. Raises `TypeError`, `ValueError`."""
        HookRegistry(HookScope.TEST).register(function, name)

        def decorated(test: Tested) -> Tested:
            require_function("apply", test)
            test.__dict__.setdefault(TEST_HOOKS, HookRegistry(HookScope.TEST)).register(function, name)
            return test

        return decorated

    @property
    def hook(self) -> "HookDecorator":
        """`@registry.hook`: adds a hook."""
        return HookDecorator(self)


class HookChain(Struct, frozen=True):
    """Registries whose hooks are called one after the other: those of all schemas, of one schema, of a test."""

    registries: tuple[HookRegistry, ...]

    @property
    def entries(self) -> tuple[object, ...]:
        """Return a value that differs after each change of a registry."""
        return tuple(one.entries for one in self.registries)

    def named(self, name: str, context: HookContext | None = None) -> tuple[Hook, ...]:
        """Return the hooks of this name of all registries."""
        return tuple(hook for one in self.registries for hook in one.named(name, context))


class HookDecorator(Struct, frozen=True):
    """`@hook`, `@hook("map_query")`, `@hook.apply_to(method="POST")`: registers in one registry, returns the function."""

    registry: HookRegistry
    name: str | None = None  # None: the name of the function is used.
    filter: OperationFilter = OperationFilter()

    @overload
    def __call__(self, hook: str) -> "HookDecorator": ...
    @overload
    def __call__(self, hook: Registered) -> Registered: ...
    def __call__(self, hook: Any) -> Any:
        """Register `hook`, or return a decorator that registers under the name `hook`. Raises `TypeError`."""
        if isinstance(hook, str):
            _hook_name(hook)
            return replace(self, name=hook)
        self.registry.register(hook, self.name, filter=self.filter)
        return hook

    def apply_to(self, *functions: Predicate, **attributes: Unpack[FilterAttributes]) -> "HookDecorator":
        """Limit a hook to some operations: `name`, `method`, `path`, `tag`, `operation_id`, each also with `_regex`.

        An operation has to match all conditions of one call. If there are several calls, a match of one is enough.
        Raises `IncorrectUsage`.
        """
        return replace(self, filter=self.filter.including(*functions, **attributes))

    def skip_for(self, *functions: Predicate, **attributes: Unpack[FilterAttributes]) -> "HookDecorator":
        """Exclude some operations from a hook, with the conditions of `apply_to`. Raises `IncorrectUsage`."""
        return replace(self, filter=self.filter.excluding(*functions, **attributes))


GLOBAL_HOOKS = HookRegistry()
"""Hooks of `@checker.hook`: they run for every operation, before those of schemas and tests."""

hook = HookDecorator(GLOBAL_HOOKS)


def _hook_name(name: str) -> HookName:
    """Return the row of a hook. Raises `TypeError` with the nearest name."""
    require_texts(name=name)
    known = HOOK_NAMES.get(name)
    if known is None:
        raise TypeError(f"There is no hook with name '{name}'{did_you_mean(name, HOOK_NAMES)}")
    return known


def _checked(function: Hook, name: str, known: HookName) -> Hook:
    require(callable(function), "hook", "a function", function)
    names = ("context", *known.arguments)
    signature = inspect.signature(function)
    kinds = [one.kind for one in signature.parameters.values()]
    is_spread = name == "before_call" and inspect.Parameter.VAR_KEYWORD in kinds
    if not takes(function, len(names) - is_spread):
        raise TypeError(f"Hook '{name}' is called with ({', '.join(names)}), which does not fit {signature}")
    refuse_coroutine(function, f"hook {name!r}")
    if is_spread:
        # Python copies the mapping for `**kwargs`, so changes in it would be lost: the hook returns them.
        @functools.wraps(function)
        def call(context: HookContext, case: Any, kwargs: dict[str, Any]) -> None:
            changed = function(context, case, **kwargs)
            if isinstance(changed, dict):
                kwargs.update(changed)

        return call
    return function


class MetricContext(Struct, frozen=True):
    """The arguments of a metric."""

    case: Case
    response: Response


MetricFunction = Callable[[MetricContext], float]
RegisteredMetric = TypeVar("RegisteredMetric", bound=MetricFunction)


def response_time(ctx: MetricContext) -> float:
    """Return the seconds until the response arrived."""
    return ctx.response.elapsed


BUILT_IN: Final[dict[str, MetricFunction]] = {"response_time": response_time}
METRICS: Final[Registry[MetricFunction]] = Registry("metric", built_in=BUILT_IN)  # Metrics of users, by name.


def metric(function: RegisteredMetric) -> RegisteredMetric:
    """Register a function `(ctx) -> float` under its name, for `generation.maximize`, and return it.

    Values that are not finite are ignored. Raises `IncorrectUsage`.
    """
    name = getattr(function, "__name__", "")
    if not name:
        raise IncorrectUsage(f"`checker.metric` takes a function, got {function!r}")
    refuse_coroutine(function, f"metric {name!r}")
    METRICS.add(name, function)
    return function


def metric_named(name: str) -> MetricFunction:
    """Return the metric of a name. Raises `IncorrectUsage` with the names of all metrics."""
    found = BUILT_IN.get(name) or METRICS.get(name)
    if found is None:
        known = ", ".join((*BUILT_IN, *METRICS))
        raise IncorrectUsage(f"there is no metric {name!r}; known are: {known}")
    return found


def observed(names: Iterable[str], case: Case, response: Response) -> dict[str, float]:
    """Return the values of metrics for an exchange, by name. Raises `MetricError`, `IncorrectUsage`."""
    context, found = MetricContext(case, response), {}
    for name in names:
        function = metric_named(name)
        if function in RUNNING_HOOKS:
            # A metric may send its own requests, which only other metrics measure.
            continue
        try:
            with RUNNING_HOOKS.adding(function):
                value = float(function(context))
        except Exception as error:
            raise MetricError(name, error) from error
        if isfinite(value):
            found[name] = value
    return found
