"""`checker list`."""

from typing import Any

import click

from checker.cli.options import RUN_SETTINGS, run_options
from checker.cli.output import echo, echo_line
from checker.cli.planned import planned_run
from checker.cli.testing import TestingCommand
from checker.reporting.outlines import outline_json, outline_text
from checker.workers.starting.outline import read_outline


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
