"""A command that tests an API: it has so many options that they need pages."""

import click

from checker.cli.legacy_command import LegacyCommand
from checker.cli.topics import write_first_page


class TestingCommand(LegacyCommand):
    """`run` and `fuzz`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The first page: what is used most, and what else there is."""
        write_first_page(self, ctx, formatter)
