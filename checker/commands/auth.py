"""`checker auth`."""

import os
import tempfile
from pathlib import Path
from typing import Any

import click

from checker.commands.command import CommandGroup, Root
from checker.commands.options import RUN_SETTINGS, apply_options, read_filters, run_options
from checker.commands.output import echo, echo_line
from checker.commands.run import name_api
from checker.commands.topics import TestingCommand
from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.corpus.layout import RunLayout
from checker.workers.starting.auth_trial import examples, trials

_REFUSED = 1


@click.group(cls=CommandGroup)
def auth() -> None:
    """Look after authentication."""


@auth.command(cls=TestingCommand)
@run_options(RUN_SETTINGS)
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Try what is configured to say who is calling, each on one operation that changes nothing.

    Exit code 1 when something is refused, or cannot be fetched.
    """
    root = ctx.find_object(Root) or Root()
    config = Config.from_path(root.config_file) if root.config_file else Config.discover()
    has_hooks = bool(root.hooks or config.hooks or os.environ.get("CHECKER_HOOKS"))
    apply_options(config, options, RUN_SETTINGS, has_hooks=has_hooks)
    name_api(ctx, config, options["api_name"])
    occasion = Invocation(options["location"], filters=read_filters(options), app=options["app"], hooks=root.hooks)
    settings = run_settings(config, occasion)
    with tempfile.TemporaryDirectory() as folder:
        layout = RunLayout(Path(folder))
        layout.create()
        found = []
        settings = settings.with_changes(corpus={"folder": folder})
        for trial in trials(settings, layout):
            found.append(trial)
            echo_line(f"{'ok     ' if trial.is_let_in else 'refused'}  {trial.name}: {trial.text}")
        lines = () if found else examples(settings, layout)
    if lines:
        echo("Nothing is configured. For what the description asks for, in checker.toml:\n")
        echo("\n".join(lines))
    elif not found:
        echo("Nothing is configured: see `[auth]` in checker.toml, --auth, --auth-wfc")
    ctx.exit(0 if all(trial.is_let_in for trial in found) else _REFUSED)
