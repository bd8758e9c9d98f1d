"""A command whose errors are sentences."""

from typing import Any

import click

from checker.core.errors import CheckerError, LoaderError, UsageError


class Command(click.Command):
    """Turns our errors into click's, which print `Usage: ...` where it helps and end with exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from error
        except CheckerError as error:
            raise CannotRun(error) from error


class CannotRun(click.ClickException):
    """Something other than the command line itself is wrong."""

    exit_code = 2

    def __init__(self, error: CheckerError) -> None:
        extras = error.extras if isinstance(error, LoaderError) else []
        super().__init__("\n".join([str(error), *(f"  {line}" for line in extras)]))

    def show(self, file: Any = None) -> None:
        """Print the sentence."""
        prefix = "" if self.message.startswith("Failed to load") else "Error: "
        click.echo(f"{prefix}{self.message}", file=file, err=file is None)
