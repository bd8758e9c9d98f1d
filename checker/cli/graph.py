"""`checker graph`."""

from typing import Any

import click

from checker.cli.options import RUN_SETTINGS, run_options
from checker.cli.output import echo
from checker.cli.planned import planned_run
from checker.cli.testing import TestingCommand
from checker.reporting.graphs import GRAPHS
from checker.workers.starting.outline import read_resources


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
    """Show which operations make what others use, and the links that lead from answers to requests.

    Nothing is sent but what fetches the description at LOCATION.
    """
    with planned_run(ctx, options) as (settings, layout):
        title, model = read_resources(settings, layout)
    echo(GRAPHS[shape](title, model))
