"""The public names of a package. `checker.faces` resolves each on first use: the objects are in higher rooms, and imports cost time."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def public_names(prefix: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose public names begin with a prefix such as `openapi.`."""

    def resolve(name: str) -> Any:
        return import_module("checker.faces").resolve(prefix + name)

    def listed() -> list[str]:
        return import_module("checker.faces").names_below(prefix)  # type: ignore[no-any-return]

    return resolve, listed
