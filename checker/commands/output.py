"""Standard output and standard error of the commands."""

import sys

import click

from checker.core.terminal import encodable, one_line, printable


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
