"""Packages that add to this one: modules behind entry points, which register what they bring when they are imported."""

from functools import cache
from importlib.metadata import entry_points
from typing import Final

from checker.core.errors import ConfigError

GROUP: Final = "checker.plugins"
"""Of entry points, each a module."""


@cache
def load_plugins() -> None:
    """Import all of them, once in each process. Raises `ConfigError` for whatever goes wrong in one."""
    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:
            raise ConfigError(
                f"cannot load the plug-in {entry.name!r} ({entry.value}): {type(error).__name__}: {error}; "
                "correct it or uninstall its package"
            ) from error
