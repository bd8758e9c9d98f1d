"""A command that also takes the options of earlier generations."""

import click

from checker.cli.command import Command
from checker.cli.legacy import modern
from checker.cli.output import echo_line
from checker.core.errors import UsageError


class LegacyCommand(Command):
    """Says of each old option how it is called today."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line."""
        try:
            args, hints = modern(args, self.get_params(ctx))
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from error
        for hint in hints:
            echo_line(f"Hint: {hint}", err=True)
        return super().parse_args(ctx, args)
