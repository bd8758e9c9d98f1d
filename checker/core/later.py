"""Modules that are imported when something of them is first asked for: tests are collected without what makes and sends cases."""

from importlib import import_module
from typing import Any, Final

_NAMES: Final[list[str]] = []
"""Of all such modules that have been declared in this process."""


class LaterModule:
    """Stands for a module. Type checkers see the module itself, imported beside it under `TYPE_CHECKING`."""

    def __init__(self, name: str) -> None:
        """`name` is the whole dotted one."""
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(import_module(self._name), attribute)
        # So that the next one finds it here.
        setattr(self, attribute, found)
        return found


def later(name: str) -> Any:
    """The module of this name, not imported yet."""
    _NAMES.append(name)
    return LaterModule(name)


def import_all() -> None:
    """Import them now, with those that they declare: for a process whose children would each import them."""
    for name in _NAMES:
        import_module(name)
