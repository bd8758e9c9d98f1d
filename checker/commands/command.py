"""Commands, and groups of them, whose errors are sentences; the output and the exit code of their process."""

import dataclasses
import sys
import time
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from checker.core.errors import CheckerError, LoaderError, UsageError, did_you_mean
from checker.core.system import end_at_interrupts, guarded_output, open_closed_streams, raise_interrupts, uncollected
from checker.core.terminal import encodable, one_line, printable


def echo(text: str, *, err: bool = False) -> None:
    """Print text of one or more lines, made safe so that it cannot control the terminal or a CI runner. `err`: to standard error."""
    stream = sys.stderr if err else sys.stdout
    click.echo(encodable(printable(text), stream.encoding or "utf-8"), err=err)


def echo_line(text: str, *, err: bool = False) -> None:
    r"""Print one line as `echo` does; a line feed in it is shown as `\n`."""
    echo(one_line(text), err=err)


def echo_command(command: str) -> None:
    """Print a command for the CI runner: an annotation of checker, whose values `reporting/github.py` has escaped."""
    click.echo(encodable(command, sys.stdout.encoding or "utf-8"))


INTERRUPTED = 130
CANNOT = 2


def run_program(began_at: float) -> int:
    """Return the exit code of the command line in `sys.argv`, also if streams are closed or the process is interrupted.

    `began_at`: when the process began, of `time.monotonic`.
    """
    open_closed_streams()
    outlet = guarded_output()
    try:
        raise_interrupts()
        with uncollected():
            command_line = import_module("checker.cli")
        code = command_line.main(began_at)
    except KeyboardInterrupt:
        code = INTERRUPTED
    end_at_interrupts()
    sys.stdout.flush()
    # A terminal that closes both interrupts the run and breaks the output. The exit code is that of the interrupt.
    if outlet.problem and code != INTERRUPTED:
        print(  # noqa: T201 - the one line that is not ours to lose
            f"Error: standard output cannot be written: {outlet.problem}; the output is incomplete", file=sys.stderr
        )
        return CANNOT
    return int(code)


_MOST = 3
_TESTING = ("run", "fuzz")
# `--check` means `--checks`, not the end of `--suppress-health-check`. `--path` means an end of an option, not `--auth`.
_TYPO = 0.8
_ALIKE = 0.7  # Least similarity of a suggestion. With a lower one, `--report` would be suggested for `--target`.


# Not a struct, because msgspec would take a tenth of the time of `--help`.
@dataclasses.dataclass
class Root:
    """The options before the name of the command."""

    config_file: str | None = None
    no_color: bool = False
    hooks: tuple[str, ...] = ()  # Modules that are loaded before the command.
    corpus: str | None = None  # Name of the corpus; None: named after the project or the location.
    began_at: float = dataclasses.field(default_factory=time.monotonic)
    """The start of the process by `time.monotonic`, from which the time of a run is counted."""


class Command(click.Command):
    """Converts errors of checker to errors of click. These print `Usage: ...` if that helps, and end with exit code 2."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; suggest a similar option for an unknown one."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            if elsewhere := _place_of(name, ctx):
                raise click.UsageError(f"No such option {name!r}. {elsewhere}", ctx) from error
            # Names are compared without dashes, which all of them have.
            wanted = name.lstrip("-")
            names = [known[2:] for one in self.params for known in one.opts if known.startswith("--")]
            same_end = [known for known in names if f"-{known}".endswith(f"-{wanted}") or wanted.endswith(f"-{known}")]
            typo, alike = (get_close_matches(wanted, names, n=1, cutoff=least) for least in (_TYPO, _ALIKE))
            near = typo or get_close_matches(wanted, same_end, n=_MOST, cutoff=0) or alike
            unknown = click.NoSuchOption(name, ctx=ctx)
            # The constructor of click 8.5 drops names that are not alike, such as `--include-operation-id` for `--id`.
            unknown.possibilities = [f"--{known}" for known in near]  # type: ignore[misc]
            raise unknown from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from error
        except CheckerError as error:
            raise CannotRun(error) from error


def _place_of(option: str, ctx: click.Context) -> str:
    """Return a sentence about another command that has the option, or about its name here; empty if no other has it."""
    if ctx.parent is None or not isinstance(group := ctx.parent.command, click.Group):
        return ""
    if any(option in one.opts for one in group.params):
        before = f"{ctx.parent.info_name} {option} ... {ctx.info_name}"
        return f"Put it before the command: `{before}`"
    own = {one.name: one.opts[0] for one in ctx.command.params}
    for name in _TESTING:
        other = group.get_command(ctx.parent, name)
        for one in other.params if other else ():
            if option in one.opts:
                command = f"{ctx.parent.info_name} {name}"
                # Options that set the same parameter do the same.
                return f"Here it is `{own[one.name]}`" if one.name in own else f"`{command}` has it"
    return ""


class CommandGroup(click.Group):
    """A command group that suggests the nearest subcommand if the given one does not exist."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return (name, command, remaining arguments) of the command line."""
        name = args[0]
        is_known = name.startswith("-") or self.get_command(ctx, name) is not None
        if not is_known and not ctx.resilient_parsing:
            hint = did_you_mean(name, self.list_commands(ctx)) or "."
            raise click.UsageError(f"No such command {name!r}{hint}", ctx)
        return super().resolve_command(ctx, args)


class CannotRun(click.ClickException):
    """Something other than the command line itself is wrong."""

    exit_code = 2

    def __init__(self, error: CheckerError) -> None:
        extras = error.extras if isinstance(error, LoaderError) else []
        super().__init__("\n".join([str(error), *(f"  {line}" for line in extras)]))

    def show(self, file: Any = None) -> None:
        prefix = "" if self.message.startswith("Failed to load") else "Error: "
        click.echo(f"{prefix}{self.message}", file=file, err=file is None)
