"""`--set NAME=VALUE`: any key of the configuration, also those that have no option."""

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from checker.cli.values import parsed_text
from checker.config.config import Config
from checker.config.kinds import MapOf
from checker.config.layers import keys_of
from checker.config.reading import read_layer
from checker.core.errors import ConfigError, UsageError


def apply_keys(config: Config, given: Iterable[str]) -> None:
    """Put keys of the command line on top of a configuration. Raises `UsageError`."""
    document: dict[str, Any] = {}
    for text in given:
        name, equals, value = _parted(text)
        if not equals:
            raise UsageError(f"--set: give NAME=VALUE, got {text!r}")
        _put(document, _names(name), value)
    try:
        layer = read_layer(document, below=[one for one, _ in config.sources])
    except ConfigError as error:
        raise UsageError(f"--set: {error}") from error
    for path, values in layer.items():
        section: Any = config
        for part in path:
            section = getattr(section, part)
        for key, value in values.items():
            known = keys_of(path).get(key)
            if known is not None and isinstance(known.kind, MapOf) and isinstance(value, Mapping):
                # Entry by entry: what others say of other names stays.
                section.update(**{_attribute(key): {**getattr(section, _attribute(key)), **value}})
            else:
                section.update(**{_attribute(key): value})


def _attribute(key: str) -> str:
    return key.replace("-", "_")


def _parted(text: str) -> tuple[str, str, str]:
    """Name, sign and value: names in quotes may hold the sign."""
    quoted = False
    for index, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif char == "=" and not quoted:
            return text[:index].strip(), "=", text[index + 1 :].strip()
    return text, "", ""


def _names(name: str) -> list[str]:
    try:
        tree: Any = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        raise UsageError(f"--set: {name!r} is not the name of a key") from None
    found = []
    while isinstance(tree, dict):
        [(key, tree)] = tree.items()
        found.append(key)
    return found


def _put(document: dict[str, Any], names: list[str], text: str) -> None:
    table = document
    for name in names[:-1]:
        table = table.setdefault(name, {})
    if not isinstance(table, dict):
        raise UsageError(f"--set: {'.'.join(names)} stands below a value")
    table[names[-1]] = _value(names, text)


def _value(names: list[str], text: str) -> Any:
    """As TOML reads it; a word without quotes is a text, or what its key makes of it."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        key = keys_of(tuple(names[:-1])).get(names[-1])
        return text if key is None else parsed_text(text, key.kind)
