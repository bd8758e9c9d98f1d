"""Loading of users' hooks: a module by name, or a `.py` file."""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from checker.config.attributes import search_working_directory
from checker.config.plugins import load_plugins
from checker.core.errors import ConfigError, UnreadableFile
from checker.core.local_files import read_local

MOST_BYTES: Final = 16 << 20


def load_all_hooks(specs: Iterable[str]) -> None:
    """Load plug-ins of packages, whose hooks and checks hold for every run, then each of these, in order. Raises `ConfigError`."""
    load_plugins()
    for spec in specs:
        load_hooks(spec)


def load_hooks(spec: str) -> None:
    """Import a module by name or a file by its path; the same one is loaded once.

    Raises `ConfigError` for whatever goes wrong in it.
    """
    search_working_directory()
    try:
        _load(spec)
    except UnreadableFile as error:
        raise ConfigError(f"cannot load hooks from {spec!r}: {error}") from error
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ConfigError(
            f"cannot load hooks from {spec!r}: {type(error).__name__}: {_one_line(error)}"
        ) from error


def _load(spec: str) -> None:
    if not spec.endswith(".py"):
        importlib.import_module(spec)
        return
    path = Path(spec).resolve()
    if not path.exists():
        raise FileNotFoundError(f"there is no file {spec}")
    name = f"checker_hooks_{path.stem}_{abs(hash(str(path))):x}"
    if any(getattr(module, "__file__", None) == str(path) for module in list(sys.modules.values())):
        return
    # What Python is given to read has an end.
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


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
