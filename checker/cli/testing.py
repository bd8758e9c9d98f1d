"""A command that tests an API: it has so many options that they need pages, and modules of users add some."""

import os

import click

from checker.cli.command import CannotRun
from checker.cli.extension_loading import load_extensions, options_of_users
from checker.cli.legacy_command import LegacyCommand
from checker.cli.main import Root
from checker.cli.topics import write_first_page
from checker.core.errors import ConfigError


class TestingCommand(LegacyCommand):
    """`run` and `fuzz`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line, with the options of modules that are known before the configuration is."""
        root = ctx.find_object(Root) or Root()
        try:
            load_extensions(filter(None, (*root.hooks, os.environ.get("CHECKER_HOOKS"))))
        except ConfigError as error:
            raise CannotRun(error) from error
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Options of ours, and those that users add."""
        return [*super().get_params(ctx), *options_of_users()]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The first page: what is used most, and what else there is."""
        write_first_page(self, ctx, formatter)
