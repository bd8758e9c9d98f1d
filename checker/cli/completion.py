"""`checker completion`."""

import click
from click.shell_completion import get_completion_class

from checker.cli.command import Command
from checker.cli.main import checker

_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print what makes a shell complete commands and options: `eval "$(checker completion bash)"`."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(checker, {}, "checker", "_CHECKER_COMPLETE").source())
