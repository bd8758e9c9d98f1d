"""Functions of users that are tests of operations: what they take, and what must not be above them."""

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from checker.core.errors import IncorrectUsage
from checker.library.parametrized import GIVEN, GivenArguments

CASE: Final = "case"
"""The argument that is a case."""


def refuse_misuse(test: Callable[..., Any]) -> None:
    """Raise `IncorrectUsage` for a test that cannot be given cases."""
    name = getattr(test, "__name__", repr(test))
    if getattr(test, "is_hypothesis_test", False):
        raise IncorrectUsage(
            f"{name!r} uses `hypothesis.given` together with `parametrize`; use `@schema.given` in its place"
        )
    given: GivenArguments | None = getattr(test, GIVEN, None)
    if given is not None and not (given.positional or given.named):
        raise IncorrectUsage(
            f"`given` above {name!r} needs at least one strategy, as with Hypothesis"
        )
    if CASE not in inspect.signature(test).parameters:
        raise IncorrectUsage(f"{name!r} takes no argument `case`; add it: each test is given one")


def copied(test: Callable[..., Any]) -> Any:
    """A function that does the same and has attributes of its own."""
    if not isinstance(test, FunctionType):
        raise IncorrectUsage(f"`parametrize` is for functions, got {test!r}")
    found = FunctionType(
        test.__code__, test.__globals__, test.__name__, test.__defaults__, test.__closure__
    )
    found.__dict__.update(test.__dict__)
    found.__kwdefaults__ = test.__kwdefaults__
    found.__annotations__ = test.__annotations__
    found.__module__, found.__doc__ = test.__module__, test.__doc__
    return found


def given_names(test: Callable[..., Any]) -> frozenset[str]:
    """Arguments of a test that are no fixtures: `case`, and those of `schema.given`."""
    return frozenset((CASE, *other_strategies(test)))


def other_strategies(test: Callable[..., Any]) -> dict[str, Any]:
    """Strategies by name of the argument; what is given by position belongs to the last arguments."""
    given: GivenArguments | None = getattr(test, GIVEN, None)
    if given is None:
        return {}
    free = [
        name
        for name in inspect.signature(test).parameters
        if name not in (CASE, "self") and name not in given.named
    ]
    count = len(given.positional)
    if count > len(free):
        raise IncorrectUsage(
            f"`given` has {count} strategies by position, but {test.__name__!r} has {len(free)} other arguments"
        )
    names = free[len(free) - count :]
    return {**dict(zip(names, given.positional, strict=True)), **given.named}
