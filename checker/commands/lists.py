"""Options that name things: phases, checks, formats of reports."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import click

from checker.checks.table import BUILT_IN
from checker.commands.output import echo_line
from checker.commands.values import comma_list
from checker.config.config import Config
from checker.config.kinds import did_you_mean
from checker.config.plugins import has_plugins, know_phases, load_plugins
from checker.core.errors import UsageError
from checker.core.reports import ReportFormat, report_format, report_formats

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_ARCHIVE: Final = "archive"
"""The format that stands for `--report` alone."""
_OF_PEERS: Final = "object_level_authorization"
_DOT: Final = "."
"""In names of files, and in none of a format."""


class _Lines(click.types.StringParamType):
    """A text; a variable of the environment holds one a line, since paths have spaces."""

    envvar_list_splitter = "\n"


def list_options(command: Decorated) -> Decorated:
    """Add `--phases`, `--checks`, `--exclude-checks` and `--report`."""
    command = click.option(
        "--report",
        multiple=True,
        is_flag=False,
        flag_value=_ARCHIVE,
        type=_Lines(),
        envvar="CHECKER_REPORT",
        metavar="[FORMATS|PATH]",
        help="Reports to write; a path means one archive.",
    )(command)
    command = click.option(
        "--exclude-checks", multiple=True, metavar="NAMES", help="Checks that do not run."
    )(command)
    command = click.option(
        "-c", "--checks", multiple=True, metavar="NAMES", help="Checks that run, and no others."
    )(command)
    return click.option("--phases", multiple=True, metavar="NAMES", help="Phases that run.")(
        command
    )


def apply_lists(config: Config, options: Mapping[str, Any], *, has_hooks: bool) -> None:
    """Put those options on top of a configuration. Raises `UsageError`."""
    phases = _names(options, "phases", know_phases(comma_list(options["phases"])))
    # Hooks and plug-ins may bring any check: workers load them, and tell of names that nobody has.
    may_bring = has_hooks or has_plugins()
    included = _names(options, "checks", () if may_bring else (*BUILT_IN, "all"))
    excluded = _names(options, "exclude_checks", () if may_bring else tuple(BUILT_IN))
    archives, formats = _reports(options)
    if phases:
        config.phases.update(phases=phases)
    for name in included:
        if name in BUILT_IN and BUILT_IN[name].switch and getattr(config.checks, name) is None:
            raise UsageError(
                f"--checks {name} needs a value for it: give --{name.replace('_', '-')}"
            )
    if included:
        config.checks.update(included_check_names=included)
    if _OF_PEERS in included and not config.auth.wfc.peers:
        echo_line(
            f"Hint: {_OF_PEERS} needs `peers` in `[auth.wfc]`; without them it judges nothing",
            err=True,
        )
    if excluded:
        config.checks.update(excluded_check_names=excluded)
    if archives:
        config.reports.archive.update(path=archives[-1])
    for name in formats:
        getattr(config.reports, name).update(enabled=True)


def _names(options: Mapping[str, Any], option: str, known: tuple[str, ...]) -> list[str]:
    return _named(_flag(option), _given(options, option), known)


def _given(options: Mapping[str, Any], option: str) -> list[str]:
    names = comma_list(options[option])
    if options[option] and not names:
        raise UsageError(f"{_flag(option)} names nothing")
    return names


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")


def _named(flag: str, names: list[str], known: tuple[str, ...]) -> list[str]:
    for name in names:
        if known and name not in known:
            shown = ", ".join(known)
            raise UsageError(
                f"{flag}: unknown name {name!r}{did_you_mean(name, known)}; choose from {shown}"
            )
    return names


def _reports(options: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Paths of archives, and names of formats."""
    wanted = _given(options, "report")
    archives = [one for one in wanted if os.sep in one or _DOT in one]
    names = [one for one in wanted if one not in archives]
    return archives, _named("--report", names, _known_formats(names))


def _known_formats(asked: Iterable[str]) -> tuple[str, ...]:
    """Return the names of formats; those of plug-ins, too, if a name is unknown here."""
    if any(report_format(name) is None for name in comma_list(asked)):
        load_plugins()
    return tuple(row.name for row in report_formats())


def formats_named(asked: Iterable[str]) -> list[ReportFormat]:
    """The formats of repeated comma lists. Raises `UsageError` for unknown ones."""
    names = comma_list(asked)
    known = _known_formats(names)
    found = []
    for name in names:
        row = report_format(name)
        if row is None:
            shown = ", ".join(known)
            raise UsageError(
                f"--format: unknown name {name!r}{did_you_mean(name, known)}; choose from {shown}"
            )
        found.append(row)
    return found
