"""The command line as a process: its output streams, its signals, its exit code."""

import sys
from importlib import import_module

import click

from checker.core.system import guarded_output, open_closed_streams, uncollected
from checker.core.terminal import encodable, one_line, printable
from checker.supervisor.signals import end_at_interrupts, raise_interrupts


def echo(text: str, *, err: bool = False) -> None:
    """Print text of one or more lines, which drives neither the terminal nor a CI runner, whatever it quotes.

    `err`: to standard error.
    """
    stream = sys.stderr if err else sys.stdout
    click.echo(encodable(printable(text), stream.encoding or "utf-8"), err=err)


def echo_line(text: str, *, err: bool = False) -> None:
    r"""Print one line as `echo` does; a line feed in it is shown as `\n`."""
    echo(one_line(text), err=err)


def echo_command(command: str) -> None:
    """Print a command for the CI runner: an annotation of our own, whose values `reporting/github.py` has escaped."""
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
            f"Error: standard output cannot be written: {outlet.problem}; what it shows is not all there is",
            file=sys.stderr,
        )
        return CANNOT
    return int(code)
