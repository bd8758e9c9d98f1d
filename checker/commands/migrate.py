"""`checker migrate`: rewrite the configuration of an earlier generation with the current keys."""

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Final

import click
import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import ParseError

from checker.commands.command import Command
from checker.commands.legacy import RENAMED, rewritten
from checker.config.config import Config
from checker.config.table import SECTIONS, Path, subsections
from checker.core.errors import ConfigError, UsageError

GONE: Final[Mapping[str, str]] = {
    "experimental": "its features are always on",
    "fixups": "register a hook instead",
    "hosts-file": "give the token in CHECKER_TOKEN",
    "checker-io-telemetry": "no telemetry is ever sent",
    "contrib-openapi-formats-uuid": "it is always on",
    "show-trace": "it is always on",
    "show-errors-tracebacks": "it is always on",
    "dry-run": "give `--dry-run`",
    "app": "give `--app`",
}
"""Keys that are left out, with what to do instead."""


def _changes(document: TOMLDocument) -> Iterator[str]:
    yield from _respelt(document, ())
    for name in RENAMED:
        if (value := _taken(document, name)) is not None:
            try:
                today = rewritten(name, value.unwrap() if hasattr(value, "unwrap") else value)
            except (ValueError, TypeError) as error:
                raise ConfigError(f"{name} cannot be rewritten: {error}") from error
            for key, new in today:
                is_new = _put(document, key, new)
                yield f"{name} -> {key} = {new!r}" + ("" if is_new else ": skipped, because the key is set already")
            if not today:
                yield f"{name} is removed: it has no effect"
    for name, instead in GONE.items():
        if _taken(document, name) is not None:
            yield f"{name} is removed: {instead}"


def _respelt(table: Any, path: Path) -> Iterator[str]:
    """Replace underscores by dashes in the names of keys. Yield a line for each change."""
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
    """Remove an old key and return its value; None if it is missing."""
    *sections, key = name.split(".")
    table = document
    for section in sections:
        table = table.get(section, {})
    # A current section may have the name of an old key.
    is_section = (*sections, key) in SECTIONS or key in subsections(tuple(sections))
    if key not in table or (isinstance(table[key], dict) and is_section):
        return None
    return table.pop(key)


def _put(document: Any, name: str, value: Any) -> bool:
    """Set a current key, unless it is set already. Return whether it was set."""
    if name == "operations":
        document.setdefault(name, tomlkit.aot()).append(tomlkit.item(value))
        return True
    *sections, key = name.split(".")
    table = document
    for section in sections:
        if section not in table:
            table[section] = tomlkit.table()
        table = table[section]
        if not isinstance(table, dict):
            return False
    if isinstance(value, dict) and isinstance(table.get(key), dict):
        new = {one: item for one, item in value.items() if one not in table[key]}
        table[key].update(new)
        return bool(new)
    if key in table:
        return False
    table[key] = value
    return True


@click.command(cls=Command)
@click.argument("file", metavar="CONFIG", type=click.Path(exists=True, dir_okay=False, path_type=FilePath))
@click.option("--dry-run", is_flag=True, help="Print the new file instead of writing it.")
def migrate(file: FilePath, *, dry_run: bool) -> None:
    """Rewrite CONFIG with the current keys and print each change. The old file is kept as CONFIG.before."""
    try:
        before = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    try:
        document = tomlkit.parse(before)
    except ParseError as error:
        raise ConfigError(f"The content is not valid TOML: {error}") from error
    changes = list(_changes(document))
    text = tomlkit.dumps(document)
    for change in changes:
        click.echo(change, err=dry_run)
    if dry_run:
        click.echo(text, nl=False)
        return
    if changes:
        file.with_name(f"{file.name}.before").write_text(before, encoding="utf-8")
        file.write_text(text, encoding="utf-8")
    else:
        click.echo("nothing to change")
    Config.from_path(file)
