"""The commands `run` and `fuzz`: options to configuration to settings to exit code."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from checker.commands.command import echo_line
from checker.commands.extending import load_extensions
from checker.commands.options import FUZZ_SETTINGS, RUN_SETTINGS, configured_by, read_filters, run_options
from checker.commands.topics import TestingCommand
from checker.commands.values import SettingOption
from checker.core.redact import Redaction
from checker.core.system import later, uncollected

if TYPE_CHECKING:
    import tempfile

    import checker.commands.execute as execution
    import checker.commands.runs_on_disk as runs_on_disk
    import checker.config.resolve as resolving
    import checker.corpus.secrets as secrets
    from checker.config.settings import RunSettings
else:
    # The supervisor, the console and the writers of reports take 0.2 s of CPU, which `--help` does not need.
    execution = later("checker.commands.execute")
    runs_on_disk = later("checker.commands.runs_on_disk")
    resolving = later("checker.config.resolve")
    secrets = later("checker.corpus.secrets")
    tempfile = later("tempfile")

_MASK = "[Filtered]"
_SECRET_OPTIONS = ("-H", "--header", "-a", "--auth", "--upload-token", "--checker-io-token")


def run_command(ctx: click.Context, kind: str, options: Mapping[str, Any], settings: tuple[SettingOption, ...]) -> None:
    """Carry out `run` or `fuzz` and end with its exit code."""
    filters = read_filters(options)
    config, root = configured_by(ctx, options, settings)
    if kind == "run" and config.generation.maximize:
        echo_line(
            "Hint: `maximize` leads `fuzz` and tests in Python; `run` sends the same requests whatever the responses are",
            err=True,
        )
    occasion = resolving.Invocation(
        location=options["location"],
        kind=kind,
        filters=filters,
        inline=options["inline"],
        app=options["app"],
        hooks=root.hooks,
        corpus=root.corpus,
    )
    asked = resolving.run_settings(config, occasion)
    command = masked_command(sys.argv, asked.report.sanitization.redaction)
    asked = replace(asked, command=secrets.secrets_of(asked).store.hide(command, _MASK))
    if config.compare is not None:
        # The other run is read before this one changes its corpus.
        baseline = runs_on_disk.compared_with(config.compare, asked.verdict.baseline.today)
        others = []
        for title, changes in asked.projects:
            verdict = {key: one for key, one in changes.get("verdict", {}).items() if key != "baseline"}
            others.append((title, {**changes, "verdict": verdict}))
        asked = asked.with_changes(verdict={"baseline": baseline}, projects=tuple(others))
    load_extensions(asked.certain_hooks)
    asked = with_writable_corpus(asked)
    with uncollected():
        # Imports the supervisor.
        handlers = execution.EventHandlers.begin(asked, ctx.params)
    ctx.exit(execution.execute_run(asked, root.began_at, handlers))


def with_writable_corpus(
    settings: "RunSettings", may_write: Callable[[Path], bool] = lambda path: os.access(path, os.W_OK)
) -> "RunSettings":
    """Return settings whose corpus is writable: in a temporary folder if the usual folder is not."""
    usual = Path(settings.corpus.folder).absolute()
    nearest = next(one for one in (usual, *usual.parents) if one.exists())
    if may_write(nearest):
        return settings
    folder = tempfile.mkdtemp(prefix="checker-")
    echo_line(f"{nearest} cannot be written: what this run learns is kept in {folder}", err=True)
    return settings.with_changes(corpus={"folder": folder})


def masked_command(arguments: list[str], redaction: Redaction) -> str:
    """Return the command line for a shell, without the values of headers and credentials."""
    shown = ["checker"]
    is_secret = False
    for argument in arguments[1:]:
        if is_secret:
            shown.append(_masked(argument))
            is_secret = False
            continue
        option, separator, value = argument.partition("=")
        is_secret = argument in _SECRET_OPTIONS
        if separator and option in _SECRET_OPTIONS:
            shown.append(f"{option}={_masked(value)}")
        elif argument[:2] in ("-H", "-a") and len(argument) > 2:
            shown.append(argument[:2] + _masked(argument[2:]))
        else:
            shown.append(redaction.url(argument))
    return shlex.join(shown)


def _masked(header: str) -> str:
    name, separator, _ = header.partition(":")
    return f"{name}: {_MASK}" if separator else _MASK


@click.command(cls=TestingCommand)
@run_options(RUN_SETTINGS)
@click.pass_context
def run(ctx: click.Context, /, **options: Any) -> None:
    """Test the operations of the API that LOCATION (a URL or a file) describes."""
    run_command(ctx, "run", options, RUN_SETTINGS)


@click.command(cls=TestingCommand)
@run_options(FUZZ_SETTINGS)
@click.pass_context
def fuzz(ctx: click.Context, /, **options: Any) -> None:
    """Test the API that LOCATION describes until the time limit or Ctrl-C; without a time limit, until the first failure."""
    run_command(ctx, "fuzz", options, FUZZ_SETTINGS)
