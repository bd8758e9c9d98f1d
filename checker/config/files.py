"""Files that a configuration names: known failures, queries of GraphQL, dictionaries of values."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

from checker.config.value_kinds import did_you_mean_or_all
from checker.core.errors import ConfigError, UnreadableFile
from checker.core.known import KnownFailure
from checker.core.scalars import is_number
from checker.core.system import later_pattern, read_local

FORMAT_VERSION: Final = 1
LIST: Final = "failures"  # Name of the list of entries.
_MOST_BYTES: Final = 16 << 20
WEIGHTS: Final = "weights"  # Name of the object of costs in a file of shard weights.
_MOST_COST: Final = 1e12
_NAMES: Final = KnownFailure.__struct_fields__
DAYS: Final = ("first_seen", "last_seen", "expires")  # Fields of an entry that are days.


def read_baseline(path: Path) -> tuple[KnownFailure, ...]:
    """Return the entries of a baseline, in file order. Raises `ConfigError`, `UnreadableFile`."""
    content = read_local(path, "a baseline", most_bytes=_MOST_BYTES)
    document = _parsed(path, content, as_json=is_json(path))
    if not isinstance(document, Mapping) or not isinstance(document.get(LIST, []), list):
        raise ConfigError(f"{path}: must hold a list `{LIST}`; `--baseline-update` writes one")
    version = _plain(document).get("format_version", FORMAT_VERSION)
    if version != FORMAT_VERSION:
        raise ConfigError(
            f"{path}: format_version is {version!r}, and this version of checker reads {FORMAT_VERSION}; "
            "use a newer one"
        )
    return tuple(_entry(f"{path}: {LIST}[{at}]", one) for at, one in enumerate(document.get(LIST, [])))


def read_weights(path: Path) -> tuple[tuple[str, float], ...]:
    """Return (operation, seconds) of a file of shard weights. Raises `ConfigError`, `UnreadableFile`."""
    document = _parsed(path, read_local(path, "a file of shard weights", most_bytes=_MOST_BYTES), as_json=True)
    weights = document.get(WEIGHTS) if isinstance(document, Mapping) else None
    is_good = isinstance(weights, Mapping) and all(
        is_number(cost) and 0 <= cost < _MOST_COST for cost in weights.values()
    )
    if not isinstance(weights, Mapping) or not is_good:
        raise ConfigError(
            f"{path}: must hold an object {WEIGHTS!r} of operations and their seconds; "
            "`checker report --format weights` writes one"
        )
    return tuple((label, float(cost)) for label, cost in weights.items())


def is_json(path: Path) -> bool:
    """Whether a file is JSON, by its name. Other files are TOML."""
    return path.suffix.lower() == ".json"


def _parsed(path: Path, content: bytes, *, as_json: bool) -> Any:
    try:
        text = content.decode()
        return json.loads(text) if as_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if as_json else "TOML"
        raise ConfigError(f"{path}: is no valid {kind}: {error}") from error


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with the names that JSON uses: TOML has `first-seen` for `first_seen`."""
    return {key.replace("-", "_"): value for key, value in table.items()}


def _entry(where: str, value: object) -> KnownFailure:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: must be a table, but got {value!r}")
    given = _plain(value)
    for name, text in given.items():
        if name not in _NAMES:
            raise ConfigError(f"{where}: unknown key {name!r}{did_you_mean_or_all(name, _NAMES)}")
        if name not in DAYS:
            given[name] = text
        else:
            try:
                if text == "":
                    given[name] = ""
                else:
                    given[name] = date.fromisoformat(str(text)).isoformat()
            except ValueError:
                raise ConfigError(f"{where}.{name}: must be a day like 2026-12-31, but got {text!r}") from None
        if not isinstance(given[name], str):
            raise ConfigError(f"{where}.{name}: must be text, but got {text!r}")
    if not given.get("fingerprint") and not given.get("check"):
        raise ConfigError(f"{where}: must have a `fingerprint` or a `check`, or it means nothing")
    return KnownFailure(**given)


QUERIES_KEY: Final = "phases.examples.queries"
_MOST_QUERY_BYTES: Final = 1 << 20
_MOST_QUERY_FILES: Final = 1000
_MAGIC: Final = frozenset("*?[")


class QueryFile(NamedTuple):
    """One file of GraphQL operations."""

    path: str
    text: str
    variables: str  # JSON of the file beside it; empty without one.


def read_queries(names: Iterable[str], folder: Path) -> tuple[QueryFile, ...]:
    """Return files by their paths below a folder; `*` matches any names. Raises `ConfigError`."""
    found = dict.fromkeys(path for name in names for path in _query_paths(name, folder))
    if len(found) > _MOST_QUERY_FILES:
        raise ConfigError(f"{QUERIES_KEY}: {len(found)} files are named; name {_MOST_QUERY_FILES} at most")
    return tuple(
        QueryFile(str(path), _query_text(path), _query_text(beside) if beside.exists() else "")
        for path in found
        for beside in [path.with_name(f"{path.stem}.variables.json")]
    )


def _query_paths(name: str, folder: Path) -> Iterator[Path]:
    if _MAGIC.isdisjoint(name):
        yield folder / name
        return
    if Path(name).is_absolute():
        raise ConfigError(
            f"{QUERIES_KEY}: {name!r} is absolute and has a star; write it from the folder of the configuration"
        )
    some = sorted(path for path in folder.glob(name) if path.is_file())
    if not some:
        raise ConfigError(f"{QUERIES_KEY}: no file is called {name!r}; it is looked for below {folder}")
    yield from some


def _query_text(path: Path) -> str:
    try:
        return read_local(path, "a file of GraphQL queries", most_bytes=_MOST_QUERY_BYTES).decode()
    except UnreadableFile as error:
        raise ConfigError(f"{QUERIES_KEY}: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{QUERIES_KEY}: {path} is not UTF-8: {error}") from error


_MOST_DICTIONARY_BYTES: Final = 16 << 20
_SHOWN: Final = 200
_LINE = later_pattern(r'(?:[A-Za-z0-9_.@-]+\s*=\s*)?"(?P<text>(?:[^"\\]|\\.)*)"\s*(?:#.*)?\Z')
_ESCAPE = later_pattern(r"\\(x[0-9A-Fa-f]{2}|.)")
_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t"}


def read_dictionary(folder: Path, name: str) -> tuple[str, ...]:
    """Return the entries of a file beside a configuration, in order. Raises `ConfigError` that names file and line."""
    path = folder / name
    try:
        content = read_local(path, "a dictionary", most_bytes=_MOST_DICTIONARY_BYTES)
    except UnreadableFile as error:
        raise ConfigError(f"cannot read the dictionary file: {error}") from error
    # Latin-1 keeps every byte apart until escapes are resolved.
    lines = content.decode("latin-1").split("\n")
    entries = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            entries.append(_dictionary_entry(text, f"{path}:{number}"))
    if not entries:
        raise ConfigError(f"the dictionary file {path} has no entries; give it at least one")
    return tuple(entries)


def _dictionary_entry(line: str, place: str) -> str:
    found = _LINE.match(line)
    if found is None:
        raise ConfigError(f'{place}: expected a quoted entry like name="value", but got {line[:_SHOWN]!r}')

    def resolved(escape: re.Match[str]) -> str:
        kind = escape[1]
        if kind[0] == "x" and len(kind) == 3:
            return chr(int(kind[1:], 16))
        if kind not in _ESCAPES:
            raise ConfigError(f'{place}: unknown escape \\{kind}; use \\\\, \\", \\n, \\r, \\t or \\xAB')
        return _ESCAPES[kind]

    raw = _ESCAPE.sub(resolved, found["text"]).encode("latin-1")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
