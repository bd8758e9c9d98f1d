"""`checker list` and `checker graph`, and the settings of commands that take the options of `run` but test nothing."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from checker.commands.command import echo, echo_line
from checker.commands.options import RUN_SETTINGS, configured_by, read_filters, run_options
from checker.commands.topics import TestingCommand
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.corpus.layout import RunLayout
from checker.reporting.outline import GRAPHS, outline_json, outline_text
from checker.workers.starting.outline import read_outline, read_resources


@contextmanager
def planned_run(ctx: click.Context, options: Mapping[str, Any]) -> Iterator[tuple[RunSettings, RunLayout]]:
    """Yield the settings of a run with these options, and a temporary folder.

    Raises `ConfigError` and `UsageError`.
    """
    filters = read_filters(options)
    config, root = configured_by(ctx, options, RUN_SETTINGS)
    occasion = Invocation(options["location"], filters=filters, app=options["app"], hooks=root.hooks)
    settings = run_settings(config, occasion)
    with tempfile.TemporaryDirectory() as folder:
        layout = RunLayout(Path(folder))
        layout.create()
        yield settings.with_changes(corpus={"folder": folder}), layout


@click.command(cls=TestingCommand)
@click.option(
    "--format",
    "shape",
    type=click.Choice(tuple(GRAPHS)),
    default="text",
    help="Lines for people, or the language of Graphviz or Mermaid.",
)
@run_options(RUN_SETTINGS)
@click.pass_context
def graph(ctx: click.Context, /, shape: str, **options: Any) -> None:
    """Show which operations create the resources that others use, and the links from responses to requests.

    Nothing is sent but what fetches the description at LOCATION.
    """
    with planned_run(ctx, options) as (settings, layout):
        title, model = read_resources(settings, layout)
    echo(GRAPHS[shape](title, model))


@click.command(cls=TestingCommand)
@click.option(
    "--format",
    "shape",
    type=click.Choice(("text", "json")),
    default="text",
    help="Lines for people, or one JSON object.",
)
@run_options(RUN_SETTINGS)
@click.pass_context
def list(ctx: click.Context, /, shape: str, **options: Any) -> None:
    """List the operations that `run` with these options would test: what each takes, and the phases that have requests for it.

    Nothing is sent but what fetches the description at LOCATION.
    """
    with planned_run(ctx, options) as (settings, layout):
        outline = read_outline(settings, layout)
    for sentence in outline.unmatched:
        echo_line(f"Warning: {sentence}", err=True)
    echo(outline_json(outline) if shape == "json" else outline_text(outline))
