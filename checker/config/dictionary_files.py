"""Dictionaries as libFuzzer and AFL read them: one quoted entry a line, a name before it if one likes, `#` comments."""

import re
from pathlib import Path
from typing import Final

from checker.core.errors import ConfigError, UnreadableFile
from checker.core.local_files import read_local

_MOST_BYTES: Final = 16 << 20
_SHOWN: Final = 200
_LINE = re.compile(r'(?:[A-Za-z0-9_.@-]+\s*=\s*)?"(?P<text>(?:[^"\\]|\\.)*)"\s*(?:#.*)?\Z')
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|.)")
_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t"}


class DictionaryFiles:
    """Dictionaries in files beside a configuration, each read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, tuple[str, ...]] = {}

    def entries(self, name: str) -> tuple[str, ...]:
        """Entries of a file, in order. Raises `ConfigError` that names file and line."""
        if name not in self._read:
            self._read[name] = read_dictionary(self._folder / name)
        return self._read[name]


def read_dictionary(path: Path) -> tuple[str, ...]:
    """Entries of a file, in order. Raises `ConfigError` that names file and line."""
    try:
        content = read_local(path, "a dictionary", most_bytes=_MOST_BYTES)
    except UnreadableFile as error:
        raise ConfigError(f"cannot read the dictionary file: {error}") from error
    # Latin-1 keeps every byte apart until escapes are resolved.
    lines = content.decode("latin-1").split("\n")
    entries = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            entries.append(_entry(text, f"{path}:{number}"))
    return tuple(entries)


def _entry(line: str, place: str) -> str:
    found = _LINE.match(line)
    if found is None:
        raise ConfigError(
            f'{place}: expected a quoted entry like name="value", but got {line[:_SHOWN]!r}'
        )

    def resolved(escape: re.Match[str]) -> str:
        kind = escape[1]
        if kind[0] == "x" and len(kind) == 3:
            return chr(int(kind[1:], 16))
        if kind not in _ESCAPES:
            raise ConfigError(
                f'{place}: unknown escape \\{kind}; use \\\\, \\", \\n, \\r, \\t or \\xAB'
            )
        return _ESCAPES[kind]

    raw = _ESCAPE.sub(resolved, found["text"]).encode("latin-1")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
