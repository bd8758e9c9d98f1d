"""Files of known failures, TOML or JSON: what stands in them, checked."""

import json
import tomllib
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from checker.core.errors import ConfigError
from checker.core.known import KnownFailure
from checker.core.local_files import read_local

FORMAT_VERSION: Final = 1
LIST: Final = "failures"
"""Name of the list of entries."""
_MOST_BYTES: Final = 16 << 20
_NAMES: Final = KnownFailure.__struct_fields__
_DAYS: Final = ("first_seen", "last_seen", "expires")


def read_baseline(path: Path) -> tuple[KnownFailure, ...]:
    """Entries of a file, in its order. Raises `ConfigError`, `UnreadableFile`."""
    content = read_local(path, "a baseline", most_bytes=_MOST_BYTES)
    document = _parsed(path, content)
    if not isinstance(document, Mapping) or not isinstance(document.get(LIST, []), list):
        raise ConfigError(f"{path}: must hold a list `{LIST}`; `--baseline-update` writes one")
    version = _plain(document).get("format_version", FORMAT_VERSION)
    if version != FORMAT_VERSION:
        raise ConfigError(
            f"{path}: format_version is {version!r}, and this version of checker reads {FORMAT_VERSION}; "
            "use a newer one"
        )
    entries = document.get(LIST, [])
    return tuple(_entry(f"{path}: {LIST}[{at}]", one) for at, one in enumerate(entries))


def is_json(path: Path) -> bool:
    """Whether a file is JSON, by its name; any other is TOML."""
    return path.suffix.lower() == ".json"


def _parsed(path: Path, content: bytes) -> Any:
    try:
        text = content.decode()
        return json.loads(text) if is_json(path) else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if is_json(path) else "TOML"
        raise ConfigError(f"{path}: is no valid {kind}: {error}") from error


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    """With the names of keys as JSON has them: TOML writes `first-seen`."""
    return {key.replace("-", "_"): value for key, value in table.items()}


def _entry(where: str, value: object) -> KnownFailure:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: must be a table, but got {value!r}")
    given = _plain(value)
    for name, text in given.items():
        if name not in _NAMES:
            near = get_close_matches(name, _NAMES, n=1)
            hint = f". Did you mean {near[0]!r}?" if near else f"; there are {', '.join(_NAMES)}"
            raise ConfigError(f"{where}: unknown key {name!r}{hint}")
        given[name] = _day(where, name, text) if name in _DAYS else text
        if not isinstance(given[name], str):
            raise ConfigError(f"{where}.{name}: must be text, but got {text!r}")
    if not given.get("fingerprint") and not given.get("check"):
        raise ConfigError(f"{where}: must have a `fingerprint` or a `check`, or it means nothing")
    return KnownFailure(**given)


def _day(where: str, name: str, value: object) -> str:
    """A day as ISO 8601 writes it; TOML has days of its own."""
    try:
        if value == "":
            return ""
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ConfigError(
            f"{where}.{name}: must be a day like 2026-12-31, but got {value!r}"
        ) from None
