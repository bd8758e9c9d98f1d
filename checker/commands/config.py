"""`checker config`: what may stand in `checker.toml`, and what counts."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import click

from checker.commands.command import Command, CommandGroup, Root
from checker.commands.output import echo, echo_line
from checker.commands.values import apply_keys
from checker.commands.values import location as location_of
from checker.config.config import Config
from checker.config.effective import effective_keys
from checker.config.json_schema import json_schema
from checker.config.kinds import did_you_mean
from checker.config.migration import migrated
from checker.config.resolve import fetch_limits, sanitization_of
from checker.core.errors import UsageError
from checker.core.operation import BrokenOperation, Operation
from checker.kinds.protocol import ApiSchema
from checker.kinds.sources import FetchOptions, FileSource, UrlSource
from checker.kinds.table import open_description


@click.group(cls=CommandGroup)
def config() -> None:
    """Look into the configuration."""


@config.command(cls=Command)
def schema() -> None:
    """Print the JSON Schema of checker.toml: editors complete and check by it."""
    echo(json.dumps(json_schema(), indent=2))


@config.command(cls=Command)
@click.argument(
    "location", required=False, callback=lambda *given: given[2] and location_of(*given)
)
@click.option("--set", "keys", multiple=True, metavar="NAME=VALUE", help="Any key.")
@click.option("--changed", is_flag=True, help="Only what somebody has said.")
@click.option(
    "--operation", "label", metavar="NAME", help="What counts for this operation of LOCATION."
)
@click.pass_context
def show(
    ctx: click.Context,
    location: str | None,
    keys: tuple[str, ...],
    label: str | None,
    *,
    changed: bool,
) -> None:
    """Print the value of every key and where it comes from; for the API at LOCATION, its `[[project]]` table counts."""
    root = ctx.find_object(Root) or Root()
    found = Config.from_path(root.config_file) if root.config_file else Config.discover()
    apply_keys(found, keys)
    operation = None
    if location is not None:
        opened = _opened(found, location)
        found = found.for_project(opened.title)
        operation = None if label is None else _operation(opened, label)
    elif label is not None:
        raise UsageError("--operation needs LOCATION: filters ask what its description says")
    for one in effective_keys(found, sanitization_of(found).redaction, operation):
        if not changed or one.source != "default":
            value = "(not set)" if one.value is None else json.dumps(one.value, ensure_ascii=False)
            echo_line(f"{one.name} = {value}  # {one.source}")
    for number, block in enumerate(found.operations):
        if operation is not None and not block.filters.matches(operation):
            continue
        listed = ", ".join(
            ".".join((*path, key)) for path, of in block.values.items() for key in of
        )
        echo_line(f"[[operations]] {number}: {listed}  # {found.config_path}")


def _opened(config: Config, location: str) -> ApiSchema:
    is_url = bool(urlsplit(location).netloc)
    source = UrlSource(location) if is_url else FileSource(location)
    redaction = sanitization_of(config).redaction
    return open_description(
        source,
        FetchOptions(
            config.tls_verify,
            config.proxy,
            fetch_limits(config),
            redaction,
            version=config.documents.version,
        ),
    )


def _operation(opened: ApiSchema, label: str) -> Operation:
    """Raises `UsageError` for one that is not there, or cannot be read."""
    found = opened.find(label)
    if isinstance(found, BrokenOperation):
        raise UsageError(f"{label} cannot be read: {found.error}")
    if found is None:
        hint = did_you_mean(label, [str(one.label) for one in opened.entries()])
        raise UsageError(f"no operation is called {label!r}{hint}")
    return found


@click.command(cls=Command)
@click.argument(
    "file", metavar="CONFIG", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--dry-run", is_flag=True, help="Print the new file instead of writing it.")
def migrate(file: Path, *, dry_run: bool) -> None:
    """Rewrite CONFIG with the keys of today, and tell each change; the old file stays beside it as CONFIG.before."""
    try:
        before = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    text, changes = migrated(before)
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
