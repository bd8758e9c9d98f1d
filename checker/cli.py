"""`checker`: the options of the root, and the table of commands. A command is imported when it is used.

`checker.cli.handler` and the other names that extend the command line are resolved on first use: importing them
takes twice the time that `--help` takes.
"""

import io
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from checker import __version__
from checker.commands.command import CANNOT, INTERRUPTED, CommandGroup, Root, echo
from checker.core.system import limit_reached, uncollected

if TYPE_CHECKING:
    from checker.commands.extending import EventHandler as EventHandler
    from checker.commands.extending import HandlerContext as HandlerContext
    from checker.commands.extending import OptionGroup as OptionGroup
    from checker.commands.extending import add_group as add_group
    from checker.commands.extending import handler as handler

COMMANDS = {
    "run": "Test the operations of an API, each a bounded number of times.",
    "fuzz": "Explore an API until a time limit or Ctrl-C; without a limit, until the first failure.",
    "init": "Write a checker.toml for an API, and a job for CI.",
    "list": "List the operations that would be tested, and by which phases.",
    "graph": "Show which operations create the resources that others use.",
    "report": "Make reports of a run that has ended, was killed, or is still running.",
    "explain": "Explain a failure or a warning, and what to do about it.",
    "baseline": "Keep the file of known failures: add, list, compare.",
    "corpus": "Show what runs have learned, merge corpora, and make one smaller.",
    "replay": "Send the requests of a cassette again and compare the responses.",
    "auth": "Try the configured credentials.",
    "config": "Show the configuration in effect, or print the JSON Schema of checker.toml.",
    "migrate": "Rewrite a configuration of an earlier generation.",
    "completion": "Print the completion script for bash, zsh or fish.",
    "demo": "Try the tool on a bundled API with planted defects.",
}
"""Command -> one line of help."""
_MODULES = {"fuzz": "run", "graph": "outline", "list": "outline"}
"""Command -> its module in `checker.commands`, if the module has another name."""


class Commands(CommandGroup):
    """Subcommands that cost nothing until one of them is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name. The module of the command is imported only now."""
        if cmd_name not in COMMANDS:
            return None
        with uncollected():
            command = getattr(import_module(f"checker.commands.{_MODULES.get(cmd_name, cmd_name)}"), cmd_name)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table without importing the modules of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["--help", "-h"]})
@click.option("--config-file", metavar="PATH", help="Configuration file, instead of the nearest checker.toml.")
@click.option("--no-color", is_flag=True, help="No colours.")
@click.option("--pre-run", "hooks", multiple=True, hidden=True)
@click.version_option(__version__, prog_name="checker", message="%(prog)s, version %(version)s")
@click.pass_context
def checker(ctx: click.Context, config_file: str | None, *, no_color: bool, hooks: tuple[str, ...]) -> None:
    """Find the bugs of HTTP APIs before their users do."""
    root = ctx.ensure_object(Root)
    root.config_file, root.no_color, root.hooks = config_file, no_color, hooks
    if hooks:
        echo("Hint: --pre-run is now: the key `hooks`, or CHECKER_HOOKS", err=True)


def main(began_at: float) -> int:
    """Return the exit code of the command line in `sys.argv`, for a process that began at `began_at` (of `time.monotonic`)."""
    try:
        root = Root(began_at=began_at)
        code = checker.main(prog_name="checker", standalone_mode=False, obj=root)
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        echo(shown.getvalue().removesuffix("\n"), err=True)
        return error.exit_code
    except Exception as error:
        # The last handler of the program, so that even bugs of checker have an exit code.
        if limit_reached(error):
            raise
        echo(traceback.format_exc(), err=True)
        echo("This is a bug in checker, please report it.", err=True)
        return CANNOT
    return code if isinstance(code, int) else 0


def __getattr__(name: str) -> Any:
    """Return a public name that extends the command line."""
    return import_module("checker.faces").resolve(f"cli.{name}")
