"""Packages that add to this one: modules behind entry points, which register what they bring when they are imported."""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import Final

from checker.core.errors import ConfigError
from checker.core.phases import phase_names

GROUP: Final = "checker.plugins"
"""Of entry points, each a module."""


@cache
def _plugins() -> EntryPoints:
    """Looked for once in each process: it reads what all packages say of themselves."""
    return entry_points(group=GROUP)


def has_plugins() -> bool:
    """Whether any package brings one."""
    return bool(_plugins())


@cache
def load_plugins() -> None:
    """Import all of them, once in each process. Raises `ConfigError` for whatever goes wrong in one."""
    for entry in _plugins():
        try:
            entry.load()
        except Exception as error:
            raise ConfigError(
                f"cannot load the plug-in {entry.name!r} ({entry.value}): {type(error).__name__}: {error}; "
                "correct it or uninstall its package"
            ) from error


def know_phases(names: Iterable[str]) -> tuple[str, ...]:
    """Names of all phases, those of plug-ins included where one of `names` is not built in. Raises `ConfigError`."""
    if not set(names) <= set(phase_names()):
        load_plugins()
    return phase_names()
