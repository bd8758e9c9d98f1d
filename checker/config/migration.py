"""Keys of earlier generations of such tools, and what they are today."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import ParseError

from checker.config.table import SECTIONS, Path, subsections
from checker.core.errors import ConfigError

Today = tuple[str, Callable[[Any], Any]]
"""The key in dots, and its value from the one of before."""


def _same(value: Any) -> Any:
    return value


def _seconds(value: Any) -> Any:
    return value / 1000


def _when_on(today: Any) -> Callable[[Any], Any]:
    return lambda value: today if value else None


def _of_modes(value: Any) -> Any:
    names = {str(one) for one in value} if isinstance(value, list) else {str(value)}
    return "all" if {"positive", "negative"} <= names else min(names)


RENAMED: Final[Mapping[str, Today]] = {
    "data-generation-method": ("generation.mode", _of_modes),
    "generation.modes": ("generation.mode", _of_modes),
    "exitfirst": ("max-failures", _when_on(1)),
    "max-response-time": ("checks.max_response_time", _seconds),
    "request-proxy": ("proxy", _same),
    "request-tls-verify": ("tls-verify", _same),
    "junit-xml": ("reports.junit.path", _same),
    "cassette-path": ("reports.vcr.path", _same),
    "cassette-preserve-exact-body-bytes": ("reports.preserve-bytes", _same),
    "sanitize-output": ("output.sanitization.enabled", _same),
    "stateful": ("phases.stateful.enabled", lambda value: value != "none"),
    "stateful-recursion-limit": ("phases.stateful.max-steps", _same),
    "contrib-unique-data": ("generation.unique-inputs", _same),
    "contrib-openapi-fill-missing-examples": ("phases.examples.fill-missing", _same),
    "pre-run": ("hooks", _same),
    "set-query": ("parameters", _same),
    "proptest-max-examples": ("generation.max-examples", _same),
    "proptest-seed": ("seed", _same),
    "proptest-derandomize": ("generation.deterministic", _same),
    "proptest-database": ("generation.database", _same),
    "proptest-suppress-health-check": ("suppress-health-check", _same),
    "generation-allow-x00": ("generation.allow-x00", _same),
    "generation-codec": ("generation.codec", _same),
}
GONE: Final[Mapping[str, str]] = {
    "experimental": "what it switched on is always on",
    "fixups": "register a hook instead",
    "store-network-log": "set `reports.vcr.path`",
    "hosts-file": "give the token in CHECKER_TOKEN",
    "checker-io-telemetry": "nothing is ever sent to us",
    "contrib-openapi-formats-uuid": "it is always on",
    "show-trace": "it is always on",
}
"""Keys that are left out, with what to do instead."""


def migrated(text: str) -> tuple[str, list[str]]:
    """The file with today's keys, comments kept, and a line for each change. Raises `ConfigError`."""
    try:
        document = tomlkit.parse(text)
    except ParseError as error:
        raise ConfigError(f"The content is not valid TOML: {error}") from error
    changes = list(_changes(document))
    return tomlkit.dumps(document), changes


def _changes(document: TOMLDocument) -> Iterator[str]:
    yield from _respelt(document, ())
    for name, (today, value_of) in RENAMED.items():
        if (value := _taken(document, name)) is not None:
            new = value_of(value.unwrap() if hasattr(value, "unwrap") else value)
            if new is not None:
                _put(document, today, new)
            yield f"{name} -> {today} = {new!r}"
    for name, instead in GONE.items():
        if _taken(document, name) is not None:
            yield f"{name} is left out: {instead}"


def _respelt(table: Any, path: Path) -> Iterator[str]:
    """Underscores become dashes where keys have dashes."""
    keys, inner = SECTIONS.get(path, {}), subsections(path)
    old = {name.partition(".")[0]: name for name in (*RENAMED, *GONE)} if not path else {}
    for name in list(table):
        dashed = str(name).replace("_", "-")
        if name not in keys and dashed != name and (dashed in keys or dashed in (*inner, *old)):
            table[dashed] = table.pop(name)
            yield f"{'.'.join((*path, str(name)))} -> {dashed}"
            name = dashed
        if name in inner and isinstance(table[name], dict):
            yield from _respelt(table[name], (*path, str(name)))


def _taken(document: Any, name: str) -> Any:
    *sections, key = name.split(".")
    table = document
    for section in sections:
        table = table.get(section, {})
    # A section of today may be called as a key was.
    if key not in table or (isinstance(table[key], dict) and key not in ("set-query",)):
        return None
    return table.pop(key)


def _put(document: Any, name: str, value: Any) -> None:
    *sections, key = name.split(".")
    table = document
    for section in sections:
        if section not in table:
            table[section] = tomlkit.table()
        table = table[section]
    table.setdefault(key, value)
