"""Queries in files that a configuration names, each with the variables beside it: `user.graphql`, `user.variables.json`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from checker.core.errors import ConfigError, UnreadableFile
from checker.core.local_files import read_local

KEY: Final = "phases.examples.queries"
_MOST_BYTES: Final = 1 << 20
_MOST_FILES: Final = 1000
_MAGIC: Final = frozenset("*?[")


class QueryFile(NamedTuple):
    """One file of GraphQL operations."""

    path: str
    text: str
    variables: str
    """JSON of the file beside it; empty without one."""


def read_queries(names: Iterable[str], folder: Path) -> tuple[QueryFile, ...]:
    """Files by their paths below a folder; `*` stands for any names. Raises `ConfigError`."""
    found = dict.fromkeys(path for name in names for path in _paths(name, folder))
    if len(found) > _MOST_FILES:
        raise ConfigError(f"{KEY}: {len(found)} files are named; name {_MOST_FILES} at most")
    return tuple(map(_read, found))


def _paths(name: str, folder: Path) -> Iterator[Path]:
    if _MAGIC.isdisjoint(name):
        yield folder / name
        return
    if Path(name).is_absolute():
        raise ConfigError(
            f"{KEY}: {name!r} is absolute and has a star; write it from the folder of the configuration"
        )
    some = sorted(path for path in folder.glob(name) if path.is_file())
    if not some:
        raise ConfigError(f"{KEY}: no file is called {name!r}; it is looked for below {folder}")
    yield from some


def _read(path: Path) -> QueryFile:
    beside = path.with_name(f"{path.stem}.variables.json")
    return QueryFile(str(path), _text(path), _text(beside) if beside.exists() else "")


def _text(path: Path) -> str:
    try:
        return read_local(path, "a file of GraphQL queries", most_bytes=_MOST_BYTES).decode()
    except UnreadableFile as error:
        raise ConfigError(f"{KEY}: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{KEY}: {path} is not UTF-8: {error}") from error
