"""Checks of the arguments of public functions: a value of another kind is refused with one sentence."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from checker.core.errors import IncorrectUsage


def require(is_right: object, name: str, wanted: str, given: object) -> None:
    """Raise `IncorrectUsage` for the argument `name` that is not right; `wanted` says what is, as in `a dict of values`."""
    if not is_right:
        raise IncorrectUsage(f"`{name}` must be {wanted}, got {given!r:.80}")


def require_names(**given: object) -> None:
    """Raise `IncorrectUsage` for the first argument that is neither None nor a mapping whose keys are texts."""
    for name, values in given.items():
        is_right = isinstance(values, Mapping) and all(isinstance(key, str) for key in values)
        require(values is None or is_right, name, "a dict of names and values", values)


def require_texts(**given: object) -> None:
    """Raise `IncorrectUsage` for the first argument that is neither None nor a text."""
    for name, value in given.items():
        require(value is None or isinstance(value, str), name, "a text", value)


def require_function(decorator: str, given: object) -> None:
    """Raise `IncorrectUsage` for what stands below a decorator of tests and is no function."""
    if not isinstance(given, type) and callable(given):
        return
    hint = "; write it above each of its methods" if isinstance(given, type) else ""
    raise IncorrectUsage(f"`{decorator}` stands above a function, got {given!r:.80}{hint}")


def several(name: str, given: Any, wanted: str) -> tuple[Any, ...]:
    """The members of the argument `name`; one text stands for itself. Raises `IncorrectUsage` for what has no members."""
    require(isinstance(given, Iterable) and not isinstance(given, bytes), name, wanted, given)
    return (given,) if isinstance(given, str) else tuple(given)


def takes(function: Callable[..., object], count: int) -> bool:
    """Whether a callable takes this number of positional arguments; True if it has no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True
