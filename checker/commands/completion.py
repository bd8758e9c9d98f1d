"""`checker completion`."""

import click
from click.shell_completion import get_completion_class

from checker.commands.command import Command

_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that lets a shell complete commands and options: `eval "$(checker completion bash)"`."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "checker", "_CHECKER_COMPLETE").source())
