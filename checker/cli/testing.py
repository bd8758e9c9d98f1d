"""A command that also takes the options of earlier generations."""

import click

from checker.cli.command import Command
from checker.cli.legacy import modern
from checker.cli.topics import write_first_page
from checker.core.errors import UsageError


class TestingCommand(Command):
    """`run` and `fuzz`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; of options that are called otherwise today, say how."""
        try:
            args, hints = modern(args, self.params)
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from error
        for hint in hints:
            click.echo(f"Hint: {hint}", err=True)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The first page: what is used most, and what else there is."""
        write_first_page(self, ctx, formatter)
