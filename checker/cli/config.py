"""`checker config`: what may stand in `checker.toml`, and what counts."""

import json
from urllib.parse import urlsplit

import click

from checker.cli.any_key import apply_keys
from checker.cli.command import Command, CommandGroup
from checker.cli.main import Root
from checker.cli.output import echo, echo_line
from checker.cli.values import location as location_of
from checker.config.config import Config
from checker.config.effective import effective_keys
from checker.config.json_schema import json_schema
from checker.config.kinds import did_you_mean
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
