"""What `run` and `fuzz` have in common: options to configuration to settings to exit code."""

import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

import click

from checker.cli.execute import execute_run
from checker.cli.filters import read_filters
from checker.cli.main import Root
from checker.cli.options import Setting, apply_options
from checker.config.config import Config
from checker.config.resolve import Occasion, run_settings
from checker.config.settings import Sanitization
from checker.reporting.masking import masked_url

_MASK = "[Filtered]"
_SECRET_OPTIONS = ("-H", "--header", "-a", "--auth")


def run_command(
    ctx: click.Context, kind: str, options: Mapping[str, Any], settings: tuple[Setting, ...]
) -> None:
    """Carry out `run` or `fuzz` and end with its exit code."""
    root = ctx.find_object(Root) or Root()
    options = {**options, "no_color": options["no_color"] or root.no_color}
    filters = read_filters(options)
    config = Config.from_path(root.config_file) if root.config_file else Config.discover()
    has_hooks = bool(config.hooks or os.environ.get("CHECKER_HOOKS"))
    apply_options(config, options, settings, has_hooks=has_hooks)
    occasion = Occasion(
        location=options["location"],
        kind=kind,
        filters=filters,
        inline=options["inline"],
        command=masked_command(sys.argv),
        corpus=root.corpus,
    )
    ctx.exit(execute_run(run_settings(config, occasion)))


def masked_command(arguments: list[str]) -> str:
    """The command line as a shell would read it, without the values of headers and credentials."""
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
            shown.append(_without_user(argument))
    return shlex.join(shown)


def _masked(header: str) -> str:
    name, separator, _ = header.partition(":")
    return f"{name}: {_MASK}" if separator else _MASK


def _without_user(argument: str) -> str:
    return masked_url(argument, Sanitization()) if "://" in argument else argument
