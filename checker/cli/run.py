"""`checker run`."""

from typing import Any

import click

from checker.cli.options import RUN_SETTINGS, run_options
from checker.cli.running import run_command
from checker.cli.testing import TestingCommand


@click.command(cls=TestingCommand)
@run_options(RUN_SETTINGS)
@click.pass_context
def run(ctx: click.Context, /, **options: Any) -> None:
    """Test the operations of the API that LOCATION (a URL or a file) describes."""
    run_command(ctx, "run", options, RUN_SETTINGS)
