"""`checker config`: what may stand in `checker.toml`, and what counts."""

import json
from urllib.parse import urlsplit

import click

from checker.cli.any_key import apply_keys
from checker.cli.command import Command, CommandGroup
from checker.cli.main import Root
from checker.cli.values import location as location_of
from checker.config.config import Config
from checker.config.effective import effective_keys
from checker.config.json_schema import json_schema
from checker.config.resolve import fetch_limits, sanitization_of
from checker.kinds.sources import FetchOptions, FileSource, UrlSource
from checker.kinds.table import open_description


@click.group(cls=CommandGroup)
def config() -> None:
    """Look into the configuration."""


@config.command(cls=Command)
def schema() -> None:
    """Print the JSON Schema of checker.toml: editors complete and check by it."""
    click.echo(json.dumps(json_schema(), indent=2))


@config.command(cls=Command)
@click.argument(
    "location", required=False, callback=lambda *given: given[2] and location_of(*given)
)
@click.option("--set", "keys", multiple=True, metavar="NAME=VALUE", help="Any key.")
@click.option("--changed", is_flag=True, help="Only what somebody has said.")
@click.pass_context
def show(ctx: click.Context, location: str | None, keys: tuple[str, ...], *, changed: bool) -> None:
    """Print the value of every key and where it comes from; for the API at LOCATION, its `[[project]]` table counts."""
    root = ctx.find_object(Root) or Root()
    found = Config.from_path(root.config_file) if root.config_file else Config.discover()
    apply_keys(found, keys)
    if location is not None:
        is_url = bool(urlsplit(location).netloc)
        source = UrlSource(location) if is_url else FileSource(location)
        redaction = sanitization_of(found).redaction
        opened = open_description(
            source,
            FetchOptions(
                found.tls_verify,
                found.proxy,
                fetch_limits(found),
                redaction,
                version=found.documents.version,
            ),
        )
        found = found.for_project(opened.title)
    for one in effective_keys(found, sanitization_of(found).redaction):
        if not changed or one.source != "default":
            value = "(not set)" if one.value is None else json.dumps(one.value, ensure_ascii=False)
            click.echo(f"{one.name} = {value}  # {one.source}")
    for number, block in enumerate(found.operations):
        listed = ", ".join(
            ".".join((*path, key)) for path, of in block.values.items() for key in of
        )
        click.echo(f"[[operations]] {number}: {listed}  # {found.config_path}")
