"""`checker fuzz`."""

from typing import Any

import click

from checker.cli.options import FUZZ_SETTINGS, run_options
from checker.cli.running import run_command
from checker.cli.testing import TestingCommand


@click.command(cls=TestingCommand)
@run_options(FUZZ_SETTINGS)
@click.pass_context
def fuzz(ctx: click.Context, /, **options: Any) -> None:
    """Test the API that LOCATION describes until the time limit or Ctrl-C; without a time limit, until the first failure."""
    run_command(ctx, "fuzz", options, FUZZ_SETTINGS)
