"""`checker explain`."""

import click

from checker.cli.command import Command
from checker.core.errors import UsageError
from checker.reporting.explanations import known_names, nearest, pages_for, title_of_name


@click.command(cls=Command)
@click.argument("name", metavar="CODE", required=False)
@click.option("--list", "lists", is_flag=True, help="All that can be explained.")
def explain(name: str | None, *, lists: bool) -> None:
    """Say what a failure or a warning means and what to do: CODE is `ST101`, the name of a check, or of a warning."""
    if lists:
        for one in known_names():
            click.echo(f"{one:<28}  {title_of_name(one)}")
        return
    if name is None:
        raise UsageError("give a code such as ST101, or --list")
    pages = pages_for(name)
    if pages is None:
        near = nearest(name)
        hint = f" Did you mean {near!r}?" if near else ""
        raise UsageError(f"nobody knows {name!r}.{hint} --list shows what can be explained")
    click.echo("\n\n".join(pages))
