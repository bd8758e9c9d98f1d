"""`checker auth`."""

from typing import Any

import click

from checker.commands.command import CommandGroup, echo, echo_line
from checker.commands.options import RUN_SETTINGS, run_options
from checker.commands.outline import planned_run
from checker.commands.topics import TestingCommand
from checker.workers.starting.auth_trial import examples, token_for, trials

_REFUSED = 1


@click.group(cls=CommandGroup)
def auth() -> None:
    """Inspect and test authentication."""


@auth.command(cls=TestingCommand)
@run_options(RUN_SETTINGS)
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Try the configured credentials, each on one operation that changes nothing.

    Exit code 1 if credentials are refused or cannot be fetched.
    """
    found = []
    with planned_run(ctx, options) as (settings, layout):
        for trial in trials(settings, layout):
            found.append(trial)
            echo_line(f"{'ok     ' if trial.is_let_in else 'refused'}  {trial.name}: {trial.text}")
        lines = () if found else examples(settings, layout)
    if lines:
        echo("Nothing is configured. The description asks for credentials; configure them in checker.toml:\n")
        echo("\n".join(lines))
    elif not found:
        echo("Nothing is configured: see `[auth]` in checker.toml, --auth, --auth-wfc")
    ctx.exit(0 if all(trial.is_let_in for trial in found) else _REFUSED)


@auth.command(cls=TestingCommand)
@click.argument("scheme")
@run_options(RUN_SETTINGS)
@click.pass_context
def token(ctx: click.Context, /, scheme: str, **options: Any) -> None:
    """Print the credentials that requests carry for the security scheme SCHEME, such as a token that a login returned.

    For printed reproductions: export CHECKER_TOKEN_<SCHEME>="$(checker auth token SCHEME LOCATION)".
    """
    with planned_run(ctx, options) as (settings, layout):
        echo_line(token_for(settings, layout, scheme))
