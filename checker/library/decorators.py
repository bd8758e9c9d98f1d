"""Decorators of a loaded schema, the marks that they leave on test functions, and the objects that users register by them."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, Never, TypeVar, Unpack, overload

from msgspec import Struct, field

from checker.checks.custom import CUSTOM_CHECKS, ClassCheck, class_checks
from checker.core.case import Case
from checker.core.errors import IncorrectUsage
from checker.core.hooks import TEST_HOOKS, HookContext, HookRegistry, HookScope
from checker.core.providers import AuthRegistry, ProviderOptions, Registration
from checker.core.request import Location
from checker.core.user_code import require_function, require_names

if TYPE_CHECKING:
    from checker.transport.applications import Application


Tested = TypeVar("Tested", bound=Callable[..., Any])

SCHEMA: Final = "_checker_schema"  # Attribute of a test: the schema whose operations it tests, loaded or not.
GIVEN: Final = "_checker_given"  # Attribute of a test: `GivenArguments`.
MISUSE: Final = "_checker_misuse"
"""Attribute of a test: the error of its decorators, which fails the test and not its module."""


class GivenArguments(Struct, frozen=True):
    """Strategies of the arguments of a test beside `case`."""

    positional: tuple[Any, ...] = ()  # Strategies of the last arguments that are not in `named`.
    named: Mapping[str, Any] = field(default_factory=dict)


def with_schema(schema: object) -> Callable[[Tested], Tested]:
    """Return a decorator that copies a function and makes the copy a test of a schema. The function itself can be decorated for other schemas."""

    def decorated(test: Tested) -> Tested:
        require_function("parametrize", test)
        found: Tested = copied(test)
        if hasattr(test, SCHEMA):
            found.__dict__[MISUSE] = (
                f"`parametrize` is applied twice to {test.__name__!r}; keep one of them, or use `checker.pytest.parametrize`"
            )
        found.__dict__[SCHEMA] = schema
        return found

    return decorated


class SchemaDecorators:
    """The decorators for tests of all operations of a schema, which need not be loaded yet."""

    __slots__ = ()

    def parametrize(self, *functions: Never) -> Callable[[Tested], Tested]:
        """Return a decorator of a test that takes `case`: one test for each operation.

        Raises `IncorrectUsage` if it is stacked or lacks its parentheses.
        """
        if functions:
            raise IncorrectUsage("`parametrize` takes no arguments: write `@schema.parametrize()`")
        return with_schema(self)

    def given(self, *arguments: Any, **named: Any) -> Callable[[Tested], Tested]:
        """Return a decorator like `given` of Hypothesis, for the other arguments of a test. Without arguments the test fails."""

        def decorated(test: Tested) -> Tested:
            require_function("given", test)
            below: GivenArguments | None = getattr(test, GIVEN, None)
            if below is not None:
                test.__dict__[MISUSE] = f"`given` is applied twice to {test.__name__!r}; join them"
            # All names are kept; otherwise pytest would look for fixtures with the other names.
            others = below.named if below is not None else {}
            test.__dict__[GIVEN] = GivenArguments(arguments, {**others, **named})
            return test

        return decorated

    def override(
        self,
        *,
        path_parameters: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        cookies: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Callable[[Tested], Tested]:
        """Return a decorator of a test that sets these parameters in every operation that declares them. Raises `IncorrectUsage`."""
        require_names(path_parameters=path_parameters, headers=headers, cookies=cookies, query=query)
        given = {
            Location.PATH: path_parameters, Location.HEADER: headers, Location.COOKIE: cookies, Location.QUERY: query,
        }  # fmt: skip

        def map_case(context: HookContext, case: Case) -> Case:
            for location, values in given.items():
                places = (one for one in case.operation.parameters if one.location is location)
                declared = {location.key(one.name): one.name for one in places}
                container = getattr(case, location.container)
                for name, value in (values or {}).items():
                    known = declared.get(location.key(name))
                    if known is not None:
                        container[known] = value
            return case

        def decorated(test: Tested) -> Tested:
            require_function("override", test)
            own = test.__dict__.setdefault(TEST_HOOKS, HookRegistry(HookScope.TEST))
            own.register(map_case, "map_case")
            return test

        return decorated


CASE: Final = "case"  # Name of the argument that receives the case.


def refuse_misuse(test: Callable[..., Any]) -> None:
    """Raise `IncorrectUsage` for a test that cannot receive cases."""
    name = getattr(test, "__name__", repr(test))
    if (misuse := getattr(test, MISUSE, None)) is not None:
        raise IncorrectUsage(misuse)
    if getattr(test, "is_hypothesis_test", False):
        raise IncorrectUsage(
            f"{name!r} uses `hypothesis.given` together with `parametrize`; use `@schema.given` in its place"
        )
    given: GivenArguments | None = getattr(test, GIVEN, None)
    if given is not None and not (given.positional or given.named):
        raise IncorrectUsage(f"`given` above {name!r} needs at least one strategy, as with Hypothesis")
    if given is not None and CASE in given.named:
        raise IncorrectUsage(f"`given` above {name!r} gives `case`, the argument of `parametrize`; choose another name")
    if CASE not in inspect.signature(test).parameters:
        raise IncorrectUsage(f"{name!r} takes no argument `case`; add it: each test is given one")


def copied(test: Callable[..., Any]) -> Any:
    """Return a copy of a function that does not share its attributes."""
    if not isinstance(test, FunctionType):
        raise IncorrectUsage(f"`parametrize` is for functions, got {test!r}")
    found = FunctionType(test.__code__, test.__globals__, test.__name__, test.__defaults__, test.__closure__)
    found.__dict__.update(test.__dict__)
    found.__kwdefaults__ = test.__kwdefaults__
    found.__annotations__ = test.__annotations__
    found.__module__, found.__doc__ = test.__module__, test.__doc__
    return found


def given_names(test: Callable[..., Any]) -> frozenset[str]:
    """Return the arguments of a test that are no fixtures: `case` and those of `schema.given`."""
    return frozenset((CASE, *other_strategies(test)))


def other_strategies(test: Callable[..., Any]) -> dict[str, Any]:
    """Return strategies by name of the argument. Positional strategies belong to the last arguments."""
    given: GivenArguments | None = getattr(test, GIVEN, None)
    if given is None:
        return {}
    free = [one for one in inspect.signature(test).parameters if one not in (CASE, "self") and one not in given.named]
    count = len(given.positional)
    if count > len(free):
        raise IncorrectUsage(
            f"`given` has {count} strategies by position, but {test.__name__!r} has {len(free)} other arguments"
        )
    names = free[len(free) - count :]
    return {**dict(zip(names, given.positional, strict=True)), **given.named}


TEST_AUTH: Final = "_checker_auth"  # Attribute of a test function: providers for this test alone.


class SchemaAuth(AuthRegistry):
    """`schema.auth`: registers providers for a schema, or one for a single test."""

    @overload
    def __call__(self, provider: None = None, **options: Unpack[ProviderOptions]) -> Registration: ...
    @overload
    def __call__(self, provider: object, **options: Unpack[ProviderOptions]) -> Callable[[Tested], Tested]: ...
    def __call__(self, provider: Any = None, **options: Unpack[ProviderOptions]) -> Any:
        """Return a decorator that registers a provider for the schema. If a provider is given, return a decorator for tests that use it."""
        if provider is None:
            return AuthRegistry.__call__(self, **options)
        own = AuthRegistry()
        own(provider, **options)

        def mark(test: Tested) -> Tested:
            test.__dict__[TEST_AUTH] = own
            return test

        return mark


class KeptClassChecks:
    """Instances of users' class checks. Each is kept until its settings change."""

    def __init__(self) -> None:
        self._kept: dict[str, ClassCheck] = {}
        self._made_of: object = None

    def at_work(self) -> Iterable[ClassCheck]:
        return self._kept.values()

    def of(self, settings: Mapping[str, Mapping[str, Any]]) -> Iterable[ClassCheck]:
        """Return the registered class checks; `settings` are by the name of the check."""
        made_of = (id(settings), *map(id, CUSTOM_CHECKS.values()))
        if made_of == self._made_of:
            return self._kept.values()
        self._made_of = made_of
        for check in class_checks(CUSTOM_CHECKS, settings):
            known = self._kept.get(check.name)
            if known is None or known.config != check.config:
                self._kept[check.name] = check
        return self._kept.values()


class Attachments(Struct, frozen=True):
    """The parts of a loaded schema other than its description and its configuration."""

    hooks: tuple[HookRegistry, ...] = field(default_factory=lambda: (HookRegistry(HookScope.SCHEMA),))
    """Hooks of the schema, then of a test."""
    auth: tuple[AuthRegistry, ...] = field(default_factory=lambda: (SchemaAuth(),))
    """Providers of a test, then of the schema."""
    classes: KeptClassChecks = field(default_factory=KeptClassChecks)
    """Instances of class checks, shared by the schema and the schemas narrowed from it."""
    application: "Application | None" = None  # The application in this process; None if requests go over the network.
    location: str | None = None  # The URL that the user gave for the description.
    engine: Any = None
    """The `LibraryEngine` of a run over this description, whose settings apply. It has already configured the description."""
