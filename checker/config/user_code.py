"""Modules of users and of packages: plug-ins behind entry points, hooks, objects named as `module:attribute`."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from functools import cache
from glob import escape, iglob
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from checker.core.errors import ConfigError, UnreadableFile
from checker.core.phases import phase_names
from checker.core.system import later, read_local
from checker.core.user_code import described

if TYPE_CHECKING:
    import importlib.metadata as metadata
else:
    # Importing it takes a tenth of the time of `--help`, which needs no plug-ins.
    metadata = later("importlib.metadata", by_all=False)


def search_working_directory() -> None:
    """Put the working directory first on the import path."""
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)


def load_attribute(text: str, *, what: str) -> Any:
    """Return the object that `module:attribute` names; the module may be in the working directory. Errors call it `what`.

    Raises `ConfigError` for any error in the module.
    """
    module, _, attribute = text.partition(":")
    search_working_directory()
    try:
        return attrgetter(attribute)(importlib.import_module(module))
    except Exception as error:
        raise ConfigError(
            f"cannot load the {what} {text!r}: {described(error)}; correct the module or the name"
        ) from error


GROUP: Final = "checker.plugins"  # The group of entry points; each is a module.


@cache
def _plugins() -> "Iterable[metadata.EntryPoint]":
    """Return the entry points, once in each process."""
    # Reading the metadata of all packages takes ten times as long as searching it, and most have no plug-in.
    return metadata.entry_points(group=GROUP) if any(map(_may_declare, sys.path)) else ()


def _may_declare(place: str) -> bool:
    """Whether packages at a place of the import path may have plug-ins. Archives are not searched."""
    if place.endswith(".egg") or os.path.isfile(place):
        return True
    found = iglob(os.path.join(escape(place), "*-info", "entry_points.txt"))
    try:
        return any(GROUP.encode() in Path(one).read_bytes() for one in found)
    except OSError:
        # The package may have been removed since, or belong to another user.
        return True


def has_plugins() -> bool:
    """Whether any package has a plug-in."""
    return bool(_plugins())


@cache
def load_plugins() -> None:
    """Import all plug-ins, once in each process. Raises `ConfigError` for any error in one."""
    for entry in _plugins():
        try:
            entry.load()
        except Exception as error:
            raise ConfigError(
                f"cannot load the plug-in {entry.name!r} ({entry.value}): {type(error).__name__}: {error}; "
                "correct it or uninstall its package"
            ) from error


def know_phases(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of all phases. Plug-ins are loaded if one of `names` is not built in. Raises `ConfigError`."""
    if not set(names) <= set(phase_names()):
        load_plugins()
    return phase_names()


MOST_BYTES: Final = 16 << 20


def load_all_hooks(specs: Iterable[str]) -> None:
    """Load plug-ins of packages, whose hooks and checks apply to every run, then these modules in order. Raises `ConfigError`."""
    load_plugins()
    for spec in specs:
        load_hooks(spec)


def load_hooks(spec: str) -> None:
    """Import a module by name or a file by its path; the same one is loaded once. Raises `ConfigError` for any error in this code."""
    search_working_directory()
    try:
        if not spec.endswith(".py"):
            importlib.import_module(spec)
        else:
            path = Path(spec).resolve()
            if not path.exists():
                raise FileNotFoundError(f"there is no file {spec}")
            name = f"checker_hooks_{path.stem}_{abs(hash(str(path))):x}"
            if not any(getattr(module, "__file__", None) == str(path) for module in list(sys.modules.values())):
                # Check the size first: `exec_module` would read an endless file forever.
                read_local(path, "a hooks module", most_bytes=MOST_BYTES)
                found = importlib.util.spec_from_file_location(name, path)
                if found is None or found.loader is None:
                    raise ImportError(f"{spec} is not Python source")
                module = importlib.util.module_from_spec(found)
                sys.modules[name] = module
                try:
                    found.loader.exec_module(module)
                except BaseException:
                    del sys.modules[name]
                    raise
    except UnreadableFile as error:
        raise ConfigError(f"cannot load hooks from {spec!r}: {error}") from error
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ConfigError(f"cannot load hooks from {spec!r}: {described(error)}") from error
